package sm

import "heddle/mem/addrmap"

// tlbMiss is a page the SM has asked the MMU for, and the accesses that wait.
type tlbMiss struct {
	vpn    uint64
	tenant uint8
	sent   bool
	first  int32 // chain in SM.parked; -1 ends it
	last   int32
}

// parked is an access that waits for a translation.
type parked struct {
	access
	next int32
}

// translate turns a's virtual line into a physical one. On a TLB miss the access
// is set aside (a.op becomes -1) so that only its own warp waits; false means
// that the miss cannot be taken now.
func (s *SM) translate(a *access, now uint64) bool {
	o := &s.ops[a.op]
	if s.tlb == nil {
		a.line |= uint64(o.tenant) << addrmap.TenantShift
		a.phys = true
		return true
	}
	if s.held || s.frozen {
		return false
	}
	vpn := a.line >> s.cfg.pageShift
	row := s.rows[o.tenant]
	if ppn, ok := s.tlb.Lookup(o.tenant, vpn); ok {
		row[TLBAccesses]++
		row[TLBHits]++
		a.line = ppn<<s.cfg.pageShift | a.line&(1<<s.cfg.pageShift-1)
		a.phys = true
		return true
	}
	m := s.missFor(o.tenant, vpn)
	if m == nil {
		return false
	}
	if !m.sent {
		if !s.mmu.Request(now, o.tenant, vpn, s.ID, 0) {
			s.port = now + 1
			return false
		}
		m.sent = true
	}
	row[TLBAccesses]++
	s.park(m, a)
	a.op = -1
	return true
}

func (s *SM) park(m *tlbMiss, a *access) {
	var n int32
	if k := len(s.freePark); k > 0 {
		n = s.freePark[k-1]
		s.freePark = s.freePark[:k-1]
	} else {
		s.parked = append(s.parked, parked{})
		n = int32(len(s.parked) - 1)
	}
	s.parked[n] = parked{*a, -1}
	if m.first < 0 {
		m.first = n
	} else {
		s.parked[m.last].next = n
	}
	m.last = n
}

// missFor is the entry that waits for the page, a new one if there is room.
func (s *SM) missFor(tenant uint8, vpn uint64) *tlbMiss {
	var room *tlbMiss
	for i := range s.pending {
		m := &s.pending[i]
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

// Translated delivers a translation: the accesses that waited go on.
func (s *SM) Translated(tenant uint8, vpn, ppn uint64, now uint64) {
	s.wakeAt(now)
	s.tlb.Insert(tenant, vpn, ppn)
	for i := range s.pending {
		m := &s.pending[i]
		if !m.sent || m.vpn != vpn || m.tenant != tenant {
			continue
		}
		for n := m.first; n >= 0; n = s.parked[n].next {
			a := s.parked[n].access
			a.line = ppn<<s.cfg.pageShift | a.line&(1<<s.cfg.pageShift-1)
			a.phys = true
			s.replay.Push(a)
			s.freePark = append(s.freePark, n)
		}
		m.sent = false
	}
}
