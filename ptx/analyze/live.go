package analyze

import (
	"sort"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// noResult lists the opcodes whose first operand is not a destination.
func noResult(in *parse.Instr) bool {
	switch in.Op {
	case "st", "stu", "red", "bra", "brx", "ret", "exit", "trap", "brkpt", "membar", "fence", "prefetch", "prefetchu",
		"cp", "nanosleep", "discard", "applypriority", "pmevent", "call", "setmaxnreg", "griddepcontrol",
		"stackrestore", "sust", "sured":
		return true
	case "bar", "barrier":
		return !in.Has("red")
	case "wmma":
		return in.Has("store")
	}
	return false
}

// Access appends the registers in writes and reads to the given slices. The guard
// predicate is read. An instruction that is guarded keeps the old value of its
// destination in lanes where the guard is false.
func Access(in *parse.Instr, writes, reads []*parse.Var) (w, r []*parse.Var) {
	if in.Pred != nil {
		reads = append(reads, in.Pred)
	}
	for i := range in.Args {
		// The results of a call come first, in parentheses, before the function.
		result := in.Op == "call" && in.Args[0].Kind == parse.KList && len(in.Args) > 1
		if i == 0 && (result || !noResult(in)) {
			writes = regs(&in.Args[i], writes)
		} else {
			reads = regs(&in.Args[i], reads)
		}
	}
	return append(writes, in.Also...), append(reads, in.Also...)
}

// touch is an instruction that reads or writes a register.
type touch struct {
	at     int32 // instruction
	reads  bool
	writes bool
	kills  bool // writes whatever the guard says
}

// touches are the instructions that touch each register, in program order.
type touches struct {
	first []int32 // by register: where its part of list begins; one more entry than registers
	list  []touch
}

func (t *touches) of(id int) []touch { return t.list[t.first[id]:t.first[id+1]] }

// touchesOf lists the accesses of f by register.
func touchesOf(f *parse.Func) touches {
	t := touches{first: make([]int32, len(f.Regs)+1)}
	var w, r []*parse.Var
	for _, in := range f.Instrs {
		w, r = Access(in, w[:0], r[:0])
		for _, v := range w {
			t.first[v.ID+1]++
		}
		for _, v := range r {
			t.first[v.ID+1]++
		}
	}
	for i := range f.Regs {
		t.first[i+1] += t.first[i]
	}
	next := append([]int32(nil), t.first...)
	t.list = make([]touch, t.first[len(f.Regs)])
	for i, in := range f.Instrs {
		w, r = Access(in, w[:0], r[:0])
		for _, v := range r {
			t.list[next[v.ID]] = touch{at: int32(i), reads: true}
			next[v.ID]++
		}
		for _, v := range w { // behind its reads: of one instruction they come first
			t.list[next[v.ID]] = touch{at: int32(i), writes: true, kills: in.Pred == nil}
			next[v.ID]++
		}
	}
	return t
}

func regs(o *parse.Operand, list []*parse.Var) []*parse.Var {
	if o.Kind == parse.KReg {
		list = append(list, o.Var)
	}
	if o.Index != nil {
		list = append(list, o.Index)
	}
	for i := range o.List {
		list = regs(&o.List[i], list)
	}
	return list
}

// Set is a bit set over register IDs.
type Set []uint64

// Has reports whether id is in the set.
func (s Set) Has(id int) bool { return s[id>>6]>>(id&63)&1 != 0 }

func (s Set) add(id int) { s[id>>6] |= 1 << (id & 63) }

// Liveness is the result of the backward data-flow analysis. A register is live
// where a later instruction may read the value it holds.
type Liveness struct {
	Graph *Graph
	// Pressure is the number of 32-bit registers live after each instruction plus
	// those it writes; 64-bit registers count 2, predicates nothing.
	Pressure []int
	MaxRegs  int // the largest pressure
	spans    []Span
}

// liveness works on one register after the other: from its reads backward through the
// blocks until a write. That takes time for the blocks in which registers are live, not for
// all blocks and registers.
type liveness struct {
	*Graph
	in, out []int32 // by block: the register (ID+1) found live there last
	blocks  []int32 // where the current register is live into or out of
	work    []int32 // blocks it is live into and whose predecessors must be visited
	span    Span
	cost    int
	// Changes of the pressure, from one instruction to the next: behind an instruction with
	// what it writes, and before it.
	behind, before []int
}

// Live computes the liveness of g's registers.
func Live(g *Graph) *Liveness {
	n := len(g.Func.Instrs)
	x := &liveness{
		Graph: g, in: make([]int32, len(g.Blocks)), out: make([]int32, len(g.Blocks)),
		behind: make([]int, n+1), before: make([]int, n+1),
	}
	l := &Liveness{Graph: g, Pressure: make([]int, n)}
	results := map[*parse.Var]bool{}
	for _, v := range g.Func.Results {
		results[v] = v.Space == parse.Reg && v.Name != "_"
	}
	for _, c := range g.Func.Common {
		results[c.Own] = !g.Func.Entry
	}
	for id, v := range g.Func.Regs {
		l.spans = append(l.spans, x.register(id, Cost(v), results[v]))
	}
	behind, before := 0, 0
	for i := range n {
		behind += x.behind[i]
		before += x.before[i]
		l.Pressure[i] = behind
		l.MaxRegs = max(l.MaxRegs, behind, before)
	}
	return l
}

// register finds where one register is live; result: the caller of the function reads it.
func (x *liveness) register(id, cost int, result bool) Span {
	mark := int32(id + 1)
	list := x.touches.of(id)
	x.cost, x.span, x.blocks = cost, Span{len(x.Func.Instrs), -2}, x.blocks[:0]
	if result {
		for b := range x.Blocks {
			if x.leaves(b) == returns {
				x.liveOut(int32(b), mark, list)
			}
		}
	}
	for i := 0; i < len(list); {
		b := int32(x.BlockOf[list[i].at])
		if !list[i].kills { // it is read there first, or keeps its value where the guard is false
			x.liveIn(b, mark)
		}
		for i < len(list) && int(list[i].at) <= x.Blocks[b].Last {
			i++
		}
	}
	for len(x.work) > 0 {
		b := x.work[len(x.work)-1]
		x.work = x.work[:len(x.work)-1]
		for _, p := range x.Blocks[b].Pred {
			x.liveOut(int32(p), mark, list)
		}
	}
	for _, b := range x.blocks {
		blk := x.Blocks[b]
		if x.in[b] == mark {
			if x.extend(blk.First); b == 0 {
				x.extend(-1)
			}
		}
		if x.out[b] == mark {
			x.extend(blk.Last)
		}
		if inside := within(list, blk); len(inside) == 0 && x.in[b] == mark && x.out[b] == mark {
			x.count(blk.First, blk.Last, true, true)
		}
	}
	x.local(list, mark)
	return x.span
}

func (x *liveness) extend(at int) {
	x.span.First, x.span.Last = min(x.span.First, at), max(x.span.Last, at)
}

func (x *liveness) liveIn(b, mark int32) {
	if x.in[b] != mark {
		if x.out[b] != mark {
			x.blocks = append(x.blocks, b)
		}
		x.in[b] = mark
		x.work = append(x.work, b)
	}
}

func (x *liveness) liveOut(b, mark int32, list []touch) {
	if x.out[b] == mark {
		return
	}
	if x.in[b] != mark {
		x.blocks = append(x.blocks, b)
	}
	x.out[b] = mark
	for _, t := range within(list, x.Blocks[b]) {
		if t.kills {
			return
		}
	}
	x.liveIn(b, mark)
}

// within is the part of a register's accesses that a block holds.
func within(list []touch, blk Block) []touch {
	from := sort.Search(len(list), func(i int) bool { return int(list[i].at) >= blk.First })
	to := from
	for to < len(list) && int(list[to].at) <= blk.Last {
		to++
	}
	return list[from:to]
}

// local counts the pressure in the blocks that touch the register, backward.
func (x *liveness) local(list []touch, mark int32) {
	for i := len(list) - 1; i >= 0; {
		b := x.BlockOf[list[i].at]
		blk := x.Blocks[b]
		live := x.out[b] == mark
		upper := blk.Last
		for i >= 0 && int(list[i].at) >= blk.First {
			at := int(list[i].at)
			x.extend(at)
			x.count(at+1, upper, live, live)
			written := false
			after := live
			for ; i >= 0 && int(list[i].at) == at; i-- {
				t := list[i]
				written = written || t.writes
				live = (live || t.writes) && !t.kills || t.reads
			}
			x.count(at, at, after || written, live)
			upper = at - 1
		}
		x.count(blk.First, upper, live, live)
	}
}

// count adds the register to the pressure behind and before the instructions from first to
// last.
func (x *liveness) count(first, last int, behind, before bool) {
	if last < first {
		return
	}
	if behind {
		x.behind[first] += x.cost
		x.behind[last+1] -= x.cost
	}
	if before {
		x.before[first] += x.cost
		x.before[last+1] -= x.cost
	}
}

// Cost is the number of 32-bit registers v occupies.
func Cost(v *parse.Var) int {
	switch {
	case v.Type == parse.Pred:
		return 0
	case v.Type.Bytes() > 4:
		return v.Type.Bytes() / 4
	}
	return 1
}

// Span is the stretch of instructions, in program order, over which a register
// holds a value that matters. First is -1 for a register live on entry (read
// before it is written); Last < First means the register is never used.
type Span struct{ First, Last int }

// Spans gives a conservative live interval per register ID: two registers whose
// spans do not overlap may share storage.
func (l *Liveness) Spans() []Span { return l.spans }

// ReadBehindWrites is the set of registers that, in each block that writes them, are read after the last write: a
// thread that leaves the block has waited for their values.
func (g *Graph) ReadBehindWrites() Set {
	ok := make(Set, (len(g.Func.Regs)+63)/64)
	for id := range g.Func.Regs {
		list := g.touches.of(id)
		open := false // written, and not read since
		for i, t := range list {
			if open && g.BlockOf[t.at] != g.BlockOf[list[i-1].at] {
				break
			}
			open = t.writes
		}
		if !open {
			ok.add(id)
		}
	}
	return ok
}
