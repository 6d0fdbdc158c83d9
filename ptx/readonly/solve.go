package readonly

import (
	"slices"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// origins says where a value may come from. base are those that the value may be an address
// in. part are those of which it may hold a piece or a multiple: a half of an address, an
// index, a difference. Both are bit sets: the values of the parameters, their addresses in
// .param memory, then the unknown, variables of the module, .shared and .local memory.
type origins struct{ base, part []uint64 }

func has(s []uint64, bit int) bool { return s[bit>>6]>>(bit&63)&1 != 0 }
func set(s []uint64, bit int)      { s[bit>>6] |= 1 << (bit & 63) }

func (s *solver) unknownBit() int { return 2 * len(s.kernel.Params) }
func (s *solver) moduleBit() int  { return s.unknownBit() + 1 }
func (s *solver) sharedBit() int  { return s.unknownBit() + 2 }
func (s *solver) localBit() int   { return s.unknownBit() + 3 }
func (s *solver) bits() int       { return s.unknownBit() + 4 }

// inst is an instruction of the kernel or of a function it may call.
type inst struct {
	f  *parse.Func
	in *parse.Instr
}

// The nodes of the contents of .shared and .local memory; registers and .param variables of
// functions have nodes of their own.
const (
	sharedNode = iota
	localNode
	firstNode
)

// solver finds the origins of all values of a kernel. Origins are only ever added to a node, and
// an instruction is looked at again when a node it reads has changed, so that the work grows
// linearly with the instructions (times the parameters, at worst). The order of instructions
// does not matter: a register that is written twice holds either.
type solver struct {
	mod     *parse.Module
	kernel  *parse.Func
	pointer int // bytes of an address
	param   map[*parse.Var]int
	node    map[*parse.Var]int
	narrow  []bool // by node: it cannot hold a whole address
	held    []origins
	users   [][]int32 // by node: instructions that read it
	insts   []inst
	within  map[*parse.Func]bool
	certain []bool // by parameter: it is converted by cvta, so it is an address and no number
	queue   []int32
	queued  []bool
	looks   int // instructions looked at
}

func newSolver(m *parse.Module, kernel *parse.Func) *solver {
	s := &solver{
		mod: m, kernel: kernel, pointer: 8, param: map[*parse.Var]int{}, node: map[*parse.Var]int{},
		within: map[*parse.Func]bool{}, certain: make([]bool, len(kernel.Params)),
	}
	if m.AddressSize == 32 {
		s.pointer = 4
	}
	for i, p := range kernel.Params {
		s.param[p] = i
	}
	for range firstNode {
		s.add(false)
	}
	s.reach(kernel)
	s.queued = make([]bool, len(s.insts))
	for i, x := range s.insts {
		s.listen(int32(i), x)
		s.push(int32(i))
	}
	return s
}

func (s *solver) empty() origins {
	w := (s.bits() + 63) / 64
	all := make([]uint64, 2*w)
	return origins{all[:w:w], all[w:]}
}

func (s *solver) add(narrow bool) int {
	s.narrow, s.held = append(s.narrow, narrow), append(s.held, s.empty())
	s.users = append(s.users, nil)
	return len(s.held) - 1
}

// reach takes in the instructions of f and of all it calls.
func (s *solver) reach(f *parse.Func) {
	work := []*parse.Func{f}
	s.within[f] = true
	for len(work) > 0 {
		f, work = work[0], work[1:]
		s.declare(f)
		for _, in := range f.Instrs {
			s.insts = append(s.insts, inst{f, in})
			if in.Op == "call" {
				if g := s.callee(in); g != nil && !s.within[g] {
					s.within[g] = true
					work = append(work, g)
				}
			}
		}
	}
}

// declare gives the registers and .param variables of f their nodes. A variable whose address
// is taken is part of local memory.
func (s *solver) declare(f *parse.Func) {
	for _, in := range f.Instrs {
		if in.Op == "mov" || in.Op == "cvta" {
			for i := range in.Args {
				if v := in.Args[i].Var; in.Args[i].Kind == parse.KSym && v.Space == parse.Param &&
					(slices.Contains(f.Vars, v) || slices.Contains(f.Params, v)) {
					if _, own := s.param[v]; !own {
						s.node[v] = localNode
					}
				}
			}
		}
	}
	give := func(v *parse.Var) {
		_, own := s.param[v]
		if _, done := s.node[v]; done || own {
			return
		}
		s.node[v] = s.add(v.Space == parse.Reg && v.Type.Bytes() < s.pointer)
	}
	for _, list := range [][]*parse.Var{f.Regs, f.Params, f.Results} {
		for _, v := range list {
			give(v)
		}
	}
	for _, v := range f.Vars {
		if v.Space == parse.Param {
			give(v)
		}
	}
}

// listen has instruction i looked at whenever something it reads changes.
func (s *solver) listen(i int32, x inst) {
	_, reads := analyze.Access(x.in, nil, nil)
	for _, v := range reads {
		s.wake(s.node[v], i)
	}
	for k := range x.in.Args {
		s.variables(&x.in.Args[k], i)
	}
	if x.in.Op == "call" {
		if g := s.callee(x.in); g != nil {
			for _, v := range g.Results {
				s.wake(s.node[v], i)
			}
		}
		return
	}
	s.accesses(x.in, func(a access) {
		if a.reads {
			if a.space == parse.Shared || a.space == generic {
				s.wake(sharedNode, i)
			}
			if a.space == parse.Local || a.space == parse.Param || a.space == generic {
				s.wake(localNode, i)
			}
		}
	})
}

func (s *solver) wake(node int, i int32) {
	if u := s.users[node]; len(u) == 0 || u[len(u)-1] != i {
		s.users[node] = append(u, i)
	}
}

// variables has instruction i looked at when a .param variable in o changes.
func (s *solver) variables(o *parse.Operand, i int32) {
	if o.Kind == parse.KSym {
		if n, ok := s.node[o.Var]; ok {
			s.wake(n, i)
		}
	}
	for k := range o.List {
		s.variables(&o.List[k], i)
	}
}

func (s *solver) push(i int32) {
	if !s.queued[i] {
		s.queued[i] = true
		s.queue = append(s.queue, i)
	}
}

// solve looks at instructions until nothing changes.
func (s *solver) solve() {
	for head := 0; head < len(s.queue); head++ {
		i := s.queue[head]
		s.queued[i] = false
		s.looks++
		s.instruction(s.insts[i])
		if head > len(s.insts) { // what is done is not kept
			s.queue = append(s.queue[:0], s.queue[head+1:]...)
			head = -1
		}
	}
}

// flow adds origins to a node.
func (s *solver) flow(node int, o origins) {
	to, changed := s.held[node], false
	add := func(to, from []uint64) {
		for w := range from {
			if from[w]&^to[w] != 0 {
				to[w] |= from[w]
				changed = true
			}
		}
	}
	add(to.part, o.part)
	if s.narrow[node] {
		add(to.part, o.base)
	} else {
		add(to.base, o.base)
	}
	if changed {
		for _, i := range s.users[node] {
			s.push(i)
		}
	}
}

func join(to *origins, o origins) {
	for w := range o.base {
		to.base[w] |= o.base[w]
		to.part[w] |= o.part[w]
	}
}

// demote makes an address a number: the rest of it is no address by itself.
func demote(o origins) {
	for w := range o.base {
		o.part[w] |= o.base[w]
		o.base[w] = 0
	}
}

// promote makes pieces a whole: they may have been put together to an address.
func promote(o origins) {
	for w := range o.base {
		o.base[w] |= o.part[w]
	}
}
