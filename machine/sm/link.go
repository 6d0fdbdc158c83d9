package sm

import "math/bits"

// The way out of an SM. Requests wait in Out for the link to the interconnect, which takes
// one per cycle however many sectors it asks for: the crossbar sees to the width.
//
// GPGPU-Sim's L1 knows sectors only, and so does its local crossbar (Config.apart): the
// queue counts them, the link takes one of them per cycle, and each bank of the L1 has a
// pipeline of its own with a place for each cycle of a lookup. The sectors of an access
// stay together here; there they part where the queue is full.

// packets is what a request takes of the queue and of the link's cycles.
func (s *SM) packets(sectors uint8) int {
	if s.cfg.apart {
		return bits.OnesCount8(sectors)
	}
	return 1
}

// outFull says that Out has no room for a request.
func (s *SM) outFull(sectors uint8) bool {
	return s.outside > 0 && s.outside+s.packets(sectors) > s.cfg.l1.MissQueue
}

// LinkFree is the first cycle in which the link can take a request.
func (s *SM) LinkFree() uint64 { return s.linkFree }

// Sent takes the oldest request out of Out: the link has it.
func (s *SM) Sent(now uint64) {
	n := s.packets(s.slab.R[s.Out.Pop()].Sectors)
	s.outside -= n
	s.linkFree = now + uint64(n)
	if s.stalled {
		s.unstall(now)
		s.wakeAt(now + 1)
	}
}

// banks is the L1 banks an access needs: those of its sectors, or of its line where
// lines are not sectored.
func (s *SM) banks(a *access) uint8 {
	if s.cfg.sectors == 1 {
		return 1 << (a.line >> s.cfg.lineShift % uint64(min(8, s.cfg.l1.Banks)))
	}
	return a.sectors
}

// intoBanks puts an access into the pipelines of its banks; false when one is full.
func (s *SM) intoBanks(banks uint8) bool {
	for m := banks; m != 0; m &= m - 1 {
		if s.inBank[bits.TrailingZeros8(m)] >= s.cfg.l1.Latency {
			return false
		}
	}
	for m := banks; m != 0; m &= m - 1 {
		s.inBank[bits.TrailingZeros8(m)]++
	}
	return true
}

// outOfBanks takes an access out of them.
func (s *SM) outOfBanks(banks uint8) {
	for m := banks; m != 0; m &= m - 1 {
		s.inBank[bits.TrailingZeros8(m)]--
	}
}
