package ptxas

import "github.com/heddle-sim/heddle/ptx/parse"

// folds finds the instructions that become part of others.
//
//heddle:table
func (p *pass) folds() {
	taken := make([]int, len(p.f.Instrs)) // operands that others have become, by the instruction that they are part of
	for i := range p.f.Instrs {
		if p.need[i] == 0 && !p.isCopy(i) {
			continue
		}
		switch in := p.f.Instrs[i]; in.Op {
		case "mov", "cvt", "cvta":
			p.copied(i)
		case "add", "sub":
			p.added(i, taken)
		case "and", "or", "xor", "not":
			p.combined(i, taken)
		case "setp":
			p.compared(i)
		case "neg", "abs":
			t := typ(in, 0)
			takes := func(k int) bool { return typ(p.f.Instrs[k], 0) == t && floating(p.f.Instrs[k]) }
			if t.Float() && p.all(i, takes) {
				p.vanish(i)
			}
		}
	}
	for i, in := range p.f.Instrs {
		if p.need[i] == 0 || in.Op != "add" || p.made[i] != Itself || p.summed[i] || !p.constant(in) ||
			len(p.write[i]) != 1 {
			continue
		}
		if p.all(i, func(k int) bool { return p.addresses(k, p.write[i][0]) }) {
			p.vanish(i)
		}
	}
	p.resolve()
}

// vanish folds an instruction into those that use its result.
func (p *pass) vanish(i int) { p.need[i], p.fold[i] = 0, true }

// all says that an instruction is the only one that writes its result, and that something holds for each instruction
// that uses it.
func (p *pass) all(i int, holds func(k int) bool) bool {
	if len(p.write[i]) != 1 || p.f.Instrs[i].Pred != nil || p.one(p.write[i][0]) != i {
		return false
	}
	for _, k := range p.uses[p.write[i][0].ID] {
		if !holds(int(k)) {
			return false
		}
	}
	return true
}

// single says that an instruction's result is used once, by instruction k of the same block.
func (p *pass) single(i, k int) bool {
	return p.all(i, func(u int) bool { return u == k }) && len(p.uses[p.write[i][0].ID]) == 1 &&
		p.Graph.BlockOf[i] == p.Graph.BlockOf[k]
}

// isCopy says that an instruction takes none of the machine's, but others wait for what it waits for.
func (p *pass) isCopy(i int) bool {
	switch p.f.Instrs[i].Op {
	case "mov", "cvt", "cvta":
		return len(p.write[i]) > 0 && len(p.uses[p.write[i][0].ID]) > 0
	}
	return false
}

// copied folds moves of what is written once.
func (p *pass) copied(i int) {
	in := p.f.Instrs[i]
	if in.Op != "mov" {
		if p.need[i] == 0 && p.all(i, func(int) bool { return true }) {
			p.fold[i] = true
		}
		return
	}
	if len(in.Args) != 2 || in.Args[0].Kind != parse.KReg {
		p.fold[i] = p.need[i] == 0 && p.all(i, func(int) bool { return true })
		return
	}
	alone := p.all(i, func(int) bool { return true })
	switch a := &in.Args[1]; a.Kind {
	case parse.KReg:
		switch d := p.one(a.Var); {
		case alone && d >= 0, alone && p.single(i, p.next(i)):
			p.vanish(i)
		case d >= 0 && p.literal(d):
			p.need[i] = 1
		case d >= 0 && len(p.uses[a.Var.ID]) == 1: // both are one register
			p.vanish(i)
		}
	case parse.KInt, parse.KFloat, parse.KSym:
		if a.Kind == parse.KSym && (a.Var == nil || a.Var.Space != parse.Const) {
			return
		}
		if alone && p.all(i, func(k int) bool { return p.takesLiteral(k, p.write[i][0]) }) {
			p.vanish(i)
		} else {
			p.need[i] = 1
		}
	case parse.KVec:
		p.fold[i] = alone
	}
}

// next is the instruction that uses a result, if there is but one.
func (p *pass) next(i int) int {
	if u := p.uses[p.write[i][0].ID]; len(u) == 1 {
		return int(u[0])
	}
	return none
}

// literal says that an instruction loads a constant.
func (p *pass) literal(i int) bool {
	in := p.f.Instrs[i]
	if in.Op != "mov" || len(in.Args) != 2 {
		return false
	}
	a := &in.Args[1]
	return a.Kind == parse.KInt || a.Kind == parse.KFloat ||
		a.Kind == parse.KSym && a.Var != nil && a.Var.Space == parse.Const
}

// takesLiteral says that an instruction can have a constant in a register's place.
func (p *pass) takesLiteral(k int, v *parse.Var) bool {
	in := p.f.Instrs[k]
	switch in.Op {
	case "st", "atom", "red", "call", "ret", "shfl", "mma", "wmma", "div", "rem", "rcp", "sqrt":
		return false
	case "mov":
		return true
	}
	others := 0
	for a := 1; a < len(in.Args); a++ {
		if o := &in.Args[a]; o.Kind == parse.KInt || o.Kind == parse.KFloat ||
			o.Kind == parse.KReg && o.Var != v && p.producer(o) >= 0 && p.literal(p.producer(o)) {
			others++
		}
	}
	return others == 0
}

// constant says that an instruction adds a constant.
func (p *pass) constant(in *parse.Instr) bool {
	if len(in.Args) != 3 || in.Args[1].Kind != parse.KReg {
		return false
	}
	for k := 1; k <= 2; k++ {
		if d := p.producer(&in.Args[k]); in.Args[k].Kind == parse.KInt || d >= 0 && p.literal(d) && p.fold[d] {
			return true
		}
	}
	return false
}

// addresses says that an instruction uses a register as an address and for nothing else.
func (p *pass) addresses(k int, v *parse.Var) bool {
	in := p.f.Instrs[k]
	a, ok := memory(in)
	if !ok || in.Has("param") || a.Kind != parse.KAddr || len(a.List) == 0 || a.List[0].Var != v {
		return false
	}
	for i := range in.Args {
		if &in.Args[i] != a && in.Args[i].Var == v {
			return false
		}
	}
	return true
}

// added folds what an addition adds: a product, a shifted value, the sign of a 64-bit index, another sum.
func (p *pass) added(i int, taken []int) {
	in := p.f.Instrs[i]
	t := typ(in, 0)
	if t.Float() || len(in.Args) != 3 || len(p.write[i]) != 1 || in.Has("cc") || in.Has("sat") {
		return
	}
	for k := 1; k <= 2; k++ {
		d := p.producer(&in.Args[k])
		if d < 0 || in.Args[3-k].Kind == parse.KInt && p.f.Instrs[d].Op != "mul" && p.f.Instrs[d].Op != "add" {
			continue
		}
		if p.addedProduct(i, d, in, t) {
			return
		}
	}
	for k := 1; k <= 2; k++ {
		d := p.producer(&in.Args[k])
		if d < 0 || p.need[d] == 0 {
			continue
		}
		switch from := p.f.Instrs[d]; {
		case from.Op == "cvt" && t.Bytes() == 8 && extends(from) && p.all(d, p.sums):
			p.vanish(d)
			return
		case (from.Op == "add" || from.Op == "sub") && p.made[d] == Itself && taken[d] == 0 && p.single(d, i) &&
			len(p.reads[d]) > 0 && !(in.Args[3-k].Kind == parse.KInt && p.constant(from)):
			taken[i]++ // a sum of three
			p.need[i] = max(p.need[i], p.need[d])
			p.vanish(d)
			return
		}
	}
}

// addedProduct makes a sum and a product that it adds one instruction.
func (p *pass) addedProduct(i, d int, in *parse.Instr, t parse.Type) bool {
	from := p.f.Instrs[d]
	if p.need[d] == 0 && !p.fold[d] {
		return false
	}
	product := from.Op == "mul" && (from.Has("wide") || from.Has("lo")) && typ(from, 0).Bytes() <= 4
	shifted := from.Op == "shl" && from.Args[2].Kind == parse.KInt
	if in.Op == "sub" && in.Args[1].Kind == parse.KReg && p.producer(&in.Args[1]) == d && !product {
		return false
	}
	switch {
	case product && (from.Has("wide") || p.all(d, p.sums)),
		shifted && p.indexes(from):
		p.made[i], p.need[i] = Product, 1
		if index := p.producer(&from.Args[1]); shifted && p.single(index, d) {
			p.vanish(index)
		}
	case shifted && p.all(d, p.sums):
		if p.summed[i] = true; p.write[d][0].Type.Bytes() < 8 {
			p.need[i] = 1
		}
	default:
		return false
	}
	if p.all(d, p.sums) {
		p.vanish(d)
	}
	p.reads[i] = append(p.reads[i], p.reads[d]...)
	return true
}

// indexes says that a value is shifted that is an index of 32 bits: the shift is a product of it.
func (p *pass) indexes(in *parse.Instr) bool {
	d := p.producer(&in.Args[1])
	return d >= 0 && extends(p.f.Instrs[d]) && (p.need[d] == 0 || len(p.uses[in.Args[1].Var.ID]) == 1)
}

// sums says that an instruction adds integers.
func (p *pass) sums(k int) bool {
	in := p.f.Instrs[k]
	return (in.Op == "add" || in.Op == "sub") && !typ(in, 0).Float() && p.need[k] > 0
}

// combined folds logic of three operands, and of predicates the comparison that is an operand.
func (p *pass) combined(i int, taken []int) {
	in := p.f.Instrs[i]
	t := typ(in, 0)
	for k := 1; k < len(in.Args); k++ {
		d := p.producer(&in.Args[k])
		if d < 0 || p.need[d] == 0 || !p.single(d, i) {
			continue
		}
		from := p.f.Instrs[d]
		switch {
		case t == parse.Pred && from.Op == "setp" && len(p.write[d]) == 1:
			p.vanish(i) // the comparison takes the other predicate
			return
		case t != parse.Pred && logic(from) && taken[d] == 0 && typ(from, 0).Bytes() == t.Bytes():
			taken[i]++
			p.vanish(d)
			return
		}
	}
	if t == parse.Pred && in.Op == "not" {
		p.vanish(i)
	}
}

func logic(in *parse.Instr) bool {
	switch in.Op {
	case "and", "or", "xor", "not":
		return true
	}
	return false
}

// compared folds logic whose result is compared with zero.
func (p *pass) compared(i int) {
	in := p.f.Instrs[i]
	if !in.Has("eq") && !in.Has("ne") || typ(in, 0).Bytes() > 4 || typ(in, 0).Float() {
		return
	}
	if z := &in.Args[len(in.Args)-1]; z.Kind != parse.KInt || z.Bits != 0 {
		return
	}
	if d := p.producer(&in.Args[len(in.Args)-2]); d >= 0 && logic(p.f.Instrs[d]) && p.need[d] == 1 && p.single(d, i) {
		p.vanish(d)
	}
}

// floating says that an instruction takes the sign or the magnitude of its operands on the way.
func floating(in *parse.Instr) bool {
	switch in.Op {
	case "add", "sub", "mul", "fma", "min", "max", "setp", "neg", "abs":
		return true
	}
	return false
}

// resolve gives each instruction what it waits for in the end: of what was folded, the operands.
func (p *pass) resolve() {
	for i := range p.f.Instrs {
		if p.need[i] > 0 {
			p.reads[i] = p.sources(p.reads[i], nil, 0)
		}
	}
}

func (p *pass) sources(list, out []*parse.Var, depth int) []*parse.Var {
	for _, v := range list {
		if d := p.one(v); d >= 0 && p.fold[d] && depth < 8 {
			out = p.sources(p.reads[d], out, depth+1)
		} else if !writes(out, v) {
			out = append(out, v)
		}
	}
	return out
}
