package machine

import (
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/mem"
)

// Instructions is a tenant's thread instructions so far.
func (g *GPU) Instructions(tenant int) uint64 { return g.sms.Counters.Sum(tenant, sm.ThreadInsts) }

// Channels is the number of channels a tenant may use.
func (g *GPU) Channels(tenant int) int {
	return g.Tenants[tenant].Channels(g.fabric.Layouts.Whole.Channels())
}

// Running is the number of kernels launched and not finished, and of executions of CPU cores.
func (g *GPU) Running() int { return g.Sharing.Dispatch.Running() + len(g.CPUs.executions) }

// Faulted is the tenant whose program faulted; -1 when none did.
func (g *GPU) Faulted() int {
	for _, s := range g.sms.List {
		if s.Err != nil && s.ErrKernel != nil {
			return int(s.ErrKernel.Tenant)
		}
	}
	return -1
}

// SyncCounters brings counters that are updated late up to the current cycle: refreshes of idle channels, flits of
// packets that nothing blocks, the active time of SMs.
func (g *GPU) SyncCounters() {
	now := g.Now()
	g.fabric.Settle(now)
	g.memory.Settle(now)
	g.SyncSMs()
}

// SyncSMs brings the active time of SMs, the time in which they wake, and the counters of CPU cores up to the current
// cycle.
func (g *GPU) SyncSMs() {
	g.Sharing.SyncWaking(g.Now())
	for _, s := range g.sms.List {
		s.SyncCounters(g.Now())
	}
	g.CPUs.syncCounters(g.Now())
}

// Prefill makes n bytes from a virtual address present in the LLC, as a
// host-to-device copy routed through it leaves them.
func (g *GPU) Prefill(tenant int, vaddr uint64, n int64) {
	l := &g.Sheet.LLC
	line := uint64(l.Line)
	all := uint8(1<<(l.Line/l.Sector) - 1)
	for a := vaddr &^ (line - 1); a < vaddr+uint64(n); a += line {
		p, ok := g.translation.Physical(tenant, a)
		if ok {
			g.memory.Slice(p).Prefill(p, all, mem.TenantID(tenant))
		}
	}
}

// Busy is the number of cycles so far in which a tenant had a kernel on the GPU, or executed its program
// on CPU cores.
func (g *GPU) Busy(tenant int) uint64 {
	return g.Tenants[tenant].Busy(g.Now())
}

// Groups is the number of channel groups of the machine.
func (g *GPU) Groups() int { return g.fabric.Layouts.Whole.Groups() }

// Footprint is the device memory a tenant has, in bytes, page tables included; 0
// on a machine that does not translate.
func (g *GPU) Footprint(tenant int) uint64 { return g.translation.Footprint(tenant) }

// MovingCycles is the number of core cycles so far in which an SM was changing hands, in which a channel group or a
// page was, and in which any of them was.
func (g *GPU) MovingCycles() (sms, pages, either uint64) {
	now := g.Now()
	return g.meters.SMs.At(now), g.meters.Pages.At(now), g.meters.Either.At(now)
}

// Copied is the bytes of pages that have moved and the MIGRATION commands it took.
func (g *GPU) Copied() (bytes, commands uint64) {
	return g.pageCopies.Bytes + g.homes.Copies.Bytes, g.pageCopies.Commands
}

// Tiers is the machine's memory of two tiers; nil if it has one tier, or one that cannot be divided.
func (g *GPU) Tiers() *backing.Tiers { return &g.memory.Tiers }

// pageArrived notes that a page of a tenant is where it was to be.
func (g *GPU) pageArrived(tenant mem.TenantID, page uint64) { g.Tenants[tenant].Got(page, &g.clock) }

// MovesInStacks says that pages that change channels move inside their memory stacks (PageMove).
func (g *GPU) MovesInStacks() bool { return g.pageCopies.InStacks() }
