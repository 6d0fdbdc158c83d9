package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/tags"
)

// A channel that changes hands gives its slices back clean (UGPU, section 4.4):
// every dirty line is written to DRAM and every line forgotten. The same is done
// for the lines of one page before it is migrated.

// StartFlush begins to write back and invalidate every line of the slice; Flush
// goes on with it. Nothing may be in flight.
func (s *Slice) StartFlush() { s.flushAt = 0 }

// Flush looks at as many lines as it can in this cycle of the slice, stopping when
// Below is full; one line per cycle, as the tags have one port. It returns true
// when the slice is empty.
func (s *Slice) Flush() (done bool) {
	s.flushAt, done = s.FlushFrom(s.flushAt, false)
	return done
}

// FlushFrom flushes from the line with index at on, while other requests may be in flight. Lines that wait for data
// stay, and with `copies` those whose home is here. It returns the index to continue at, and whether the slice is
// done.
func (s *Slice) FlushFrom(at int, copies bool) (next int, done bool) {
	t := s.tags
	for ; at < len(t.Tag); at++ {
		i := int32(at)
		if t.Free(i) || t.Line[i].Pending != 0 || copies && !s.peers.foreign[i] {
			continue // a scan of tags passes over free entries for nothing
		}
		if _, ok := s.evict(i, mem.ForNobody, 0); !ok {
			return at, false
		}
		return at + 1, false
	}
	return at, true
}

// Clean writes a line back and invalidates it, if it is there and dirty. wrote says that a write-back was queued, for
// its owner. False, with nothing done, if Below is full.
func (s *Slice) Clean(line uint64, owner mem.Owner, token int32) (wrote, ok bool) {
	i := s.tags.Find(line)
	if i == tags.None {
		return false, true
	}
	return s.evict(i, owner, token)
}

// Forget makes a line of freed memory unreadable; a line that waits for data stays. Dirty data are still written when
// their place is needed: hardware does not learn that nothing will read them.
func (s *Slice) Forget(line uint64) {
	i := s.tags.Find(line)
	switch {
	case i == tags.None || s.tags.Line[i].Pending != 0:
	case s.tags.Line[i].Dirty != 0:
		s.tags.Line[i].Valid = 0
	default:
		s.tags.Drop(i)
	}
}

// Drop invalidates a line whose data has been copied elsewhere.
func (s *Slice) Drop(line uint64) {
	if i := s.tags.Find(line); i != tags.None {
		s.tags.Drop(i)
	}
}

// evict writes line index i back if it is dirty, for its owner, and invalidates it.
func (s *Slice) evict(i int32, owner mem.Owner, token int32) (wrote, ok bool) {
	t := s.tags
	if d := t.Line[i].Dirty; d != 0 {
		if s.Below.Full() {
			return false, false
		}
		row := t.Line[i].Tenant
		s.rows[row][Writebacks] += uint64(bits.OnesCount8(d))
		s.Below.Push(mem.Fetch{
			Line: t.Tag[i], Owner: owner, Token: token, Slice: int16(s.ID), Sectors: d, Tenant: row,
		})
		wrote = true
	}
	t.Drop(i)
	return wrote, true
}

// Empty says that no request or fill is anywhere in the slice.
func (s *Slice) Empty() bool {
	return s.Queued() == 0 && s.fills.Len() == 0 && s.mshrs.Pending() == 0 &&
		s.Reply.Len() == 0 && s.Below.Len() == 0 && s.peers.empty()
}
