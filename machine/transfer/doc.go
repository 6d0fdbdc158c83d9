// Package transfer moves lines of memory that no program has asked for one by one: pages that move inside the device,
// by the MMU's port or inside HBM stacks, pages between NUBA's partitions, and the copies of programs over the link to
// the host.
//
// A reader must know three types. CopyEngine moves pages when channels change hands (UGPU). PartitionCopies moves and
// copies pages to the partition that uses them (NUBA). HostLink carries the copies of programs. Its two directions
// also carry the pages of unified memory.
package transfer
