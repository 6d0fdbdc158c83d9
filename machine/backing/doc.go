// Package backing is the memory behind the interconnect: the LLC slices, and behind them DRAM channels, the HBM
// stacks whose channels exchange pages, or a memory of two tiers with its controller. Slices, channels and the
// controller are models of their own (packages cache, dram, hybrid). Package backing joins and times them.
//
// A reader must know three types. Memory is all of it. Tiers is the part that a machine with two tiers has instead of
// channels. channel is a DRAM channel with the fixed latency before its scheduler; both have it.
package backing
