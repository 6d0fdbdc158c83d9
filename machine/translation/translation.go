package translation

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// Translation turns virtual addresses into physical ones, and brings managed memory to the device.
type Translation struct {
	// Of a machine that translates; nil on one that does not.
	MMU     *vm.MMU
	Driver  *vm.Driver
	Tables  *vm.Tables
	TLBs    []*vm.TLB // L1 TLB of each SM
	Touches *vm.Touches

	SMs     []*sm.SM
	Sources []Source // components that share the MMU's port, by Origin from mem.OfCopyEngine on, served in this order
	Homes   Homes    // nil if pages do not follow the accesses to them
	// SMsOf are an application's SMs. OnArrived is called when a page arrives that a program waited for, OnPager when
	// there is managed memory whose pages come when an SM asks for them.
	SMsOf     func(tenant mem.TenantID) []int
	OnArrived func(tenant mem.TenantID, page uint64)
	OnPager   func()

	pager       *vm.Pager // nil on a machine that translates
	localMapped []uint64  // [tenant] bytes of the local window that have frames
	promised    []int64   // [tenant] bytes of device memory whose pages get frames when they are touched

	sheet      *sheets.Machine
	fabric     *interconnect.Fabric
	meters     *timing.Meters
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups
}

// Homes are pages that follow the accesses to them.
type Homes interface {
	// Refuses says that an SM must not have an answer yet, because the page has to lose its copies first.
	Refuses(now uint64, r vm.Reply) bool
	// Short adds to the error of an allocation that found no frames how many of them copies hold.
	Short(err error) error
}

// Source sends requests through the MMU's port, after page walks.
type Source interface {
	// Send puts the requests that are due into the port, if it is not busy, and returns the next cycle with more. The
	// port takes one request a cycle from all sources: it is busy while an earlier source has more.
	Send(now uint64, busy bool) (next uint64, more bool)
	// Answered notes the answer to a request, which the port frees.
	Answered(r *mem.Req, now uint64)
}

// mmuPort passes L1 TLB misses on and wakes the MMU for them.
type mmuPort struct{ x *Translation }

// Request implements sm.MMU.
func (p mmuPort) Request(now uint64, tenant mem.TenantID, vpn uint64, smID int, token int32) bool {
	ok := p.x.MMU.Request(now, tenant, vpn, smID, token)
	p.x.wakeups.WakeSM(p.x.wakeups.MMU, now)
	return ok
}

// pagerPort passes faults on and wakes the stage that ends them.
type pagerPort struct{ x *Translation }

// Absent implements sm.Pager.
func (p pagerPort) Absent(tenant mem.TenantID, addr uint64) (page uint64, absent bool) {
	return p.x.pager.Absent(tenant, addr)
}

// Fault implements sm.Pager.
func (p pagerPort) Fault(now uint64, tenant mem.TenantID, page uint64) {
	p.x.pager.Fault(now, tenant, page)
	p.x.wakeups.WakeMMU(p.x.pager.Next())
}

// pagesMove is called when n pages begin, or end, to move.
func (x *Translation) pagesMove(now uint64, n int) {
	x.meters.Pages.Add(now, n)
	x.meters.Either.Add(now, n)
	if n > 0 {
		x.wakeups.WakeMMU(now + 1)
	}
}

// forget takes a page out of all TLBs.
func (x *Translation) forget(tenant mem.TenantID, vpn uint64) {
	x.MMU.InvalidatePage(tenant, vpn)
	for _, t := range x.TLBs {
		t.InvalidatePage(tenant, vpn)
	}
	x.wakeups.WakeMMU(x.clock.Now) // a reply it overtook is looked up again
}

// freed takes the lines of frames that a tenant has given back out of its L1s, whose tags are
// physical, and has the LLC forget what they hold: another page may get the frames, and its
// bytes come from elsewhere. Nothing of them is on its way: a page's accesses stop long before
// its move ends.
func (x *Translation) freed(tenant mem.TenantID, frames []uint64) {
	x.Touches.Freed(frames)
	page, size := x.Tables.PageBits(), uint64(x.sheet.LLC.Line)
	for _, i := range x.SMsOf(tenant) {
		x.SMs[i].L1().Drop(frames, page)
	}
	for _, f := range frames {
		for a := f << page; a < (f+1)<<page; a += size {
			home := x.fabric.Layouts.Slice(a)
			x.fabric.Slices[home].Forget(a)
			x.fabric.ForgetCopies(a, home)
		}
	}
}

// tickPager lets the SMs that wait for a page go on when it has arrived.
func (x *Translation) tickPager(now uint64) uint64 {
	for f, ok := x.pager.Pop(now); ok; f, ok = x.pager.Pop(now) {
		x.OnArrived(f.Tenant, f.Page)
		for i, s := range x.SMs {
			s.Arrived(f.Tenant, f.Page, now)
			x.wakeups.WakeSM(i, now)
		}
	}
	x.firstError.Note(x.pager.Err())
	return x.pager.Next()
}

// Allocate gives an allocation its frames, or reserves its addresses if pages come when they are touched.
func (x *Translation) Allocate(tenant int, r *mem.Region) error {
	t, n := mem.TenantID(tenant), r.Len()
	switch {
	case x.Tables != nil && (r.Kind == mem.Managed || r.Kind == mem.Host):
		return x.Tables.Reserve(t, r.Base, uint64(n))
	case x.Tables != nil && x.sheet.VM.FirstTouch:
		return x.promise(tenant, r)
	case x.Tables != nil:
		err := x.Tables.MapRegion(t, r.Base, uint64(n))
		if x.Homes != nil {
			err = x.Homes.Short(err)
		}
		return err
	case r.Kind == mem.Managed:
		x.pager.Reserve(t, r.Base, n)
		for _, s := range x.SMs { // from now on they ask
			s.SetPager(pagerPort{x})
		}
		x.OnPager()
	case r.Kind != mem.Host:
		return x.pager.Map(t, n)
	}
	return nil
}

// promise reserves device memory whose pages get their frames when an SM touches them.
func (x *Translation) promise(tenant int, r *mem.Region) error {
	n, used := r.Len(), int64(0)
	for _, p := range x.promised {
		used += p
	}
	if most := x.sheet.MemoryBytes(); used+n > most {
		return fmt.Errorf("tenant %d: %w: %d bytes asked, %d of %d in use", tenant, vm.ErrNoFrame, n, used, most)
	}
	x.promised[tenant] += n
	return x.Tables.Reserve(mem.TenantID(tenant), r.Base, uint64(n))
}

// Free gives the frames of an allocation back.
func (x *Translation) Free(tenant int, r *mem.Region) {
	t := mem.TenantID(tenant)
	switch {
	case x.Tables != nil:
		if x.sheet.VM.FirstTouch && r.Kind != mem.Managed && r.Kind != mem.Host {
			x.promised[tenant] -= r.Len()
		}
		x.Tables.Unmap(t, r.Base, uint64(r.Len()))
	case r.Kind == mem.Managed:
		x.pager.Forget(t, r.Base)
	case r.Kind != mem.Host:
		x.pager.Unmap(t, r.Len())
	}
}

// Evict moves the resident pages of a managed range to the host and returns the bytes that cross the link.
func (x *Translation) Evict(tenant int, r *mem.Region, off, n int64) int64 {
	if x.Tables == nil {
		return x.pager.Move(mem.TenantID(tenant), r.Base+uint64(off), n, false)
	}
	pages := x.Tables.UnmapToHost(mem.TenantID(tenant), r.Base+uint64(off), uint64(n))
	return int64(pages) * int64(x.sheet.VM.Page)
}

// Prefetch gives the absent pages of a managed range frames and returns the bytes that cross the link.
func (x *Translation) Prefetch(tenant int, r *mem.Region, off, n int64) int64 {
	if x.Tables == nil {
		return x.pager.Move(mem.TenantID(tenant), r.Base+uint64(off), n, true)
	}
	page := uint64(x.sheet.VM.Page)
	var bytes int64
	for v := (r.Base + uint64(off)) / page; v*page < r.Base+uint64(off+n); v++ {
		if _, s := x.Tables.Translate(mem.TenantID(tenant), v*page); s == vm.Resident {
			continue
		}
		if _, err := x.Tables.MapPage(mem.TenantID(tenant), v, -1); err != nil {
			break // memory is full: the rest faults when touched
		}
		bytes += int64(page)
	}
	return bytes
}

// Physical translates an address without taking time.
func (x *Translation) Physical(tenant int, vaddr uint64) (uint64, bool) {
	if x.Tables == nil {
		return vm.Identity(mem.TenantID(tenant), vaddr), true
	}
	p, s := x.Tables.Translate(mem.TenantID(tenant), vaddr)
	return p, s == vm.Resident
}

// LocalWindow is the virtual address of an application's local-memory window: above all addresses that allocators
// hand out, below the bits that distinguish applications.
const LocalWindow = 1 << 39

// MapLocal gives an application's local-memory window frames for a number of bytes a thread.
func (x *Translation) MapLocal(tenant mem.TenantID, bytes int) error {
	if x.Tables == nil || bytes == 0 {
		return nil
	}
	need := uint64((bytes+3)/4) * x.localStride()
	have := x.localMapped[tenant]
	if need <= have {
		return nil
	}
	x.localMapped[tenant] = need
	if x.sheet.VM.FirstTouch {
		return x.Tables.Reserve(tenant, LocalWindow+have, need-have)
	}
	return x.Tables.MapRegion(tenant, LocalWindow+have, need-have)
}

// localStride is the distance of a thread's consecutive local words: one word of
// every thread the machine can hold.
func (x *Translation) localStride() uint64 { return uint64(x.sheet.SM.Count*x.sheet.SM.Threads) * 4 }

// Release frees all memory of an application whose program has ended.
func (x *Translation) Release(tenant int) {
	if x.Tables == nil {
		x.pager.Release(mem.TenantID(tenant))
		return
	}
	x.Tables.ReleaseTenant(mem.TenantID(tenant))
	x.MMU.InvalidateTenant(mem.TenantID(tenant))
	x.MMU.ClearStatus(mem.TenantID(tenant))
	for _, t := range x.TLBs {
		t.InvalidateTenant(mem.TenantID(tenant))
	}
	x.localMapped[tenant], x.promised[tenant] = 0, 0
}

// Tick looks up translations, and sends the reads and writes of page walks and of the copy engine.
func (x *Translation) Tick(now uint64) uint64 {
	if x.MMU == nil {
		return x.tickPager(now)
	}
	next := x.MMU.Tick(now)
	for {
		r, ok := x.MMU.PopReply()
		if !ok {
			break
		}
		next = now + 1 // there is room again for what waited behind it
		if x.Homes != nil && x.Homes.Refuses(now, r) {
			x.MMU.Again(&r)
			continue
		}
		x.Touches.Note(r.PPN, int(r.SM))
		x.SMs[r.SM].Translated(r.Tenant, r.VPN, r.PPN, now)
		x.wakeups.WakeSM(int(r.SM), now)
	}
	x.firstError.Note(x.MMU.Err())
	for n := x.MMU.Reads(); n > 0; n-- { // a walker waits for its own slice only
		next = now + 1
		addr, tenant, walker := x.MMU.PeekRead()
		line := addr &^ uint64(x.sheet.LLC.Line-1)
		sector := (addr - line) / uint64(x.sheet.LLC.Sector)
		r := mem.Req{Line: line, Tag: walker, Sectors: 1 << sector, Op: mem.Walk, Tenant: tenant}
		sent := x.fabric.InjectMMU(r, now)
		x.MMU.TakeRead(sent)
	}
	busy := false
	for _, s := range x.Sources {
		var at uint64
		at, busy = s.Send(now, busy)
		next = min(next, at)
	}
	return next
}

// Deliver takes an answer at the MMU's port: of a page walk, or of a source that shares the port.
func (x *Translation) Deliver(h int32, now uint64) {
	r := &x.fabric.Slab.R[h]
	if r.Origin == mem.OfPort {
		x.MMU.ReadDone(now, r.Tag)
		x.wakeups.WakeMMU(now)
	} else {
		x.Sources[r.Origin-mem.OfCopyEngine].Answered(r, now)
	}
	x.fabric.Slab.Put(h)
}

// Footprint is the device memory a tenant has, in bytes, page tables included; 0 on a machine that does not
// translate.
func (x *Translation) Footprint(tenant int) (bytes uint64) {
	if x.Tables == nil {
		return 0
	}
	for k := range x.Tables.Frames().Pools() {
		bytes += uint64(x.Tables.Pages(mem.TenantID(tenant), k)) * uint64(x.sheet.VM.Page)
	}
	return bytes
}
