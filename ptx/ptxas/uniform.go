package ptxas

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Lengths of what a warp does around an atomic that one lane performs for it: electing the lane and counting those that
// take part, and handing each its place where the old value is used.
const (
	electing = 6
	placing  = 4
)

// uniform finds the atomic additions that one lane performs for all: of an integer that is the same for all lanes, to
// an address that is.
func (p *pass) uniform() {
	differs := p.differing()
	for i, in := range p.f.Instrs {
		if in.Op != "atom" && in.Op != "red" || !in.Has("add") || in.Pred != nil || p.need[i] == 0 {
			continue
		}
		t := typ(in, 0)
		a, _ := memory(in)
		value := &in.Args[len(in.Args)-1]
		if t.Float() || t.Bytes() != 4 || a.Index != nil || len(a.List) > 0 && varies(&a.List[0], differs) ||
			varies(value, differs) {
			continue
		}
		p.marks[i] |= isa.Elected
		p.extra[i] += electing
		if in.Op == "atom" && len(p.write[i]) == 1 && len(p.uses[p.write[i][0].ID]) > 0 {
			p.extra[i] += placing
		}
	}
}

func varies(o *parse.Operand, differs []bool) bool { return o.Kind == parse.KReg && differs[o.Var.ID] }
