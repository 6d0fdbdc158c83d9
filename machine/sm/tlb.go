package sm

import "heddle/mem/addrmap"

// tlbMiss is a page the SM has asked the MMU, or without translation the pager, for,
// and the accesses that wait.
type tlbMiss struct {
	vpn    uint64 // of the pager's pages: the first address
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
		return s.present(a, o.tenant, now)
	}
	if s.held || s.frozen {
		return false
	}
	vpn := a.line >> s.cfg.pageShift
	row := s.rows[o.tenant]
	m := s.refused
	if m == nil || m.vpn != vpn || m.tenant != o.tenant {
		if ppn, ok := s.tlb.Lookup(o.tenant, vpn); ok {
			row[TLBAccesses]++
			row[TLBHits]++
			a.line = ppn<<s.cfg.pageShift | a.line&(1<<s.cfg.pageShift-1)
			a.phys = true
			return true
		}
		if m = s.missFor(o.tenant, vpn); m == nil {
			s.missing = true
			return false
		}
	}
	if !m.sent {
		if !s.mmu.Request(now, o.tenant, vpn, s.ID, 0) {
			s.port, s.refused = now+1, m
			return false
		}
		m.sent, s.refused = true, nil
	}
	row[TLBAccesses]++
	s.park(m, a)
	a.op = -1
	return true
}

// present is translate where addresses are places: an access waits only for a page
// that is on the host.
func (s *SM) present(a *access, tenant uint8, now uint64) bool {
	if s.pager != nil {
		if page, absent := s.pager.Absent(tenant, a.line); absent {
			m := s.missFor(tenant, page)
			if m == nil {
				s.port = now + 1
				return false
			}
			if !m.sent {
				s.pager.Fault(now, tenant, page)
				m.sent = true
			}
			s.park(m, a)
			a.op = -1
			return true
		}
	}
	a.line |= uint64(tenant) << addrmap.TenantShift
	a.phys = true
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
	s.tlb.Insert(tenant, vpn, ppn)
	s.unpark(tenant, vpn, 1<<s.cfg.pageShift-1, ppn<<s.cfg.pageShift, now)
}

// Arrived says that a page the pager was asked for is on the device.
func (s *SM) Arrived(tenant uint8, page, now uint64) {
	s.unpark(tenant, page, ^uint64(0), uint64(tenant)<<addrmap.TenantShift, now)
}

// SetPager makes accesses wait for pages that are not on the device.
func (s *SM) SetPager(p Pager) { s.pager = p }

// unpark sends the accesses that waited for a page on: the bits of keep stay of
// their address, those of place are set.
func (s *SM) unpark(tenant uint8, vpn, keep, place, now uint64) {
	s.wakeAt(now)
	s.missing = false
	for i := range s.pending {
		m := &s.pending[i]
		if !m.sent || m.vpn != vpn || m.tenant != tenant {
			continue
		}
		for n := m.first; n >= 0; n = s.parked[n].next {
			a := s.parked[n].access
			a.line = a.line&keep | place
			a.phys = true
			s.replay.Push(a)
			s.freePark = append(s.freePark, n)
		}
		m.sent = false
	}
}
