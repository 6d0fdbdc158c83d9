package emulate

import (
	"container/heap"
	"sort"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// The places of shared variables, parameters, frames and register rows.

func roundUpTo(n, align int64) int64 { return (n + align - 1) / align * align }

// layoutShared places the shared variables the reachable functions use; extern
// arrays follow at the end and all begin at the same place.
func (d *decoder) layoutShared() (static int, dynamic bool) {
	var used, extern, linked []*parse.Var
	seen := map[*parse.Var]bool{}
	var scan func(os []parse.Operand)
	scan = func(os []parse.Operand) {
		for i := range os {
			if v := os[i].Var; v != nil && v.Space == parse.Shared && !seen[v] {
				seen[v] = true
				if v.Extern || v.Size == 0 {
					extern = append(extern, v)
				} else {
					used = append(used, v)
				}
			}
			scan(os[i].List)
		}
	}
	find := scan
	scan = func(os []parse.Operand) { // a variable that another module defines is placed with its definition
		for i := range os {
			if v := os[i].Var; v != nil && v.Space == parse.Shared && d.m.ast.Defines[v] != nil {
				linked = append(linked, v)
				find([]parse.Operand{{Kind: parse.KSym, Var: d.m.ast.Defines[v]}})
				seen[v] = true
			}
			scan(os[i].List)
		}
		find(os)
	}
	for _, f := range d.fns {
		for _, v := range f.Vars { // declared inside: occupies memory even if unused
			if v.Space == parse.Shared && !v.Extern && v.Size > 0 && !seen[v] {
				seen[v] = true
				used = append(used, v)
			}
		}
		for _, in := range f.Instrs {
			scan(in.Args)
		}
	}
	off := int64(0)
	for _, v := range used {
		off = roundUpTo(off, int64(max(v.Align, 1)))
		d.shared[v] = off
		off += int64(v.Size)
	}
	static = int(off)
	align := int64(16)
	for _, v := range extern {
		align = max(align, int64(v.Align))
	}
	d.prog.align = int(align)
	for _, v := range extern {
		d.shared[v] = roundUpTo(off, align)
	}
	for _, v := range linked {
		d.shared[v] = d.shared[d.m.ast.Defines[v]]
	}
	return static, len(extern) > 0
}

// threadLayout places the memory that a thread has once for all functions: .local variables and registers of the
// module. They come first in the local and in the argument memory of the kernel.
type threadLayout struct {
	at          map[*parse.Var]int64
	local, args int64 // bytes
}

func (t *threadLayout) place(v *parse.Var, end *int64, align int) {
	if _, done := t.at[v]; !done {
		*end = roundUpTo(*end, int64(max(align, 1)))
		t.at[v] = *end
		*end += int64(max(v.Size, 1))
	}
}

// layoutThread finds the part that the reachable functions use.
func (d *decoder) layoutThread() {
	t := &d.thread
	t.at = map[*parse.Var]int64{}
	var scan func(os []parse.Operand)
	scan = func(os []parse.Operand) {
		for i := range os {
			if v := os[i].Var; v != nil && v.Space == parse.Local && v.Owner == nil {
				t.place(v, &t.local, v.Align)
			}
			scan(os[i].List)
		}
	}
	for _, f := range d.fns {
		for _, c := range f.Common {
			t.place(c.Module, &t.args, 8)
		}
		for _, in := range f.Instrs {
			scan(in.Args)
		}
	}
}

func layoutParams(f *parse.Func) (ps []Param, total int) {
	off := int64(0)
	for _, v := range f.Params {
		off = roundUpTo(off, int64(max(v.Align, 1)))
		ps = append(ps, Param{
			Name: v.Name, Type: v.Type.String(), Size: v.Size, Align: max(v.Align, 1),
			Offset: int(off),
		})
		off += int64(v.Size)
	}
	return ps, int(off)
}

// layout assigns rows to the registers of f and places its frame variables.
func (d *decoder) layout(f *parse.Func, p *function) {
	p.name = f.Called
	_, live := d.m.graph(f)
	p.regs = live.MaxRegs
	d.frameOf(f, p)
	spans := live.Spans()
	rows, n32, n64, np := assign(f, spans)
	p.n32, p.n64, p.np = n32, n64, np
	for id, s := range spans {
		if s.First != -1 {
			continue
		}
		switch v := f.Regs[id]; {
		case v.Type == parse.Pred:
		case v.Type.Bytes() == 8:
			p.zero64 = append(p.zero64, rows[id])
		default:
			p.zero32 = append(p.zero32, rows[id])
		}
	}
	for _, c := range f.Common {
		if rows[c.Own.ID] >= 0 {
			at, size := int32(d.thread.at[c.Module]), int32(max(c.Own.Type.Bytes(), 1))
			p.common = append(p.common, regSlot{fileOf(c.Own.Type), rows[c.Own.ID], at, size})
		}
	}
	p.inRegs, p.outRegs = regSlots(f.Params, p.params, rows), regSlots(f.Results, p.results, rows)
}

// regSlots lists the formals in registers that the body uses.
func regSlots(formals []*parse.Var, slots []slotOf, rows []int32) (list []regSlot) {
	for i, v := range formals {
		if v.Space == parse.Reg && v.Name != "_" && rows[v.ID] >= 0 {
			list = append(list, regSlot{fileOf(v.Type), rows[v.ID], slots[i].off, slots[i].size})
		}
	}
	return list
}

// fileOf is the file of rows that holds registers of type t.
func fileOf(t parse.Type) rowKind {
	switch {
	case t == parse.Pred:
		return inPred
	case t.Bytes() == 8:
		return inRow64
	}
	return inRow32
}

// frameOf places .local and .param variables in local and argument memory; the
// parameters of an entry are in neither.
func (d *decoder) frameOf(f *parse.Func, p *function) map[*parse.Var]int32 {
	at := map[*parse.Var]int32{}
	var local, args int64
	if f.Entry {
		local, args = d.thread.local, d.thread.args
	}
	place := func(v *parse.Var, off *int64) {
		*off = roundUpTo(*off, int64(max(v.Align, 1)))
		at[v] = int32(*off)
		if *off += int64(max(v.Size, 1)); *off > maxStack {
			fail(d.m.File, v.Line, "the local variables of %s exceed %d bytes per thread: use global memory", f.Called,
				maxStack)
		}
	}
	entry := map[*parse.Var]bool{}
	p.params, p.results = p.params[:0], p.results[:0]
	for _, v := range f.Params {
		if entry[v] = f.Entry; !f.Entry {
			place(v, &args)
			p.params = append(p.params, slotOf{at[v], int32(max(v.Size, 1))})
		}
	}
	for _, v := range f.Results {
		place(v, &args)
		p.results = append(p.results, slotOf{at[v], int32(max(v.Size, 1))})
	}
	for _, v := range f.Vars {
		_, done := at[v]
		switch {
		case v.Space == parse.Local:
			place(v, &local)
		case v.Space == parse.Param && !done && !entry[v]:
			place(v, &args)
		}
	}
	p.local, p.args = int32(roundUpTo(local, 16)), int32(roundUpTo(args, 16))
	return at
}

// assign gives each register a row so that registers alive at the same time have
// different rows. Lanes are independent, so this is right under divergence too.
func assign(f *parse.Func, spans []analyze.Span) (rows []int32, n32, n64, np int32) {
	rows = make([]int32, len(f.Regs))
	for id := range rows {
		rows[id] = -1
	}
	class := func(c int) func(int) bool {
		return func(id int) bool {
			switch v := f.Regs[id]; {
			case v.Type == parse.Pred:
				return c == 2
			case v.Type.Bytes() == 8:
				return c == 1
			}
			return c == 0
		}
	}
	all := func(int) bool { return true }
	return rows, share(rows, spans, class(0), all), share(rows, spans, class(1), all), share(rows, spans, class(2), all)
}

// share numbers the registers of a class by linear scan over their live spans: those
// that may share a number get one that is free behind another's span. It returns how
// many numbers there are.
func share(number []int32, spans []analyze.Span, class, may func(id int) bool) (n int32) {
	var order []int
	for id, s := range spans {
		if s.Last >= s.First && class(id) {
			order = append(order, id)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return spans[order[i]].First < spans[order[j]].First })
	var free []int32
	var active ending
	var over []int // places in order
	for i, id := range order {
		over = over[:0]
		for len(active) > 0 && active[0].last < spans[id].First {
			over = append(over, heap.Pop(&active).(holder).place)
		}
		sort.Ints(over) // the first one that came is freed first
		for _, p := range over {
			free = append(free, number[order[p]])
		}
		if k := len(free); k > 0 && may(id) {
			number[id] = free[k-1]
			free = free[:k-1]
		} else {
			number[id] = n
			n++
		}
		if may(id) {
			heap.Push(&active, holder{spans[id].Last, i})
		}
	}
	return n
}

// holder is a register that holds a number until its span ends.
type holder struct{ last, place int }

// ending is a heap of holders, the one whose span ends first on top.
type ending []holder

func (e ending) Len() int           { return len(e) }
func (e ending) Less(i, j int) bool { return e[i].last < e[j].last }
func (e ending) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ending) Push(x any)        { *e = append(*e, x.(holder)) }
func (e *ending) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}
