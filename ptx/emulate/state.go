package emulate

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
)

// decider is a row by which a warp in a loop comes nearer to its end (analyze.Deciders), from one
// operation of its function to another.
type decider struct {
	in          rowKind
	row         int32
	first, last int32
	by          analyze.How
}

func decidersOf(list []analyze.Decider, rows []int32) (out []decider) {
	for _, x := range list {
		if row := rows[x.Var.ID]; row >= 0 {
			out = append(out, decider{
				fileOf(x.Var.Type), row, int32(x.Span.First), int32(x.Span.Last), x.By,
			})
		}
	}
	return out
}

// State implements isa.CTA: of the warp's lanes that have not exited, the depth of its calls and its deciders.
func (c *cta) State(w int, s *isa.State) {
	wp := &c.warps[w]
	common := isa.Mix(uint64(wp.live), uint64(uint32(wp.frame.depth)))
	s.Set(isa.Mix(common, uint64(c.index)<<32|uint64(w)), common, wp.pc)
	if wp.pc < 0 {
		return
	}
	f := &c.g.prog.funcs[c.g.prog.funcOf(wp.pc)]
	at := wp.pc - f.start + int32(wp.done) // operations ahead of it have been executed
	s.Place = f.start + f.places[min(at, int32(len(f.places))-1)]
	for i := range f.deciders {
		d := &f.deciders[i]
		if at <= d.first || at > d.last { // before the first, which writes it, the row holds another's value
			continue
		}
		x := d.value(wp)
		s.Own = isa.Mix(s.Own, x)
		switch d.by {
		case analyze.Carried:
			s.Common = isa.Mix(s.Common, x)
		case analyze.Loaded:
			s.Loaded = append(s.Loaded, isa.Mix(x, uint64(f.start)<<32|uint64(i)))
		}
	}
}

// value is what a row holds, in one number.
func (d *decider) value(wp *warp) uint64 {
	h := uint64(d.row)
	switch d.in {
	case inPred:
		return h<<32 | uint64(wp.p[d.row])
	case inRow64:
		for _, v := range &wp.r64[d.row] {
			h = isa.Mix(h, v)
		}
	default:
		row := &wp.r32[d.row]
		for i := 0; i < len(row); i += 2 {
			h = isa.Mix(h, uint64(row[i])<<32|uint64(row[i+1]))
		}
	}
	return h
}
