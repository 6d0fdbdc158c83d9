package ptxas

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// word is a load of 32 bits of shared memory.
type word struct {
	at     int // instruction
	offset int64
}

// vectors makes loads of two or four neighbouring words of shared memory one, where their place is known to be a
// multiple of their size, between instructions that write memory.
func (p *pass) vectors() {
	for _, blk := range p.Graph.Blocks {
		words := map[*parse.Var][]word{}
		var order []*parse.Var
		flush := func() {
			for _, base := range order {
				p.join(base, words[base])
			}
			clear(words)
			order = order[:0]
		}
		for i := blk.First; i <= blk.Last; i++ {
			in := p.f.Instrs[i]
			if base, off, ok := p.wordOf(i); ok {
				if words[base] == nil {
					order = append(order, base)
				}
				words[base] = append(words[base], word{i, off})
				continue
			}
			_, accesses := memory(in)
			if accesses && in.Op != "ld" && !(in.Op == "st" && in.Has("global")) || !accesses && effect(in) ||
				in.Pred != nil || p.Together(i) {
				flush()
			}
			for _, v := range p.write[i] { // another base from here on
				if words[v] != nil {
					flush()
				}
			}
		}
		flush()
	}
}

// wordOf is the base and the offset of a load that may be joined.
func (p *pass) wordOf(i int) (base *parse.Var, off int64, ok bool) {
	in := p.f.Instrs[i]
	if in.Op != "ld" || !in.Has("shared") || effect(in) || in.Pred != nil || len(p.write[i]) != 1 || p.need[i] == 0 ||
		typ(in, 0).Bytes() != 4 || in.Args[0].Kind != parse.KReg || p.one(p.write[i][0]) != i && p.touched(i) {
		return nil, 0, false
	}
	a := &in.Args[1]
	if a.Kind != parse.KAddr || len(a.List) != 1 || a.Index != nil || a.List[0].Index != nil {
		return nil, 0, false
	}
	b := &a.List[0]
	return b.Var, a.Off + b.Off, b.Var != nil && (b.Kind == parse.KReg || b.Kind == parse.KSym)
}

// touched says that a block uses the register that an instruction writes, before it.
func (p *pass) touched(i int) bool {
	v := p.write[i][0]
	for k := p.Graph.Blocks[p.Graph.BlockOf[i]].First; k < i; k++ {
		if writes(p.reads[k], v) || writes(p.write[k], v) {
			return true
		}
	}
	return false
}

// join makes one of those loads with the same base that are neighbours.
func (p *pass) join(base *parse.Var, list []word) {
	place := p.aligned(base, 0)
	slices.SortStableFunc(list, func(a, b word) int { return int(a.offset - b.offset) })
	for k := 0; k < len(list); {
		n := 4
		for ; n > 1; n /= 2 {
			if k+n <= len(list) && list[k+n-1].offset == list[k].offset+int64(4*(n-1)) &&
				(place|uint64(list[k].offset))&uint64(4*n-1) == 0 && distinct(list[k:k+n]) {
				break
			}
		}
		if n > 1 {
			p.merge(list[k : k+n])
		}
		k += max(n, 1)
	}
}

func distinct(list []word) bool {
	for i := 1; i < len(list); i++ {
		if list[i].offset != list[i-1].offset+4 {
			return false
		}
	}
	return true
}

// merge makes one load of neighbours, in place of the first of them.
func (p *pass) merge(list []word) {
	first := list[0].at
	for _, w := range list {
		first = min(first, w.at)
	}
	for _, w := range list {
		if w.at == first {
			p.span[first], p.back[first] = 4*len(list), int(w.offset-list[0].offset)
			continue
		}
		p.need[w.at] = 0
		p.write[first] = append(p.write[first], p.write[w.at]...)
	}
}

// aligned has ones in those low bits that may be set in a value.
func (p *pass) aligned(v *parse.Var, depth int) uint64 {
	if v.Space == parse.Shared {
		return uint64(p.Shared(v))
	}
	d := p.one(v)
	if d < 0 || depth > 12 {
		return ^uint64(0)
	}
	in := p.f.Instrs[d]
	of := func(k int) uint64 {
		switch o := &in.Args[k]; {
		case o.Kind == parse.KInt:
			return o.Bits
		case o.Kind == parse.KReg:
			return spread(p.aligned(o.Var, depth+1))
		case o.Kind == parse.KSym && o.Var != nil && o.Var.Space == parse.Shared:
			return uint64(p.Shared(o.Var) + o.Off)
		}
		return ^uint64(0)
	}
	switch in.Op {
	case "mov", "cvt", "cvta":
		return spread(of(1))
	case "add", "sub", "or":
		return spread(of(1) | of(2))
	case "mul":
		return ^uint64(0) << min(63, bits.TrailingZeros64(of(1))+bits.TrailingZeros64(of(2)))
	case "mad":
		return ^uint64(0)<<min(63, bits.TrailingZeros64(of(1))+bits.TrailingZeros64(of(2))) | spread(of(3))
	case "shl":
		if in.Args[2].Kind == parse.KInt {
			return spread(of(1)) << (in.Args[2].Bits & 63)
		}
	case "and":
		return of(1) & of(2)
	}
	return ^uint64(0)
}

// spread sets all bits above the lowest: a sum may carry into them.
func spread(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	return ^uint64(0) << bits.TrailingZeros64(x)
}
