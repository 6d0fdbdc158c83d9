// Package vm is address translation. Three types matter. TLB is one translation buffer (the L1 of an SM or the shared
// L2). Tables is the driver's view of memory: page tables whose nodes lie in physical frames, the frames of each
// channel group, and the page placement that chooses among them. MMU is the timed part: L2 TLB, miss merging, page
// walkers whose reads are real memory requests, and faults.
//
// Without virtual memory a machine uses Identity and, for managed memory, a Pager.
package vm

import (
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// TenantShift is where a tenant's number is put in a physical address when there
// is no translation, so that tenants never share a cache line by accident.
const TenantShift = addrmap.TenantShift

// Identity is the physical address of a virtual one without translation, of a copy of the host or an access of a CPU
// core. An SM puts the tenant's number into its accesses itself (present in machine/sm/tlb.go).
func Identity(tenant mem.TenantID, va uint64) uint64 { return uint64(tenant)<<TenantShift | va }
