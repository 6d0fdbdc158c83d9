package ptxas

import (
	"slices"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// longest is the instructions of a loop that is unrolled: of the loops seen, all to 25, none of 53 and more.
const longest = 25

// Unrolls says whether Unroll finds a loop in the function.
func Unrolls(g *analyze.Graph) bool { return len(loops(g)) > 0 }

func loops(g *analyze.Graph) (list []*loop) {
	for _, b := range g.Blocks {
		if l := find(g.Func, b.First, b.Last); l != nil {
			list = append(list, l)
		}
	}
	return list
}

// loop is a block that branches to its own beginning.
type loop struct {
	first, last int // instructions
	test        int // the comparison
	counter     *parse.Var
	pace        int64 // added to the counter in a turn
	behind      bool  // the comparison comes behind the addition
	goOn        string
	typ         parse.Type
	bound       parse.Operand
	adds        map[*parse.Var]added // registers that only count
	temps       map[*parse.Var]bool  // registers whose value no other turn reads
}

// added is the one instruction that writes a register of a loop, and the constant that it adds.
type added struct {
	at int
	by int64
}

// find gives the loop of a block if it can be unrolled.
func find(f *parse.Func, first, last int) *loop {
	end := f.Instrs[last]
	if end.Op != "bra" || end.Pred == nil || len(end.Args) != 1 || end.Args[0].Label != first ||
		last-first+1 > longest {
		return nil
	}
	l := &loop{first: first, last: last, adds: map[*parse.Var]added{}, temps: map[*parse.Var]bool{}}
	writes := map[*parse.Var][]int{}
	read := map[*parse.Var]bool{} // before it is written, or written in some lanes only
	for i := first; i <= last; i++ {
		in := f.Instrs[i]
		if f.NoUnroll[i] || i < last && !plain(in) {
			return nil
		}
		w, r := analyze.Access(in, nil, nil)
		for _, v := range r {
			if writes[v] == nil {
				read[v] = true
			}
		}
		for _, v := range w {
			if writes[v] == nil && in.Pred != nil {
				read[v] = true
			}
			writes[v] = append(writes[v], i)
		}
	}
	for v, at := range writes {
		if !read[v] {
			l.temps[v] = true
		} else if by, ok := adds(f.Instrs[at[0]], v); ok && len(at) == 1 {
			l.adds[v] = added{at[0], by}
		}
	}
	if !l.tested(f, writes) {
		return nil
	}
	return l
}

// plain says that an instruction may be copied: it waits for no other lane, other threads do not see when it is
// executed, and its operands are registers, addresses and numbers.
func plain(in *parse.Instr) bool {
	stores := in.Op == "st" && !in.Has("volatile") && !in.Has("relaxed") && !in.Has("release")
	carries := in.Has("cc") || in.Op == "addc" || in.Op == "subc" || in.Op == "madc"
	if effect(in) && !stores || carries || in.Also != nil {
		return false
	}
	for i := range in.Args {
		if k := in.Args[i].Kind; k == parse.KSpecial || k == parse.KFunc || in.Args[i].Index != nil {
			return false
		}
	}
	return true
}

// adds says that an instruction adds a constant to a register, and which one.
func adds(in *parse.Instr, v *parse.Var) (by int64, ok bool) {
	if in.Op != "add" && in.Op != "sub" || in.Pred != nil || len(in.Mods) != 1 || len(in.Args) != 3 ||
		v.Type.Bytes() < 4 || typ(in, 0).Float() || in.Args[1].Kind != parse.KReg || in.Args[1].Var != v ||
		in.Args[2].Kind != parse.KInt {
		return 0, false
	}
	by = int64(in.Args[2].Bits)
	if v.Type.Bytes() == 4 {
		by = int64(int32(by))
	}
	if in.Op == "sub" {
		by = -by
	}
	return by, by != 0 && by < 1<<24 && by > -1<<24
}

// tested finds out what ends the loop.
func (l *loop) tested(f *parse.Func, writes map[*parse.Var][]int) bool {
	end := f.Instrs[l.last]
	at := writes[end.Pred]
	if len(at) != 1 || !l.temps[end.Pred] {
		return false
	}
	l.test = at[0]
	set := f.Instrs[l.test]
	if set.Op != "setp" || set.Pred != nil || len(set.Mods) != 2 || len(set.Args) != 3 ||
		set.Args[0].Kind != parse.KReg {
		return false
	}
	for i := l.test + 1; i < l.last; i++ {
		if _, r := analyze.Access(f.Instrs[i], nil, nil); slices.Contains(r, end.Pred) {
			return false
		}
	}
	l.goOn, l.typ = signless(set.Mods[0]), typ(set, 0)
	counter, bound := set.Args[1], set.Args[2]
	if a, ok := l.adds[bound.Var]; bound.Kind == parse.KReg && ok && a.by != 0 {
		counter, bound, l.goOn = bound, counter, mirrored[l.goOn]
	}
	a, counts := l.adds[counter.Var]
	if counter.Kind != parse.KReg || !counts || counter.Neg || bound.Neg || l.typ.Float() ||
		l.typ.Bytes() != counter.Var.Type.Bytes() {
		return false
	}
	if bound.Kind != parse.KInt && (bound.Kind != parse.KReg || writes[bound.Var] != nil) {
		return false
	}
	if end.Neg {
		l.goOn = negated[l.goOn]
	}
	l.counter, l.bound, l.pace, l.behind = counter.Var, bound, a.by, l.test > a.at
	switch l.goOn {
	case "ne":
		return true
	case "lt", "le":
		return l.pace > 0
	case "gt", "ge":
		return l.pace < 0
	}
	return false
}

var (
	mirrored = map[string]string{
		"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne", "eq": "eq",
	}
	negated = map[string]string{
		"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq",
	}
)

// signless is a comparison by the name that it has for types with and without a sign.
func signless(cmp string) string {
	if s, ok := map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[cmp]; ok {
		return s
	}
	return cmp
}
