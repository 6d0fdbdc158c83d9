package analyze

import "github.com/heddle-sim/heddle/ptx/parse"

// Spins marks the backward branches of loops that may wait for another thread:
// loops whose exit condition depends on an atomic or on a volatile, relaxed,
// acquire or generic/local load inside the loop. (Local and generic loads count because
// unoptimised code keeps the result of an atomic in memory.) The emulator lets
// other paths of a warp run sooner when such a branch is taken often.
func (g *Graph) Spins() []bool {
	marks := make([]bool, len(g.Func.Instrs))
	l := &loops{Graph: g, in: make([]int32, len(g.Blocks)), seen: make([]int32, len(g.Func.Regs))}
	l.sync = make([]bool, len(g.Blocks))
	for i, in := range g.Func.Instrs {
		if syncs(in) {
			l.sync[g.BlockOf[i]] = true
		}
	}
	for b := range g.Blocks {
		for _, head := range g.Blocks[b].Succ {
			if g.Blocks[head].First <= g.Blocks[b].Last && head <= b && l.spins(head, b) {
				marks[g.Blocks[b].Last] = true
			}
		}
	}
	return marks
}

// loops examines one natural loop after the other.
type loops struct {
	*Graph
	sync  []bool  // by block: it touches memory that another thread may write
	in    []int32 // by block: the last loop it was found in, counted from 1
	seen  []int32 // by register: the last loop whose condition depends on it
	count int32
	body  []int // blocks of the current loop
	regs  []*parse.Var
}

// spins examines the natural loop of the back edge tail -> head.
func (l *loops) spins(head, tail int) bool {
	f := l.Func
	l.collect(head, tail)
	sync := false
	for _, b := range l.body {
		sync = sync || l.sync[b]
	}
	if !sync { // without that nothing in it can be waited for
		return false
	}
	l.regs = l.regs[:0]
	for _, b := range l.body { // conditions of the branches inside the loop
		if p := f.Instrs[l.Blocks[b].Last].Pred; p != nil {
			l.depend(p)
		}
	}
	var w, r []*parse.Var
	for len(l.regs) > 0 {
		v := l.regs[len(l.regs)-1]
		l.regs = l.regs[:len(l.regs)-1]
		for _, t := range l.touches.of(v.ID) {
			if !t.writes || l.in[l.BlockOf[t.at]] != l.count {
				continue
			}
			if waits(f.Instrs[t.at]) {
				return true
			}
			_, r = Access(f.Instrs[t.at], w[:0], r[:0])
			for _, v := range r {
				l.depend(v)
			}
		}
	}
	return false
}

// depend makes the condition of the loop depend on v.
func (l *loops) depend(v *parse.Var) {
	if l.seen[v.ID] != l.count {
		l.seen[v.ID] = l.count
		l.regs = append(l.regs, v)
	}
}

// collect finds the blocks of the loop.
func (l *loops) collect(head, tail int) {
	l.count++
	l.in[head] = l.count
	l.body = append(l.body[:0], head)
	work := []int{tail}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if l.in[b] == l.count {
			continue
		}
		l.in[b] = l.count
		l.body = append(l.body, b)
		work = append(work, l.Blocks[b].Pred...)
	}
}

// syncs reports an access of memory that another thread may write.
func syncs(x *parse.Instr) bool {
	return x.Op == "atom" || x.Op == "call" || x.Op == "ld" && (x.Has("volatile") || x.Has("relaxed") ||
		x.Has("acquire"))
}

func waits(in *parse.Instr) bool {
	switch in.Op {
	case "atom", "call":
		return true
	case "ld":
		if in.Has("volatile") || in.Has("relaxed") || in.Has("acquire") || in.Has("local") || in.Has("param") {
			return true
		}
		return !in.Has("global") && !in.Has("shared") && !in.Has("const")
	}
	return false
}
