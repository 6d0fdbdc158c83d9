package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// Page walks: each level is one dependent read that the machine carries to the
// LLC and, if need be, to DRAM.

// startWalks gives free walkers to waiting misses.
func (m *MMU) startWalks(now uint64) {
	for m.queue.Len() > 0 && len(m.idle) > 0 {
		i := m.queue.Pop()
		e := &m.miss[i]
		row := m.row[e.tenant]
		row[Walks]++
		row[WalkWait] += now - e.since
		e.since, e.fault = now, false
		w := m.idle[len(m.idle)-1]
		m.idle = m.idle[:len(m.idle)-1]
		m.walk[w] = walker{miss: i}
		p := m.tab.pt[e.tenant]
		if len(p.addr) == 0 {
			m.unmapped(e)
			return
		}
		switch {
		case m.cfg.WalkCycles > 0 && e.known:
			m.endWalk(now, w)
			continue
		case m.cfg.WalkCycles > 0:
			m.timed.Push(timedWalk{w, now + m.cfg.WalkCycles})
			continue
		}
		m.skip(&m.walk[w], e, p)
		m.reads.Push(w)
	}
}

// timedWalk is a walk that takes Config.WalkCycles, with its end.
type timedWalk struct {
	walker int32
	end    uint64
}

// endWalks ends the walks whose time is over.
func (m *MMU) endWalks(now uint64) {
	for m.timed.Len() > 0 && m.timed.Head().end <= now {
		m.endWalk(now, m.timed.Pop().walker)
	}
}

// endWalk gives a walk the entries that it would have read.
func (m *MMU) endWalk(now uint64, w int32) {
	for m.ReadDone(now, w); m.reads.Len() > 0; {
		m.ReadDone(now, m.reads.Pop())
	}
}

// skip starts the walk at the deepest node the page-walk cache knows.
func (m *MMU) skip(w *walker, e *miss, p *PageTable) {
	if m.cache == nil {
		return
	}
	for d := p.levels - 1; d > 0; d-- {
		if node, ok := m.cache.Lookup(e.tenant, p.prefix(e.vpn, d)); ok {
			w.node, w.depth = int32(node), int32(d)
			m.row[e.tenant][CacheHits]++
			return
		}
	}
}

// prefix names the node at a depth on the path to a page.
func (p *PageTable) prefix(vpn uint64, depth int) uint64 {
	return vpn>>(levelBits*(p.levels-depth))<<3 | uint64(depth)
}

// Reads is the number of page-table reads that wait to be taken.
func (m *MMU) Reads() int { return m.reads.Len() }

// PeekRead is the next read: 8 bytes at paddr on behalf of tenant. The machine sends it to the LLC and answers with
// ReadDone(walker).
func (m *MMU) PeekRead() (paddr uint64, tenant mem.TenantID, walker int32) {
	walker = *m.reads.Head()
	k := &m.walk[walker]
	e := &m.miss[k.miss]
	p := m.tab.pt[e.tenant]
	last := p.levels - 1
	if int(k.depth) > last { // entries of the page's copies, unless these are gone
		if s := m.tab.Parts.set(p.ent[p.at(int(k.node), last, e.vpn)] >> valueAt); s != nil {
			return s.entries + uint64(m.cfg.Part[e.sm])*copyEntryBytes, e.tenant, walker
		}
	}
	return p.entryAddr(int(k.node), min(int(k.depth), last), e.vpn), e.tenant, walker
}

// TakeRead takes the next read, or moves it to the end of the queue if there is no room for it.
func (m *MMU) TakeRead(sent bool) {
	w := m.reads.Pop()
	if !sent {
		m.reads.Push(w)
		return
	}
	m.row[m.miss[m.walk[w].miss].tenant][WalkReads]++
}

// ReadDone says that the data of a walker's read is here. The walk goes one level
// down, ends with a translation, or ends with a fault.
func (m *MMU) ReadDone(now uint64, w int32) {
	k := &m.walk[w]
	e := &m.miss[k.miss]
	p := m.tab.pt[e.tenant]
	entry := p.ent[p.at(int(k.node), min(int(k.depth), p.levels-1), e.vpn)]
	if int(k.depth) == p.levels-1 && State(entry&stateMask) == Resident && m.tab.Parts.set(entry>>valueAt) != nil {
		k.depth++
		m.reads.Push(w)
		return
	}
	if int(k.depth) < p.levels-1 && entry != 0 {
		k.node, k.depth = int32(entry>>valueAt), k.depth+1
		if m.cache != nil {
			m.cache.Insert(e.tenant, p.prefix(e.vpn, int(k.depth)), uint64(k.node))
		}
		m.reads.Push(w)
		return
	}
	i := k.miss
	m.row[e.tenant][WalkCycles] += now - e.since
	m.idle = append(m.idle, w)
	state := State(entry & stateMask)
	if state == Resident && m.status[e.tenant].on && m.misplaced(e.tenant, e.vpn, entry>>valueAt) {
		state = Moving // the entry is invalidated: the driver moves the page
	}
	switch state {
	case Moving:
		e.since, e.fault = now, true
		m.active[e.tenant]--
		m.row[e.tenant][MoveFaults]++
		m.raise(now, i)
	case Resident:
		e.ppn = entry >> valueAt
		if m.tab.Parts.set(e.ppn) == nil {
			m.l2.Insert(e.tenant, e.vpn, e.ppn)
		}
		m.index.remove(pageKey(e.tenant, e.vpn))
		m.done.Push(i)
	case Host:
		e.since, e.fault = now, true
		m.active[e.tenant]--
		m.row[e.tenant][Faults]++
		m.raise(now, i)
	default:
		m.unmapped(e)
	}
}

// raise hands a fault to the driver.
func (m *MMU) raise(now uint64, i int32) {
	e := &m.miss[i]
	if m.fault == nil {
		m.fail(fmt.Errorf("tenant %d: virtual page 0x%x is not on the device and the machine has no fault handler",
			e.tenant, e.vpn))
		return
	}
	if !m.fault.Fault(now, e.tenant, e.vpn, int(e.sm)) {
		m.refuse.Push(i)
	}
}

// Resolve says that a page is on the device now: a walk that faulted on it restarts. A page that no walk waits for is
// ignored.
func (m *MMU) Resolve(now uint64, tenant mem.TenantID, vpn uint64) {
	i := m.index.find(pageKey(tenant, vpn))
	if i < 0 || !m.miss[i].fault {
		return
	}
	e := &m.miss[i]
	m.row[tenant][FaultCycles] += now - e.since
	e.since, e.fault, e.known = now, false, true
	m.active[tenant]++
	m.queue.Push(i)
}

// ResolveTo ends the fault of a page with a translation of the driver's choice, which is not in the page
// table: to memory on the host. With keep the L2 TLB keeps it, without the L1 TLBs only that wait.
func (m *MMU) ResolveTo(now uint64, tenant mem.TenantID, vpn, ppn uint64, keep bool) {
	i := m.index.find(pageKey(tenant, vpn))
	if i < 0 || !m.miss[i].fault {
		return
	}
	e := &m.miss[i]
	m.row[tenant][FaultCycles] += now - e.since
	e.fault, e.ppn = false, ppn
	m.active[tenant]++
	if keep {
		m.l2.Insert(tenant, vpn, ppn)
	}
	m.index.remove(pageKey(tenant, vpn))
	m.done.Push(i)
}

// Near is the channel group nearest to an SM, -1 when the machine has none.
func (m *MMU) Near(sm int) int {
	if sm < 0 || sm >= len(m.cfg.Near) {
		return -1
	}
	return m.cfg.Near[sm]
}

func (m *MMU) unmapped(e *miss) {
	m.fail(fmt.Errorf("tenant %d: SM %d asked for virtual page 0x%x (address 0x%x), which no allocation covers",
		e.tenant, e.sm, e.vpn, e.vpn<<m.tab.bits))
}

func (m *MMU) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}
