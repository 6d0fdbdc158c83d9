package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

const never = ^uint64(0)

// Config sizes the MMU. NewConfig fills it from a machine sheet; the fields the
// sheet lacks are estimates, chosen large enough not to limit what it does name.
type Config struct {
	Entries, Ways int    // L2 TLB; ways 0: fully associative
	Latency       uint64 // core cycles of an L2 TLB lookup
	Ports         int    // lookups begun per cycle and bank
	Banks         int    // a power of two that divides the sets
	Walkers       int    // concurrent walks
	WalkCache     int    // entries; 0: none
	WalkCycles    uint64 // core cycles of a walk, which then makes no reads; 0: it reads the page table
	InQueue       int    // requests of an SM accepted and not yet looked up, per bank (estimate)
	Pending       int    // pages that are walked or faulted, or wait for that: a fault must not block other misses
	Waiters       int    // requests waiting for those pages (every SM's L1 misses)
	Replies       int    // replies not yet taken (estimate)
	Tenants       int
	GainShare     bool // pages that move into gained channels are spread over the address space (method misplaced)
	// Near is the channel group nearest to each SM, for first-touch placement: SMs
	// and groups are dealt to each other in order (NUBA's partitions).
	Near []int
	// Part is the partition of each SM: pages may have copies in partitions.
	Part []int
}

// NewConfig takes the sizes from a sheet.
func NewConfig(s *sheets.Machine, tenants int) Config {
	v := &s.VM
	groups := s.Map.Groups
	if groups == 0 {
		groups = s.DRAM.Channels
	}
	near, part := make([]int, s.SM.Count), make([]int, s.SM.Count)
	for i := range near {
		near[i] = i * groups / len(near)
		part[i] = i * s.NoC.Parts() / len(near)
	}
	return Config{
		Entries: v.L2Entries, Ways: v.L2Ways, Latency: uint64(v.L2Latency), Ports: max(1, v.L2Ports),
		Banks: max(1, v.L2Banks), Walkers: max(1, v.Walkers), WalkCache: v.WalkCache,
		WalkCycles: uint64(v.WalkCycles),
		InQueue:    4, Pending: max(256, 4*v.Walkers, s.SM.Count*v.L1Misses), Waiters: max(256,
			s.SM.Count*v.L1Misses), Replies: 64, Tenants: tenants, Near: near, Part: part, GainShare: v.GainShare,
	}
}

// FaultHandler is the driver's side of a fault: it moves the page to the device
// and then calls MMU.Resolve. Driver is the default; unified memory has its own.
type FaultHandler interface {
	// Fault reports that an access of an SM found a page that is not on the device.
	// It is called once per page until the page is resolved; false means that the
	// fault buffer is full, and the MMU asks again when the handler has had a Tick.
	Fault(now uint64, tenant mem.TenantID, vpn uint64, sm int) bool
	// Tick lets the handler work; it returns the next cycle at which it has to,
	// all ones for never. The MMU calls it first in each of its own ticks.
	Tick(now uint64) (next uint64)
}

// Reply is a finished translation, to be inserted in the SM's L1 TLB.
type Reply struct {
	VPN, PPN uint64
	Token    int32
	SM       int16
	Tenant   mem.TenantID
}

type request struct {
	vpn    uint64
	ready  uint64 // cycle at which the lookup is done
	token  int32
	sm     int16
	tenant mem.TenantID
}

// miss is a page being fetched.
type miss struct {
	vpn    uint64
	ppn    uint64
	since  uint64 // of the wait, walk or fault
	first  int32  // waiting requests, oldest first; -1: none
	last   int32
	sm     int16 // that missed first
	tenant mem.TenantID
	fault  bool
	known  bool // a walk has faulted, and its page has come: one that takes fixed cycles need not walk again
}

type waiter struct {
	next, token int32
	sm          int16
}

type walker struct {
	miss  int32
	node  int32
	depth int32
}

// MMU serves the L1 TLB misses of all SMs. Its owner must call Tick in the cycle
// of every Request, ReadDone, Resolve and InvalidatePage (after them), and again at
// the cycle Tick returned.
type MMU struct {
	cfg    Config
	tab    *Tables
	l2     *TLB
	cache  *TLB // inner nodes by page prefix; nil: none
	fault  FaultHandler
	banks  []bank // of the L2 TLB, by the low bits of the page's number
	out    mem.Ring[Reply]
	reads  mem.Ring[int32] // walkers whose read was not yet taken
	miss   []miss
	free   []int32
	index  *pageIndex      // pending pages
	queue  mem.Ring[int32] // misses waiting for a walker
	refuse mem.Ring[int32] // faults waiting for room in the handler
	done   mem.Ring[int32] // misses whose requests are being answered
	wait   []waiter
	spare  int32 // first free waiter
	walk   []walker
	timed  mem.Queue[timedWalk]
	idle   []int32
	active []int      // [tenant] its requests here, and its pages that wait and are not with the driver
	status []status   // [tenant] channel status registers
	row    [][]uint64 // [tenant] counters
	err    error
}

// status is the register of the L2 TLB that follows a change of channels (UGPU, section 4.4): a page outside keep has
// been lost, one outside gain shall move into the gained groups. The paper's holds 8 bits and an application number
// of 2; here it is as wide as the machine has groups and applications.
type status struct {
	on         bool
	keep, gain uint64 // groups; gain 0: nothing was gained, or pages are balanced
	owned      uint64 // groups of keep
	gained     uint64 // groups of gain
}

// NewMMU makes an MMU over tables. The table of counters has Desc and one
// instance. handler may be nil when nothing is ever reserved without frames.
func NewMMU(cfg Config, tab *Tables, handler FaultHandler, counters *stat.Table) (*MMU, error) {
	l2, err := NewTLB(cfg.Entries, cfg.Ways)
	if err != nil {
		return nil, fmt.Errorf("L2 %w", err)
	}
	if n := cfg.Banks; n < 1 || n&(n-1) != 0 || l2.sets%uint64(n) != 0 {
		return nil, fmt.Errorf("L2 TLB of %d sets, %d banks: banks must be a power of two that divides the sets",
			l2.sets, n)
	}
	m := &MMU{
		cfg: cfg, tab: tab, l2: l2, fault: handler,
		out: mem.NewRing[Reply](cfg.Replies), reads: mem.NewRing[int32](cfg.Walkers),
		miss: make([]miss, cfg.Pending), index: newPageIndex(cfg.Pending), queue: mem.NewRing[int32](cfg.Pending),
		refuse: mem.NewRing[int32](cfg.Pending), done: mem.NewRing[int32](cfg.Pending),
		wait: make([]waiter, cfg.Waiters), walk: make([]walker, cfg.Walkers),
	}
	if cfg.WalkCache > 0 {
		if m.cache, err = NewTLB(cfg.WalkCache, 0); err != nil {
			return nil, err
		}
	}
	for i := cfg.Pending - 1; i >= 0; i-- {
		m.free = append(m.free, int32(i))
		m.miss[i].first = -1
	}
	for i := cfg.Walkers - 1; i >= 0; i-- {
		m.idle = append(m.idle, int32(i))
	}
	for i := range m.wait {
		m.wait[i].next = int32(i) + 1
	}
	m.wait[len(m.wait)-1].next = -1
	for range cfg.Banks {
		m.banks = append(m.banks, newBank(&cfg))
	}
	m.status, m.active = make([]status, cfg.Tenants), make([]int, cfg.Tenants)
	for t := range cfg.Tenants {
		m.row = append(m.row, counters.Row(0, t))
	}
	return m, nil
}

// SetHandler replaces the fault handler, which usually needs the MMU itself.
func (m *MMU) SetHandler(h FaultHandler) { m.fault = h }

// Request asks for a translation on behalf of an SM; false is back-pressure.
// token comes back in the reply.
func (m *MMU) Request(now uint64, tenant mem.TenantID, vpn uint64, sm int, token int32) bool {
	if !m.bankOf(vpn).push(request{vpn: vpn, token: token, sm: int16(sm), tenant: tenant}) {
		return false
	}
	m.active[tenant]++
	return true
}

// PopReply takes the oldest finished translation.
func (m *MMU) PopReply() (r Reply, ok bool) {
	if m.out.Len() == 0 {
		return Reply{}, false
	}
	r = m.out.Pop()
	m.active[r.Tenant]--
	return r, true
}

// Err is the first error of a translation: a page that no allocation covers, or device memory exhausted. The run
// cannot continue.
func (m *MMU) Err() error { return m.err }

// Busy is the number of requests and pages in flight.
func (m *MMU) Busy() int {
	n := m.out.Len() + len(m.miss) - len(m.free)
	for k := range m.banks {
		n += m.banks[k].waiting() + m.banks[k].pipe.Len()
	}
	return n
}

// Tick does one cycle of work and returns the next cycle with work; all ones if only a ReadDone, Resolve or Request
// can bring some.
func (m *MMU) Tick(now uint64) (next uint64) {
	next = never
	if m.fault != nil {
		next = m.fault.Tick(now)
	}
	for n := m.refuse.Len(); n > 0; n-- {
		m.raise(now, m.refuse.Pop())
	}
	blocked := m.lookups(now)
	m.endWalks(now)
	m.startWalks(now)
	freed := m.answer()
	if m.done.Len() > 0 || (freed && blocked) { // the handler's tick makes room for what it has refused
		return now + 1
	}
	if blocked && m.out.Full() {
		return now + 1 // the owner takes replies without telling
	}
	for k := range m.banks {
		next = min(next, m.banks[k].next(now))
	}
	if m.timed.Len() > 0 {
		next = min(next, m.timed.Head().end)
	}
	return next
}

// lookups has every bank begin lookups and finish those whose time has come. It
// reports whether the oldest of a bank could not go on for lack of room. Which
// bank goes first changes from cycle to cycle: room for replies and misses, which they
// share, must not go to the same one always.
func (m *MMU) lookups(now uint64) (blocked bool) {
	for k := range m.banks {
		b := &m.banks[(now+uint64(k))&uint64(len(m.banks)-1)]
		b.accept(now, m.cfg.Ports, m.cfg.Latency)
		b.blocked = false
		for range m.cfg.Ports {
			if b.pipe.Len() == 0 || b.pipe.Head().ready > now {
				break
			}
			if !m.lookup(now, b.pipe.Head()) {
				b.blocked, blocked = true, true
				break
			}
			b.pipe.Pop()
		}
	}
	return blocked
}

// lookup answers a hit and files a miss; false when there is no room for either.
func (m *MMU) lookup(now uint64, r *request) bool {
	row := m.row[r.tenant]
	if m.out.Full() {
		return false // a hit could not be answered; a miss waits the same cycle
	}
	ppn, ok := m.l2.Lookup(r.tenant, r.vpn)
	if !ok && m.tab.Parts.frames > 0 {
		ppn, ok = m.l2.Lookup(r.tenant, view(r.vpn, m.cfg.Part[r.sm]))
	}
	if ok && m.status[r.tenant].on && m.misplaced(r.tenant, r.vpn, ppn) { // the walk finds out again and faults
		m.l2.InvalidatePage(r.tenant, r.vpn)
		ok = false
	}
	if ok {
		row[L2Accesses]++
		row[L2Hits]++
		m.out.Push(Reply{VPN: r.vpn, PPN: ppn, Token: r.token, SM: r.sm, Tenant: r.tenant})
		return true
	}
	if m.spare < 0 {
		return false
	}
	key := pageKey(r.tenant, r.vpn)
	i := m.index.find(key)
	if i < 0 {
		if len(m.free) == 0 {
			return false
		}
		i = m.free[len(m.free)-1]
		m.free = m.free[:len(m.free)-1]
		m.miss[i] = miss{vpn: r.vpn, since: now, first: -1, last: -1, sm: r.sm, tenant: r.tenant}
		m.index.add(key, i)
		m.queue.Push(i)
		m.active[r.tenant]++
	} else {
		row[Merged]++
	}
	m.active[r.tenant]-- // the request waits as the page's
	row[L2Accesses]++
	w := m.spare
	m.spare = m.wait[w].next
	m.wait[w] = waiter{next: -1, token: r.token, sm: r.sm}
	if e := &m.miss[i]; e.last >= 0 {
		m.wait[e.last].next = w
		e.last = w
	} else {
		e.first, e.last = w, w
	}
	return true
}

// answer turns the requests of finished misses into replies, as far as there is
// room, and reports whether a miss was retired.
func (m *MMU) answer() (freed bool) {
	for m.done.Len() > 0 {
		i := *m.done.Head()
		e := &m.miss[i]
		for e.first >= 0 {
			if m.out.Full() {
				return freed
			}
			w := e.first
			sm := m.wait[w].sm
			m.out.Push(Reply{VPN: e.vpn, PPN: m.near(e, sm), Token: m.wait[w].token, SM: sm, Tenant: e.tenant})
			m.active[e.tenant]++
			e.first = m.release(w)
		}
		m.active[e.tenant]--
		m.done.Pop()
		m.free = append(m.free, i)
		freed = true
	}
	return freed
}

// InvalidatePage removes a translation everywhere in the MMU. Requests that were
// answered with it, but whose reply was not yet taken, look again. The machine
// calls it, beside invalidating the L1 TLBs, from Tables.Shootdown.
func (m *MMU) InvalidatePage(tenant mem.TenantID, vpn uint64) {
	m.row[tenant][Shootdowns]++
	m.l2.InvalidatePage(tenant, vpn)
	for part := range m.tab.Parts.n {
		m.l2.InvalidatePage(tenant, view(vpn, part))
	}
	for n := m.out.Len(); n > 0; n-- {
		if r := m.out.Pop(); r.Tenant == tenant && r.VPN == vpn {
			m.bankOf(vpn).retry.Push(request{vpn: vpn, token: r.Token, sm: r.SM, tenant: tenant})
		} else {
			m.out.Push(r)
		}
	}
	for n := m.done.Len(); n > 0; n-- {
		i := m.done.Pop()
		e := &m.miss[i]
		if e.tenant != tenant || e.vpn != vpn {
			m.done.Push(i)
			continue
		}
		for e.first >= 0 {
			w := e.first
			m.bankOf(vpn).retry.Push(request{vpn: vpn, token: m.wait[w].token, sm: m.wait[w].sm, tenant: tenant})
			m.active[tenant]++
			e.first = m.release(w)
		}
		m.active[tenant]--
		m.free = append(m.free, i)
	}
}

// release frees a waiter and returns the one behind it.
func (m *MMU) release(w int32) (next int32) {
	next = m.wait[w].next
	m.wait[w].next = m.spare
	m.spare = w
	return next
}

// ClearStatus switches the tenant's status register off: all of its pages are in channels that it may use.
func (m *MMU) ClearStatus(tenant mem.TenantID) { m.status[tenant] = status{} }

// misplaced says that a page's frame is in a lost group, or outside the gained ones
// although the page belongs there.
//
// The paper moves every page that is touched outside the gained groups until their
// number is right. An application that sweeps its data then has the first part of it
// in the gained groups alone and the rest in the others alone, and never uses
// all its channels at once. With GainShare the pages that move are every n-th ones,
// in the proportion of gained to owned groups: the same number, spread evenly.
func (m *MMU) misplaced(tenant mem.TenantID, vpn, ppn uint64) bool {
	if !m.tab.frames.PerGroup() {
		return m.tab.old(tenant, ppn)
	}
	s := &m.status[tenant]
	g := uint64(1) << m.tab.frames.Pool(ppn)
	if s.keep&g == 0 {
		return true
	}
	return s.gain != 0 && s.gain&g == 0 && (!m.cfg.GainShare || vpn%s.owned < s.gained)
}

// Quiet says that the MMU neither looks up, walks nor answers for a tenant; pages that wait for the driver do not
// count.
func (m *MMU) Quiet(tenant mem.TenantID) bool {
	if invariants.On && m.active[tenant] != m.recount(tenant) {
		panic(fmt.Sprintf("MMU: tenant %d has %d requests and pages in flight, %d by counting", tenant,
			m.active[tenant], m.recount(tenant)))
	}
	return m.active[tenant] == 0
}

// recount is what active should be.
func (m *MMU) recount(tenant mem.TenantID) (n int) {
	count := func(t mem.TenantID) {
		if t == tenant {
			n++
		}
	}
	for k := range m.banks {
		m.banks[k].each(func(r *request) { count(r.tenant) })
	}
	for i := range m.out.Len() {
		count(m.out.At(i).Tenant)
	}
	for i := range m.miss {
		if e := &m.miss[i]; e.first >= 0 && !e.fault {
			count(e.tenant)
		}
	}
	return n
}

// InvalidateTenant removes all of a tenant's translations; it must have no
// request in flight.
func (m *MMU) InvalidateTenant(tenant mem.TenantID) {
	m.l2.InvalidateTenant(tenant)
	if m.cache != nil {
		m.cache.InvalidateTenant(tenant)
	}
}
