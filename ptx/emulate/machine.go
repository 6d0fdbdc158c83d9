package emulate

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/ptxas"
)

// assembly makes the machine code of a program (isa.Code.Machine) from the functions that package ptxas makes.
type assembly struct {
	*decoder
	code  *isa.Code
	src   *isa.Source
	names map[*parse.Var]uint16
	regs  int
}

// assemble makes the machine code of the decoded program.
func (d *decoder) assemble() *isa.Code {
	from := d.prog.code
	n := len(from.Instr)
	a := &assembly{
		decoder: d, names: map[*parse.Var]uint16{},
		code: &isa.Code{Kernel: from.Kernel, File: from.File},
		src:  &isa.Source{Enter: make([]int32, n), Issues: make([]uint16, n)},
	}
	for i := range a.src.Enter {
		a.src.Enter[i] = -1
	}
	routines := make([]*ptxas.Routine, len(d.fns))
	for i, f := range d.fns {
		p := &d.prog.funcs[i]
		g, live := d.m.graph(f)
		routines[i] = ptxas.Assemble(ptxas.Input{
			Graph: g, Spans: live.Spans(), Shared: func(v *parse.Var) int64 { return d.shared[v] },
			Together: func(i int) bool { return d.prog.ops[int(p.start)+i].flags&fSync != 0 },
		})
		a.name(f, routines[i].Spans)
	}
	for i, f := range d.fns {
		a.routine(f, &d.prog.funcs[i], routines[i])
	}
	a.code.NumRegs, a.code.Source = a.regs, a.src
	a.code.Left = a.left()
	return a.code
}

// name gives the registers of a function scoreboard names, as decoder.nameRegisters does.
func (a *assembly) name(f *parse.Func, spans []analyze.Span) {
	g, _ := a.m.graph(f)
	names := make([]int32, len(f.Regs))
	n := share(names, spans, func(int) bool { return true }, g.ReadBehindWrites().Has)
	for id, s := range spans {
		if s.Last >= s.First {
			a.names[f.Regs[id]] = uint16(a.regs + int(names[id]))
		}
	}
	a.regs += int(n)
}

// routine appends the machine code of a function.
func (a *assembly) routine(f *parse.Func, p *function, r *ptxas.Routine) {
	place := make([]int32, len(r.Ops)) // of each op
	for k := range r.Ops {
		place[k] = int32(len(a.code.Instr))
		a.op(p, &r.Ops[k])
	}
	for i, k := range r.Enter {
		if r.Late[i] {
			if a.src.Late == nil {
				a.src.Late = make([]bool, len(a.src.Enter))
			}
			a.src.Late[int(p.start)+i] = true
		}
		if k >= 0 {
			a.src.Enter[int(p.start)+i] = place[k]
		}
	}
	if int(p.end-p.start) > len(f.Instrs) { // the ret of a body that ends without
		a.src.Enter[p.end-1] = int32(len(a.code.Instr))
		a.op(p, &ptxas.Op{Of: len(f.Instrs), Upto: len(f.Instrs), Times: 1, Marks: isa.Ends})
	}
}

// op appends a machine instruction, or two: the instruction that the machine times as one, and the rest of its
// sequence.
func (a *assembly) op(p *function, o *ptxas.Op) {
	pc := p.start + int32(o.Of)
	own := a.prog.code.Instr[pc]
	in := own
	switch o.Made {
	case ptxas.Sum:
		in = made(isa.IntAdd)
	case ptxas.Product:
		in = made(isa.IntMad)
	case ptxas.Bits:
		in = made(isa.Logic)
	}
	in.Line, in.Reads, in.Marks = own.Line, own.Reads, o.Marks
	if o.Width > 0 {
		in.Width, in.Back = uint8(o.Width), uint8(o.Back)
	}
	times := o.Times
	switch {
	case times == 1 && o.Made == ptxas.Itself: // of the low half
		in.Timing = narrowed(in.Timing)
	case times > 1 && o.Made == ptxas.Itself && !in.Timing.Sequence():
		before := made(isa.Logic)
		before.Line, before.Times = own.Line, uint8(min(times-1, 255))
		a.add(before, pc, p.start+int32(o.Of)-1, o)
		times = 1
	}
	in.Times = uint8(min(times, 255))
	a.add(in, pc, p.start+int32(o.Upto), o)
}

// add appends one.
func (a *assembly) add(in isa.Instr, of, upto int32, o *ptxas.Op) {
	in.Reg, in.NDst, in.NReg = uint32(len(a.code.Regs)), uint8(len(o.Writes)), uint8(len(o.Writes)+len(o.Reads))
	for _, list := range [][]*parse.Var{o.Writes, o.Reads} {
		for _, v := range list {
			a.code.Regs = append(a.code.Regs, a.names[v])
		}
	}
	if in.Marks&isa.Vanishes == 0 {
		a.src.Issues[of] += uint16(max(1, in.Times))
	}
	a.code.Instr = append(a.code.Instr, in)
	a.code.Text = append(a.code.Text, a.prog.code.Text[of])
	a.src.Upto = append(a.src.Upto, upto)
}

func made(t isa.Timing) isa.Instr { return isa.Instr{Unit: isa.INT, Timing: t} }

// narrowed is the timing of an instruction on 64 bits that becomes one on 32.
func narrowed(t isa.Timing) isa.Timing {
	switch t {
	case isa.WideAdd, isa.WideMul, isa.WideMad:
		return t.Coarse()
	}
	return t
}

// left is isa.Code.Left of the machine code: the rest of a run, and the instruction after it. A sequence counts once,
// because a warp may be within it.
func (a *assembly) left() []uint8 {
	ops, code := a.prog.ops, a.code
	weight := make([]uint8, len(ops)) // of a run, at the first instruction of its source
	run, enters := int32(0), make([]int32, len(code.Instr))
	for pc, m := range a.src.Enter {
		if m >= 0 {
			enters[m] = int32(pc)
		}
	}
	for m := range code.Instr {
		if m == 0 || code.Instr[m-1].Marks&isa.Ends != 0 {
			run = enters[m]
		}
		if code.Instr[m].Marks&isa.Vanishes == 0 && weight[run] < 255 {
			weight[run]++
		}
	}
	n := left(ops, weight)
	out := make([]uint8, len(code.Instr))
	for m := len(out) - 1; m >= 0; m-- {
		in := &code.Instr[m]
		rest := 0
		if in.Marks&isa.Ends != 0 {
			rest = int(shortest(ops, n, int(a.src.Upto[m]), 0))
		} else {
			rest = int(out[m+1])
		}
		if in.Marks&isa.Vanishes == 0 {
			rest++
		}
		out[m] = uint8(min(rest, 255))
	}
	return out
}
