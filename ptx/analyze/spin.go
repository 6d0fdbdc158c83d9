package analyze

import "heddle/ptx/parse"

// Spins marks the backward branches of loops that may wait for another thread:
// loops whose exit condition depends on an atomic or on a volatile, relaxed,
// acquire or generic/local load inside the loop. (Local and generic loads count because
// unoptimised code keeps the result of an atomic in memory.) The emulator lets
// other paths of a warp run sooner when such a branch is taken often.
func (g *Graph) Spins() []bool {
	f := g.Func
	marks := make([]bool, len(f.Instrs))
	for b := range g.Blocks {
		for _, head := range g.Blocks[b].Succ {
			if g.Blocks[head].First <= g.Blocks[b].Last && head <= b && g.loopSpins(head, b) {
				marks[g.Blocks[b].Last] = true
			}
		}
	}
	return marks
}

// loopSpins examines the natural loop of the back edge tail -> head.
func (g *Graph) loopSpins(head, tail int) bool {
	f := g.Func
	in := make([]bool, len(g.Blocks))
	in[head] = true
	work := []int{tail}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if in[b] {
			continue
		}
		in[b] = true
		work = append(work, g.Blocks[b].Pred...)
	}
	if !g.hasSync(in) {
		return false
	}
	slice := make(Set, (len(f.Regs)+63)/64)
	for b, blk := range g.Blocks { // conditions of the branches inside the loop
		if in[b] && f.Instrs[blk.Last].Pred != nil {
			slice.add(f.Instrs[blk.Last].Pred.ID)
		}
	}
	var w, r []*parse.Var
	for changed := true; changed; {
		changed = false
		for b, blk := range g.Blocks {
			if !in[b] {
				continue
			}
			for i := blk.First; i <= blk.Last; i++ {
				w, r = Access(f.Instrs[i], w[:0], r[:0])
				hit := false
				for _, v := range w {
					hit = hit || slice.Has(v.ID)
				}
				if !hit {
					continue
				}
				if waits(f.Instrs[i]) {
					return true
				}
				for _, v := range r {
					if !slice.Has(v.ID) {
						slice.add(v.ID)
						changed = true
					}
				}
			}
		}
	}
	return false
}

// hasSync reports whether a loop touches memory another thread may write: without
// that nothing in it can be waited for.
func (g *Graph) hasSync(in []bool) bool {
	for b, blk := range g.Blocks {
		if !in[b] {
			continue
		}
		for i := blk.First; i <= blk.Last; i++ {
			x := g.Func.Instrs[i]
			if x.Op == "atom" || x.Op == "call" || x.Op == "ld" && (x.Has("volatile") || x.Has("relaxed") ||
				x.Has("acquire")) {
				return true
			}
		}
	}
	return false
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
