package readonly

import (
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// harmless are the functions of the runtime library that write no memory of the caller.
var harmless = map[string]bool{"vprintf": true, "malloc": true, "free": true, "__assertfail": true}

// called is the operand of a call that names the function.
func called(in *parse.Instr) (at int, name string) {
	for i := range in.Args {
		switch o := &in.Args[i]; o.Kind {
		case parse.KList:
		case parse.KFunc:
			return i, o.Name
		default:
			return i, ""
		}
	}
	return 0, ""
}

// callee is the function a call certainly goes to, if the module has its body.
func (s *solver) callee(in *parse.Instr) *parse.Func {
	_, name := called(in)
	if f := s.mod.Func(name); f != nil && !f.Extern {
		return f
	}
	return nil
}

// opaque reports whether a call may go where the analysis does not see: through a register, or to
// a function that is not in the module.
func (s *solver) opaque(in *parse.Instr) bool {
	_, name := called(in)
	return s.callee(in) == nil && !harmless[name]
}

// instruction lets the values of one instruction flow.
func (s *solver) instruction(x inst) {
	in := x.in
	if in.Op == "call" {
		s.call(in)
		return
	}
	r := s.empty()
	moves := false // data comes from memory or goes there
	s.accesses(in, func(a access) {
		moves = true
		if a.reads {
			join(&r, s.stored(a, s.width(in)))
		}
	})
	s.accesses(in, func(a access) {
		if a.writes {
			s.store(a, s.source(in, a), s.width(in))
		}
	})
	if n := s.width(in); moves && n > 0 && n < s.pointer {
		demote(r)
	}
	if !moves {
		r = s.result(in)
	}
	writes, _ := analyze.Access(in, nil, nil)
	for _, v := range writes {
		s.flow(s.node[v], r)
	}
}

// width is the bytes of one element that an access moves.
func (s *solver) width(in *parse.Instr) int {
	for i := len(in.Mods) - 1; i >= 0; i-- {
		if t, ok := parse.TypeOf(in.Mods[i]); ok {
			return t.Bytes()
		}
	}
	return 0
}

// source is what an instruction writes to memory: its operands that are no addresses, and for
// copies anything.
func (s *solver) source(in *parse.Instr, to access) origins {
	r := s.empty()
	for i := range in.Args {
		o := &in.Args[i]
		switch {
		case o == to.address:
		case o.Kind == parse.KAddr:
			set(r.base, s.unknownBit())
		default:
			s.collect(o, &r)
		}
	}
	return r
}

// call lets arguments flow into the callee and results back.
func (s *solver) call(in *parse.Instr) {
	at, name := called(in)
	var results, args []parse.Operand
	for i := range in.Args {
		switch {
		case in.Args[i].Kind != parse.KList:
		case i < at:
			results = in.Args[i].List
		case args == nil:
			args = in.Args[i].List
		}
	}
	f := s.callee(in)
	if f != nil {
		for i, p := range f.Params {
			if i < len(args) {
				s.flow(s.node[p], s.passed(&args[i]))
			}
		}
	}
	for i := range results {
		r := s.empty()
		switch {
		case f != nil && i < len(f.Results):
			join(&r, s.held[s.node[f.Results[i]]])
		case name == "malloc":
			set(r.base, s.moduleBit())
		default:
			set(r.base, s.unknownBit())
		}
		if o := &results[i]; o.Kind == parse.KReg || o.Kind == parse.KSym {
			if n, ok := s.node[o.Var]; ok {
				s.flow(n, r)
			}
		}
	}
}

// passed are the origins of an argument: the contents of a .param variable, or a value.
func (s *solver) passed(o *parse.Operand) origins {
	if o.Kind == parse.KSym {
		r := s.empty()
		if i, own := s.param[o.Var]; own {
			s.value(i, s.pointer, &r)
			return r
		}
		if n, ok := s.node[o.Var]; ok {
			join(&r, s.held[n])
			return r
		}
	}
	return s.operand(o)
}

// result are the origins of what an instruction without accesses computes.
func (s *solver) result(in *parse.Instr) origins {
	all := s.empty()
	for i := 1; i < len(in.Args); i++ {
		s.collect(&in.Args[i], &all)
	}
	switch in.Op {
	case "mov", "bfi", "prmt", "shf":
		if in.Op != "mov" || len(in.Args) == 2 && in.Args[1].Kind == parse.KVec {
			promote(all) // pieces are put together
		}
		return all
	case "add", "sub":
		return s.sum(in)
	case "mad", "mul", "shl":
		return s.product(in)
	case "shr":
		if n, ok := constant(in, 2); ok && n >= uint64(2*s.pointer) {
			demote(all)
		}
		return all
	case "and":
		a, okA := constant(in, 1)
		b, okB := constant(in, 2)
		if limit := uint64(1) << (4 * s.pointer); okA && a < limit || okB && b < limit {
			demote(all) // the rest is less than an address
		}
		return all
	case "cvta":
		return s.convert(in)
	case "alloca":
		r := s.empty()
		set(r.base, s.localBit())
		return r
	case "setp", "set", "testp", "isspacep", "createpolicy", "txq", "suq", "istypep", "vote", "activemask", "match",
		"elect":
		return s.empty()
	case "div", "rem", "neg", "popc", "clz", "bfind", "fns", "mul24", "mad24", "sad", "dp2a", "dp4a":
		demote(all)
		return all
	}
	if arithmetic(in, s.pointer) {
		demote(all)
	}
	return all
}

// arithmetic reports computation with floats, and conversions to or from what is narrower than an
// address: their results are numbers.
func arithmetic(in *parse.Instr, pointer int) bool {
	switch in.Op {
	case "selp", "slct", "shfl", "redux", "min", "max":
		return false
	}
	for _, m := range in.Mods {
		if t, ok := parse.TypeOf(m); ok && (t.Float() || in.Op == "cvt" && t.Bytes() < pointer) {
			return true
		}
	}
	return false
}

// sum is an addition or subtraction. One side of the sum of an address and a number is the
// address; where cvta says which, the other one is an index, and only otherwise either may be.
func (s *solver) sum(in *parse.Instr) origins {
	r := s.empty()
	if len(in.Args) != 3 {
		return r
	}
	a, b := s.operand(&in.Args[1]), s.operand(&in.Args[2])
	switch sureA, sureB := s.sure(a), s.sure(b); {
	case arithmetic(in, s.pointer):
		demote(a)
		demote(b)
	case sureA && s.possible(b):
		demote(b)
	case sureB && s.possible(a) && in.Op == "add":
		demote(a)
	}
	join(&r, a)
	join(&r, b)
	return r
}

// sure reports whether all bases of o are addresses beyond doubt.
func (s *solver) sure(o origins) bool {
	any := false
	for bit := range s.bits() {
		if !has(o.base, bit) {
			continue
		}
		any = true
		if bit >= len(s.certain) || !s.certain[bit] {
			return false
		}
	}
	return any
}

// possible reports whether no base of o is certainly an address: o may be a number.
func (s *solver) possible(o origins) bool {
	for bit := range s.bits() {
		if has(o.base, bit) && bit != s.unknownBit() && (bit >= len(s.certain) || s.certain[bit]) {
			return false
		}
	}
	return true
}

// product is a multiplication, with or without an addition, or a shift to the left. By less
// than 2^16 (2^8 with 32-bit addresses) or by a register it makes an index; by more it may bring
// the upper half of an address to its place.
func (s *solver) product(in *parse.Instr) origins {
	r := s.empty()
	if len(in.Args) < 3 {
		return r
	}
	s.collect(&in.Args[1], &r)
	s.collect(&in.Args[2], &r)
	limit := uint64(2 * s.pointer)
	n, known := constant(in, 2)
	whole := known && n >= limit || !known // a shift by a register may be any
	if in.Op != "shl" {
		limit = 1 << limit
		if !known {
			n, known = constant(in, 1)
		}
		whole = known && (n >= limit || n == 1)
	}
	if whole && !arithmetic(in, s.pointer) {
		promote(r)
	} else {
		demote(r)
	}
	if len(in.Args) > 3 {
		c := s.operand(&in.Args[3])
		if arithmetic(in, s.pointer) {
			demote(c)
		}
		join(&r, c)
	}
	return r
}

// constant is the value of an operand that is a number.
func constant(in *parse.Instr, i int) (n uint64, ok bool) {
	if i < len(in.Args) && in.Args[i].Kind == parse.KInt {
		return in.Args[i].Bits, true
	}
	return 0, false
}

// convert is cvta. What is converted to or from global addresses is an address.
func (s *solver) convert(in *parse.Instr) origins {
	r := s.empty()
	if len(in.Args) != 2 {
		return r
	}
	s.collect(&in.Args[1], &r)
	if in.Has("to") && !in.Has("global") {
		return r
	}
	switch spaceOf(in) {
	case parse.Shared:
		set(r.base, s.sharedBit())
	case parse.Local:
		set(r.base, s.localBit())
	case parse.Const:
		set(r.base, s.moduleBit())
	case parse.Param:
		promote(r)
	case parse.Global:
		for i, p := range s.kernel.Params {
			if has(r.base, i) && p.Size == s.pointer && !s.certain[i] {
				s.certain[i] = true
			}
		}
	}
	return r
}
