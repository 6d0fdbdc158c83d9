// Package vm is address translation. Three types matter. TLB is one translation
// buffer (the L1 of an SM or the shared L2). Tables is the driver's truth: page
// tables whose nodes live in physical frames, the frames of each channel group
// and the policy that chooses among them. MMU is the timed part: L2 TLB, miss
// merging, page walkers whose reads are real memory requests, and faults.
//
// Without virtual memory a machine uses Identity and none of the above.
package vm

import "heddle/mem/addrmap"

// TenantShift is where a tenant's number is put in a physical address when there
// is no translation, so that tenants never share a cache line by accident.
const TenantShift = addrmap.TenantShift

// Identity is the physical address of a virtual one without translation. A
// machine ORs Identity(tenant, 0) into addresses once per SM or kernel.
func Identity(tenant uint8, va uint64) uint64 { return uint64(tenant)<<TenantShift | va }

// Memory is what the driver does to an address space at set-up: Tables with
// virtual memory, Flat without. Addresses and sizes are in bytes and need not be
// page-aligned; a page stays as long as one region that touches it.
type Memory interface {
	// MapRegion gives every page of the region a frame now (cudaMalloc).
	MapRegion(tenant uint8, base, bytes uint64) error
	// Reserve makes the region legal without frames: the first access to a page
	// faults and places it (managed memory, or placement on first touch).
	Reserve(tenant uint8, base, bytes uint64) error
	// Unmap gives the region back (cudaFree).
	Unmap(tenant uint8, base, bytes uint64)
	// UnmapToHost moves the resident pages of the region to the host and returns
	// how many they were; the next access faults.
	UnmapToHost(tenant uint8, base, bytes uint64) int
}

// Flat is Memory without translation: everything is where it is.
type Flat struct{}

// MapRegion has nothing to do: the address is the place.
func (Flat) MapRegion(tenant uint8, base, bytes uint64) error { return nil }

// Reserve has nothing to do: without translation nothing faults.
func (Flat) Reserve(tenant uint8, base, bytes uint64) error { return nil }

// Unmap has nothing to do.
func (Flat) Unmap(tenant uint8, base, bytes uint64) {}

// UnmapToHost moves nothing: without translation no page lives on the host.
func (Flat) UnmapToHost(tenant uint8, base, bytes uint64) int { return 0 }
