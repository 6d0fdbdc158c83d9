package accelsim

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/heddle-sim/heddle/internal/kernelname"
	"github.com/heddle-sim/heddle/isa"
)

// grid implements isa.Grid over a Trace.
type grid struct {
	t    *Trace
	mu   sync.Mutex
	free []*cta
}

// Launch is a launch of the kernel. A trace may be launched several times.
func (t *Trace) Launch() isa.Grid { return &grid{t: t} }

func (g *grid) Code() *isa.Code { return g.t.Code }

func (g *grid) Geometry() isa.Geometry {
	h := &g.t.Header
	return isa.Geometry{
		GridDim: h.Grid, BlockDim: h.Block, CTAs: h.CTAs(), Threads: h.Threads(), Warps: h.Warps(),
		Regs: max(1, h.Regs), SharedBytes: h.Shared, LocalBytes: g.t.LocalBytes,
	}
}

// cta replays the warps of a thread block.
type cta struct {
	g     *grid
	index int
	warp  []warp
	table []byte
	err   error // of Start; the first Step reports it
}

// warp is a warp's next record, its head already read.
type warp struct {
	r   reader
	id  int32 // instruction number; -1: a warp without records
	how uint8
	pc  int32
}

// Independent implements isa.Independent.
func (g *grid) Independent() {}

// Start implements isa.Grid: the block's records are found and each warp's first
// one is read.
func (g *grid) Start(index int, _ isa.Place) isa.CTA {
	g.mu.Lock()
	defer g.mu.Unlock()
	var c *cta
	if n := len(g.free); n > 0 {
		c = g.free[n-1]
		g.free = g.free[:n-1]
	} else {
		w := g.t.Warps()
		c = &cta{g: g, warp: make([]warp, w), table: make([]byte, entry*w)}
	}
	c.index = index
	c.err = c.open()
	return c
}

func (c *cta) open() error {
	t := c.g.t
	table, err := t.store.read(t.blocks[c.index].table, len(c.table), c.table)
	if err != nil {
		return err
	}
	for i := range c.warp {
		w := &c.warp[i]
		off := int64(binary.LittleEndian.Uint64(table[entry*i:]))
		n := int64(binary.LittleEndian.Uint64(table[entry*i+8:]))
		w.r = reader{off: off, end: off + n, own: w.r.own, mask: ^uint32(0)}
		w.id, w.pc = -1, t.exit
		if n > 0 {
			if err := w.next(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// next reads the head of the next record; pc becomes -1 when there is none.
func (w *warp) next(t *Trace) error {
	if err := w.r.fill(t.store); err != nil {
		return err
	}
	if len(w.r.b) == 0 {
		w.pc = -1
		return nil
	}
	w.id, w.how = w.r.head()
	w.pc = t.place[w.id]
	return nil
}

// PC implements isa.CTA.
func (c *cta) PC(w int) int32 { return c.warp[w].pc }

// State implements isa.CTA: each record is nearer to the end.
func (c *cta) State(w int, s *isa.State) {
	r := &c.warp[w].r
	common := uint64(r.off) - uint64(len(r.b))
	s.Set(isa.Mix(uint64(c.index)<<32|uint64(w), common), common, c.warp[w].pc)
}

// Step implements isa.CTA: it replays one record.
func (c *cta) Step(w int, _ uint64, s *isa.Step) error {
	if c.err != nil {
		return c.fault(w, c.err)
	}
	t, wp := c.g.t, &c.warp[w]
	s.Bar, s.Expect, s.Arrive = 0, 0, false
	if wp.id < 0 { // no records: one EXIT of no lane
		wp.pc = -1
		s.Active, s.Mask, s.Next, s.Space = 0, 0, -1, isa.NoSpace
		return nil
	}
	mask := wp.r.lanes(wp.how)
	s.Active, s.Mask = mask, mask
	s.Space = t.Code.Instr[wp.pc].Space
	what := t.what[wp.id]
	s.Arrive = what&isArrive != 0
	if what&hasAddresses != 0 && mask != 0 {
		s.Space = wp.r.addresses(mask, &s.Addr)
		if s.Space == isa.Local {
			for i := range s.Addr {
				s.Addr[i] -= t.local
			}
		}
	}
	if err := wp.next(t); err != nil {
		return c.fault(w, err)
	}
	s.Next = wp.pc
	return nil
}

// fault is an error of the store: the temporary file cannot be read.
func (c *cta) fault(w int, err error) error {
	t := c.g.t
	x, y := t.Header.Grid[0], t.Header.Grid[1]
	i := uint32(c.index)
	th := uint32(w * isa.Lanes)
	bx, by := t.Block[0], t.Block[1]
	return &isa.Fault{
		Kernel: kernelname.Plain(t.Name), File: t.File, Block: [3]uint32{i % x, i / x % y, i / x / y},
		Thread: [3]uint32{th % bx, th / bx % by, th / bx / by}, Msg: fmt.Sprintf("cannot read the trace's records: %v",
			err),
	}
}

// Release implements isa.CTA.
func (c *cta) Release() {
	c.g.mu.Lock()
	c.g.free = append(c.g.free, c)
	c.g.mu.Unlock()
}
