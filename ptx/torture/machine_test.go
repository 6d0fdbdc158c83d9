package torture

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// shuffler executes a grid as a machine does, through isa.Grid and isa.CTA alone, but
// in random order: any resident warp, any number of instructions at a time, few
// resident CTAs. What a kernel computes must not depend on it. On the way it verifies
// what the contract of package isa says about every Step.
type shuffler struct {
	rng       *rand.Rand
	code      *isa.Code
	geo       isa.Geometry
	space     *mem.Space
	ctas      []*shuffled
	now       uint64
	step      isa.Step
	recursive bool // local memory may go deeper than any bound known at launch
}

// shuffled is a resident CTA: the barrier each warp waits at, and how many warps have
// arrived at each barrier.
type shuffled struct {
	cta     isa.CTA
	waiting []int
	arrived [16]int
	expect  [16]int
	live    int
}

var errStuck = errors.New("no warp can run")

// runShuffled executes g; most bounds the resident CTAs.
func runShuffled(g isa.Grid, space *mem.Space, rng *rand.Rand, most int) error {
	s := &shuffler{rng: rng, code: g.Code(), geo: g.Geometry(), space: space}
	switch s.code.Kernel {
	case "ca_recursion", "ca_mutual", "ca_indirect":
		s.recursive = true
	}
	next := 0
	for {
		for next < s.geo.CTAs && len(s.ctas) < most {
			c := &shuffled{
				cta:     g.Start(next, isa.Place{SM: rng.IntN(80), WarpSlot: rng.IntN(8)}),
				waiting: make([]int, s.geo.Warps), live: s.geo.Warps,
			}
			for w := range c.waiting {
				c.waiting[w] = -1
			}
			s.ctas = append(s.ctas, c)
			next++
		}
		if len(s.ctas) == 0 {
			return nil
		}
		i, w, err := s.pick()
		if err != nil {
			return err
		}
		c := s.ctas[i]
		for range 1 + rng.IntN(40) {
			if err := s.one(c, w); err != nil {
				return err
			}
			if c.waiting[w] >= 0 || c.cta.PC(w) < 0 {
				break
			}
		}
		if c.live == 0 {
			c.cta.Release()
			s.ctas = append(s.ctas[:i], s.ctas[i+1:]...)
		}
	}
}

// pick chooses a warp that can run.
func (s *shuffler) pick() (cta, warp int, err error) {
	from, n := s.rng.IntN(len(s.ctas)*s.geo.Warps), len(s.ctas)*s.geo.Warps
	for k := range n {
		i, w := (from+k)%n/s.geo.Warps, (from+k)%s.geo.Warps
		if c := s.ctas[i]; c.waiting[w] < 0 && c.cta.PC(w) >= 0 {
			return i, w, nil
		}
	}
	return 0, 0, errStuck
}

// one executes one instruction of warp w.
func (s *shuffler) one(c *shuffled, w int) error {
	pc := c.cta.PC(w)
	s.now++
	if s.now > limit {
		return fmt.Errorf("more than %d warp instructions", limit)
	}
	if err := c.cta.Step(w, s.now, &s.step); err != nil {
		return err
	}
	in := &s.code.Instr[pc]
	if err := s.verify(in, c.cta.PC(w)); err != nil {
		return fmt.Errorf("%s:%d: %w", s.code.File, in.Line, err)
	}
	if s.step.Next < 0 {
		c.live--
	}
	if in.Kind == isa.Barrier {
		b := int(s.step.Bar)
		c.expect[b] = int(s.step.Expect)
		c.arrived[b]++
		if !s.step.Arrive {
			c.waiting[w] = b
		}
	}
	c.open()
	return nil
}

// open completes barriers: those of a thread count after that many threads' warps,
// those of the whole CTA after all warps that have not exited.
func (c *shuffled) open() {
	for b, n := range c.arrived {
		want := c.live
		if c.expect[b] > 0 {
			want = (c.expect[b] + isa.Lanes - 1) / isa.Lanes
		}
		if n == 0 || n < want {
			continue
		}
		c.arrived[b] = 0
		for w := range c.waiting {
			if c.waiting[w] == b {
				c.waiting[w] = -1
			}
		}
	}
}

// verify checks a Step against its Instr.
func (s *shuffler) verify(in *isa.Instr, next int32) error {
	st := &s.step
	switch {
	case st.Next != next:
		return fmt.Errorf("Step.Next is %d, PC is %d", st.Next, next)
	case st.Next >= int32(len(s.code.Instr)):
		return fmt.Errorf("Step.Next is %d of %d instructions", st.Next, len(s.code.Instr))
	case st.Active == 0 || st.Mask&^st.Active != 0:
		return fmt.Errorf("Active %08x, Mask %08x", st.Active, st.Mask)
	case st.Active>>1>>min(31, s.geo.Threads-1) != 0:
		return fmt.Errorf("Active %08x: the block has %d threads", st.Active, s.geo.Threads)
	case int(in.Reg)+int(in.NReg) > len(s.code.Regs) || in.NDst > in.NReg:
		return fmt.Errorf("registers [%d, %d+%d) of %d, %d of them written", in.Reg, in.Reg, in.NReg, len(s.code.Regs),
			in.NDst)
	}
	for _, r := range s.code.Regs[in.Reg : int(in.Reg)+int(in.NReg)] {
		if int(r) >= s.code.NumRegs {
			return fmt.Errorf("register %d of %d", r, s.code.NumRegs)
		}
	}
	switch in.Kind {
	case isa.Load, isa.Store, isa.Atomic, isa.Reduce, isa.AsyncCopy:
		if in.Unit != isa.LDST {
			return fmt.Errorf("a memory access on unit %d", in.Unit)
		}
		return s.addresses(in)
	}
	if in.Unit == isa.LDST && in.Kind != isa.Fence {
		return fmt.Errorf("kind %d on the memory unit", in.Kind)
	}
	return nil
}

// addresses checks that every executing lane's access lies in its space.
func (s *shuffler) addresses(in *isa.Instr) error {
	st := &s.step
	if st.Space == isa.Generic || st.Mask != 0 && st.Space == isa.NoSpace {
		return fmt.Errorf("Step.Space is %d", st.Space)
	}
	for m := st.Mask; m != 0; m &= m - 1 {
		a := st.Addr[bits.TrailingZeros32(m)]
		var end uint64
		switch st.Space {
		case isa.Global, isa.Const:
			r := s.space.Find(a)
			if r == nil {
				return fmt.Errorf("lane %d accesses 0x%x, which is not mapped", bits.TrailingZeros32(m), a)
			}
			end = r.End()
		case isa.Shared:
			end = uint64(s.geo.SharedBytes)
		case isa.Local:
			if s.recursive {
				continue
			}
			end = uint64(s.geo.LocalBytes)
		case isa.Param:
			continue
		}
		if in.Width == 0 || a+uint64(in.Width) > end {
			return fmt.Errorf("lane %d accesses %d bytes at 0x%x of space %d, which ends at 0x%x",
				bits.TrailingZeros32(m), in.Width, a, st.Space, end)
		}
	}
	return nil
}

// TestShuffled repeats the tests of TestClang and TestHand under random schedules. Only
// kernels whose blocks wait for each other need all of them resident.
func TestShuffled(t *testing.T) {
	together := map[string]bool{"sy_chain": true, "sy_grid_barrier": true}
	for _, v := range []string{"clang/O2-sm70", "clang/O0-sm90", "hand"} {
		all := clangTests()
		if v == "hand" {
			all = handTests()
		}
		var ms modules
		for i, k := range all {
			t.Run(v+"/"+k.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(i), 99))
				most := 1 + rng.IntN(4)
				if together[k.name] {
					most = 100
				}
				k.run(t, ms.get(t, filepath.Join(v, k.file+".ptx")), func(g isa.Grid, space *mem.Space) error {
					return runShuffled(g, space, rng, most)
				})
			})
		}
	}
}
