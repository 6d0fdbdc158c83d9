package ptxas

import (
	"strings"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// flow finds the branches that vanish, and what the machine needs beside the instructions: lanes that have parted are
// brought together by two more (BSSY, BSYNC), and an entry loads what addresses begin with.
func (p *pass) flow() {
	f := p.f
	parts := p.differing()
	for i, in := range f.Instrs {
		if in.Op != "bra" {
			continue
		}
		b := p.Graph.BlockOf[i]
		blk := p.Graph.Blocks[b]
		switch {
		case in.Pred == nil && len(in.Args) == 1 && in.Args[0].Label == i+1:
			p.need[i] = 0
		case in.Pred == nil && blk.First == i && i > 0 && f.Instrs[i-1].Op == "bra" && f.Instrs[i-1].Pred != nil &&
			len(blk.Pred) == 1:
			p.need[i] = 0 // the branch before it is negated
		case in.Pred != nil && parts[in.Pred.ID]:
			if to := p.Graph.Reconverge(i); to >= 0 && p.leads(to) {
				p.extra[to] = max(p.extra[to], 2)
			}
		}
	}
	if f.Entry && len(f.Instrs) > 0 {
		p.begin()
	}
}

// leads says that an instruction is the first of its block.
func (p *pass) leads(i int) bool { return p.Graph.Blocks[p.Graph.BlockOf[i]].First == i }

// begin adds what an entry loads: the stack pointer, the descriptor of global memory and the base of shared memory.
func (p *pass) begin() {
	p.extra[0]++
	global, shared := false, false
	for i, in := range p.f.Instrs {
		if p.need[i] == 0 {
			continue
		}
		if _, ok := memory(in); ok && !global && in.Has("global") {
			p.extra[0]++
			global = true
		}
		for k := range in.Args {
			if v := in.Args[k].Var; v != nil && v.Space == parse.Shared && !shared {
				p.extra[0] += 2
				shared = true
			}
		}
	}
}

// differing finds the registers that may differ among the lanes of a warp: those that come from its number in the block
// or from memory.
func (p *pass) differing() []bool {
	differs := make([]bool, len(p.f.Regs))
	for changed := true; changed; {
		changed = false
		for _, in := range p.f.Instrs {
			w, r := analyze.Access(in, nil, nil)
			if len(w) == 0 || !source(in) && !any(r, differs) {
				continue
			}
			for _, v := range w {
				if !differs[v.ID] {
					differs[v.ID], changed = true, true
				}
			}
		}
	}
	return differs
}

func any(list []*parse.Var, set []bool) bool {
	for _, v := range list {
		if set[v.ID] {
			return true
		}
	}
	return false
}

// source says that the result of an instruction differs among lanes whatever its operands are.
func source(in *parse.Instr) bool {
	switch in.Op {
	case "ld":
		return !in.Has("param") && !in.Has("const")
	case "ldu", "atom", "call", "shfl", "tex", "tld4", "suld", "match", "elect", "mma", "wmma", "ldmatrix":
		return true
	case "mov":
		if len(in.Args) == 2 && in.Args[1].Kind == parse.KSpecial {
			n := in.Args[1].Name
			return strings.HasPrefix(n, "tid") || strings.HasPrefix(n, "lane") || clock(n)
		}
	}
	return false
}
