package uvm

import "github.com/heddle-sim/heddle/mem"

// The smart runtime (chapter 6): it looks at which 64 KB blocks migrate, in which order and in which
// kernels, finds a pattern for each allocation, and treats the allocation accordingly. It begins
// with TBN_p and LRU 2 MB, and may change its mind while kernels run. Cost: two bits for each
// block, and a few numbers for each allocation, in the driver.

// Pattern is the order in which an allocation's blocks migrate (6.2.1), a state of Figure 28.
type Pattern uint8

// The seven states of Figure 28. The random and the mixed ones are treated alike, whether blocks are used again or
// not (6.2.3).
const (
	Undecided   Pattern = iota
	Streaming           // linear, no block comes in two kernels
	Regular             // linear, again and again
	Random              // no block comes in two kernels
	RandomAgain         // again and again
	Mixed
	MixedAgain
)

func (p Pattern) String() string {
	return [...]string{
		"undecided", "streaming", "regular", "random", "random and used again", "mixed", "mixed and used again",
	}[p]
}

// Thresholds of the detector. The text names none, and Figure 28 is not in it: readings.
const (
	linearShare = 0.9  // of successive blocks ascend: the kernel migrates linearly
	fewBlocks   = 4    // below that nothing can be said
	againShare  = 0.05 // of a kernel's blocks had come in an earlier one: data is used again
)

// Next is the state after one look at the blocks of a kernel.
func (p Pattern) Next(linear, random, again bool) Pattern {
	switch {
	case p == Undecided && linear:
		p = Streaming
	case p == Undecided && random:
		p = Random
	case p == Streaming && random, p == Random && linear:
		p = Mixed
	case p == Regular && random, p == RandomAgain && linear:
		p = MixedAgain
	}
	switch {
	case !again:
	case p == Streaming:
		p = Regular
	case p == Random:
		p = RandomAgain
	case p == Mixed:
		p = MixedAgain
	}
	return p
}

// segment has the migrations of an allocation in the running kernel.
type segment struct {
	blocks, ascending, again int
	last                     uint64 // address of the last block
}

// add counts the migration of a block. again says that the block had come before; twice, that a block that comes
// twice in a row counts as in order.
func (s *segment) add(block uint64, again, twice bool) {
	if s.blocks > 0 && (block > s.last || twice && block == s.last) {
		s.ascending++
	}
	if again {
		s.again++
	}
	s.blocks, s.last = s.blocks+1, block
}

// look is the state of an allocation after a look at a segment. With strict, a segment has to be sorted to be linear,
// and a single block that comes again counts as reuse.
func (p Pattern) look(s *segment, strict bool) Pattern {
	least, again := linearShare, againShare
	if strict {
		least, again = 1, 1/float64(s.blocks+1)
	}
	if s.blocks < fewBlocks && !(strict && s.blocks > 0) {
		return p
	}
	linear := float64(s.ascending) >= least*float64(s.blocks-1)
	return p.Next(linear, !linear, float64(s.again) >= again*float64(s.blocks))
}

// linear says that blocks migrate in order.
func (p Pattern) linear() bool { return p == Streaming || p == Regular }

// random says that blocks migrate without order, and mixed that they did both.
func (p Pattern) random() bool { return p == Random || p == RandomAgain }
func (p Pattern) mixed() bool  { return p == Mixed || p == MixedAgain }

// with is the pattern of two allocations together (equation 5).
func (p Pattern) with(q Pattern) Pattern {
	if p.random() && q.linear() || p.linear() && q.random() {
		if p == Regular || q == Regular || p == RandomAgain || q == RandomAgain {
			return MixedAgain
		}
		return Mixed
	}
	return max(p, q)
}

// Kernel notes a launch of a tenant: migrations from now on belong to another segment.
func (r *Runtime) Kernel(tenant mem.TenantID) {
	if !r.o.Smart {
		return
	}
	for i := range r.allocs {
		a := &r.allocs[i]
		if r.chunks[a.first].tenant != tenant {
			continue
		}
		a.pattern = a.pattern.look(&a.segment, r.o.Together)
		a.segment = segment{}
		for k := a.first; k < a.first+a.chunks; k++ {
			c := &r.chunks[k]
			c.earlier, c.during = c.earlier|c.during, 0
		}
	}
	r.treat(tenant)
}

// detect looks at all allocations, as it does before every batch that evicts.
func (r *Runtime) detect() {
	for i := 0; i < len(r.allocs); {
		tenant := r.chunks[r.allocs[i].first].tenant
		for ; i < len(r.allocs) && r.chunks[r.allocs[i].first].tenant == tenant; i++ {
			a := &r.allocs[i]
			a.pattern = a.pattern.look(&a.segment, r.o.Together)
		}
		r.treat(tenant)
	}
}

// treat sets the pattern by which the allocations of a tenant are treated: a random one beside a linear one as mixed
// (equation 5, 6.2.3), the others by their own pattern; or all of them by the pattern of all together.
func (r *Runtime) treat(tenant mem.TenantID) {
	all := Undecided
	for i := range r.allocs {
		if a := &r.allocs[i]; r.chunks[a.first].tenant == tenant {
			all = all.with(a.pattern)
		}
	}
	for i := range r.allocs {
		a := &r.allocs[i]
		p := a.pattern
		if r.o.Together || p.random() {
			p = all
		}
		for k := a.first; k < a.first+a.chunks && r.chunks[a.first].tenant == tenant; k++ {
			r.chunks[k].pattern = p
		}
	}
}

// observe counts the blocks of a chunk of which pages come. Data is used again if the blocks had come in an earlier
// kernel, or, if all allocations are treated as one, if they had come at all.
func (r *Runtime) observe(c *chunk, come *Mask) {
	a := r.allocationOf(c.base)
	for b := range BlocksPerChunk {
		if come.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 {
			before := c.earlier
			if r.o.Together {
				before |= c.during
			}
			a.segment.add(c.base+uint64(b)*BlockSize, before>>b&1 != 0, r.o.Together)
			c.during |= 1 << b
		}
	}
}

// PatternOf is the pattern of the allocation that an address is in.
func (r *Runtime) PatternOf(addr uint64) Pattern {
	if a := r.allocationOf(addr); a != nil {
		return a.pattern
	}
	return Undecided
}
