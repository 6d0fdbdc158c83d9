// Package transfer moves lines of memory that no program has asked for one by one: pages that move inside the device,
// by the MMU's port or inside HBM stacks, pages between NUBA's partitions, pages of unified memory between device and
// host, and the copies of programs.
//
// A reader must know five types. Job is the lines of a transfer: which is sent next, how many are on their way. Each
// route embeds it. CopyEngine moves pages when channels change hands (UGPU). PartitionCopies moves and copies pages to
// the partition that uses them (NUBA). HostLink is the link to the host and carries the copies of programs. PageStream
// carries the pages of unified memory over it.
package transfer
