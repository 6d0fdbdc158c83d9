// Package transfer moves lines of memory that no program has asked for one by one: pages that move inside the device,
// by the MMU's port or inside HBM stacks, pages between NUBA's partitions, and the copies of programs over the link to
// the host.
//
// A reader must know three types. CopyEngine moves pages when channels change hands (UGPU). PartitionCopies moves and
// copies pages to the partition that uses them (NUBA). HostLink carries what programs copy, and its two directions
// carry the pages of unified memory, too.
package transfer
