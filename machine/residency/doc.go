// Package residency decides which pages lie where: pages of unified memory that come to the device when they are
// touched and leave when there is no room, and pages that follow the accesses to them from partition to partition. The
// bytes are moved by package transfer.
//
// A reader must know two types. Unified is unified memory in the machine. Homes gives pages of NUBA's partitions other
// homes, or copies.
package residency
