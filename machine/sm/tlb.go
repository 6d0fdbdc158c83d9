package sm

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// TLB is the SM's first-level translation buffer.
type TLB interface {
	Lookup(tenant mem.TenantID, vpn uint64) (ppn uint64, ok bool)
	Insert(tenant mem.TenantID, vpn, ppn uint64)
}

// MMU takes L1 TLB misses; false is back-pressure.
type MMU interface {
	Request(now uint64, tenant mem.TenantID, vpn uint64, sm int, token int32) bool
}

// Pager says, on a machine that does not translate, which pages are on the device.
type Pager interface {
	// Absent names the page an access has to wait for, by its first address.
	Absent(tenant mem.TenantID, addr uint64) (page uint64, absent bool)
	// Fault asks for it; Arrived follows.
	Fault(now uint64, tenant mem.TenantID, page uint64)
}

// Watcher is called, on a machine whose pages come and go while kernels run, for every access to global memory that
// finds its translation or waits for it, and for requests for the lines of frames.
type Watcher interface {
	// Access is called once for an access, at the lookup of its translation; hit says that the L1 TLB has one. False
	// forbids the translation: it has been removed, and the page is asked for.
	Access(now uint64, tenant mem.TenantID, addr uint64, write, hit bool) bool
	// MayWrite says whether a write that has found its translation may use it; if not, the page is asked for again.
	MayWrite(now uint64, tenant mem.TenantID, addr uint64) bool
	// Retried counts more cycles for which an access that had its translation waited for the L1.
	Retried(tenant mem.TenantID, addr uint64, cycles uint64)
	// Replay is called for an access that has waited and continues.
	Replay(now uint64, tenant mem.TenantID, addr uint64, write bool)
	// Sent is called for a request for a line, Answered for its answer.
	Sent(line uint64, op mem.Op)
	Answered(line uint64)
	// Leaves says that the frame of a line is being taken away.
	Leaves(line uint64) bool
}

// tlbMiss is a page that the SM has requested from the MMU (without translation: from the pager), and the accesses
// that wait for it.
type tlbMiss struct {
	vpn    uint64 // of the pager's pages: the first address
	tenant mem.TenantID
	sent   bool
	first  int32 // chain in translation.parked; -1 ends it
	last   int32
}

// parked is an access that waits for a translation.
type parked struct {
	access
	next int32
}

// translation makes addresses physical, and keeps accesses while theirs is not known.
type translation struct {
	full       bool  // the oldest access of the queue has found every entry of pending taken
	hold       bool  // no access enters: SM.Hold
	frozen     bool  // nor here: SM.Freeze
	pager      Pager // nil: every page is on the device
	tlb        TLB   // nil: addresses are places
	mmu        MMU
	sm         int
	pending    []tlbMiss
	refusal    *tlbMiss // the queue's head waits for it, and the MMU had no room; nil
	watch      Watcher  // nil: nobody
	head       tried    // the access that has found its translation last
	parked     []parked
	freeParked []int32
}

// tried is an access that has found its translation and waits for the L1.
type tried struct {
	addr   uint64 // virtual
	since  uint64 // cycle
	tenant mem.TenantID
}

// entered reports the cycles in which the access at the head has waited for the L1 to the watcher.
func (x *translation) entered(a *access, now uint64) {
	if x.watch != nil && now > x.head.since && a.line&mem.Remote == 0 {
		x.watch.Retried(x.head.tenant, x.head.addr, now-x.head.since)
	}
}

// translate turns a's virtual line into a physical one. On a TLB miss the access
// is set aside (a.op becomes -1) so that only its own warp waits; false means
// that the miss cannot be taken now.
func (l *loadStore) translate(a *access, now uint64) bool {
	o, x := &l.ops.list[a.op], &l.translation
	if x.tlb == nil {
		return l.present(a, o.tenant, now)
	}
	if x.hold || x.frozen {
		return false
	}
	vpn := a.line >> l.cfg.translation.pageShift
	row := l.rows[o.tenant]
	m := x.refusal
	if m == nil || m.vpn != vpn || m.tenant != o.tenant {
		if ppn, ok := x.tlb.Lookup(o.tenant, vpn); ok {
			if x.tell(a, o, true, now) && x.mayUse(a, o, now) {
				row[TLBAccesses]++
				row[TLBHits]++
				x.head = tried{a.line, now, o.tenant}
				a.line = ppn<<l.cfg.translation.pageShift | a.line&(1<<l.cfg.translation.pageShift-1)
				a.state |= translated
				return true
			}
		}
		if m = x.missFor(o.tenant, vpn); m == nil {
			x.full = true
			return false
		}
	}
	if !m.sent {
		if !x.mmu.Request(now, o.tenant, vpn, x.sm, 0) {
			l.port, x.refusal = now+1, m
			return false
		}
		m.sent, x.refusal = true, nil
	}
	row[TLBAccesses]++
	x.tell(a, o, false, now)
	x.park(m, a)
	a.op = -1
	return true
}

// tell reports an access to the watcher, with or without a translation; false says that the translation must not be
// used.
func (x *translation) tell(a *access, o *memOp, hit bool, now uint64) bool {
	if x.watch == nil || a.state&reported != 0 {
		return true
	}
	a.state |= reported
	return x.watch.Access(now, o.tenant, a.line, o.writes(), hit)
}

// mayUse says that an access may use the translation it has found.
func (x *translation) mayUse(a *access, o *memOp, now uint64) bool {
	return x.watch == nil || !o.writes() || x.watch.MayWrite(now, o.tenant, a.line)
}

// writes says that the operation changes memory.
func (o *memOp) writes() bool {
	return o.kind == isa.Store || o.kind == isa.Atomic || o.kind == isa.Reduce
}

// present is translate on a machine that does not translate: an access waits only for a page that is on the host.
func (l *loadStore) present(a *access, tenant mem.TenantID, now uint64) bool {
	x := &l.translation
	if x.pager != nil {
		if page, absent := x.pager.Absent(tenant, a.line); absent {
			m := x.missFor(tenant, page)
			if m == nil {
				l.port = now + 1
				return false
			}
			if !m.sent {
				x.pager.Fault(now, tenant, page)
				m.sent = true
			}
			x.park(m, a)
			a.op = -1
			return true
		}
	}
	a.line |= uint64(tenant) << addrmap.TenantShift
	a.state |= translated
	return true
}

func (x *translation) park(m *tlbMiss, a *access) {
	var n int32
	if k := len(x.freeParked); k > 0 {
		n = x.freeParked[k-1]
		x.freeParked = x.freeParked[:k-1]
	} else {
		x.parked = append(x.parked, parked{})
		n = int32(len(x.parked) - 1)
	}
	x.parked[n] = parked{*a, -1}
	if m.first < 0 {
		m.first = n
	} else {
		x.parked[m.last].next = n
	}
	m.last = n
}

// missFor is the entry that waits for the page, a new one if there is room.
func (x *translation) missFor(tenant mem.TenantID, vpn uint64) *tlbMiss {
	var room *tlbMiss
	for i := range x.pending {
		m := &x.pending[i]
		if !m.sent {
			room = m
		} else if m.vpn == vpn && m.tenant == tenant {
			return m
		}
	}
	if room != nil {
		*room = tlbMiss{vpn: vpn, tenant: tenant, first: -1, last: -1}
	}
	return room
}

// unpark sends the accesses that waited for a page on to replay: the bits of keep stay in their address, those of
// place are set.
func (x *translation) unpark(tenant mem.TenantID, vpn, keep, place uint64, replay *mem.Queue[access]) {
	x.full = false
	for i := range x.pending {
		m := &x.pending[i]
		if !m.sent || m.vpn != vpn || m.tenant != tenant {
			continue
		}
		for n := m.first; n >= 0; n = x.parked[n].next {
			a := x.parked[n].access
			a.line = a.line&keep | place
			a.state |= translated
			replay.Push(a)
			x.freeParked = append(x.freeParked, n)
		}
		m.sent = false
	}
}

// each visits the accesses that wait for a miss.
func (x *translation) each(visit func(a *access)) {
	for i := range x.pending {
		if m := &x.pending[i]; m.sent {
			for n := m.first; n >= 0; n = x.parked[n].next {
				visit(&x.parked[n].access)
			}
		}
	}
}

// forget drops the accesses that wait: the answers are dropped when they come.
func (x *translation) forget() {
	for i := range x.pending {
		m := &x.pending[i]
		for n := m.first; m.sent && n >= 0; n = x.parked[n].next {
			x.freeParked = append(x.freeParked, n)
		}
		m.sent = false
	}
	x.refusal, x.full = nil, false
}

// Translated delivers a translation: the accesses that waited go on.
func (s *SM) Translated(tenant mem.TenantID, vpn, ppn uint64, now uint64) {
	x, shift := &s.lsu.translation, s.cfg.translation.pageShift
	x.tlb.Insert(tenant, vpn, ppn)
	if x.watch != nil {
		s.lsu.replays(tenant, vpn, now)
	}
	x.unpark(tenant, vpn, 1<<shift-1, ppn<<shift, &s.lsu.replay)
	s.wakeAt(now)
}

// Arrived says that a page the pager was asked for is on the device.
func (s *SM) Arrived(tenant mem.TenantID, page, now uint64) {
	s.lsu.translation.unpark(tenant, page, ^uint64(0), uint64(tenant)<<addrmap.TenantShift, &s.lsu.replay)
	s.wakeAt(now)
}

// SetPager makes accesses wait for pages that are not on the device.
func (s *SM) SetPager(p Pager) { s.lsu.translation.pager = p }

// replays reports the accesses that have waited for a page and continue to the watcher.
func (l *loadStore) replays(tenant mem.TenantID, vpn, now uint64) {
	x := &l.translation
	for i := range x.pending {
		m := &x.pending[i]
		if !m.sent || m.vpn != vpn || m.tenant != tenant {
			continue
		}
		for n := m.first; n >= 0; n = x.parked[n].next {
			a := &x.parked[n].access
			x.watch.Replay(now, tenant, a.line, l.ops.list[a.op].writes())
		}
	}
}

// Watched is an SM whose accesses a Watcher gets.
type Watched struct{ lsu *loadStore }

// Watch makes an SM report its accesses.
func (s *SM) Watch(w Watcher) Watched {
	s.lsu.translation.watch = w
	return Watched{&s.lsu}
}

// WaitsToWrite says whether an access that changes memory waits for the translation of a page.
func (x Watched) WaitsToWrite(tenant mem.TenantID, vpn uint64) bool {
	l := x.lsu
	t := &l.translation
	for i := range t.pending {
		m := &t.pending[i]
		if !m.sent || m.vpn != vpn || m.tenant != tenant {
			continue
		}
		for n := m.first; n >= 0; n = t.parked[n].next {
			if l.ops.list[t.parked[n].access.op].writes() {
				return true
			}
		}
	}
	return false
}

// HasAccessToLeaving says whether an access that has been translated, and has not become a request, goes to a frame
// that is being taken away.
func (x Watched) HasAccessToLeaving() bool {
	l := x.lsu
	w := l.translation.watch
	for i := range l.queue.Len() {
		if a := l.queue.At(i); a.state&translated != 0 && w.Leaves(a.line) {
			return true
		}
	}
	for i := range l.replay.Len() {
		if w.Leaves(l.replay.At(i).line) {
			return true
		}
	}
	for i := range l.l1.queue.Len() {
		if w.Leaves(l.l1.queue.At(i).line) {
			return true
		}
	}
	return false
}
