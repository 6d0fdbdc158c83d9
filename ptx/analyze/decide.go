package analyze

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Decider is a register that decides when a loop ends, and the places where its value matters.
type Decider struct {
	Var  *parse.Var
	Span Span
	By   How
}

// How is how a decider changes.
type How uint8

const (
	Carried How = iota // a loop carries it from an iteration to the next
	Loaded             // a loop loads it, and others may write it
	Time               // a loop reads the clock: it changes whatever the program does
	Delay              // it decides only how long a loop takes that does nothing, inside of another one
)

// Deciders lists the registers by which a thread comes nearer to the end of a loop: a condition of a branch out of
// the loop, or of a call in it, depends on them, and they are carried from one iteration to the next, or loaded in
// the loop from memory that others write. A thread whose deciders repeat at the same place only waits: writes by
// others alone can end the loop. A counter that no condition uses is no decider.
//
// places has for each instruction where the outermost loop around it begins, or itself outside of loops.
func (l *Liveness) Deciders() (list []Decider, places []int32) {
	g := l.Graph
	d := &deciders{
		loops: loops{Graph: g, in: make([]int32, len(g.Blocks))}, looped: make([]bool, len(g.Blocks)),
		asked: make([]bool, len(g.Blocks)), resumes: make([][]int, len(g.Blocks)),
		counts: make(Set, (len(g.Func.Regs)+63)/64),
		outer:  make([]outermost, len(g.Blocks)),
	}
	for _, visit := range []func(head, tail int){d.pause, d.loop} {
		for b := range g.Blocks {
			for _, head := range g.Blocks[b].Succ {
				if g.Blocks[head].First <= g.Blocks[b].Last && head <= b {
					visit(head, b)
				}
			}
		}
	}
	places = d.places()
	if len(d.heads) == 0 {
		return nil, places
	}
	d.depending()
	d.conditions(d.exits)
	works := slices.Clone(d.counts)
	d.conditions(d.pauses)
	for id, v := range g.Func.Regs {
		if !d.counts.Has(id) {
			continue
		}
		loaded, time := d.fetched(id)
		switch {
		case time:
			list = append(list, Decider{v, l.spans[id], Time})
		case !works.Has(id) && (loaded || d.carried(id, l.spans[id])):
			list = append(list, Decider{v, l.spans[id], Delay})
		case d.carried(id, l.spans[id]):
			list = append(list, Decider{v, l.spans[id], Carried})
		case loaded:
			list = append(list, Decider{v, l.spans[id], Loaded})
		}
	}
	return list, places
}

// outermost is the largest loop around a block.
type outermost struct{ blocks, first int32 }

func (d *deciders) places() []int32 {
	places := make([]int32, len(d.Func.Instrs))
	for i := range places {
		places[i] = int32(i)
		if o := d.outer[d.BlockOf[i]]; o.blocks > 0 {
			places[i] = o.first
		}
	}
	return places
}

// deciders finds them: from the branches out of loops backward.
type deciders struct {
	loops
	looped  []bool // by block: it is in a loop
	outer   []outermost
	asked   []bool  // by block: what decides whether it is executed is known
	exits   []int   // blocks that may leave a loop
	pauses  []int   // blocks that may leave a loop that does nothing, inside of another one, or enter it
	resumes [][]int // by block in such a loop: the blocks behind it
	heads   []int   // of loops
	control [][]int32
	counts  Set // registers that conditions depend on
}

// loop notes the blocks of the natural loop of the back edge tail -> head, and its ways out.
func (d *deciders) loop(head, tail int) {
	d.heads = append(d.heads, head)
	d.collect(head, tail)
	pause := d.resumes[head] != nil && d.delays()
	for _, b := range d.body {
		d.looped[b] = true
		if o := (outermost{int32(len(d.body)), int32(d.Blocks[head].First)}); o.blocks > d.outer[b].blocks {
			d.outer[b] = o
		}
		leaves := d.leaves(b) != stays || d.Func.Instrs[d.Blocks[b].Last].Op == "trap"
		for _, s := range d.Blocks[b].Succ {
			switch {
			case d.in[s] == d.count:
			case pause || d.returns(s):
				d.pauses = append(d.pauses, b)
			default:
				leaves = true
			}
		}
		if leaves {
			d.exits = append(d.exits, b)
		}
	}
}

// pause notes a loop that does nothing, inside of another one, and the blocks behind it.
func (d *deciders) pause(head, tail int) {
	if d.collect(head, tail); !d.delays() {
		return
	}
	behind := []int{} // not nil, also of one that never ends
	for _, b := range d.body {
		for _, s := range d.Blocks[b].Succ {
			if d.in[s] != d.count {
				behind = append(behind, s)
			}
		}
	}
	for _, b := range d.body {
		d.resumes[b] = behind
	}
}

// returns says that behind a block outside of the loop in body nothing is done until the loop goes on.
func (d *deciders) returns(b int) bool {
	for _, s := range d.resumes[b] {
		if d.in[s] != d.count {
			return false
		}
	}
	return len(d.resumes[b]) > 0
}

// delays says that the loop in body does nothing, but takes time, inside of another loop: it touches no memory, and
// writes no register that is read outside of it. A loop that waits, and backs off in one of these, comes no nearer to
// its end by them, even if each takes a time of its own.
func (d *deciders) delays() bool {
	for _, b := range d.body {
		for i := d.Blocks[b].First; i <= d.Blocks[b].Last; i++ {
			in := d.Func.Instrs[i]
			if !quiet(in) {
				return false
			}
			w, _ := Access(in, nil, nil)
			for _, v := range w {
				if !d.inside(v.ID) {
					return false
				}
			}
		}
	}
	return d.again()
}

// again says that a thread that leaves the loop in body may come back to it: another loop is around it.
func (d *deciders) again() bool {
	seen := make([]bool, len(d.Blocks))
	var todo []int
	for _, b := range d.body {
		seen[b] = true
		todo = append(todo, d.Blocks[b].Succ...)
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; b >= len(seen) || seen[b] {
			continue
		}
		seen[b] = true
		for _, s := range d.Blocks[b].Succ {
			if s < len(d.in) && d.in[s] == d.count {
				return true
			}
			todo = append(todo, s)
		}
	}
	return false
}

// inside says that nothing outside of the loop in body reads a register before something else writes it.
func (d *deciders) inside(id int) bool {
	for _, t := range d.touches.of(id) {
		if b := d.BlockOf[t.at]; d.in[b] != d.count && t.reads && !d.writtenBefore(id, int(t.at)) {
			return false
		}
	}
	return true
}

// writtenBefore says that the block of an instruction writes a register before it.
func (d *deciders) writtenBefore(id, at int) bool {
	for _, t := range d.touches.of(id) {
		if t.kills && int(t.at) < at && d.BlockOf[t.at] == d.BlockOf[at] {
			return true
		}
	}
	return false
}

// quiet says that an instruction computes, or takes time, and does nothing else.
func quiet(in *parse.Instr) bool {
	switch in.Op {
	case "add", "sub", "mul", "mad", "and", "or", "xor", "not", "neg", "abs", "min", "max", "shl", "shr", "shf", "setp",
		"selp", "mov", "cvt", "bra", "nanosleep":
		return true
	}
	return false
}

// conditions follows what ways out depend on.
func (d *deciders) conditions(exits []int) {
	for _, b := range exits {
		d.branch(b)
	}
	for i, in := range d.Func.Instrs { // a function that is called may be the way out
		if b := d.BlockOf[i]; d.looped[b] && (in.Op == "call" || in.Op == "st" && in.Has("param")) {
			d.reads(in)
			d.executed(b)
		}
	}
	for len(d.regs) > 0 {
		v := d.regs[len(d.regs)-1]
		d.regs = d.regs[:len(d.regs)-1]
		for _, t := range d.touches.of(v.ID) {
			if b := d.BlockOf[t.at]; t.writes && d.looped[b] {
				d.reads(d.Func.Instrs[t.at])
				d.executed(b)
			}
		}
	}
}

// depending lists by block the branches that decide whether it is executed.
func (d *deciders) depending() {
	d.control = make([][]int32, len(d.Blocks))
	for a := range d.Blocks {
		if len(d.Blocks[a].Succ) < 2 {
			continue
		}
		for _, b := range d.Blocks[a].Succ {
			for b < len(d.Blocks) && b != d.IPDom[a] {
				if k := d.control[b]; len(k) > 0 && k[len(k)-1] == int32(a) {
					break // the other side came by
				}
				d.control[b] = append(d.control[b], int32(a))
				b = d.IPDom[b]
			}
		}
	}
}

// executed follows what decides whether a block is executed.
func (d *deciders) executed(b int) {
	if d.asked[b] {
		return
	}
	d.asked[b] = true
	for _, a := range d.control[b] {
		d.branch(int(a))
	}
}

// branch follows what the branch at the end of a block depends on.
func (d *deciders) branch(b int) {
	d.reads(d.Func.Instrs[d.Blocks[b].Last])
	d.executed(b)
}

// reads follows what an instruction reads.
func (d *deciders) reads(in *parse.Instr) {
	_, r := Access(in, nil, nil)
	for _, v := range r {
		if !d.counts.Has(v.ID) {
			d.counts.add(v.ID)
			d.regs = append(d.regs, v)
		}
	}
}

// carried says that a register is written in a loop and carried from an iteration to the next.
func (d *deciders) carried(id int, s Span) bool {
	written := false
	for _, t := range d.touches.of(id) {
		written = written || t.writes && d.looped[d.BlockOf[t.at]]
	}
	if !written {
		return false
	}
	for _, h := range d.heads {
		if at := d.Blocks[h].First; s.First < at && at <= s.Last {
			return true
		}
	}
	return false
}

// fetched says that what is written to a register in a loop comes from elsewhere than from registers, and that it is
// the time.
func (d *deciders) fetched(id int) (loaded, time bool) {
	for _, t := range d.touches.of(id) {
		if t.writes && d.looped[d.BlockOf[t.at]] {
			in := d.Func.Instrs[t.at]
			loaded, time = loaded || fetches(in), time || clocks(in)
		}
	}
	return loaded, time
}

// fetches says that an instruction reads values that others may have written.
func fetches(in *parse.Instr) bool {
	switch in.Op {
	case "ld", "ldu", "atom", "call", "ldmatrix", "tex", "tld4", "suld":
		return true
	case "wmma":
		return in.Has("load")
	}
	return false
}

// clocks says that an instruction reads the time.
func clocks(in *parse.Instr) bool {
	return in.Op == "mov" && len(in.Args) == 2 && in.Args[1].Kind == parse.KSpecial &&
		(strings.HasPrefix(in.Args[1].Name, "clock") || strings.HasPrefix(in.Args[1].Name, "globaltimer"))
}
