package machine

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// translation is how virtual addresses become physical ones, and managed memory comes to
// the device: page tables, MMU and driver of a machine that translates, the pager of one
// that does not.
type translation struct {
	sheet      *sheets.Machine
	tenants    []*Tenant
	sms        []*sm.SM
	slices     []*cache.Slice
	fabric     *interconnect.Fabric
	meters     *timing.Meters
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups
	sources    []source // that share the MMU's port, by Origin from mem.OfCopyEngine on, served in this order
	onPager    func()   // managed memory is there whose pages come when one SM asks for them

	pager       *vm.Pager // nil on a machine that translates
	mmu         *vm.MMU   // nil on one that does not, as are the following
	driver      *vm.Driver
	tables      *vm.Tables
	tlbs        []*vm.TLB // L1 TLB of each SM
	localMapped []uint64  // [tenant] bytes of the local window that have frames
	touches     *vm.Touches
	homes       pageHomes // off where pages do not follow the accesses to them
	promised    []int64   // [tenant] bytes of device memory whose pages get frames when they are touched
}

// source has requests for the MMU's port, behind page walks.
type source interface {
	// send puts what is due into the port, if it is not busy, and returns the next cycle with more. The port
	// takes one request a cycle of all sources: it is busy while an earlier one has more.
	send(now uint64, busy bool) (next uint64, more bool)
	// answered books the answer to a request, which the port frees.
	answered(r *mem.Req, now uint64)
}

// mmuPort passes L1 TLB misses on and wakes the MMU for them.
type mmuPort struct{ x *translation }

// Request implements sm.MMU.
func (p mmuPort) Request(now uint64, tenant mem.TenantID, vpn uint64, smID int, token int32) bool {
	ok := p.x.mmu.Request(now, tenant, vpn, smID, token)
	p.x.wakeups.WakeSM(p.x.wakeups.MMU, now)
	return ok
}

// pagerPort passes faults on and wakes the stage that ends them.
type pagerPort struct{ x *translation }

// Absent implements sm.Pager.
func (p pagerPort) Absent(tenant mem.TenantID, addr uint64) (page uint64, absent bool) {
	return p.x.pager.Absent(tenant, addr)
}

// Fault implements sm.Pager.
func (p pagerPort) Fault(now uint64, tenant mem.TenantID, page uint64) {
	p.x.pager.Fault(now, tenant, page)
	p.x.wakeups.WakeMMU(p.x.pager.Next())
}

// pagesMove is told when n pages begin, or end, to move.
func (x *translation) pagesMove(now uint64, n int) {
	x.meters.Pages.Add(now, n)
	x.meters.Either.Add(now, n)
	if n > 0 {
		x.wakeups.WakeMMU(now + 1)
	}
}

// forget takes a page out of all TLBs.
func (x *translation) forget(tenant mem.TenantID, vpn uint64) {
	x.mmu.InvalidatePage(tenant, vpn)
	for _, t := range x.tlbs {
		t.InvalidatePage(tenant, vpn)
	}
	x.wakeups.WakeMMU(x.clock.Now) // a reply it overtook is looked up again
}

// freed takes the lines of frames that a tenant has given back out of its L1s, whose tags are
// physical, and has the LLC forget what they hold: another page may get the frames, and its
// bytes come from elsewhere. Nothing of them is on its way: a page's accesses stop long before
// its move ends.
func (x *translation) freed(tenant mem.TenantID, frames []uint64) {
	x.touches.Freed(frames)
	page, size := x.tables.PageBits(), uint64(x.sheet.LLC.Line)
	for _, i := range x.tenants[tenant].SMs {
		x.sms[i].L1().Drop(frames, page)
	}
	for _, f := range frames {
		for a := f << page; a < (f+1)<<page; a += size {
			home := x.fabric.Layouts.Slice(a)
			x.slices[home].Forget(a)
			x.fabric.ForgetCopies(a, home)
		}
	}
}

// tickPager lets the SMs that wait for a page go on when it has arrived.
func (x *translation) tickPager(now uint64) uint64 {
	for f, ok := x.pager.Pop(now); ok; f, ok = x.pager.Pop(now) {
		x.clock.Progress, x.tenants[f.Tenant].useful = now, now
		for i, s := range x.sms {
			s.Arrived(f.Tenant, f.Page, now)
			x.wakeups.WakeSM(i, now)
		}
	}
	x.firstError.Note(x.pager.Err())
	return x.pager.Next()
}

func (x *translation) allocate(tenant int, r *mem.Region) error {
	t, n := mem.TenantID(tenant), r.Len()
	switch {
	case x.tables != nil && (r.Kind == mem.Managed || r.Kind == mem.Host):
		return x.tables.Reserve(t, r.Base, uint64(n))
	case x.tables != nil && x.sheet.VM.FirstTouch:
		return x.promise(tenant, r)
	case x.tables != nil:
		return x.homes.short(x.tables.MapRegion(t, r.Base, uint64(n)))
	case r.Kind == mem.Managed:
		x.pager.Reserve(t, r.Base, n)
		for _, s := range x.sms { // from now on they ask
			s.SetPager(pagerPort{x})
		}
		x.onPager()
	case r.Kind != mem.Host:
		return x.pager.Map(t, n)
	}
	return nil
}

// promise reserves device memory whose pages get their frames when an SM touches them.
func (x *translation) promise(tenant int, r *mem.Region) error {
	n, used := r.Len(), int64(0)
	for _, p := range x.promised {
		used += p
	}
	if most := x.sheet.MemoryBytes(); used+n > most {
		return fmt.Errorf("tenant %d: %w: %d bytes asked, %d of %d in use", tenant, vm.ErrNoFrame, n, used, most)
	}
	x.promised[tenant] += n
	return x.tables.Reserve(mem.TenantID(tenant), r.Base, uint64(n))
}

func (x *translation) free(tenant int, r *mem.Region) {
	t := mem.TenantID(tenant)
	switch {
	case x.tables != nil:
		if x.sheet.VM.FirstTouch && r.Kind != mem.Managed && r.Kind != mem.Host {
			x.promised[tenant] -= r.Len()
		}
		x.tables.Unmap(t, r.Base, uint64(r.Len()))
	case r.Kind == mem.Managed:
		x.pager.Forget(t, r.Base)
	case r.Kind != mem.Host:
		x.pager.Unmap(t, r.Len())
	}
}

func (x *translation) evict(tenant int, r *mem.Region, off, n int64) int64 {
	if x.tables == nil {
		return x.pager.Move(mem.TenantID(tenant), r.Base+uint64(off), n, false)
	}
	pages := x.tables.UnmapToHost(mem.TenantID(tenant), r.Base+uint64(off), uint64(n))
	return int64(pages) * int64(x.sheet.VM.Page)
}

func (x *translation) prefetch(tenant int, r *mem.Region, off, n int64) int64 {
	if x.tables == nil {
		return x.pager.Move(mem.TenantID(tenant), r.Base+uint64(off), n, true)
	}
	page := uint64(x.sheet.VM.Page)
	var bytes int64
	for v := (r.Base + uint64(off)) / page; v*page < r.Base+uint64(off+n); v++ {
		if _, s := x.tables.Translate(mem.TenantID(tenant), v*page); s == vm.Resident {
			continue
		}
		if _, err := x.tables.MapPage(mem.TenantID(tenant), v, -1); err != nil {
			break // memory is full: the rest faults when touched
		}
		bytes += int64(page)
	}
	return bytes
}

// physical translates functionally.
func (x *translation) physical(tenant int, vaddr uint64) (uint64, bool) {
	if x.tables == nil {
		return vm.Identity(mem.TenantID(tenant), vaddr), true
	}
	p, s := x.tables.Translate(mem.TenantID(tenant), vaddr)
	return p, s == vm.Resident
}

// mapLocal gives a kernel's local-memory window its frames.
func (x *translation) mapLocal(k *Kernel) error {
	if x.tables == nil || k.Geo.LocalBytes == 0 {
		return nil
	}
	need := uint64((k.Geo.LocalBytes+3)/4) * x.localStride()
	have := x.localMapped[k.Tenant]
	if need <= have {
		return nil
	}
	x.localMapped[k.Tenant] = need
	if x.sheet.VM.FirstTouch {
		return x.tables.Reserve(k.Tenant, localWindow+have, need-have)
	}
	return x.tables.MapRegion(k.Tenant, localWindow+have, need-have)
}

// localStride is the distance of a thread's consecutive local words: one word of
// every thread the machine can hold.
func (x *translation) localStride() uint64 { return uint64(x.sheet.SM.Count*x.sheet.SM.Threads) * 4 }

func (x *translation) release(tenant int) {
	if x.tables == nil {
		x.pager.Release(mem.TenantID(tenant))
		return
	}
	x.tables.ReleaseTenant(mem.TenantID(tenant))
	x.mmu.InvalidateTenant(mem.TenantID(tenant))
	x.mmu.ClearStatus(mem.TenantID(tenant))
	for _, t := range x.tlbs {
		t.InvalidateTenant(mem.TenantID(tenant))
	}
	x.localMapped[tenant], x.promised[tenant] = 0, 0
}

// tick looks up translations, and sends what page walks and the copy engine read and write.
func (x *translation) tick(now uint64) uint64 {
	if x.mmu == nil {
		return x.tickPager(now)
	}
	next := x.mmu.Tick(now)
	for {
		r, ok := x.mmu.PopReply()
		if !ok {
			break
		}
		next = now + 1 // there is room again for what waited behind it
		if x.homes.refuses(now, &r) {
			x.mmu.Again(&r)
			continue
		}
		x.touches.Note(r.PPN, int(r.SM))
		x.sms[r.SM].Translated(r.Tenant, r.VPN, r.PPN, now)
		x.wakeups.WakeSM(int(r.SM), now)
	}
	x.firstError.Note(x.mmu.Err())
	for n := x.mmu.Reads(); n > 0; n-- { // a walker waits for its own slice only
		next = now + 1
		addr, tenant, walker := x.mmu.PeekRead()
		line := addr &^ uint64(x.sheet.LLC.Line-1)
		sector := (addr - line) / uint64(x.sheet.LLC.Sector)
		r := mem.Req{Line: line, Tag: walker, Sectors: 1 << sector, Op: mem.Walk, Tenant: tenant}
		sent := x.fabric.InjectMMU(r, now)
		x.mmu.TakeRead(sent)
	}
	busy := false
	for _, s := range x.sources {
		var at uint64
		at, busy = s.send(now, busy)
		next = min(next, at)
	}
	return next
}

// Deliver takes an answer at the MMU's port: of a page walk, or of a source that shares the port.
func (x *translation) Deliver(h int32, now uint64) {
	r := &x.fabric.Slab.R[h]
	if r.Origin == mem.OfPort {
		x.mmu.ReadDone(now, r.Tag)
		x.wakeups.WakeMMU(now)
	} else {
		x.sources[r.Origin-mem.OfCopyEngine].answered(r, now)
	}
	x.fabric.Slab.Put(h)
}

// PageTouches gives, of a machine made to count them, by n-1 the pages that n SMs have touched; and
// by channel group and partition (the SMs nearest to a group) the pages in the group that some SM
// of the partition has touched, nil where pages span groups.
func (g *GPU) PageTouches() (degree []uint64, homes [][]uint64) {
	return g.translation.touches.Counts()
}

// Map tells the machine of an allocation: device memory gets its frames now,
// managed memory on first touch, as all memory where the sheet has vm.first_touch.
func (g *GPU) Map(tenant int, r *mem.Region) error {
	if g.Unified.On() && r.Kind == mem.Managed {
		return g.Unified.allocate(mem.TenantID(tenant), r)
	}
	return g.translation.allocate(tenant, r)
}

// Unmap gives an allocation's frames back.
func (g *GPU) Unmap(tenant int, r *mem.Region) {
	if g.Unified.On() && r.Kind == mem.Managed {
		g.Unified.free(mem.TenantID(tenant), r.Base, uint64(r.Len()))
	} else {
		g.translation.free(tenant, r)
	}
	g.groups.leave(g.clock.Now, tenant)
}

// Evict moves the resident pages of a managed range to the host and returns the
// bytes that have to cross the link.
func (g *GPU) Evict(tenant int, r *mem.Region, off, n int64) int64 {
	return g.translation.evict(tenant, r, off, n)
}

// Prefetch gives the absent pages of a managed range frames and returns the bytes
// that have to cross the link.
func (g *GPU) Prefetch(tenant int, r *mem.Region, off, n int64) int64 {
	return g.translation.prefetch(tenant, r, off, n)
}

// Release forgets all memory of a tenant: its program has ended and may start anew.
func (g *GPU) Release(tenant int) {
	g.Unified.release(mem.TenantID(tenant))
	g.translation.release(tenant)
	if g.translation.tables != nil {
		g.contexts.end[tenant] = 0
	}
	g.groups.leave(g.clock.Now, tenant)
}
