package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// grid replays a launch.
type grid struct {
	r *Recording
	l *launch
	t *static
}

// cta replays a CTA.
type cta struct {
	t     *static
	g     *grid
	index int
	err   error // the CTA could not be read; the first step says so
	buf   []byte
	warps []cursor
}

// Code implements isa.Grid.
func (g *grid) Code() *isa.Code { return g.r.x.codes[g.l.code] }

// Geometry implements isa.Grid.
func (g *grid) Geometry() isa.Geometry { return g.l.geo }

// Independent implements isa.Independent.
func (g *grid) Independent() {}

// Start implements isa.Grid.
func (g *grid) Start(index int, _ isa.Place) isa.CTA {
	r := g.r
	r.mu.Lock()
	defer r.mu.Unlock()
	var c *cta
	if n := len(r.free); n > 0 {
		c = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		c = &cta{}
	}
	c.g, c.t, c.index, c.err = g, g.t, index, nil
	warps := g.l.geo.Warps
	if cap(c.warps) < warps {
		c.warps = append(c.warps[:cap(c.warps)], make([]cursor, warps-cap(c.warps))...)
	}
	c.warps = c.warps[:warps]
	for i := range c.warps {
		c.warps[i] = cursor{spill: c.warps[i].spill}
	}
	if c.buf, c.err = r.copySpan(c.buf, g.l.ctas[index]); c.err == nil {
		c.err = c.split()
	}
	return c
}

// split finds the streams of the warps in the CTA's bytes.
func (c *cta) split() error {
	b := c.buf
	total := 0
	for i := range c.warps {
		w := &c.warps[i]
		pc, n := binary.Varint(b)
		if n <= 0 || pc < 0 || pc >= int64(len(c.t.code)) {
			return errors.New("a warp begins outside the code")
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(c.buf)) {
			return errEarly
		}
		b = b[n:]
		w.pc, w.at, total = int32(pc), int32(size), total+int(size)
	}
	if total != len(b) {
		return errors.New("the streams do not fill the CTA's part of the page")
	}
	for i := range c.warps {
		w := &c.warps[i]
		w.tail, b = b[:w.at:w.at], b[w.at:]
		w.at = 0
		if pieces := c.g.l.pieces; len(pieces) > 0 {
			w.last = int32(len(c.g.l.piecesOf(c.index, i)))
		}
	}
	return nil
}

// PC implements isa.CTA.
func (c *cta) PC(w int) int32 { return c.warps[w].pc }

// State implements isa.CTA: each event is nearer to the end.
func (c *cta) State(w int, s *isa.State) {
	wp := &c.warps[w]
	common := isa.Mix(uint64(wp.piece)<<32|uint64(wp.at), uint64(wp.run))
	s.Set(isa.Mix(common, uint64(c.index)<<32|uint64(w)), common, wp.pc)
}

// Step implements isa.CTA: the hot path of a replay.
func (c *cta) Step(w int, _ uint64, s *isa.Step) error {
	wp := &c.warps[w]
	if wp.run > 0 {
		wp.plainStep(c.t, s)
		return nil
	}
	for {
		if c.err != nil || wp.pc < 0 {
			return c.fault(w, c.err)
		}
		ok, err := wp.event(c.t, s)
		if ok {
			return nil
		}
		if err == nil {
			err = c.next(w)
		}
		c.err = err
	}
}

// next goes to the next piece of a warp's stream.
func (c *cta) next(w int) error {
	wp := &c.warps[w]
	switch {
	case wp.piece > wp.last: // the tail has been read
		return errEarly
	case wp.piece == wp.last:
		wp.buf, wp.at = wp.tail, 0
		wp.piece++
		return nil
	}
	r := c.g.r
	r.mu.Lock()
	defer r.mu.Unlock()
	b, err := r.copySpan(wp.spill, c.g.l.piecesOf(c.index, w)[wp.piece].span)
	wp.piece++
	wp.spill, wp.buf, wp.at = b, b, 0
	return err
}

// fault is a defect of the recording, as the machine reports it.
func (c *cta) fault(w int, err error) error {
	wp := &c.warps[w]
	if err == nil {
		err = fmt.Errorf("warp %d was stepped after it had exited", w)
	}
	g := &c.g.l.geo
	x, y := int(g.GridDim[0]), int(g.GridDim[1])
	b := g.BlockDim
	t := uint32(w * isa.Lanes)
	return &isa.Fault{
		Kernel: c.g.l.name, File: c.g.r.path, Line: 0,
		Block:  [3]uint32{uint32(c.index % x), uint32(c.index / x % y), uint32(c.index / x / y)},
		Thread: [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]},
		Msg:    fmt.Sprintf("the recording is damaged: PC %d: %v; record again", wp.pc, err),
	}
}

// Release implements isa.CTA.
func (c *cta) Release() {
	r := c.g.r
	r.mu.Lock()
	c.g = nil
	r.free = append(r.free, c)
	r.mu.Unlock()
}
