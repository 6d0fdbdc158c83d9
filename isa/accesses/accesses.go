// Package accesses reduces a kernel to its accesses to memory. Studies of memories that are driven by traces of
// accesses do the same: Hydrogen's authors "only simulate the memory accesses from the GPU kernels" (section V).
//
// A reader must know three functions. Of makes the Grid of a launch one that executes all its instructions but shows
// the machine only some of them. kept says which: accesses to global and local memory, fences, barriers and ends of
// warps. ahead executes the others, in no time, until the warp's next instruction is one that is kept.
//
// The instructions that are kept read and write no registers, so a warp waits only for queues, miss registers and
// links. Values are still right: every instruction is executed, and warps wait at barriers. An instruction that reads
// a clock gets the time of the access before it.
package accesses

import (
	"fmt"
	"sync"

	"github.com/heddle-sim/heddle/isa"
)

// mostHidden is how many instructions a warp may execute between two that are kept: beyond it the kernel does not end
// by itself in any useful time. A choice.
const mostHidden = 1 << 24

// kernel is the code of a kernel before and after.
type kernel struct {
	code *isa.Code
	at   []int32 // by PC of the whole code, the PC among those kept; -1: not kept
}

// grid shows the kept instructions of a launch.
type grid struct {
	isa.Grid
	k *kernel

	mu   sync.Mutex
	free []*cta
}

// independent is a grid whose CTAs have nothing in common.
type independent struct{ *grid }

// Independent implements isa.Independent.
func (independent) Independent() {}

// cta shows the kept instructions of a CTA.
type cta struct {
	isa.CTA
	g       *grid
	index   int
	err     error // of instructions before a warp's first kept one: its first step says so
	scratch isa.Step
}

// Filter remembers the kernels of an application, so that each is analysed once.
type Filter struct{ kernels map[*isa.Code]*kernel }

// Of is g reduced to its accesses to memory.
func (f *Filter) Of(g isa.Grid) isa.Grid {
	code := g.Code()
	k := f.kernels[code]
	if k == nil {
		k = filtered(code)
		if f.kernels == nil {
			f.kernels = map[*isa.Code]*kernel{}
		}
		f.kernels[code] = k
	}
	out := &grid{Grid: g, k: k}
	if _, ok := g.(isa.Independent); ok {
		return independent{out}
	}
	return out
}

// kept says whether an instruction is shown to the machine.
func kept(in *isa.Instr) bool {
	switch in.Kind {
	case isa.Barrier, isa.Fence, isa.Commit, isa.Await, isa.Exit:
		return true
	case isa.Load, isa.Store, isa.Atomic, isa.Reduce, isa.AsyncCopy:
		return in.Space == isa.Global || in.Space == isa.Generic || in.Space == isa.Local
	}
	return false
}

// filtered is a kernel with its kept instructions one behind the other. The instruction after a barrier is kept, too:
// it must not be executed before all warps have arrived, and shows the machine where the warp goes on.
func filtered(whole *isa.Code) *kernel {
	c := *whole
	c.Instr, c.Regs, c.NumRegs, c.Left, c.Text = nil, nil, 1, nil, nil
	k := &kernel{code: &c, at: make([]int32, len(whole.Instr))}
	for pc := range whole.Instr {
		in := whole.Instr[pc]
		k.at[pc] = -1
		if !kept(&in) && (pc == 0 || whole.Instr[pc-1].Kind != isa.Barrier) {
			continue
		}
		in.NDst, in.NReg, in.Reg, in.Reads = 0, 0, 0, 0
		k.at[pc] = int32(len(c.Instr))
		c.Instr = append(c.Instr, in)
		if whole.Text != nil {
			c.Text = append(c.Text, whole.Text[pc])
		}
	}
	return k
}

// Code implements isa.Grid.
func (g *grid) Code() *isa.Code { return g.k.code }

// Start implements isa.Grid.
func (g *grid) Start(index int, at isa.Place) isa.CTA {
	g.mu.Lock()
	c := &cta{}
	if n := len(g.free); n > 0 {
		c, g.free = g.free[n-1], g.free[:n-1]
	}
	g.mu.Unlock()
	c.CTA, c.g, c.index, c.err = g.Grid.Start(index, at), g, index, nil
	for w := range g.Geometry().Warps {
		if c.err = c.ahead(w, 0); c.err != nil {
			break
		}
	}
	return c
}

// PC implements isa.CTA.
func (c *cta) PC(w int) int32 {
	pc := c.CTA.PC(w)
	if pc < 0 || c.err != nil {
		return min(pc, 0)
	}
	return c.g.k.at[pc]
}

// Step implements isa.CTA.
func (c *cta) Step(w int, now uint64, s *isa.Step) error {
	if c.err != nil {
		return c.err
	}
	barrier := c.g.k.code.Instr[c.PC(w)].Kind == isa.Barrier
	batch := s.Batch
	s.Batch = false // what is executed with an access is not shown
	err := c.CTA.Step(w, now, s)
	if s.Batch = batch; err != nil {
		return err
	}
	if !barrier {
		err = c.ahead(w, now)
	}
	s.Next = c.PC(w)
	if err == nil && s.Next < 0 && c.CTA.PC(w) >= 0 {
		err = c.fault(w, "waits at a barrier while others of its lanes go on, which a run of accesses alone cannot "+
			"follow; run the whole kernel")
	}
	return err
}

// ahead executes what is not kept until the warp has ended or reached what is.
func (c *cta) ahead(w int, now uint64) error {
	for range mostHidden {
		pc := c.CTA.PC(w)
		if pc < 0 || c.g.k.at[pc] >= 0 {
			return nil
		}
		c.scratch.Batch = true
		if err := c.CTA.Step(w, now, &c.scratch); err != nil {
			return err
		}
	}
	return c.fault(w, fmt.Sprintf("executes more than %d instructions without an access to memory: does it end?",
		mostHidden))
}

func (c *cta) fault(w int, what string) error {
	g := c.g.Geometry()
	x, y := int(g.GridDim[0]), int(g.GridDim[1])
	t, b := uint32(w*isa.Lanes), g.BlockDim
	return &isa.Fault{
		Kernel: c.g.k.code.Kernel, File: c.g.k.code.File,
		Block:  [3]uint32{uint32(c.index % x), uint32(c.index / x % y), uint32(c.index / x / y)},
		Thread: [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]},
		Msg:    fmt.Sprintf("warp %d %s", w, what),
	}
}

// Release implements isa.CTA.
func (c *cta) Release() {
	c.CTA.Release()
	c.g.mu.Lock()
	c.g.free = append(c.g.free, c)
	c.g.mu.Unlock()
}
