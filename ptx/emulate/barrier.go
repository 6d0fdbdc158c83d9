package emulate

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// barrier is one of the 16 barriers of a CTA as bar.red needs it: the machine
// decides when a barrier is complete; the emulator combines the predicates. A warp
// that is stepped again after arriving proves its barrier complete, so the first
// such warp closes the generation.
type barrier struct {
	gen uint32
	acc [2]reduction
}

// reduction combines the predicates of one generation; gen tells stale ones.
type reduction struct {
	gen   uint32
	count uint32
	and   bool
	or    bool
}

// barWait is the pending result of a bar.red.
type barWait struct {
	on   bool
	id   uint8
	kind uint8
	gen  uint32
	mask uint32
	row  int32 // absolute row of the result
}

// Sub-operations of shBar.
const (
	barSync = iota
	barArrive
	barPopc
	barAnd
	barOr
)

func (c *cta) barrier(wp *warp, o *op, mask uint32, s *isa.Step) {
	if mask == 0 {
		mask = s.Active // a barrier guarded off in every lane still counts the warp, as in hardware
	}
	lane := lowest(mask)
	id := c.row32(wp, o.a)[lane] & 15
	s.Bar = uint8(id)
	s.Expect = int32(c.row32(wp, o.b)[lane])
	s.Arrive = o.n == barArrive
	if o.n < barPopc {
		return
	}
	b := &c.bars[id]
	r := &b.acc[b.gen&1]
	if r.gen != b.gen+1 {
		*r = reduction{gen: b.gen + 1, and: true}
	}
	v := pred(wp, o.c)
	if o.flags&fNotC != 0 {
		v = ^v
	}
	r.count += uint32(bits.OnesCount32(v & mask))
	r.and = r.and && v&mask == mask
	r.or = r.or || v&mask != 0
	row := o.d + wp.frame.r32
	if o.n != barPopc {
		row = o.d + wp.frame.p
	}
	wp.red = barWait{on: true, id: uint8(id), kind: o.n, gen: b.gen, mask: mask, row: row}
}

// barriers are those of a CTA, by number.
type barriers [16]barrier

// collect stores the result of the bar.red the warp waited for.
func (bars *barriers) collect(wp *warp) {
	w := wp.red
	wp.red.on = false
	b := &bars[w.id]
	if b.gen == w.gen {
		b.gen++
	}
	r := &b.acc[w.gen&1]
	var v uint32
	switch w.kind {
	case barPopc:
		d := &wp.all32[w.row]
		for i := range d {
			if w.mask>>i&1 != 0 {
				d[i] = r.count
			}
		}
		return
	case barAnd:
		if r.and {
			v = ^uint32(0)
		}
	case barOr:
		if r.or {
			v = ^uint32(0)
		}
	}
	wp.allp[w.row] = wp.allp[w.row]&^w.mask | v&w.mask
}

const (
	noBarrier    = "barrier %d does not exist: there are 16, 0 to 15"
	noBarrierFor = "a barrier for %d threads: the number of threads must be a multiple of %d, the lanes of a warp"
)

// together refuses a barrier at which some live lanes of a warp are missing, if these wait at another barrier, or for
// lanes that wait here. From sm_70 on hardware counts threads, so that a barrier of the whole CTA never has all of
// them; a machine that counts warps, as this one, would let them pass.
//
// It also refuses a barrier, or a number of threads, that no hardware has.
func (c *cta) together(wp *warp, o *op, mask, active uint32) error {
	if mask == 0 {
		return nil
	}
	first := lowest(mask)
	ids := c.row32(wp, o.a)
	id := ids[first]
	if id > 15 {
		return c.fault(wp, first, noBarrier, id)
	}
	if n := c.row32(wp, o.b)[first]; n%isa.Lanes != 0 {
		return c.fault(wp, first, noBarrierFor, n, isa.Lanes)
	}
	if !c.g.prog.threadwise {
		return nil
	}
	if o.a >= 0 { // a register
		for l := mask; l != 0; l &= l - 1 {
			if i := lowest(l); ids[i]&15 != id {
				return c.fault(wp, i, "lanes %d and %d of a warp wait at barriers %d and %d: from sm_70 on barriers "+
					"count threads, and neither would ever have all; let all lanes of a warp wait at one "+
					"barrier", first, i, id, ids[i]&15)
			}
		}
	}
	if active == wp.live {
		return nil
	}
	for i := range wp.nodes {
		n := &wp.nodes[i]
		if !n.used || !n.parked || n.pending != 0 || n.mask&wp.live&^active == 0 {
			continue
		}
		other := &c.ops[n.pc]
		if other.shape == shBar && (n.frame != wp.frame || c.row32(wp, other.a)[lowest(n.mask)]&15 == id) {
			continue
		}
		return c.fault(wp, first, "lane %d waits at barrier %d while lane %d of its warp waits in line %d (%s): "+
			"from sm_70 on barriers count threads, and this one would never be complete; let all lanes of a warp wait "+
			"at one barrier",
			first, id, lowest(n.mask), c.g.prog.code.Instr[n.pc].Line, c.g.prog.code.Text[n.pc])
	}
	return nil
}
