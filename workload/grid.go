package workload

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/workload/draw"
)

// full is a whole warp: a model has no partial ones.
const full = math.MaxUint32

// Grid is one launch of a model's kernel; it implements isa.Grid.
type Grid struct {
	k       *Kernel
	code    *isa.Code
	ops     []op // by PC
	targets []target
	launch  uint64 // number of this launch in the run: random addresses differ between launches
	seed    uint64 // of the launch, for divergence
	diverge uint64 // threshold of the hash of an iteration
	bank    uint64 // bytes between neighbouring lanes in shared memory
	shared  uint64 // 4-byte words of shared memory

	mu   sync.Mutex
	free []*cta
}

// warp is where a warp stands.
type warp struct {
	pc   int32 // -1: it has exited
	it   uint32
	mask uint32 // lanes of the current path
	rest uint32 // lanes that execute the body afterwards
}

// cta is a resident CTA; it implements isa.CTA.
type cta struct {
	g     *Grid
	index uint64
	warps []warp
}

// Code implements isa.Grid.
func (g *Grid) Code() *isa.Code { return g.code }

// Geometry implements isa.Grid.
func (g *Grid) Geometry() isa.Geometry {
	k := g.k
	return isa.Geometry{
		GridDim: [3]uint32{uint32(k.CTAs), 1, 1}, BlockDim: [3]uint32{uint32(k.Threads), 1, 1},
		CTAs: k.CTAs, Threads: k.Threads, Warps: k.Threads / isa.Lanes, Regs: k.Registers, SharedBytes: int(k.Shared),
	}
}

// Independent implements isa.Independent.
func (g *Grid) Independent() {}

// Start implements isa.Grid.
func (g *Grid) Start(index int, _ isa.Place) isa.CTA {
	g.mu.Lock()
	defer g.mu.Unlock()
	var c *cta
	if n := len(g.free); n > 0 {
		c = g.free[n-1]
		g.free = g.free[:n-1]
	} else {
		c = &cta{g: g, warps: make([]warp, g.k.Threads/isa.Lanes)}
	}
	c.index = uint64(index)
	for w := range c.warps {
		c.warps[w] = warp{}
		c.begin(w)
	}
	return c
}

// begin chooses the lanes of the warp's iteration.
func (c *cta) begin(w int) {
	g, wp := c.g, &c.warps[w]
	wp.mask, wp.rest = full, 0
	if g.diverge == 0 {
		return
	}
	h := draw.Key(g.seed, c.index*uint64(len(c.warps))+uint64(w), uint64(wp.it))
	if h >= g.diverge {
		return
	}
	h = draw.Mix(h)
	odd, from := h<<1|1, h>>32 // an affine permutation of the lanes; its first few execute
	wp.mask = 0
	for i := range uint64(g.k.Divergence.Lanes) {
		wp.mask |= 1 << ((i*odd + from) & 31)
	}
	if g.k.Divergence.Paths == 2 {
		wp.rest = ^wp.mask
	}
}

// PC implements isa.CTA.
func (c *cta) PC(w int) int32 { return c.warps[w].pc }

// State implements isa.CTA: paths and iterations are counted.
func (c *cta) State(w int, s *isa.State) {
	wp := &c.warps[w]
	common := uint64(wp.it)<<32 | uint64(wp.rest)
	s.Set(isa.Mix(c.index<<32|uint64(w), common), common, wp.pc)
}

// Step implements isa.CTA.
func (c *cta) Step(w int, _ uint64, s *isa.Step) error {
	wp := &c.warps[w]
	if wp.pc < 0 {
		return c.exited(w)
	}
	g := c.g
	o := &g.ops[wp.pc]
	s.Active, s.Mask, s.Space, s.Bar, s.Expect, s.Arrive = wp.mask, wp.mask, isa.NoSpace, 0, 0, false
	next := wp.pc + 1
	switch o.what {
	case global:
		s.Space = isa.Global
		g.targets[o.access].fill(c.index, uint64(w), uint64(wp.it), uint64(o.sub), g.launch, s)
	case scratch:
		s.Space = isa.Shared
		g.banks(uint64(w), s)
	case converge:
		s.Active, s.Mask = full, full
	case loop:
		next = c.turn(w, next)
	case leave:
		s.Active, s.Mask = full, full
		next = -1
	}
	wp.pc, s.Next = next, next
	return nil
}

// turn is the branch at the end of the body: the other path, the next iteration or
// the exit that follows.
func (c *cta) turn(w int, next int32) int32 {
	wp := &c.warps[w]
	if wp.rest != 0 {
		wp.mask, wp.rest = wp.rest, 0
		return 0
	}
	if wp.it++; int(wp.it) >= c.g.k.Iterations {
		return next
	}
	c.begin(w)
	return 0
}

// banks gives each lane its own word, Conflict of them in each bank (32 banks).
func (g *Grid) banks(w uint64, s *isa.Step) {
	word := w * isa.Lanes % g.shared
	for i := range s.Addr {
		s.Addr[i] = word << 2
		if word += g.bank; word >= g.shared {
			word %= g.shared
		}
	}
}

func (c *cta) exited(w int) error {
	return &isa.Fault{
		Kernel: c.g.k.Name, File: c.g.code.File, Block: [3]uint32{uint32(c.index)},
		Thread: [3]uint32{uint32(w * isa.Lanes)},
		Msg:    fmt.Sprintf("warp %d was stepped after it had exited", w),
	}
}

// Release implements isa.CTA.
func (c *cta) Release() {
	c.g.mu.Lock()
	c.g.free = append(c.g.free, c)
	c.g.mu.Unlock()
}

// newGrid makes launch number n of a compiled kernel.
func (x *compiled) newGrid(n, seed uint64) *Grid {
	k := x.k
	g := &Grid{
		k: k, code: x.code, ops: x.ops, targets: x.targets, launch: n, seed: draw.Key(seed, n, 3),
		bank: 1 << bits.Len(uint(k.Conflict-1)), shared: max(1, uint64(k.Shared)/4),
	}
	if k.Divergence.Lanes < isa.Lanes {
		g.diverge = draw.Threshold(k.Divergence.Share)
	}
	return g
}
