package ptxas

import (
	"slices"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// room is the registers that loads which go first may hold: ptxas keeps about this number in unrolled loops of sgemm
// and matrixmul.
const room = 24

// schedule puts the machine instructions of each run in order.
func (p *pass) schedule() *Routine {
	n := len(p.f.Instrs)
	r := &Routine{Enter: make([]int, n), Spans: slices.Clone(p.Spans)}
	for i := range r.Enter {
		r.Enter[i] = none
	}
	p.inherit(r.Spans)
	used, runs := make([]bool, len(p.f.Regs)), make([][2]int, n)
	e := early{
		pass: p, reads: make([]int, len(p.f.Regs)), writes: make([]int, len(p.f.Regs)),
		left: make([]int, len(p.f.Regs)), holds: make([]bool, len(p.f.Regs)), late: make([]bool, n),
	}
	for a := 0; a < n; {
		b := a
		for b+1 < n && !p.begins(b+1) {
			b++
		}
		for i := a; i <= b; i++ {
			runs[i] = [2]int{a, b}
		}
		r.Enter[a] = len(r.Ops)
		ops := e.order(p.run(a, b))
		ops[len(ops)-1].Marks |= isa.Ends
		for i := range ops {
			for _, list := range [][]*parse.Var{ops[i].Reads, ops[i].Writes} {
				for _, v := range list {
					used[v.ID] = true
					s := &r.Spans[v.ID]
					s.First, s.Last = min(s.First, a), max(s.Last, b)
				}
			}
		}
		r.Ops = append(r.Ops, ops...)
		a = b + 1
	}
	r.Late = e.late
	for id := range used {
		s := &r.Spans[id]
		if !used[id] {
			*s = analyze.Span{First: n, Last: -2}
			continue
		}
		if s.First >= 0 && s.First < n {
			s.First = runs[s.First][0]
		}
		if s.Last >= 0 && s.Last < n {
			s.Last = runs[s.Last][1]
		}
	}
	return r
}

// begins says that a run begins at an instruction: something may jump there, or come from elsewhere.
func (p *pass) begins(i int) bool {
	return p.leads(i) || p.Together(i) || p.f.Instrs[i-1].Op == "call"
}

// inherit makes registers live where the results are that were folded into their users.
func (p *pass) inherit(spans []analyze.Span) {
	for i := range p.f.Instrs {
		if !p.fold[i] {
			continue
		}
		for _, v := range p.sources(p.reads[i], nil, 0) {
			for _, w := range p.write[i] {
				if s, d := &spans[v.ID], p.Spans[w.ID]; d.Last >= d.First {
					s.First, s.Last = min(s.First, d.First), max(s.Last, d.Last)
				}
			}
		}
	}
}

// run lists the machine instructions of a run in the order of the function.
func (p *pass) run(a, b int) (ops []Op) {
	for i := a; i <= b; i++ {
		if p.extra[i] > 0 {
			ops = append(ops, Op{Of: i, Upto: i - 1, Made: Bits, Times: p.extra[i]})
		}
		if p.need[i] > 0 {
			ops = append(ops, Op{
				Of: i, Upto: i, Made: p.made[i], Times: p.need[i], Marks: p.marks[i], Width: p.span[i], Back: p.back[i],
				Writes: p.write[i], Reads: p.reads[i],
			})
		}
	}
	if k := len(ops) - 1; k < 0 || ops[k].Of != b || ops[k].Upto != b {
		ops = append(ops, Op{Of: b, Upto: b, Made: Bits, Marks: isa.Vanishes})
	}
	return ops
}

// early puts loads of a run, and what makes their addresses, before what else there is.
type early struct {
	*pass
	ops           []Op
	first         []bool // by op: it goes first
	gone          []bool
	reads, writes []int  // by register: ops that are passed and read it, or write it
	left          []int  // by register: ops of the run that still read it
	holds         []bool // by register: an op that went first has written it
	held          int    // their number is
	next          int    // op from which on none has gone first
	stores        int    // stores that are passed
	late          []bool
	out           []Op
}

// order is the order in which the ops of a run issue.
func (e *early) order(ops []Op) []Op {
	if e.ops = ops; !e.choose() {
		return ops
	}
	clear(e.reads)
	clear(e.writes)
	clear(e.left)
	clear(e.holds)
	for i := range ops {
		for _, v := range ops[i].Reads {
			e.left[v.ID]++
		}
	}
	e.gone, e.held, e.next, e.stores, e.out = make([]bool, len(ops)), 0, 0, 0, nil
	for i := range ops {
		if e.gone[i] {
			continue
		}
		e.next = max(e.next, i)
		for e.pull() {
		}
		if !e.gone[i] {
			e.leave(i)
		}
	}
	return e.out
}

// choose finds the loads that may go first, and what makes their addresses.
func (e *early) choose() (some bool) {
	e.first = make([]bool, len(e.ops))
	writer := map[*parse.Var]int{}
	var mark func(i int)
	need := make([][]int, len(e.ops))
	mark = func(i int) {
		if e.first[i] {
			return
		}
		e.first[i] = true
		for _, k := range need[i] {
			mark(k)
		}
	}
	for i := range e.ops {
		o := &e.ops[i]
		for _, v := range o.Reads {
			if k, ok := writer[v]; ok {
				need[i] = append(need[i], k)
			}
		}
		for _, v := range o.Writes {
			writer[v] = i
		}
		if in := e.f.Instrs[o.Of]; o.Made == Itself && o.Upto == o.Of && in.Op == "ld" && !in.Has("param") &&
			!effect(in) && in.Pred == nil {
			mark(i)
			some = true
		}
	}
	return some
}

// pull lets the next op that goes first do so, past those that stay; false where it must wait.
func (e *early) pull() bool {
	for ; e.next < len(e.ops) && (e.gone[e.next] || !e.first[e.next]); e.next++ {
		if e.gone[e.next] {
			continue
		}
		if !e.passable(e.next) {
			return false
		}
		e.passing(e.next, 1)
	}
	if e.next == len(e.ops) {
		return false
	}
	o := &e.ops[e.next]
	for _, v := range o.Writes {
		if e.reads[v.ID] > 0 || e.writes[v.ID] > 0 {
			return false
		}
	}
	for _, v := range o.Reads {
		if e.writes[v.ID] > 0 {
			return false
		}
	}
	if e.stores > 0 && e.f.Instrs[o.Of].Op == "ld" && !apart(e.f.Instrs[o.Of]) {
		return false
	}
	if e.held+len(o.Writes) > room || !e.passable(e.next) && e.f.Instrs[o.Of].Op != "ld" {
		return false
	}
	for k := 0; k < e.next && e.stores > 0; k++ {
		if o := &e.ops[k]; !e.gone[k] && o.Upto == o.Of && intoShared(e.f.Instrs[o.Of]) {
			e.late[o.Of] = true
		}
	}
	e.leave(e.next)
	return true
}

// passable says that an op may issue after an op that follows it: it has no effect but on registers.
func (e *early) passable(i int) bool {
	o := &e.ops[i]
	in := e.f.Instrs[o.Of]
	_, accesses := memory(in)
	if o.Marks != 0 || in.Pred != nil {
		return false
	}
	return o.Upto < o.Of || !accesses && !effect(in) || e.stores < isa.MostLate && intoShared(in)
}

// intoShared says that an instruction writes shared memory and does no more.
func intoShared(in *parse.Instr) bool {
	return in.Op == "st" && in.Has("shared") && !in.Has("volatile") && !in.Has("relaxed") && !in.Has("release")
}

// apart says that a load reads what is not shared memory.
func apart(in *parse.Instr) bool { return in.Has("global") || in.Has("const") || in.Has("local") }

// passing counts the registers of an op that is passed, or no longer.
func (e *early) passing(i, by int) {
	if o := &e.ops[i]; o.Upto == o.Of && intoShared(e.f.Instrs[o.Of]) {
		e.stores += by
	}
	for _, v := range e.ops[i].Reads {
		e.reads[v.ID] += by
	}
	for _, v := range e.ops[i].Writes {
		e.writes[v.ID] += by
	}
}

// leave lets an op issue.
func (e *early) leave(i int) {
	o := &e.ops[i]
	if e.gone[i] = true; i < e.next && !e.first[i] {
		e.passing(i, -1)
	}
	for _, v := range o.Reads {
		if e.left[v.ID]--; e.left[v.ID] == 0 && e.holds[v.ID] {
			e.holds[v.ID] = false
			e.held -= analyze.Cost(v)
		}
	}
	for _, v := range o.Writes {
		if e.first[i] && e.left[v.ID] > 0 && !e.holds[v.ID] {
			e.holds[v.ID] = true
			e.held += analyze.Cost(v)
		}
	}
	e.out = append(e.out, *o)
}
