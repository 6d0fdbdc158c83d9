package residency

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// UnifiedOptions asks for managed memory whose pages come when they are touched and leave when
// there is no room.
type UnifiedOptions struct {
	uvm.Options // bytes of the device for managed pages; 0: all of device memory
	// Share, if not 0, gives the capacity as a part of the allocated memory: of the rounded bytes of all managed
	// allocations, at the time there were most.
	Share float64
	// Arbiter says which application goes first on the link (link.ArbiterNames); "": FR-FCFS. For `static` it is
	// application High.
	Arbiter string
	High    int
	// FaultsHigh makes the driver take the faults of application High first, instead of those of the application that
	// goes first on the link.
	FaultsHigh bool
	// Preserve evicts the pages of the application that goes first on the link after those of all others.
	Preserve bool
	// FaultsOnLink makes each page that has faulted occupy the direction to the device, before its transfer, for the
	// time that the driver otherwise takes for a batch, as the dissertation's public simulator does.
	FaultsOnLink bool
	// Throttle makes pages that host and device take from each other wait on the host, as today's driver does.
	Throttle bool
	// Accesses counts the accesses of each page.
	Accesses bool
	// Spans keeps the actions of driver and link with their times, for a timeline.
	Spans bool
}

// Unified is unified memory in the machine, in the ten steps of section 2.2.1 of Ganguly's dissertation. An access
// misses in L1 and L2 TLB (1 to 4), its walk finds the page on the host (5), the MMU keeps the miss, one per page,
// with all that wait for it (6), the driver hears of it at the next interrupt (7, faults.go), the runtime plans which
// pages come and leave (8, package uvm), the link carries them between host and DRAM (9, dma.go), and the walk is
// repeated (10).
type Unified struct {
	managed
	Pages  transfer.PageStream // whose lines take turns at the MMU's port
	Remote RemoteStore

	driver  *vm.Driver // for pages that are not managed
	share   float64
	most    uint64   // bytes allocated at most so far
	had     []uint64 // and those of each tenant
	faults  faultServer
	dma     dmaEngine
	zero    zeroCopies
	stay    busyLink
	twice   duplicates
	spans   spanLog
	asked   []*Migration
	used    []uvm.PageUse
	high    int  // tenant that goes first on the link; -1: nobody
	spares  bool // its pages leave last
	ordered bool // it does not order faults
}

// tablesShare divides memory: one part in tablesShare is for page tables and for programs' unmanaged memory.
const tablesShare = 16

// Parts are the inputs from which Unified and Homes are built.
type Parts struct {
	Sheet       *sheets.Machine
	Apps        int
	SMs         []*sm.SM
	Fabric      *interconnect.Fabric
	Memory      *backing.Memory
	Translation *translation.Translation
	Host        *transfer.HostLink
	// OnArrived is called when a page of an application is where it was to be.
	OnArrived func(tenant mem.TenantID, page uint64)

	FirstError *timing.FirstError
	Clock      *timing.Clock
	Wakeups    timing.Wakeups
	// Table makes a table of counters.
	Table func(owner string, desc []stat.Desc, instances int) *stat.Table
}

// Build makes unified memory as a run asks for it, and gives the MMU its faults.
func (u *Unified) Build(b *Parts, o *UnifiedOptions) error {
	s := b.Sheet
	if !s.VM.Enabled || s.VM.Page != uvm.PageSize || s.UVM.Buffer == 0 {
		return fmt.Errorf("unified memory needs translation of pages of %d bytes (vm.enabled, vm.page) and a fault "+
			"buffer (uvm.buffer)", uvm.PageSize)
	}
	p := o.Options
	if p.Capacity == 0 {
		p.Capacity = s.MemoryBytes() / tablesShare * (tablesShare - 1) &^ (uvm.PageSize - 1)
	}
	if most := s.MemoryBytes(); p.Capacity > most {
		return fmt.Errorf("unified memory of %d bytes is more than dram.capacity, %d", p.Capacity, most)
	}
	var err error
	if u.runtime, err = uvm.New(p); err != nil {
		return err
	}
	u.tables, u.mmu, u.driver = b.Translation.Tables, b.Translation.MMU, b.Translation.Driver
	u.clock, u.wakeups = b.Clock, b.Wakeups
	u.runtime.Expect(u.dma.arrives)
	u.share, u.spans.on, u.spares = o.Share, o.Spans, o.Preserve
	if err = u.arbiter(o, s, b.Apps); err != nil {
		return err
	}
	if o.Accesses {
		u.runtime.Watch()
	}
	if o.Throttle {
		u.runtime.Throttle(s.Clock.Core)
	}
	u.had = make([]uint64, b.Apps)
	table := b.Table("uvm", UnifiedCounters(), 1)
	u.twice.build(u.managed, table)
	u.faults.build(u.managed, &u.twice, s, table, o.FaultsOnLink)
	if err = u.orderFaults(o, b.Apps); err != nil {
		return err
	}
	if o.FaultsOnLink {
		u.dma.perFault = cyclesOf(s.UVM.FaultUs, s)
	}
	if o.Public {
		u.dma.early = true
		u.stay.build(b)
	}
	u.dma.build(&u.managed, &u.Pages, b, table)
	u.dma.twice, u.dma.spans = &u.twice, &u.spans
	if o.Public {
		u.zero.build(&u.dma, &u.faults, s)
	}
	u.Remote.build(&u.Pages, b)
	for _, s := range b.SMs {
		u.dma.inFlight.watched = append(u.dma.inFlight.watched, s.Watch(u))
	}
	u.mmu.SetHandler(u)
	return nil
}

// Spans are the actions of driver and link so far, if UnifiedOptions asked for them.
func (u *Unified) Spans() []Span { return u.spans.list }

// Order says which transfer goes first on the link to the host; nil if nothing moves on demand.
func (u *Unified) Order() link.Arbiter { return u.dma.order }

// arbiter makes the scheduler that orders the transfers of applications on the link.
func (u *Unified) arbiter(o *UnifiedOptions, s *sheets.Machine, tenants int) (err error) {
	name := o.Arbiter
	switch {
	case name == "" && o.Public:
		u.dma.order, u.dma.inOrder = link.Oldest{}, true
		return nil
	case name == "":
		name = "fr-fcfs"
	}
	u.dma.order, err = link.NewArbiter(name, link.Parameters{
		Tenants: tenants, High: o.High,
		Period: uint64(s.UVM.LinkPeriod), Similar: s.UVM.LinkSimilar, Deviation: s.UVM.LinkDeviation,
		Queue: s.UVM.LinkQueue,
		Allocated: func(tenant mem.TenantID) uint64 {
			_, its := u.runtime.Allocated(tenant)
			return its
		},
	})
	if err != nil {
		return fmt.Errorf("machine %s: %w", s.Name, err)
	}
	return nil
}

// orderFaults makes the driver take the faults of the application that the run names first: into batches, and within
// each batch.
func (u *Unified) orderFaults(o *UnifiedOptions, tenants int) error {
	if u.high = -1; !o.FaultsHigh {
		return nil
	}
	if o.High >= tenants {
		return fmt.Errorf("faults: there is no application %d, of %d", o.High, tenants)
	}
	u.ordered, u.faults.high = true, o.High
	u.runtime.Prefer(o.High)
	return nil
}

// On says that managed memory is moved on demand.
func (u *Unified) On() bool { return u.runtime != nil }

// Allocate makes a managed region known, all of it on the host.
func (u *Unified) Allocate(tenant mem.TenantID, r *mem.Region) error {
	n := uvm.Rounded(uint64(r.Len()))
	if err := u.tables.Reserve(tenant, r.Base, n); err != nil {
		return err
	}
	if err := u.runtime.Allocate(tenant, managedKey(tenant, r.Base), uint64(r.Len()), false); err != nil {
		return fmt.Errorf("unified memory: %w", err)
	}
	all, its := u.runtime.Allocated(tenant)
	u.most = max(u.most, all)
	u.had[tenant] = max(u.had[tenant], its)
	if u.share > 0 {
		u.runtime.SetCapacity(max(uvm.PageSize, int64(u.share*float64(u.most))&^(uvm.PageSize-1)))
	}
	return nil
}

// Allocated is the most bytes of managed memory that a tenant has had, rounded as allocations are; 0 if nothing moves
// on demand.
func (u *Unified) Allocated(tenant int) uint64 {
	if !u.On() {
		return 0
	}
	return u.had[tenant]
}

// Accesses lists the managed pages that were accessed since the last call, by tenant and virtual page.
func (u *Unified) Accesses(do func(tenant int, vpn uint64, n uint32)) {
	if !u.On() {
		return
	}
	u.used = u.runtime.Seen(u.used[:0])
	for _, p := range u.used {
		do(int(keyTenant(p.Addr)), keyPage(p.Addr), p.N)
	}
}

// Heat lists the use of all managed allocations so far.
func (u *Unified) Heat() []uvm.Heat {
	if !u.On() {
		return nil
	}
	return u.runtime.Heats()
}

// Free forgets a managed region. Its pages on their way are dropped when they arrive.
func (u *Unified) Free(tenant mem.TenantID, base, bytes uint64) {
	key := managedKey(tenant, base)
	u.dma.abandon(key, key+uvm.Rounded(bytes))
	u.dma.atHost.forget(u.tables, key, key+uvm.Rounded(bytes))
	u.twice.forget(key, key+uvm.Rounded(bytes))
	u.dma.used -= u.runtime.Free(key)
	u.tables.Unmap(tenant, base, uvm.Rounded(bytes))
}

// Release forgets all regions of a tenant; the tables release its pages.
func (u *Unified) Release(tenant mem.TenantID) {
	for u.On() {
		base, bytes, ok := u.runtime.First(managedKey(tenant, 0), managedKey(tenant+1, 0))
		if !ok {
			return
		}
		u.dma.abandon(base, base+bytes)
		u.dma.atHost.forget(u.tables, base, base+bytes)
		u.twice.forget(base, base+bytes)
		u.dma.used -= u.runtime.Free(base)
	}
}

// Fault implements vm.FaultHandler.
func (u *Unified) Fault(now uint64, tenant mem.TenantID, vpn uint64, sm int) bool {
	key := managedKey(tenant, vpn*uvm.PageSize)
	switch _, state := u.tables.Lookup(tenant, vpn); {
	case state == vm.Moving || state == vm.Resident: // where it may not stay, or it has come since
		return u.driver.Fault(now, tenant, vpn, sm)
	case u.twice.waits(key):
		return u.faults.fileWrite(now, key)
	case !u.runtime.Manages(key): // registered memory of the host (zero copy)
		u.mmu.ResolveTo(now, tenant, vpn, remotePage(key), true)
		return true
	}
	switch u.runtime.Where(key) {
	case uvm.Coming: // its arrival resolves it
		u.zero.leave(key)
	default:
		if u.runtime.Asked(key) {
			u.zero.leave(key)
			return u.faults.file(now, key)
		}
		if u.zero.on {
			u.zero.begin(now, key)
			return true
		}
		u.runtime.MapRemote(key)
		u.mmu.ResolveTo(now, tenant, vpn, remotePage(key), true)
	}
	return true
}

// Tick implements vm.FaultHandler.
func (u *Unified) Tick(now uint64) uint64 {
	next := u.driver.Tick(now)
	u.runtime.Unpin(now)
	u.prefer(u.dma.order.High())
	if p := u.faults.served(now); p != nil {
		if f := &u.faults; len(f.keys) > 0 {
			u.spans.add(FaultBatch, now-f.cost, now, len(f.keys), keyTenant(f.keys[0]))
		}
		u.carryOut(now, p)
	}
	next = min(next, u.faults.due())
	u.dma.finish(now)
	u.serveHost(now)
	if u.runtime.Crowded() && (u.dma.early || !u.dma.leaving()) {
		u.carryOut(now, u.runtime.Shrink())
	}
	next = min(next, u.dma.start(now), u.Remote.deliver(now), u.zero.finish(now))
	u.stay.look(now, u.dma.busy() || u.zero.pending.Len() > 0)
	if invariants.On {
		u.check()
	}
	return next
}

// prefer makes the driver take the faults of the application that goes first on the link first, unless the run names
// another one for this. Its pages are evicted last.
func (u *Unified) prefer(high int) {
	if u.high == high {
		return
	}
	if u.high = high; !u.ordered {
		u.faults.high = high
	}
	if u.spares {
		u.runtime.Favour(high)
	}
}

// check fails, in builds with the invariants tag, when the books are wrong or pages have more
// frames than there are.
func (u *Unified) check() {
	if err := u.runtime.Check(); err != nil {
		invariants.Fail("unified memory: %v", err)
	}
	if u.dma.used > u.runtime.Capacity() || u.dma.used < u.runtime.Resident() {
		invariants.Fail("unified memory: %d frames are used, there are %d, and %d pages", u.dma.used,
			u.runtime.Capacity(), u.runtime.Resident())
	}
}

// carryOut queues what a plan asks for.
func (u *Unified) carryOut(now uint64, p *uvm.Plan) {
	for i := range p.Out {
		u.dma.evict(now, &p.Out[i], nil)
	}
	for i := range p.In {
		u.dma.fetch(now, &p.In[i])
	}
	for _, key := range p.Deferred {
		u.faults.requeue(now, key)
	}
}

// Access implements sm.Watcher.
func (u *Unified) Access(now uint64, tenant mem.TenantID, addr uint64, write, hit bool) bool {
	key := managedKey(tenant, addr)
	if !u.runtime.Manages(key) {
		return true
	}
	if hit && u.zero.on && u.runtime.IsMapped(key) {
		u.runtime.CountLocal(key, write)
		return true
	}
	u.runtime.Unpin(now)
	switch v, err := u.runtime.Access(key, write); {
	case err != nil:
	case v == uvm.Staged:
		u.keep(now, key)
		u.runtime.Used(key, write)
	case v == uvm.Fault:
		u.unmap(key)
		return false
	case v == uvm.Remote && u.zero.on:
		u.zero.wait(key)
	case v == uvm.Duplicate:
		u.keep(now, key)
		u.twice.begin(key &^ (uvm.PageSize - 1))
		return false
	}
	return true
}

// keep takes the chunk of an address, or in the public simulator its page, off the queue of evictions (5.3.6): it is
// needed.
func (u *Unified) keep(now uint64, key uint64) {
	u.dma.keep(u.runtime.ChunkOf(key), key)
	if u.runtime.Crowded() {
		u.wakeups.WakeMMU(now + 1)
	}
}

// MayWrite implements sm.Watcher: no page has copies.
func (u *Unified) MayWrite(uint64, mem.TenantID, uint64) bool { return true }

// Replay implements sm.Watcher.
func (u *Unified) Replay(_ uint64, tenant mem.TenantID, addr uint64, write bool) {
	u.runtime.Used(managedKey(tenant, addr), write)
}

// Retried implements sm.Watcher.
func (u *Unified) Retried(tenant mem.TenantID, addr uint64, cycles uint64) {
	if key := managedKey(tenant, addr); u.runtime.Manages(key) {
		u.runtime.Retried(key, cycles)
	}
}

// Leaves implements sm.Watcher.
func (u *Unified) Leaves(line uint64) bool {
	return line&mem.Remote == 0 && u.dma.inFlight.leaves(line)
}

// Sent implements sm.Watcher.
func (u *Unified) Sent(line uint64, _ mem.Op) { u.dma.count(line, 1) }

// Answered implements sm.Watcher.
func (u *Unified) Answered(line uint64) { u.dma.count(line, -1) }

// Launched tells the runtime of a kernel.
func (u *Unified) Launched(tenant mem.TenantID) {
	if u.On() {
		u.runtime.Kernel(tenant)
	}
}

// Advise takes a program's advice on a managed region, and returns what is known of it.
func (u *Unified) Advise(tenant int, r *mem.Region, set, clear uvm.Advice) *uvm.Hints {
	if !u.On() || r.Kind != mem.Managed {
		return nil
	}
	return u.runtime.Advise(managedKey(mem.TenantID(tenant), r.Base), set, clear)
}

// cyclesOf is microseconds in core cycles.
func cyclesOf(us float64, s *sheets.Machine) uint64 { return uint64(math.Round(us * s.Clock.Core)) }
