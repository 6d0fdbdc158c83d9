package uvm

import "heddle/mem"

// The smart runtime (chapter 6): it looks at which 64 KB blocks migrate, in which order and in which
// kernels, finds a pattern for each allocation, and treats the allocation accordingly. It begins
// with TBN_p and LRU 2 MB, and may change its mind while kernels run. Cost: two bits for each
// block, and a few numbers for each allocation, in the driver.

// Pattern is how an allocation's blocks migrate (6.2.1), a state of Figure 28.
type Pattern uint8

// The states of Figure 28.
const (
	Undecided Pattern = iota
	Streaming         // linear, no block comes in two kernels
	Regular           // linear, again and again
	Random
	Mixed
)

func (p Pattern) String() string {
	return [...]string{"undecided", "streaming", "regular", "random", "mixed"}[p]
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
	case (p == Streaming || p == Regular) && random, p == Random && linear:
		p = Mixed
	}
	if p == Streaming && again {
		p = Regular
	}
	return p
}

// segment is the migrations of an allocation in the running kernel.
type segment struct {
	blocks, ascending, again int
	last                     uint64 // address of the last block
}

// add books the migration of a block; again says that it had come in an earlier kernel.
func (s *segment) add(block uint64, again bool) {
	if s.blocks > 0 && block > s.last {
		s.ascending++
	}
	if again {
		s.again++
	}
	s.blocks, s.last = s.blocks+1, block
}

// look is the state of an allocation after a look at a segment.
func (p Pattern) look(s *segment) Pattern {
	if s.blocks < fewBlocks {
		return p
	}
	linear := float64(s.ascending) >= linearShare*float64(s.blocks-1)
	return p.Next(linear, !linear, float64(s.again) >= againShare*float64(s.blocks))
}

// Kernel tells of a launch of a tenant: what migrates from now on is another segment.
func (r *Runtime) Kernel(tenant mem.TenantID) {
	if !r.o.Smart {
		return
	}
	for i := range r.allocs {
		a := &r.allocs[i]
		if r.chunks[a.first].tenant != tenant {
			continue
		}
		setPattern(r, a, a.pattern.look(&a.segment))
		a.segment = segment{}
		for k := a.first; k < a.first+a.chunks; k++ {
			c := &r.chunks[k]
			c.earlier, c.during = c.earlier|c.during, 0
		}
	}
}

// detect looks at all allocations, as it does before every batch that evicts.
func detect(r *Runtime) {
	for i := range r.allocs {
		a := &r.allocs[i]
		setPattern(r, a, a.pattern.look(&a.segment))
	}
}

func setPattern(r *Runtime, a *allocation, p Pattern) {
	if p == a.pattern {
		return
	}
	a.pattern = p
	for k := a.first; k < a.first+a.chunks; k++ {
		r.chunks[k].pattern = p
	}
}

// observe books the blocks of a chunk of which pages come.
func observe(r *Runtime, c *chunk, come *Mask) {
	a := r.allocationOf(c.base)
	for b := range BlocksPerChunk {
		if come.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 {
			a.segment.add(c.base+uint64(b)*BlockSize, c.earlier>>b&1 != 0)
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
