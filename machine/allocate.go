package machine

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
)

// PageTouches returns the counts of a machine that counts touches: by n-1 the pages that n SMs have touched; and by
// channel group and partition (the SMs nearest to a group) the pages in the group that some SM of the partition has
// touched, nil if pages span groups.
func (g *GPU) PageTouches() (degree []uint64, homes [][]uint64) {
	return g.translation.Touches.Counts()
}

// Map announces an allocation: device memory gets its frames now; managed memory gets them on first touch, as all
// memory does if the sheet has vm.first_touch.
func (g *GPU) Map(tenant int, r *mem.Region) error {
	if g.Unified.On() && r.Kind == mem.Managed {
		return g.Unified.Allocate(mem.TenantID(tenant), r)
	}
	return g.translation.Allocate(tenant, r)
}

// Unmap gives an allocation's frames back.
func (g *GPU) Unmap(tenant int, r *mem.Region) {
	if g.Unified.On() && r.Kind == mem.Managed {
		g.Unified.Free(mem.TenantID(tenant), r.Base, uint64(r.Len()))
	} else {
		g.translation.Free(tenant, r)
	}
	g.Sharing.PageLeft(g.clock.Now, tenant)
}

// Evict moves the resident pages of a managed range to the host and returns the
// bytes that have to cross the link.
func (g *GPU) Evict(tenant int, r *mem.Region, off, n int64) int64 {
	return g.translation.Evict(tenant, r, off, n)
}

// Prefetch gives the absent pages of a managed range frames and returns the bytes
// that have to cross the link.
func (g *GPU) Prefetch(tenant int, r *mem.Region, off, n int64) int64 {
	return g.translation.Prefetch(tenant, r, off, n)
}

// Release frees all memory of a tenant: its program has ended and may start again.
func (g *GPU) Release(tenant int) {
	g.Unified.Release(mem.TenantID(tenant))
	g.translation.Release(tenant)
	if g.translation.Tables != nil {
		g.Sharing.Contexts.Forget(tenant)
	}
	g.Sharing.PageLeft(g.clock.Now, tenant)
}

// HostWrites makes the pages of a range that the host writes lose their copies.
func (g *GPU) HostWrites(tenant int, r *mem.Region, off, n int64) {
	g.homes.HostWrites(mem.TenantID(tenant), r, off, n)
}

// Launch queues a grid. Its kernel is Done when its last CTA has ended and its last store is acknowledged.
func (g *GPU) Launch(tenant, stream int, name string, grid isa.Grid) *sharing.Kernel {
	k := g.Sharing.NewKernel(tenant, stream, name, grid)
	g.Unified.Launched(k.Tenant)
	g.host.BeginsWork(g.clock.Now)
	g.Sharing.Launch(k)
	return k
}

// Copy begins a copy of n bytes between two regions of a tenant, one of them at least on the device.
func (g *GPU) Copy(tenant int, dst *mem.Region, dstOff int64, src *mem.Region, srcOff, n int64) *transfer.HostCopy {
	return g.host.Copy(tenant, dst, dstOff, src, srcOff, n)
}

// Carry begins a transfer of n bytes of pages whose addresses do not matter: pages of managed memory that does not
// move on demand.
func (g *GPU) Carry(tenant int, n int64, toHost bool) *transfer.HostCopy {
	return g.host.Carry(tenant, n, toHost)
}

// CopyEnded says whether a copy is complete. A complete copy is forgotten: it is asked about no more.
func (g *GPU) CopyEnded(c *transfer.HostCopy) bool { return g.host.Ended(c) }
