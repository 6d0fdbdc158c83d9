package ptxas

import (
	"strings"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// values finds the instructions that write and read each register, and the registers of which the low half is enough.
func (p *pass) values() {
	for id := range p.def {
		p.def[id] = none
	}
	for i, in := range p.f.Instrs {
		p.write[i], p.reads[i] = analyze.Access(in, nil, nil)
		for _, v := range p.write[i] {
			switch {
			case p.def[v.ID] == none && in.Pred == nil:
				p.def[v.ID] = int32(i)
			default:
				p.def[v.ID] = several
			}
		}
		for _, v := range p.reads[i] {
			p.uses[v.ID] = append(p.uses[v.ID], int32(i))
		}
	}
	p.halves()
}

// halves finds the 64-bit registers whose upper half is not used: it begins with all of them, and takes out those
// that an instruction needs whole.
func (p *pass) halves() {
	for id, v := range p.f.Regs {
		p.low[id] = v.Type.Bytes() == 8
	}
	for changed := true; changed; {
		changed = false
		for i, in := range p.f.Instrs {
			for k := range in.Args {
				if k > 0 || len(p.write[i]) == 0 {
					changed = p.whole(in, &in.Args[k], p.passes(i, k)) || changed
				}
			}
		}
	}
}

// whole takes out the registers of an operand, unless the low halves are enough.
func (p *pass) whole(in *parse.Instr, o *parse.Operand, enough bool) (changed bool) {
	if o.Var != nil && o.Var.Space == parse.Reg && o.Var.Elems == nil && p.low[o.Var.ID] && !enough {
		p.low[o.Var.ID], changed = false, true
	}
	for k := range o.List {
		changed = p.whole(in, &o.List[k], enough) || changed
	}
	return changed
}

// passes says that an instruction makes of the low half of its k-th operand no more than a low half.
func (p *pass) passes(i, k int) bool {
	in := p.f.Instrs[i]
	if address, ok := memory(in); ok {
		return address == &in.Args[k] && small(in)
	}
	t := typ(in, 0)
	switch in.Op {
	case "cvt":
		return t.Bytes() <= 4 && !t.Float() && !typ(in, 1).Float()
	case "add", "sub", "mov", "and", "or", "xor", "not", "neg", "cvta":
	case "mul", "mad":
		if in.Has("wide") && k < 3 || in.Has("hi") {
			return false
		}
	case "shl":
		if k == 2 {
			return false
		}
	case "selp":
		if k == 3 {
			return false
		}
	default:
		return false
	}
	return len(p.write[i]) == 1 && p.low[p.write[i][0].ID] && in.Args[0].Kind == parse.KReg
}

// unused removes instructions whose results are not used, except loads. Compilers have removed useless loads already,
// and those in PTX written by hand are there to be timed. ptxas would remove them, too.
func (p *pass) unused() {
	asked := make([]int, len(p.f.Regs))
	for id := range asked {
		asked[id] = len(p.uses[id])
	}
	for _, v := range p.f.Results {
		if v.Space == parse.Reg && v.Name != "_" {
			asked[v.ID]++
		}
	}
	for _, c := range p.f.Common {
		asked[c.Own.ID]++
	}
	var work []int
	idle := func(i int) bool {
		if p.need[i] < 0 || effect(p.f.Instrs[i]) || fetches(p.f.Instrs[i]) || len(p.write[i]) == 0 {
			return false
		}
		for _, v := range p.write[i] {
			if asked[v.ID] > 0 {
				return false
			}
		}
		return true
	}
	gone := make([]bool, len(p.f.Instrs))
	for i := range p.f.Instrs {
		work = append(work, i)
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if gone[i] || !idle(i) {
			continue
		}
		gone[i], p.need[i] = true, 0
		for _, v := range p.reads[i] {
			if asked[v.ID]--; asked[v.ID] == 0 {
				for k := range p.f.Instrs { // of the few that are dead
					if !gone[k] && writes(p.write[k], v) {
						work = append(work, k)
					}
				}
			}
		}
	}
	for id := range p.uses {
		kept := p.uses[id][:0]
		for _, i := range p.uses[id] {
			if !gone[i] {
				kept = append(kept, i)
			}
		}
		p.uses[id] = kept
	}
}

func writes(list []*parse.Var, v *parse.Var) bool {
	for _, w := range list {
		if w == v {
			return true
		}
	}
	return false
}

// fetches says that an instruction reads memory which is no parameter.
func fetches(in *parse.Instr) bool {
	return (in.Op == "ld" || in.Op == "ldu" || in.Op == "tex" || in.Op == "tld4" || in.Op == "suld") && !in.Has("param")
}

// effect says that an instruction does more than to write registers.
func effect(in *parse.Instr) bool {
	switch in.Op {
	case "st", "red", "atom", "bra", "brx", "ret", "exit", "trap", "brkpt", "bar", "barrier", "membar", "fence", "call",
		"cp", "nanosleep", "prefetch", "prefetchu", "discard", "applypriority", "pmevent", "wmma", "mma", "shfl",
		"vote", "match", "redux", "alloca",
		"stacksave", "stackrestore", "sust", "sured", "activemask", "elect", "mbarrier",
		"setmaxnreg", "griddepcontrol", "ldmatrix", "createpolicy":
		return true
	case "ld":
		return in.Has("volatile") || in.Has("relaxed") || in.Has("acquire")
	case "mov":
		return len(in.Args) == 2 && in.Args[1].Kind == parse.KSpecial && clock(in.Args[1].Name)
	}
	return false
}

func clock(name string) bool {
	return strings.HasPrefix(name, "clock") || strings.HasPrefix(name, "globaltimer")
}
