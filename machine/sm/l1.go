package sm

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/mem"
	"heddle/mem/tags"
)

// waiter is an access that waits for sectors of a line.
type waiter struct {
	op      int32
	next    int32
	sectors uint8
}

// carve sets the L1 up for a shared-memory carve-out of the given bytes per SM:
// with an adaptive split (Volta) what shared memory does not take is cache.
func (s *SM) carve(sharedBytes int) error {
	l := &s.cfg.l1
	ways := l.Ways
	if l.Unified > 0 {
		take := 0
		for _, c := range l.Carveouts {
			if take = c; c >= sharedBytes {
				break
			}
		}
		ways = (l.Unified - take) / (l.Sets * l.Line)
	}
	if s.l1 != nil && s.l1.Ways == ways {
		return nil
	}
	for _, a := range s.l1s {
		if a.Ways == ways {
			a.Reset()
			s.l1 = a
			return nil
		}
	}
	a, err := tags.New(l.Sets, ways, l.Line, l.Repl, nil)
	if err != nil {
		return fmt.Errorf("l1d: %w", err)
	}
	s.l1 = a
	s.l1s = append(s.l1s, a)
	if n := len(a.Tag) * s.cfg.sectors; n > len(s.merged) {
		s.merged = make([]uint8, n)
	}
	return nil
}

// FlushL1 invalidates the L1; nothing may be in flight.
func (s *SM) FlushL1() { s.l1.Reset() }

// ForgetL1 invalidates a tenant's lines, which wait for nothing once its CTAs are gone.
func (s *SM) ForgetL1(tenant uint8) { s.l1.DropTenant(tenant) }

// DropL1 invalidates the lines of pages of 1<<bits bytes, in order; those that wait for data
// stay.
func (s *SM) DropL1(pages []uint64, bits uint) { s.l1.DropPages(pages, bits) }

// cacheStage looks up the accesses that reach the end of the L1 pipeline. Its
// head stalls, and everything behind it, when a miss finds no free line, MSHR,
// merge slot or room towards the interconnect.
func (s *SM) cacheStage(now uint64) {
	for s.l1q.Len() > 0 {
		a := s.l1q.Head()
		if a.at > now {
			return
		}
		o := &s.ops[a.op]
		ok := false
		if o.kind == isa.Store {
			ok = s.l1Store(a, o, now)
		} else {
			ok = s.l1Load(a, o, now)
		}
		if !ok {
			s.stalled, s.stallAt = true, now
			return
		}
		if s.cfg.apart {
			s.outOfBanks(s.banks(a))
		}
		s.l1q.Pop()
	}
}

// unstall lets the L1 head try again.
func (s *SM) unstall(now uint64) {
	if !s.stalled {
		return
	}
	s.stalled = false
	o := &s.ops[s.l1q.Head().op]
	s.rows[o.tenant][L1Stalls] += now - s.stallAt
}

func (s *SM) l1Load(a *access, o *memOp, now uint64) bool {
	t := s.l1
	row := s.rows[o.tenant]
	i := t.Find(a.line)
	var valid, pending uint8
	if i != tags.None {
		valid, pending = t.Line[i].Valid, t.Line[i].Pending
	}
	need := a.sectors &^ valid
	if need == 0 {
		t.Use(i)
		n := uint64(bits.OnesCount8(a.sectors))
		row[L1Accesses] += n
		row[L1Hits] += n
		s.answer(a.op, now+s.cfg.back, now)
		return true
	}
	miss := need &^ pending
	if miss != 0 && (s.outFull(miss) || s.l1count+bits.OnesCount8(miss) > s.cfg.l1.MSHRs) {
		return false
	}
	if i == tags.None {
		if i = t.Victim(a.line); i == tags.None {
			return false
		}
		t.Fill(i, a.line, o.tenant)
	} else if !s.mergeable(i, need) {
		return false
	}
	t.Use(i)
	s.wait(i, a.op, need)
	row[L1Accesses] += uint64(bits.OnesCount8(a.sectors))
	row[L1Hits] += uint64(bits.OnesCount8(a.sectors & valid))
	row[L1Pending] += uint64(bits.OnesCount8(need & pending))
	row[L1Misses] += uint64(bits.OnesCount8(miss))
	if miss != 0 {
		t.Line[i].Pending |= miss
		s.l1count += bits.OnesCount8(miss)
		s.send(a.line, miss, 0, mem.Read, o, i, now)
	}
	return true
}

// mergeable says whether the MSHR entries of the sectors can take one more request.
func (s *SM) mergeable(i int32, sectors uint8) bool {
	base := int(i) * s.cfg.sectors
	for m := sectors; m != 0; m &= m - 1 {
		if int(s.merged[base+bits.TrailingZeros8(m)]) >= s.cfg.l1.Merge {
			return false
		}
	}
	return true
}

func (s *SM) wait(i, op int32, sectors uint8) {
	var n int32
	if k := len(s.freeWt); k > 0 {
		n = s.freeWt[k-1]
		s.freeWt = s.freeWt[:k-1]
	} else {
		s.waiters = append(s.waiters, waiter{})
		n = int32(len(s.waiters) - 1)
	}
	s.waiters[n] = waiter{op: op, next: s.l1.Wait[i], sectors: sectors}
	s.l1.Wait[i] = n
	base := int(i) * s.cfg.sectors
	for m := sectors; m != 0; m &= m - 1 {
		s.merged[base+bits.TrailingZeros8(m)]++
	}
}

// fill brings sectors of line index i and answers the accesses that now have all
// they asked for.
func (s *SM) fill(i int32, sectors uint8, now uint64) {
	t := s.l1
	t.Line[i].Valid |= sectors
	t.Line[i].Pending &^= sectors
	s.l1count -= bits.OnesCount8(sectors)
	base := int(i) * s.cfg.sectors
	for m := sectors; m != 0; m &= m - 1 {
		s.merged[base+bits.TrailingZeros8(m)] = 0
	}
	link := &t.Wait[i]
	at := s.writeBack(*link, sectors, now)
	for *link != -1 {
		n := *link
		w := &s.waiters[n]
		done := max(now, at)
		if s.cfg.writePort { // the youngest comes first in the chain and last to the port
			at -= uint64(bits.OnesCount8(w.sectors & sectors))
		}
		if w.sectors &^= sectors; w.sectors != 0 {
			link = &w.next
			continue
		}
		*link = w.next
		s.freeWt = append(s.freeWt, n)
		s.answer(w.op, done+s.cfg.back, now)
	}
	s.unstall(now)
}

// writeBack books the port on which a load's sectors go to the register file, one per
// cycle and waiting load, for those that arrive for a chain of waiters; it returns the
// cycle of the last. The packet's own sectors came one per cycle, the last of them now.
func (s *SM) writeBack(chain int32, sectors uint8, now uint64) uint64 {
	if !s.cfg.writePort {
		return now
	}
	n := 0
	for ; chain != -1; chain = s.waiters[chain].next {
		n += bits.OnesCount8(s.waiters[chain].sectors & sectors)
	}
	return s.writeSectors(n, sectors, now)
}

// writeSectors is writeBack for n sectors in all.
func (s *SM) writeSectors(n int, sectors uint8, now uint64) uint64 {
	s.writeAt = max(s.writeAt, now+1-uint64(bits.OnesCount8(sectors))) + uint64(n)
	return s.writeAt - 1
}

// l1Store writes through. With write-allocate, the line is allocated and the
// completely written sectors become valid; a later read fetches the others (lazy
// fetch on read).
func (s *SM) l1Store(a *access, o *memOp, now uint64) bool {
	if s.outFull(a.sectors) {
		return false
	}
	t := s.l1
	row := s.rows[o.tenant]
	n := uint64(bits.OnesCount8(a.sectors))
	row[L1Accesses] += n
	i := t.Find(a.line)
	if i == tags.None && s.cfg.writeAlloc {
		if i = t.Victim(a.line); i != tags.None {
			t.Fill(i, a.line, o.tenant)
		}
	}
	var hits uint64
	if i != tags.None {
		hits = uint64(bits.OnesCount8(a.sectors & (t.Line[i].Valid | t.Line[i].Dirty)))
		t.Line[i].Valid |= a.full &^ t.Line[i].Pending
		t.Line[i].Dirty |= a.sectors // written at least in part: the next write hits
		t.Use(i)
	}
	row[L1Hits] += hits
	row[L1Misses] += n - hits
	s.warps[o.warp].stores++
	s.send(a.line, a.sectors, a.full, mem.Write, o, int32(o.warp), now)
	s.answer(a.op, now, now)
	return true
}
