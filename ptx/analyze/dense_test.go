package analyze

import "github.com/heddle-sim/heddle/ptx/parse"

// The analyses by their definitions, with a set of all registers per block: what the
// implementation is compared with.

// dense is the result of the backward data-flow analysis. A register is live
// where a later instruction may read the value it holds.
type dense struct {
	Graph *Graph
	In    []Set // by block
	Out   []Set
	// Pressure is the number of 32-bit registers live after each instruction plus
	// those it writes; 64-bit registers count 2, predicates nothing.
	Pressure []int
	MaxRegs  int // the largest pressure
}

// liveDense computes the liveness of g's registers.
func liveDense(g *Graph) *dense {
	f := g.Func
	words := (len(f.Regs) + 63) / 64
	l := &dense{Graph: g, Pressure: make([]int, len(f.Instrs))}
	kill := make([]Set, len(g.Blocks))
	for b := range g.Blocks {
		l.In = append(l.In, make(Set, words))
		l.Out = append(l.Out, make(Set, words))
		kill[b] = make(Set, words)
		l.local(b, kill[b])
		if g.leaves(b) == returns {
			for _, v := range f.Results {
				if v.Space == parse.Reg && v.Name != "_" {
					l.Out[b].add(v.ID)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for b := len(g.Blocks) - 1; b >= 0; b-- {
			out, in := l.Out[b], l.In[b]
			for _, s := range g.Blocks[b].Succ {
				for w, bits := range l.In[s] {
					out[w] |= bits
				}
			}
			for w := range in {
				v := in[w] | out[w]&^kill[b][w]
				if v != in[w] {
					in[w], changed = v, true
				}
			}
		}
	}
	l.pressure()
	return l
}

// local seeds In with the registers block b reads before writing, and kill with
// those it writes unconditionally.
func (l *dense) local(b int, kill Set) {
	f, blk := l.Graph.Func, l.Graph.Blocks[b]
	var w, r []*parse.Var
	for i := blk.First; i <= blk.Last; i++ {
		w, r = Access(f.Instrs[i], w[:0], r[:0])
		for _, v := range r {
			if !kill.Has(v.ID) {
				l.In[b].add(v.ID)
			}
		}
		for _, v := range w {
			if f.Instrs[i].Pred == nil {
				kill.add(v.ID)
			} else if !kill.Has(v.ID) {
				l.In[b].add(v.ID) // keeps its old value where the guard is false
			}
		}
	}
}

func (l *dense) pressure() {
	f := l.Graph.Func
	var w, r []*parse.Var
	for b, blk := range l.Graph.Blocks {
		live := append(Set(nil), l.Out[b]...)
		n := 0
		for _, v := range f.Regs {
			if live.Has(v.ID) {
				n += Cost(v)
			}
		}
		for i := blk.Last; i >= blk.First; i-- {
			in := f.Instrs[i]
			w, r = Access(in, w[:0], r[:0])
			for _, v := range w {
				if !live.Has(v.ID) {
					live.add(v.ID)
					n += Cost(v)
				}
			}
			l.Pressure[i] = n
			if in.Pred == nil {
				for _, v := range w {
					if live.Has(v.ID) {
						live.remove(v.ID)
						n -= Cost(v)
					}
				}
			}
			for _, v := range r {
				if !live.Has(v.ID) {
					live.add(v.ID)
					n += Cost(v)
				}
			}
			l.MaxRegs = max(l.MaxRegs, l.Pressure[i], n)
		}
	}
}

// Spans gives a conservative live interval per register ID: two registers whose
// spans do not overlap may share storage.
func (l *dense) Spans() []Span {
	f := l.Graph.Func
	spans := make([]Span, len(f.Regs))
	for i := range spans {
		spans[i] = Span{len(f.Instrs), -2}
	}
	touch := func(id, at int) {
		spans[id].First = min(spans[id].First, at)
		spans[id].Last = max(spans[id].Last, at)
	}
	var w, r []*parse.Var
	for i, in := range f.Instrs {
		w, r = Access(in, w[:0], r[:0])
		for _, v := range w {
			touch(v.ID, i)
		}
		for _, v := range r {
			touch(v.ID, i)
		}
	}
	for b, blk := range l.Graph.Blocks {
		for id := range f.Regs {
			if l.In[b].Has(id) {
				touch(id, blk.First)
				if b == 0 {
					touch(id, -1)
				}
			}
			if l.Out[b].Has(id) {
				touch(id, blk.Last)
			}
		}
	}
	return spans
}

// readBehindDense is the set of registers that, in each block that writes them, are
// read behind the last write: whoever leaves the block has waited for their values.
func readBehindDense(g *Graph) Set {
	f := g.Func
	words := (len(f.Regs) + 63) / 64
	ok, open := make(Set, words), make(Set, words)
	for i := range ok {
		ok[i] = ^uint64(0)
	}
	var w, r []*parse.Var
	for _, blk := range g.Blocks {
		clear(open)
		for i := blk.First; i <= blk.Last; i++ {
			w, r = Access(f.Instrs[i], w[:0], r[:0])
			for _, v := range r {
				open.remove(v.ID)
			}
			for _, v := range w {
				open.add(v.ID)
			}
		}
		for i := range ok {
			ok[i] &^= open[i]
		}
	}
	return ok
}

func (s Set) remove(id int) { s[id>>6] &^= 1 << (id & 63) }
