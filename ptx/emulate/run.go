package emulate

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/isa"
)

// Counts is the work of a functional run.
type Counts struct {
	WarpInsts   uint64 // warp instructions
	Machine     uint64 // machine instructions (isa.Code.Machine), as far as they are known
	ThreadInsts uint64 // lanes that executed them (guard true)
	Units       [isa.NumUnits]uint64
	CTAs        int
}

// The resident set of a functional run: as many CTAs as a large GPU holds, so that
// programs in which CTAs wait for each other end.
const (
	residentThreads = 2048 * 80
	quantum         = 128 // warp instructions a warp runs before the next one's turn
)

// Resident is the number of CTAs of a launch that a functional run executes at once.
func Resident(g isa.Geometry) int { return max(1, residentThreads/(g.Warps*isa.Lanes)) }

// resident is a CTA under functional execution.
type resident struct {
	cta     isa.CTA
	index   int
	live    int     // warps that have not exited
	waiting []int16 // barrier each warp waits at, -1: none
	wpc     []int32 // PC of the barrier each warp waits at
	arrived [16]int // threads
	need    [16]int32
}

// Limits bounds a functional run.
type Limits struct {
	Insts uint64 // warp instructions in all; 0: no limit
	Idle  uint64 // warp instructions without progress (idle.go); 0: DefaultIdle
	// Together starts all blocks at once, because they wait for each other (a cooperative launch).
	Together bool
}

// runner executes a grid functionally.
type runner struct {
	g      isa.Grid
	code   *isa.Code
	issues []uint16 // of the machine, by PC; nil: unknown
	geo    isa.Geometry
	limit  uint64
	idle   idle
	check  uint64 // number of warp instructions from which on each is looked at
	n      Counts
	next   int
	ctas   []*resident
	spare  []*resident
	step   isa.Step
	moved  bool
}

// Run executes the whole grid functionally: warps of a resident set of CTAs take
// turns, each for a bounded number of instructions, so that warps and CTAs that wait
// for one another make progress. limit bounds the warp instructions (0: none).
// Errors name the kernel, CTA, warps and PTX lines.
func Run(g isa.Grid, limit uint64) (Counts, error) { return RunWithin(g, Limits{Insts: limit}) }

// RunWithin is Run with all limits.
func RunWithin(g isa.Grid, l Limits) (Counts, error) {
	r := &runner{g: g, code: g.Code(), geo: g.Geometry(), limit: l.Insts, idle: idle{most: l.Idle}}
	if m := r.code.Machine; m != nil {
		r.issues = m.Source.Issues
	}
	if r.limit == 0 {
		r.limit = math.MaxUint64
	}
	if r.idle.most == 0 {
		r.idle.most = DefaultIdle
	}
	r.useful()
	most := Resident(r.geo)
	if l.Together {
		most = max(most, r.geo.CTAs)
	}
	for r.next < r.geo.CTAs && len(r.ctas) < most {
		r.ctas = append(r.ctas, r.start())
	}
	for len(r.ctas) > 0 {
		r.moved = false
		keep := r.ctas[:0]
		for _, c := range r.ctas {
			if err := r.turn(c); err != nil {
				return r.n, err
			}
			if c.live > 0 {
				keep = append(keep, c)
				continue
			}
			c.cta.Release()
			r.useful()
			r.spare = append(r.spare, c)
			if r.next < r.geo.CTAs {
				keep = append(keep, r.start())
			}
		}
		r.ctas = keep
		if !r.moved && len(r.ctas) > 0 {
			return r.n, r.stuck()
		}
	}
	return r.n, nil
}

func (r *runner) start() *resident {
	var c *resident
	if n := len(r.spare); n > 0 {
		c = r.spare[n-1]
		r.spare = r.spare[:n-1]
	} else {
		c = &resident{waiting: make([]int16, r.geo.Warps), wpc: make([]int32, r.geo.Warps)}
	}
	c.cta, c.index, c.live = r.g.Start(r.next, isa.Place{SM: r.next % hardwareSMs}), r.next, r.geo.Warps
	for w := range c.waiting {
		c.waiting[w] = -1
	}
	c.arrived, c.need = [16]int{}, [16]int32{}
	r.next++
	r.n.CTAs++
	r.moved = true
	return c
}

// turn gives every warp of a CTA its quantum.
func (r *runner) turn(c *resident) error {
	for w := range c.waiting {
		if c.waiting[w] >= 0 || c.cta.PC(w) < 0 {
			continue
		}
		if err := r.warp(c, w); err != nil {
			return err
		}
		r.moved = true
	}
	return nil
}

// warp runs warp w until its quantum ends, it waits or it exits.
func (r *runner) warp(c *resident, w int) error {
	s := &r.step
	for range quantum {
		pc := c.cta.PC(w)
		if err := c.cta.Step(w, r.n.WarpInsts, s); err != nil {
			return err
		}
		r.n.WarpInsts++
		if r.issues != nil {
			r.n.Machine += uint64(r.issues[pc])
		}
		r.n.ThreadInsts += uint64(bits.OnesCount32(s.Mask))
		in := &r.code.Instr[pc]
		r.n.Units[in.Unit]++
		if r.n.WarpInsts >= r.check {
			if err := r.look(c, w, pc); err != nil {
				return err
			}
		}
		if s.Next < 0 {
			c.live--
			r.release(c)
			return nil
		}
		if in.Kind == isa.Barrier {
			c.need[s.Bar] = s.Expect
			c.arrived[s.Bar]++
			if !s.Arrive {
				c.waiting[w], c.wpc[w] = int16(s.Bar), pc
			}
			r.release(c)
			if c.waiting[w] >= 0 {
				return nil
			}
		}
	}
	return nil
}

// release opens the barriers that are complete. Hardware counts warps: a barrier
// for n threads waits for n/32 warps, one for the whole CTA for the warps that have
// not exited.
func (r *runner) release(c *resident) {
	for b := range c.arrived {
		if c.arrived[b] == 0 {
			continue
		}
		if c.arrived[b] < c.wanted(b) {
			continue
		}
		c.arrived[b] = 0
		for w := range c.waiting {
			if int(c.waiting[w]) == b {
				c.waiting[w] = -1
			}
		}
	}
}

// wanted is the number of warps barrier b waits for.
func (c *resident) wanted(b int) int {
	if c.need[b] > 0 {
		return (int(c.need[b]) + isa.Lanes - 1) / isa.Lanes
	}
	return c.live
}

func (r *runner) block(i int) string {
	x, y := int(r.geo.GridDim[0]), int(r.geo.GridDim[1])
	return fmt.Sprintf("(%d,%d,%d)", i%x, i/x%y, i/x/y)
}

// stuck explains why no warp can run.
func (r *runner) stuck() error {
	c := r.ctas[0]
	var b strings.Builder
	line := int32(0)
	exited := 0
	for w := range c.waiting {
		if c.waiting[w] < 0 {
			exited++
			continue
		}
		l := r.code.Instr[c.wpc[w]].Line
		if line == 0 {
			line = l
		}
		bar := c.waiting[w]
		fmt.Fprintf(&b, "; warp %d waits at barrier %d, line %d (%d of %d warps arrived", w, bar, l, c.arrived[bar],
			c.wanted(int(bar)))
		if n := c.need[bar]; n > 0 {
			fmt.Fprintf(&b, ", it is for %d threads", n)
		}
		b.WriteByte(')')
		if b.Len() > 600 {
			b.WriteString(" ...")
			break
		}
	}
	return fmt.Errorf("%s:%d: kernel %s, block %s: a barrier can never be met (%d warps have exited, %d blocks are "+
		"stuck)%s",
		r.code.File, line, r.code.Kernel, r.block(c.index), exited, len(r.ctas), b.String())
}
