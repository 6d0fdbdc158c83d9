package emulate

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/ptxas"
)

// decoder turns the functions a kernel reaches into one program.
type decoder struct {
	instr
	names   map[*parse.Var]uint16 // scoreboard names
	numbers []int                 // scratch of reads
}

// instr is the instruction being decoded: how its operands become rows of the program. The decoders of one kind of
// instructions build on it: arithmetic, logic, moves, accesses, matrices and flow.
type instr struct {
	m    *Module
	prog *program
	fns  []*parse.Func
	fidx map[*parse.Func]int32

	const32 map[uint32]int32
	const64 map[uint64]int32
	symRow  map[fixup]int32
	shared  map[*parse.Var]int64
	short   bool // some address is held in a 32-bit register

	// The function it is in.
	f       *parse.Func
	fn      *function
	rows    []int32 // by register ID
	frame   map[*parse.Var]int32
	special map[special]int32
	thread  threadLayout

	in  *parse.Instr
	o   *op
	ins *isa.Instr
	// carryIn and carryOut: the instruction reads or writes the carry flag, which is
	// one more register of the scoreboard.
	carryIn, carryOut bool

	mods []string // not yet consumed
	typ  []parse.Type
}

// fail reports a problem with the current instruction. If the instruction is not supported yet, it reports that,
// because the problem may then exist only here.
func (d *instr) fail(format string, args ...any) {
	if parse.Missing(d.in.Op, d.in.Mods) != "" {
		d.unsupported("")
	}
	fail(d.f.File, d.in.Line, format+" (%s)", append(args, d.in.Text)...)
}

// unsupported reports a form this front end does not execute: as a slip where no version of PTX has it.
func (d *instr) unsupported(what string) {
	if slip := parse.Slip(d.in.Op, d.in.Mods); slip != "" {
		fail(d.f.File, d.in.Line, "%s (%s)", slip, d.in.Text)
	}
	feature := parse.Missing(d.in.Op, d.in.Mods)
	if feature != "" {
		what = feature
	} else {
		feature = "other forms of " + d.in.Op
	}
	if what != "" {
		what = ": " + what
	}
	form := strings.Join(append([]string{d.in.Op}, d.in.Mods...), ".")
	panic(bail{&parse.Error{
		File: d.f.File, Line: d.in.Line, Feature: feature, Msg: fmt.Sprintf(
			"%s is not supported yet%s (%s); recompile without it or for an older target (%s)", form, what,
			parse.Since(d.in.Op, d.in.Mods), d.in.Text),
	}})
}

func newDecoder(m *Module) *decoder {
	return &decoder{names: map[*parse.Var]uint16{}, instr: instr{
		m: m, prog: &program{byAddr: map[uint64]int32{}, threadwise: m.threadwise()}, fidx: map[*parse.Func]int32{},
		const32: map[uint32]int32{}, const64: map[uint64]int32{}, symRow: map[fixup]int32{},
		shared: map[*parse.Var]int64{},
	}}
}

// decodeKernel decodes an entry and everything it can call.
func (m *Module) decodeKernel(f *parse.Func) *Kernel {
	d := newDecoder(m)
	d.reach(f)
	d.layoutThread()
	k := &Kernel{Name: f.Called, Line: f.Line, module: m, prog: d.prog}
	k.SharedBytes, k.DynamicShared = d.layoutShared()
	k.Params, k.ParamBytes = layoutParams(f)
	d.prog.code = &isa.Code{Kernel: f.Called, File: f.File}
	d.prog.funcs, d.prog.source = make([]function, len(d.fns)), d.fns
	d.constant32(0)
	d.constant64(0)
	pc := int32(0)
	regs := 0
	for i, fn := range d.fns {
		p := &d.prog.funcs[i]
		d.layout(fn, p)
		p.index, p.start, p.file = int32(i), pc, fn.File
		pc += int32(len(fn.Instrs))
		if runsOff(fn) {
			pc++
		}
		p.end = pc
		d.prog.byAddr[functionAddress(m.funcAt[fn.Name])] = int32(i)
		regs = d.nameRegisters(fn, regs)
	}
	if d.usesCarry() {
		regs++ // the carry flag
	}
	if regs > 1<<16-1 {
		fail(m.File, f.Line, "kernel %s and the functions it calls use %d registers, the limit is %d: compile with "+
			"optimisation", f.Called, regs, 1<<16-1)
	}
	d.prog.code.NumRegs = regs
	for i, fn := range d.fns {
		d.function(fn, &d.prog.funcs[i])
	}
	d.finish()
	k.Code, k.short = d.prog.code, d.short
	if g, _ := m.graph(f); m.check == nil && ptxas.Unrolls(g) { // a kernel with faults is not executed
		k.Code.Loops = isa.LoopsKept
	}
	k.Regs, k.LocalBytes = d.prog.funcs[0].regs, d.prog.funcs[0].stack
	if f.MaxRegs > 0 { // the compiler spills registers that do not fit
		k.Regs = min(k.Regs, f.MaxRegs)
	}
	for i := range d.prog.funcs {
		if d.prog.funcs[i].recursive {
			k.LocalBytes = max(k.LocalBytes, defaultStack)
		}
	}
	k.bound(f)
	return k
}

// bound takes what the kernel says of its blocks.
func (k *Kernel) bound(f *parse.Func) {
	k.MaxThreads = 1024
	k.MaxNTid = f.MaxNTid
	if f.ReqNTid[0] > 0 {
		k.MaxNTid, k.ReqNTid = f.ReqNTid, true
	}
	if n := k.MaxNTid; n[0] > 0 {
		k.MaxThreads = min(1024, n[0]*n[1]*n[2])
		if f.MinCTAs > 0 { // the assembler makes do with what leaves room for as many, and spills
			k.Regs = min(k.Regs, max(smRegisters/(f.MinCTAs*k.MaxThreads)&^7, 8))
		}
	}
}

// smRegisters is the register file of an SM of compute capability 5.0 to 9.0 (CUDA C++ Programming Guide, technical
// specifications per compute capability): .minnctapersm is an amount of it.
const smRegisters = 1 << 16

// finish computes what depends on the ops of all functions.
func (d *decoder) finish() {
	markRuns(d.prog.ops)
	d.prog.code.Left = left(d.prog.ops, ones(len(d.prog.ops)))
	if d.totals(); d.m.check == nil {
		d.prog.code.Machine = d.assemble()
	}
}

// reach collects the functions a kernel can call. A call through a register may
// reach every function whose address the module takes.
func (d *decoder) reach(entry *parse.Func) {
	var visit func(f *parse.Func)
	indirect := false
	visit = func(f *parse.Func) {
		if _, seen := d.fidx[f]; seen {
			return
		}
		d.fidx[f] = int32(len(d.fns))
		d.fns = append(d.fns, f)
		for _, in := range f.Instrs {
			if in.Op != "call" {
				continue
			}
			t := callTarget(in)
			if t == nil || t.Kind != parse.KFunc {
				indirect = true
				continue
			}
			if g := d.m.ast.Func(t.Name); g != nil && !g.Extern {
				visit(g)
			}
		}
	}
	visit(entry)
	if !indirect {
		return
	}
	for _, name := range d.m.addressTaken() {
		if g := d.m.ast.Func(name); g != nil && !g.Extern && !g.Entry {
			visit(g)
		}
	}
}

// callTarget is the operand of a call that names the function.
func callTarget(in *parse.Instr) *parse.Operand {
	for i := range in.Args {
		if in.Args[i].Kind != parse.KList {
			return &in.Args[i]
		}
	}
	return nil
}

// addressTaken lists the functions used as values, in file order.
func (m *Module) addressTaken() []string {
	set := map[string]bool{}
	for _, v := range m.symbols {
		for _, x := range v.Init {
			if x.Sym != "" && m.ast.Func(x.Sym) != nil {
				set[x.Sym] = true
			}
		}
	}
	for _, f := range m.ast.Funcs {
		for _, in := range f.Instrs {
			if in.Op == "call" {
				continue
			}
			for _, a := range in.Args {
				if a.Kind == parse.KFunc {
					set[a.Name] = true
				}
			}
		}
		for _, list := range f.Targets {
			for _, t := range list {
				if t.Kind == parse.KFunc {
					set[t.Name] = true
				}
			}
		}
	}
	var names []string
	for n := range set {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool { return m.functionIndex(names[i]) < m.functionIndex(names[j]) })
	return names
}

// function decodes the instructions of f.
func (d *decoder) function(f *parse.Func, p *function) {
	g, live := d.m.graph(f)
	if d.f, d.fn = f, p; d.m.check != nil {
		d.m.check.decoded[f] = true
	}
	d.frame = d.frameOf(f, p)
	d.special = map[special]int32{}
	d.rows, _, _, _ = assign(f, live.Spans())
	deciders, places := live.Deciders()
	p.deciders, p.places = decidersOf(deciders, d.rows), places
	spins := g.Spins()
	code := d.prog.code
	var w, r []*parse.Var
	for i, in := range f.Instrs {
		d.in = in
		d.o = &op{guard: noPred, reconv: -1, d: 0, a: ^0, b: ^0, c: ^0, e: -1, target: -1}
		ins := isa.Instr{Line: int32(in.Line), Reg: uint32(len(code.Regs))}
		d.ins = &ins
		if in.Pred != nil {
			d.o.guard = d.rows[in.Pred.ID]
			if in.Neg {
				d.o.flags |= fNotGuard
			}
		}
		if !d.m.collect(func() { d.instruction(i, g) }) {
			*d.o, d.carryIn, d.carryOut = op{guard: noPred}, false, false
		}
		if spins[i] {
			d.o.flags |= fSpin
		}
		w, r = analyze.Access(in, w[:0], r[:0])
		if len(w)+len(r) > 250 {
			d.unsupported("more than 255 register operands")
		}
		d.scoreboard(w, r)
		ins.Reads = d.reads(in, r)
		d.prog.ops = append(d.prog.ops, *d.o)
		code.Instr = append(code.Instr, ins)
		code.Text = append(code.Text, in.Text)
	}
	if runsOff(f) {
		d.finalReturn(f)
	}
}

// runsOff reports whether control can reach the end of the body; such a function
// gets a ret of its own.
func runsOff(f *parse.Func) bool {
	n := len(f.Instrs)
	if n == 0 {
		return true
	}
	for i, in := range f.Instrs {
		_, targets, falls := analyze.Jumps(f, in)
		if falls && i == n-1 {
			return true
		}
		for _, t := range targets {
			if t == n {
				return true
			}
		}
	}
	return false
}

func (d *decoder) finalReturn(f *parse.Func) {
	code := d.prog.code
	line := f.Line
	if n := len(f.Instrs); n > 0 {
		line = f.Instrs[n-1].Line
	}
	kind := isa.Exit
	if !f.Entry {
		kind = isa.Branch
	}
	d.prog.ops = append(d.prog.ops, op{shape: shRet, guard: noPred})
	code.Instr = append(code.Instr, isa.Instr{
		Kind: kind, Unit: isa.INT, Line: int32(line),
		Reg: uint32(len(code.Regs)),
	})
	code.Text = append(code.Text, "ret; // end of "+f.Called)
}

func (d *decoder) usesCarry() bool {
	for _, f := range d.fns {
		for _, in := range f.Instrs {
			if isCarry(in) {
				return true
			}
		}
	}
	return false
}

// nameRegisters gives the registers f uses scoreboard names from first on and
// returns the next free name. Two registers share a name where no instruction can
// tell: the one must have been read behind each write, and so be ready, before the
// other is touched. Warps have a ready time per name.
func (d *decoder) nameRegisters(f *parse.Func, first int) int {
	g, live := d.m.graph(f)
	names := make([]int32, len(f.Regs))
	settled := g.ReadBehindWrites()
	spans := live.Spans()
	n := share(names, spans, func(int) bool { return true }, settled.Has)
	for id, s := range spans {
		if s.Last >= s.First {
			d.names[f.Regs[id]] = uint16(first + int(names[id]))
		}
	}
	return first + int(n)
}

// scoreboard lists the registers of the current instruction. Data registers and
// predicates share one numbering; the carry flag is the last name.
func (d *decoder) scoreboard(w, r []*parse.Var) {
	code := d.prog.code
	flag := uint16(code.NumRegs - 1)
	for _, v := range w {
		code.Regs = append(code.Regs, d.names[v])
	}
	n := len(w)
	if d.carryOut {
		code.Regs = append(code.Regs, flag)
		n++
	}
	d.ins.NDst = uint8(n)
	for _, v := range r {
		code.Regs = append(code.Regs, d.names[v])
	}
	n += len(r)
	if d.carryIn {
		code.Regs = append(code.Regs, flag)
		n++
	}
	d.ins.NReg = uint8(n)
	d.carryIn, d.carryOut = false, false
}

// reads has the numbers of the registers that an instruction reads, its guard excepted, packed: of a PTX register, to
// which no hardware register is assigned, the first number in its name, as in GPGPU-Sim. One without is not read from
// the register file there.
func (d *decoder) reads(in *parse.Instr, r []*parse.Var) isa.Reads {
	d.numbers = d.numbers[:0]
	guard := in.Pred
	for _, v := range r {
		if v == guard { // analyze.Access names it once, before the operands
			guard = nil
			continue
		}
		i := strings.IndexAny(v.Name, "0123456789")
		if i < 0 {
			continue
		}
		n := 0
		for ; i < len(v.Name) && v.Name[i] >= '0' && v.Name[i] <= '9'; i++ {
			n = (n*10 + int(v.Name[i]-'0')) & math.MaxUint16
		}
		d.numbers = append(d.numbers, n)
	}
	return isa.ReadsOf(d.numbers)
}

// totals adds the registers and local memory of called functions to those of their callers; recursion is counted
// once.
func (d *decoder) totals() {
	funcs := d.prog.funcs
	state := make([]int, len(funcs))
	var visit func(i int32) (regs, stack int)
	visit = func(i int32) (int, int) {
		f := &funcs[i]
		if state[i] != 0 {
			f.recursive = f.recursive || state[i] == 1
			if state[i] == 2 {
				return f.regs, f.stack
			}
			return 0, 0
		}
		state[i] = 1
		regs, stack := 0, 0
		for _, c := range f.depends {
			r, s := visit(c)
			regs, stack = max(regs, r), max(stack, s)
		}
		_, live := d.m.graph(d.fns[i])
		across := 0
		for k, in := range d.fns[i].Instrs {
			if in.Op == "call" {
				across = max(across, live.Pressure[k])
			}
		}
		f.regs = max(live.MaxRegs, across+regs)
		f.stack = int(f.local) + stack
		state[i] = 2
		return f.regs, f.stack
	}
	visit(0)
}
