package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// One CTA at a time can be evicted from an SM on which the others go on (SMK's
// partial preemption): its warps stop issuing, what they have asked for arrives, and
// its context is stored as that of a switched SM is.

// AdmitMany lets CTAs of several applications be resident at once.
func (s *SM) AdmitMany() { s.pipe.ctas.several = true }

// Youngest lists, in the memory of list, the CTAs of a tenant that may be evicted. The one that came last is first:
// it has most of its time before it. A CTA whose context is being loaded stays.
func (s *SM) Youngest(tenant mem.TenantID, list []int) []int {
	out, blocks := list[:0], s.pipe.ctas.blocks
	for i := range blocks {
		if k := blocks[i].k; k == nil || k.Tenant != tenant || s.pipe.warps.in(&blocks[i], restoring) > 0 {
			continue
		}
		out = append(out, i)
		for j := len(out) - 1; j > 0 && blocks[out[j-1]].start <= blocks[i].start; j-- {
			out[j-1], out[j] = out[j], out[j-1]
		}
	}
	return out
}

// CTA is the kernel of resident CTA i, as Youngest numbers CTAs.
func (s *SM) CTA(i int) *Kernel { return s.pipe.ctas.blocks[i].k }

// Evict begins to remove CTA i from the SM, at the end of cycle now.
func (s *SM) Evict(i int, now uint64) {
	s.pipe.ctas.leaving = i
	s.pipe.halt()
	s.pipe.lookIdle(now + 1)
}

// Rested says that the warps of the leaving CTA stand between two instructions and wait for nothing: it can be
// stored, or has ended.
func (s *SM) Rested() bool {
	for m := s.pipe.ctas.blocks[s.pipe.ctas.leaving].resident(); m != 0; m &= m - 1 {
		w := &s.pipe.warps.slot[bits.TrailingZeros64(m)]
		if w.state != free && (w.loads > 0 || w.stores > 0) {
			return false
		}
	}
	return true
}

// SaveEvicted removes the rested CTA from the SM and begins to store its context; place gives the image its virtual
// address. It returns nil if the CTA has ended meanwhile.
func (s *SM) SaveEvicted(now uint64, place func(k *Kernel, bytes int) uint64) (c *Context) {
	if s.pipe.ctas.blocks[s.pipe.ctas.leaving].k != nil {
		c = s.saveBlock(s.pipe.ctas.leaving, nil, now, place)
	}
	s.pipe.ctas.leaving = -1
	s.pipe.halt()
	s.wakeAt(now + 1)
	return c
}
