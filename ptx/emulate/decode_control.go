package emulate

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// flow decodes control flow, and instructions at which lanes of a warp or of several warps meet.
type flow struct{ *instr }

// label is the PC of a label of the current function.
func (d flow) label(o *parse.Operand) int32 {
	if o.Kind != parse.KLabel || o.Label < 0 {
		d.fail("%s is not a label of this function", o.Name)
	}
	return d.fn.start + int32(o.Label)
}

func (d flow) reconverge(i int, g *analyze.Graph) {
	if r := g.Reconverge(i); r >= 0 {
		d.o.reconv = d.fn.start + int32(r)
	}
}

func (d flow) branch(i int, g *analyze.Graph) {
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Branch, isa.INT, isa.TimeOther
	d.take("uni")
	d.reconverge(i, g)
	if d.in.Op == "bra" {
		d.count(1, 1)
		d.o.shape = shBra
		d.o.target = d.label(d.arg(0))
		return
	}
	d.count(2, 2)
	if !d.take("idx") {
		d.unsupported("")
	}
	d.o.shape = shBrx
	d.o.a = d.src32(d.arg(0), parse.U32)
	list := d.f.Targets[d.arg(1).Name]
	if len(list) == 0 {
		d.fail("%s is not a .branchtargets list", d.arg(1).Name)
	}
	for k := range list {
		d.o.table = append(d.o.table, d.label(&list[k]))
	}
}

func (d flow) leave() {
	d.count(0, 0)
	d.ins.Unit, d.ins.Timing = isa.INT, isa.TimeOther
	switch d.in.Op {
	case "ret":
		d.take("uni")
		d.o.shape, d.ins.Kind = shRet, isa.Branch
		if d.f.Entry {
			d.ins.Kind = isa.Exit
		}
	case "exit":
		d.o.shape, d.ins.Kind = shExit, isa.Exit
	default:
		d.o.shape, d.ins.Kind = shTrap, isa.Exit
	}
}

// callSite decodes call: [(results),] target [, (params)] [, prototype or targets].
func (d flow) callSite() {
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Branch, isa.INT, isa.TimeOther
	d.take("uni")
	args := d.in.Args
	var results, params []parse.Operand
	if len(args) > 0 && args[0].Kind == parse.KList {
		results = args[0].List
		args = args[1:]
	}
	if len(args) == 0 {
		d.fail("call names no function")
	}
	target := &args[0]
	args = args[1:]
	if len(args) > 0 && args[0].Kind == parse.KList {
		params = args[0].List
		args = args[1:]
	}
	c := &callop{callee: -1, caller: d.fn.index}
	d.operands(c, d.formals(target, args), params, results)
	d.o.shape, d.o.call = shCall, c
	switch target.Kind {
	case parse.KFunc:
		d.directCall(target.Name, c)
	case parse.KReg:
		if c.short = d.m.short32() && target.Var.Type.Bytes() == 4; c.short {
			d.o.a = d.src32(target, parse.U32)
		} else {
			d.o.a = d.src64(target, parse.U64)
		}
		if len(args) != 1 {
			d.fail("a call through a register names its .callprototype or .calltargets last")
		}
		for i := range d.fns {
			if i > 0 {
				d.depend(int32(i))
			}
		}
	default:
		d.fail("%s is not a function", target.Name)
	}
}

func (d flow) depend(callee int32) { d.fn.depends = append(d.fn.depends, callee) }

// operands decodes the arguments and results of a call site; formals may be nil.
func (d flow) operands(c *callop, formals *parse.Func, params, results []parse.Operand) {
	for i := range params {
		t := parse.NoType
		if formals != nil && i < len(formals.Params) {
			t = formals.Params[i].Type
		}
		c.params = append(c.params, d.passed(&params[i], t))
	}
	for i := range results {
		r := d.passed(&results[i], parse.NoType)
		if r.in != inMemory && r.at < 0 {
			d.fail("the result of a call is a .param variable or a register")
		}
		c.results = append(c.results, r)
	}
}

// formals is the declaration of the callee of a call site: the function, its prototype, or the first of its targets;
// nil if there is none.
func (d flow) formals(target *parse.Operand, rest []parse.Operand) *parse.Func {
	if target.Kind == parse.KFunc {
		return d.m.ast.Func(target.Name)
	}
	if len(rest) == 0 {
		return nil
	}
	name := rest[0].Name
	if list := d.f.Targets[name]; len(list) > 0 {
		return d.m.ast.Func(list[0].Name)
	}
	return d.f.Protos[name]
}

// passed is an argument or result at a call site, whose formal has type t.
func (d flow) passed(o *parse.Operand, t parse.Type) passed {
	switch {
	case o.Kind == parse.KSym && o.Var.Space == parse.Param && d.inFrame(o.Var):
		return passed{inMemory, d.frame[o.Var] + int32(o.Off), int32(o.Var.Size)}
	case o.Kind == parse.KReg && o.Var.Type == parse.Pred:
		row, neg := d.predOf(o)
		if neg {
			d.fail("!%s is not an argument: negate it before", o.Var.Name)
		}
		return passed{inPred, row, 1}
	case o.Kind == parse.KReg:
		t = o.Var.Type
	case t == parse.Pred:
		row, _ := d.predOf(o)
		return passed{inPred, row, 1}
	case t == parse.NoType || t.Bytes() > 8:
		d.fail("arguments and results of a call are .param variables declared in the caller, registers, or constants " +
			"where the parameter is a scalar")
	}
	if t.Bytes() == 8 {
		return passed{inRow64, d.src64(o, t), 8}
	}
	return passed{inRow32, d.src32(o, t), int32(t.Bytes())}
}

func (d flow) directCall(name string, c *callop) {
	f := d.m.ast.Func(name)
	if f == nil || f.Extern {
		if !d.runtime(name, c) {
			d.fail("function %s has no body: link the module that defines it", name)
		}
		return
	}
	if f.Entry {
		d.fail("%s is a kernel and cannot be called", name)
	}
	i := d.fidx[f]
	callee := &d.prog.funcs[i]
	if len(callee.params) != len(c.params) || len(callee.results) != len(c.results) {
		d.fail("call with %d parameters and %d results, %s has %d and %d", len(c.params), len(c.results), name,
			len(callee.params), len(callee.results))
	}
	c.callee = i
	d.depend(i)
}

// runtime decodes a call of a function that CUDA brings along.
func (d flow) runtime(name string, c *callop) bool {
	f, ok := map[string]struct {
		fx              fnX
		params, results int
	}{
		"vprintf":      {vprintf, 2, 1},
		"malloc":       {deviceMalloc, 1, 1},
		"free":         {deviceFree, 1, 0},
		"__assertfail": {assertFail, 5, 0},
	}[name]
	if !ok {
		return false
	}
	if len(c.params) != f.params || len(c.results) != f.results {
		d.fail("call with %d parameters and %d results, %s has %d and %d", len(c.params), len(c.results), name,
			f.params, f.results)
	}
	d.o.shape, d.o.fx = shX, f.fx
	d.m.prints = d.m.prints || name == "vprintf"
	d.m.heap = d.m.heap || name == "malloc" || name == "free"
	return true
}

// sleep decodes nanosleep.
func (d flow) sleep() {
	d.count(1, 1)
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Sleep, isa.INT, isa.TimeOther
	d.o.shape, d.o.a = shSleep, d.src32(d.arg(0), parse.U32)
}

// barrierOp decodes bar and barrier.
func (d flow) barrierOp() {
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Barrier, isa.INT, isa.TimeOther
	d.typ = d.typ[:0]
	d.mods = append(d.mods[:0], d.in.Mods...)
	d.take("cta")
	d.take("aligned")
	d.o.flags |= fSync
	if d.take("warp") {
		d.take("sync")
		d.count(1, 1)
		d.ins.Kind = isa.ALU
		d.o.shape, d.o.fx = shX, nothing
		d.o.e = d.src32(d.arg(0), parse.B32)
		return
	}
	d.o.shape = shBar
	zero := d.constant32(0)
	d.o.b = zero
	switch {
	case d.take("sync"):
		d.count(1, 2)
		d.barOperands(0)
	case d.take("arrive"):
		d.count(2, 2)
		d.o.n = barArrive
		d.barOperands(0)
	case d.take("red"):
		d.barReduce()
	default:
		d.unsupported("")
	}
}

// barOperands decodes the barrier number and the thread count from operand i.
func (d flow) barOperands(i int) {
	d.barNumber(i)
	if i+1 < len(d.in.Args) {
		d.barThreads(i + 1)
	}
}

func (d flow) barNumber(i int) {
	if o := d.arg(i); o.Kind == parse.KInt && o.Bits > 15 {
		d.fail(noBarrier, o.Bits)
	}
	d.o.a = d.src32(d.arg(i), parse.U32)
}

func (d flow) barThreads(i int) {
	if o := d.arg(i); o.Kind == parse.KInt && o.Bits%isa.Lanes != 0 {
		d.fail(noBarrierFor, o.Bits, isa.Lanes)
	}
	d.o.b = d.src32(d.arg(i), parse.U32)
}

func (d flow) barReduce() {
	d.take("u32")
	d.take("pred")
	switch d.oneOf("popc", "and", "or") {
	case "popc":
		d.o.n = barPopc
		d.o.d = d.dst(parse.U32)
	case "and":
		d.o.n, d.o.d = barAnd, d.predDst(d.arg(0))
	case "or":
		d.o.n, d.o.d = barOr, d.predDst(d.arg(0))
	default:
		d.unsupported("")
	}
	if d.o.d < 0 {
		d.fail("the destination is missing")
	}
	d.count(3, 4)
	last := len(d.in.Args) - 1
	d.barNumber(1)
	if last == 3 {
		d.barThreads(2)
	}
	var neg bool
	if d.o.c, neg = d.predOf(d.arg(last)); neg {
		d.o.flags |= fNotC
	}
}

// warpOp decodes the operations between lanes.
func (d flow) warpOp(t parse.Type) {
	d.o.shape = shX
	d.o.target = noPred
	sync := d.take("sync")
	if sync {
		d.o.flags |= fSync
	}
	d.ins.Unit, d.ins.Timing = isa.INT, isa.TimeOther
	switch d.in.Op {
	case "shfl":
		d.ins.Timing = isa.Shuffle
		d.shfl(sync)
	case "vote":
		d.vote(sync)
	case "match":
		d.matchOp(t)
	case "activemask":
		d.count(1, 1)
		d.o.fx, d.o.d = activeMask, d.dst(parse.B32)
	case "redux":
		d.redux(t)
	case "elect":
		d.count(2, 2)
		o := d.arg(0)
		if o.Kind != parse.KPair {
			d.fail("elect.sync writes a register and a predicate: d|p")
		}
		d.o.fx, d.o.d = elect, -1
		if o.List[0].Kind == parse.KReg {
			d.o.d = d.rows[o.List[0].Var.ID]
		}
		d.o.target = d.predDst(&o.List[1])
		d.o.e = d.src32(d.arg(1), parse.B32)
	}
	if d.in.Op != "activemask" && d.in.Op != "shfl" && d.in.Op != "vote" && !sync {
		d.unsupported(".sync is needed")
	}
}

// pairDst decodes "d" or "d|p" with a 32-bit d.
func (d flow) pairDst() {
	o := d.arg(0)
	if o.Kind == parse.KPair {
		d.o.target = d.predDst(&o.List[1])
		o = &o.List[0]
	}
	if o.Kind != parse.KReg {
		d.fail("the destination is not a register")
	}
	d.size(o.Var, 4)
	d.o.d = d.rows[o.Var.ID]
}

func (d flow) shfl(sync bool) {
	if sync {
		d.count(5, 5)
		d.o.e = d.src32(d.arg(4), parse.B32)
	} else {
		d.count(4, 4)
	}
	mode, ok := map[string]uint8{"up": shflUp, "down": shflDown, "bfly": shflBfly, "idx": shflIdx}[d.oneOf("up", "down",
		"bfly", "idx")]
	if !ok {
		d.unsupported("")
	}
	d.o.fx, d.o.n = shuffle, mode
	d.pairDst()
	d.o.a, d.o.b, d.o.c = d.src32(d.arg(1), parse.B32), d.src32(d.arg(2), parse.B32), d.src32(d.arg(3), parse.B32)
}

func (d flow) vote(sync bool) {
	n := 2
	if sync {
		n = 3
		d.count(3, 3)
		d.o.e = d.src32(d.arg(2), parse.B32)
	}
	d.count(n, n)
	d.o.fx = vote
	switch d.oneOf("all", "any", "uni", "ballot") {
	case "all":
		d.o.n = voteAll
	case "any":
		d.o.n = voteAny
	case "uni":
		d.o.n = voteUni
	case "ballot":
		d.o.n = voteBallot
	default:
		d.unsupported("")
	}
	if d.o.n == voteBallot {
		d.o.d = d.dst(parse.B32)
	} else if d.o.d = d.predDst(d.arg(0)); d.o.d < 0 {
		d.fail("the destination is missing")
	}
	var neg bool
	if d.o.c, neg = d.predOf(d.arg(1)); neg {
		d.o.flags |= fNotC
	}
}

func (d flow) matchOp(t parse.Type) {
	d.count(3, 3)
	d.o.fx = match
	switch d.oneOf("any", "all") {
	case "any":
		d.o.n = matchAny
	case "all":
		d.o.n = matchAll
	default:
		d.unsupported("")
	}
	d.pairDst()
	d.o.a, d.o.b = d.src(1, t), 0
	if t.Bytes() == 8 {
		d.o.b = 1
	}
	d.o.e = d.src32(d.arg(2), parse.B32)
}

func (d flow) redux(t parse.Type) {
	d.count(3, 3)
	d.o.fx = redux
	name := d.oneOf("add", "min", "max", "and", "or", "xor")
	switch {
	case name == "add":
		d.o.n = reduxAdd
	case name == "min" && t.Signed():
		d.o.n = reduxMinS
	case name == "min":
		d.o.n = reduxMinU
	case name == "max" && t.Signed():
		d.o.n = reduxMaxS
	case name == "max":
		d.o.n = reduxMaxU
	case name == "and":
		d.o.n = reduxAnd
	case name == "or":
		d.o.n = reduxOr
	case name == "xor":
		d.o.n = reduxXor
	default:
		d.unsupported("")
	}
	if t.Bytes() != 4 || t.Float() {
		d.unsupported("type ." + t.String())
	}
	d.o.d, d.o.a = d.dst(t), d.src(1, t)
	d.o.e = d.src32(d.arg(2), parse.B32)
}
