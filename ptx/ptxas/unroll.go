package ptxas

import (
	"fmt"
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Unrolled loops. The assembler makes four turns of a short loop one where it can tell how many turns are left: a
// register counts by a constant, and the branch compares it with what the loop does not change. What remains goes
// through the loop as it was.
const together = 4 // turns that become one

// Unroll gives a function with its short loops unrolled, or the function itself if it has none. Each thread executes
// the same instructions on the same values in the same order, but for tests of turns that are certain and for
// additions of constants that become one, so results stay the same.
func Unroll(g *analyze.Graph) *parse.Func {
	f, loops := g.Func, loops(g)
	if len(loops) == 0 {
		return f
	}
	u := &unrolling{from: f, starts: make([]int, len(f.Instrs)+1)}
	u.to = *f
	u.to.Instrs, u.to.Regs, u.to.NoUnroll = nil, slices.Clone(f.Regs), nil
	for i, in := range f.Instrs {
		u.starts[i] = len(u.to.Instrs)
		if len(loops) > 0 && loops[0].first == i {
			u.loop(loops[0])
			loops = loops[1:]
		}
		u.to.Instrs = append(u.to.Instrs, in)
	}
	u.starts[len(f.Instrs)] = len(u.to.Instrs)
	u.relabel()
	return &u.to
}

// unrolling is a function on its way from one form to the other.
type unrolling struct {
	from   *parse.Func
	to     parse.Func
	starts []int // by instruction of from, and behind the last: its place now, or that of the unrolled loop before it
	own    []own
	at     *parse.Instr // new instructions have its place in the file
}

// own is a branch within an unrolled loop: it leads to an instruction of the new function, or behind the loop.
type own struct{ branch, to int }

// loop puts the unrolled loop before the loop as it was:
//
//	      more = four turns are certain
//	      @!more bra rest
//	main: four turns without tests
//	      more = four turns are certain
//	      @more bra main
//	      @!(another turn) bra behind
//	rest: the loop as it was
//	behind:
func (u *unrolling) loop(l *loop) {
	u.at = u.from.Instrs[l.last]
	certain, again := u.certain(l)
	toRest := u.branch(certain, true)
	main := len(u.to.Instrs)
	names := map[*parse.Var]*parse.Var{}
	for turn := range together {
		for v := range l.temps {
			if delete(names, v); turn < together-1 {
				names[v] = nil // a register of its own, once it is needed
			}
		}
		for i := l.first; i < l.last; i++ {
			if a, counts := l.adds[written(u.from.Instrs[i])]; i != l.test && (!counts || a.at != i) {
				u.copy(l, i, int64(turn), names)
			}
		}
	}
	for i := l.first; i < l.last; i++ {
		if a, counts := l.adds[written(u.from.Instrs[i])]; counts && a.at == i {
			u.add("add", written(u.from.Instrs[i]), written(u.from.Instrs[i]), together*a.by)
		}
	}
	u.own = append(u.own, own{u.branch(again(), false), main})
	test, end := *u.from.Instrs[l.test], u.from.Instrs[l.last]
	if !l.behind { // it looks at the counter of the turn before
		test.Args = slices.Clone(test.Args)
		for i := range test.Args {
			if test.Args[i].Kind == parse.KReg && test.Args[i].Var == l.counter {
				test.Args[i].Var = u.shifted(l.counter, -l.pace)
			}
		}
	}
	u.emit(&test)
	behind := u.branch(end.Pred, !end.Neg)
	rest := len(u.to.Instrs)
	u.own = append(u.own, own{toRest, rest}, own{behind, -1 - l.last}, own{rest + l.last - l.first, rest})
}

// written is the register that an instruction writes, or nil.
func written(in *parse.Instr) *parse.Var {
	if in.Op == "st" || len(in.Args) == 0 || in.Args[0].Kind != parse.KReg {
		return nil
	}
	return in.Args[0].Var
}

// copy emits instruction i as it is in a turn. Registers that count have still the value from before the first turn.
func (u *unrolling) copy(l *loop, i int, turn int64, names map[*parse.Var]*parse.Var) {
	in := *u.from.Instrs[i]
	in.Args = slices.Clone(in.Args)
	_, reads := analyze.Access(&in, nil, nil)
	value := func(v *parse.Var) *parse.Var {
		if a, counts := l.adds[v]; counts {
			return u.shifted(v, a.before(i, turn))
		}
		if n := names[v]; n != nil {
			return n
		}
		return v
	}
	result := in.Op != "st"
	for k := range in.Args {
		if o := &in.Args[k]; k > 0 || !result {
			u.operand(o, value, func(v *parse.Var) (int64, bool) {
				a, counts := l.adds[v]
				return a.before(i, turn), counts
			})
		}
	}
	if in.Pred != nil {
		in.Pred = value(in.Pred)
	}
	if result {
		u.operand(&in.Args[0], func(v *parse.Var) *parse.Var {
			n, renamed := names[v]
			if renamed && (n == nil || !slices.Contains(reads, v) && in.Pred == nil) {
				n = u.register(v.Type)
				names[v] = n
			}
			if renamed {
				return n
			}
			return v
		}, nil)
	}
	u.emit(&in)
}

// before is what the register has counted when instruction i of a turn reads it.
func (a added) before(i int, turn int64) int64 {
	if i > a.at {
		turn++
	}
	return turn * a.by
}

// operand replaces the registers of an operand; a register that counts moves the offset of an address.
func (u *unrolling) operand(o *parse.Operand, value func(*parse.Var) *parse.Var, moved func(*parse.Var) (int64, bool)) {
	if o.Kind == parse.KAddr && moved != nil && len(o.List) == 1 && o.List[0].Kind == parse.KReg {
		if by, counts := moved(o.List[0].Var); counts {
			o.Off += by
			return
		}
	}
	if o.Kind == parse.KReg {
		o.Var = value(o.Var)
	}
	o.List = slices.Clone(o.List)
	for k := range o.List {
		u.operand(&o.List[k], value, nil)
	}
}

// certain emits the test, before the loop, whether four turns are left: no test of the first three can fail. again
// emits it at the end of four turns.
func (u *unrolling) certain(l *loop) (before *parse.Var, again func() *parse.Var) {
	if l.goOn == "ne" {
		return u.apart(l), func() *parse.Var { return u.apart(l) }
	}
	return u.ordered(l)
}

// apart tests how far the counter is from the value at which the loop ends: as a number without sign, because the
// counter may run through all values.
func (u *unrolling) apart(l *loop) *parse.Var {
	from, to, pace := parse.Operand{Kind: parse.KReg, Var: l.counter}, l.bound, l.pace
	if pace < 0 {
		from, to, pace = to, from, -pace
	}
	distance := to
	if from.Kind != parse.KInt || from.Bits != 0 {
		distance = parse.Operand{Kind: parse.KReg, Var: u.register(l.counter.Type)}
		u.make("sub", []string{bitsOf("s", l.typ)}, distance, to, from)
	}
	return u.compare("ge", bitsOf("u", l.typ), distance, number(together*pace))
}

// ordered tests whether the counter is within the bound after three turns. The bound is moved by as much once, before
// the loop; where it would wrap around, no turn is certain.
func (u *unrolling) ordered(l *loop) (before *parse.Var, again func() *parse.Var) {
	by := (together - 1) * l.pace
	low, high := limits(l.typ)
	counter := parse.Operand{Kind: parse.KReg, Var: l.counter}
	var fits *parse.Var
	bound := l.bound
	if bound.Kind == parse.KInt {
		bound = number(valueOf(l.typ, bound.Bits) - by)
		if v := valueOf(l.typ, l.bound.Bits); by > 0 && v-low < by || by < 0 && high-v < -by {
			bound = l.bound // no counter is within it and beyond it
			fits = u.compare("ne", bitsOf("s", l.typ), counter, counter)
		}
	} else {
		if by > 0 {
			fits = u.compare("ge", l.typ.String(), bound, number(low+by))
		} else {
			fits = u.compare("le", l.typ.String(), bound, number(high+by))
		}
		bound = parse.Operand{Kind: parse.KReg, Var: u.shifted(bound.Var, -by)}
	}
	again = func() *parse.Var { return u.compare(l.goOn, l.typ.String(), counter, bound) }
	if fits == nil {
		return again(), again
	}
	both := parse.Operand{Kind: parse.KReg, Var: u.register(parse.Pred)}
	u.make("setp", []string{l.goOn, "and", l.typ.String()}, both, counter, bound,
		parse.Operand{Kind: parse.KReg, Var: fits})
	return both.Var, again
}

// limits are the smallest and the largest value of a type; those of 64 bits without sign as far as int64 has them.
func limits(t parse.Type) (low, high int64) {
	bits := t.Bits()
	if t.Signed() {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	if bits == 64 {
		return 0, 1<<63 - 1
	}
	return 0, 1<<bits - 1
}

// valueOf is the value of a literal of a type.
func valueOf(t parse.Type, bits uint64) int64 {
	switch {
	case t.Bits() == 32 && t.Signed():
		return int64(int32(bits))
	case t.Bits() == 32:
		return int64(uint32(bits))
	}
	return int64(bits)
}

// bitsOf is the type of as many bits.
func bitsOf(kind string, t parse.Type) string { return fmt.Sprintf("%s%d", kind, t.Bits()) }

func number(v int64) parse.Operand { return parse.Operand{Kind: parse.KInt, Bits: uint64(v)} }

// register makes a register.
func (u *unrolling) register(t parse.Type) *parse.Var {
	v := &parse.Var{
		Name: fmt.Sprintf("%%unrolled%d", len(u.to.Regs)), Space: parse.Reg, Type: t, Align: max(1, t.Bytes()), Vec: 1,
		Size: t.Bytes(), Line: u.at.Line, ID: len(u.to.Regs), Owner: u.from,
	}
	u.to.Regs = append(u.to.Regs, v)
	return v
}

// shifted is a register with a constant added; the register itself if that is 0.
func (u *unrolling) shifted(v *parse.Var, by int64) *parse.Var {
	if by == 0 {
		return v
	}
	sum := u.register(v.Type)
	u.add("add", sum, v, by)
	return sum
}

func (u *unrolling) add(op string, to, from *parse.Var, by int64) {
	u.make(op, []string{bitsOf("s", from.Type)}, parse.Operand{Kind: parse.KReg, Var: to},
		parse.Operand{Kind: parse.KReg, Var: from}, number(by))
}

// compare makes a predicate.
func (u *unrolling) compare(how, typ string, a, b parse.Operand) *parse.Var {
	p := u.register(parse.Pred)
	u.make("setp", []string{how, typ}, parse.Operand{Kind: parse.KReg, Var: p}, a, b)
	return p
}

// branch emits a branch that is taken if the predicate holds, or with not if it does not, and gives its place.
func (u *unrolling) branch(p *parse.Var, not bool) int {
	u.emit(&parse.Instr{
		Pred: p, Neg: not, Op: "bra", Args: []parse.Operand{{Kind: parse.KLabel, Name: "unrolled"}}, Text: u.at.Text,
	})
	return len(u.to.Instrs) - 1
}

func (u *unrolling) make(op string, mods []string, args ...parse.Operand) {
	u.emit(&parse.Instr{Op: op, Mods: mods, Args: args, Text: u.at.Text})
}

// emit appends an instruction; a new one has the place in the file of the loop's branch.
func (u *unrolling) emit(in *parse.Instr) {
	if in.Line == 0 {
		in.Line, in.At, in.Src = u.at.Line, u.at.At, u.at.Src
	}
	u.to.Instrs = append(u.to.Instrs, in)
}

// relabel makes all branches lead to where their targets are now.
func (u *unrolling) relabel() {
	moved := func(o parse.Operand) parse.Operand {
		if o.Kind == parse.KLabel && o.Label >= 0 {
			o.Label = u.starts[o.Label]
		}
		return o
	}
	leads := map[int]int{}
	for _, o := range u.own {
		if leads[o.branch] = o.to; o.to < 0 { // behind an instruction
			leads[o.branch] = u.starts[-o.to]
		}
	}
	for i, in := range u.to.Instrs {
		if in.Op != "bra" {
			continue
		}
		c := *in
		c.Args = slices.Clone(c.Args)
		if to, ok := leads[i]; ok {
			c.Args[0].Label = to
		} else {
			c.Args[0] = moved(c.Args[0])
		}
		u.to.Instrs[i] = &c
	}
	u.to.Targets = maps.Clone(u.to.Targets)
	for name, list := range u.to.Targets {
		list = slices.Clone(list)
		for i := range list {
			list[i] = moved(list[i])
		}
		u.to.Targets[name] = list
	}
}
