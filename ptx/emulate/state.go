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
}

func decidersOf(list []analyze.Decider, rows []int32) (out []decider) {
	for _, x := range list {
		if row := rows[x.Var.ID]; row >= 0 {
			out = append(out, decider{fileOf(x.Var.Type), row, int32(x.Span.First), int32(x.Span.Last)})
		}
	}
	return out
}

// State implements isa.CTA: of the warp's CTA, its lanes that have not exited, the depth of its calls and
// its deciders.
func (c *cta) State(w int) (own, common uint64) {
	common = c.warps[w].state(c.g.prog)
	return isa.Mix(common, uint64(c.index)<<32|uint64(w)), common
}

func (wp *warp) state(prog *program) uint64 {
	h := isa.Mix(uint64(wp.live), uint64(uint32(wp.frame.depth)))
	if wp.pc < 0 {
		return h
	}
	f := &prog.funcs[prog.funcOf(wp.pc)]
	at := wp.pc - f.start + int32(wp.done) // operations ahead of it have been executed
	for i := range f.deciders {
		if d := &f.deciders[i]; at >= d.first && at <= d.last {
			h = isa.Mix(h, d.value(wp))
		}
	}
	return h
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
