// Package interconnect takes requests from SMs, CPU cores and the MMU to the LLC slices, and answers back. It chooses
// the route of a request on every topology: one crossbar, stages, partitions with networks of their own (NUBA),
// halves with links, modules on a ring, and a GPU's own L3 before the LLC. The networks themselves are package noc.
//
// A reader must know three types. Fabric is the interconnect of a machine. InterSlice is the network between slices,
// for requests that pass more than one. Layouts say at which slice and channel a line lies.
package interconnect
