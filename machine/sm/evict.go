package sm

import "math/bits"

// One CTA at a time can be evicted from an SM on which the others go on (SMK's
// partial preemption): its warps stop issuing, what they have asked for arrives, and
// its context is stored as that of a switched SM is.

// AdmitMany lets CTAs of several applications be resident at once.
func (s *SM) AdmitMany() { s.several = true }

// Youngest lists, in the place of list, the CTAs of a tenant that may be evicted, the one
// that came last first: it has most of its time before it. One whose context is being
// loaded stays.
func (s *SM) Youngest(tenant uint8, list []int) []int {
	out := list[:0]
	for i := range s.blocks {
		if k := s.blocks[i].k; k == nil || k.Tenant != tenant || s.isRestoring(&s.blocks[i]) {
			continue
		}
		out = append(out, i)
		for j := len(out) - 1; j > 0 && s.blocks[out[j-1]].start <= s.blocks[i].start; j-- {
			out[j-1], out[j] = out[j], out[j-1]
		}
	}
	return out
}

func (s *SM) isRestoring(b *block) bool {
	for m := b.slots; m != 0; m &= m - 1 {
		if s.warps[bits.TrailingZeros64(m)].state == restoring {
			return true
		}
	}
	return false
}

// CTA is the kernel of resident CTA i (as Youngest numbers them).
func (s *SM) CTA(i int) *Kernel { return s.blocks[i].k }

// Evict begins to take CTA i off the SM.
func (s *SM) Evict(i int) { s.leaving, s.halted = i, s.blocks[i].slots }

// Rested says that the warps of the CTA that leaves stand between two instructions
// and wait for nothing: it can be stored, or has ended.
func (s *SM) Rested() bool {
	for m := s.blocks[s.leaving].resident(); m != 0; m &= m - 1 {
		w := &s.warps[bits.TrailingZeros64(m)]
		if w.state != free && (w.loads > 0 || w.stores > 0) {
			return false
		}
	}
	return true
}

// SaveEvicted takes the rested CTA off the SM and begins to store its context; place
// gives the image its virtual address. It is nil when the CTA has ended meanwhile.
func (s *SM) SaveEvicted(now uint64, place func(k *Kernel, bytes int) uint64) (c *Context) {
	if s.blocks[s.leaving].k != nil {
		c = s.saveBlock(s.leaving, nil, now, place)
	}
	s.leaving, s.halted = -1, 0
	s.wakeAt(now + 1)
	return c
}
