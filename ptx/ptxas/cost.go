package ptxas

import "github.com/heddle-sim/heddle/ptx/parse"

// Lengths of sequences as ptxas makes them for sm_90, on the way that ordinary operands take.
const (
	divide32     = 10 // quotient of unsigned integers by a divisor whose reciprocal is known
	remainder32  = 9
	signs        = 6  // more of them where the operands are signed
	reciprocal32 = 9  // of the divisor
	divide64     = 40 // both operands fit 32 bits, as the sequence asks first
	exactFloat   = 10 // div.rn, rcp.rn and sqrt.rn of f32: the fast path, the question for it, lanes brought together
	divideDouble = 17
	rootDouble   = 18
	scaled       = 4 // a special function whose subnormal operands are scaled before and behind
	loopOfCAS    = 5 // an atomic on floats in shared memory, one turn
)

// cost is how many machine instructions an instruction is that nothing else takes part in.
//
//heddle:table
func (p *pass) cost(i int) int {
	in := p.f.Instrs[i]
	t := typ(in, 0)
	wide := t.Bytes() == 8 && !t.Float() && !p.lowResult(i)
	switch in.Op {
	case "mov":
		return p.move(i, in, t)
	case "cvta":
		if in.Has("to") {
			return 0
		}
		return 2
	case "cvt":
		return p.convert(in)
	case "div", "rem":
		return p.division(i, in, t)
	case "mul", "mad":
		return p.product(in, t, wide)
	case "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
		return special(in, t)
	case "add", "sub", "and", "or", "xor", "not", "neg", "shl", "shr", "setp", "selp":
		switch {
		case t == parse.F64:
			return 1 + literals(in)
		case t == parse.Pred || !wide:
			return 1
		}
		return 2 + p.pointer(i)
	case "fma":
		return 1 + literals(in)
	case "min", "max":
		switch {
		case wide:
			return 4
		case t == parse.F64:
			return 5
		}
		return 1
	case "abs":
		if wide {
			return 3
		}
		return 1
	case "sad", "set", "slct", "clz", "bfe":
		if wide {
			return 4
		}
		return 2
	case "popc", "bfind", "brev":
		if t.Bytes() == 8 {
			return 3
		}
		return 1
	case "bfi":
		return 3
	case "membar", "fence":
		return 3
	case "atom":
		if small(in) && t.Float() {
			return 1 + loopOfCAS
		}
	}
	return 1
}

// pointer is the moves by which the halves of an address come together again that a loop adds to.
func (p *pass) pointer(i int) int {
	in := p.f.Instrs[i]
	if in.Op != "add" || len(in.Args) != 3 || in.Args[0].Var == nil || in.Args[0].Var != in.Args[1].Var {
		return 0
	}
	for _, k := range p.uses[in.Args[0].Var.ID] {
		if a, ok := memory(p.f.Instrs[k]); ok && len(a.List) > 0 && a.List[0].Var == in.Args[0].Var {
			if in.Args[2].Kind == parse.KInt {
				return 2
			}
			return 1
		}
	}
	return 0
}

// literals is the moves that make double-precision constants which are no immediate operands: those with low halves.
func literals(in *parse.Instr) (n int) {
	if typ(in, 0) != parse.F64 {
		return 0
	}
	for k := range in.Args {
		if o := &in.Args[k]; o.Kind == parse.KFloat && uint32(o.Bits) != 0 {
			n += 2
		}
	}
	return n
}

// lowResult says that of an instruction's result the low half is all that is asked for.
func (p *pass) lowResult(i int) bool { return len(p.write[i]) == 1 && p.low[p.write[i][0].ID] }

func (p *pass) move(i int, in *parse.Instr, t parse.Type) int {
	if len(in.Args) != 2 || t == parse.Pred {
		return 1
	}
	switch a := &in.Args[1]; a.Kind {
	case parse.KVec:
		return 0
	case parse.KSym:
		if a.Var != nil && a.Var.Space == parse.Shared {
			return 2
		}
		return 1
	case parse.KReg:
		if t.Bytes() == 8 && !p.lowResult(i) {
			return 2
		}
	}
	if in.Args[0].Kind == parse.KVec {
		return 0
	}
	return 1
}

// convert is the length of a conversion: among integers of registers' widths it is none, but for signs.
func (p *pass) convert(in *parse.Instr) int {
	to, from := typ(in, 0), typ(in, 1)
	if to.Float() || from.Float() {
		return 1
	}
	switch {
	case to.Bytes() <= from.Bytes():
		return 0
	case from.Bytes() < 4:
		if d := p.producer(&in.Args[1]); d >= 0 && p.f.Instrs[d].Op == "ld" {
			return 0 // a load extends
		}
		return 1
	case from.Signed() && to.Bytes() == 8:
		return 1
	}
	return 0
}

// division is the length of a quotient or a remainder. That of a divisor which was divided by before finds its
// reciprocal.
func (p *pass) division(i int, in *parse.Instr, t parse.Type) int {
	switch {
	case t == parse.F64:
		return divideDouble
	case t.Float() && in.Has("rn"):
		return exactFloat
	case t.Float() && in.Has("ftz"):
		return 2
	case t.Float():
		return 7
	case t.Bytes() == 8:
		return divide64
	}
	n := divide32
	if in.Op == "rem" {
		n = remainder32
	}
	if t.Signed() {
		n += signs
	}
	if by := &in.Args[2]; by.Kind == parse.KReg && p.one(by.Var) != several {
		for _, k := range p.uses[by.Var.ID] {
			if o := p.f.Instrs[k]; int(k) < i && (o.Op == "div" || o.Op == "rem") && o.Args[2].Var == by.Var {
				return n
			}
		}
	}
	return n + reciprocal32
}

// product is the length of a product of integers or floats.
func (p *pass) product(in *parse.Instr, t parse.Type, wide bool) int {
	switch {
	case in.Has("wide") || !wide:
		return 1 + literals(in)
	case in.Has("hi"):
		return 8
	case in.Op == "mad":
		return p.halvesOf(in) + 1
	}
	return p.halvesOf(in)
}

// halvesOf is the length of a 64-bit product by what is known of the upper halves of its operands.
func (p *pass) halvesOf(in *parse.Instr) int {
	short := 0
	for k := 1; k <= 2; k++ {
		o := &in.Args[k]
		if d := p.producer(o); o.Kind == parse.KInt && o.Bits < 1<<32 || d >= 0 && extends(p.f.Instrs[d]) {
			short++
		}
	}
	return [...]int{4, 3, 1}[short]
}

// extends says that an instruction makes 64 bits of 32.
func extends(in *parse.Instr) bool {
	return in.Op == "cvt" && typ(in, 0).Bytes() == 8 && typ(in, 1).Bytes() == 4 && !typ(in, 0).Float() &&
		!typ(in, 1).Float()
}

// special is the length of a function of the special function unit.
func special(in *parse.Instr, t parse.Type) int {
	switch {
	case t == parse.F64 && in.Op == "rsqrt":
		return 3
	case t == parse.F64:
		return rootDouble
	case in.Has("rn"):
		return exactFloat
	case in.Op == "tanh" || t.Bytes() == 2:
		return 1
	case in.Op == "sin" || in.Op == "cos":
		return 2
	case in.Has("ftz"):
		return 1
	}
	return scaled
}
