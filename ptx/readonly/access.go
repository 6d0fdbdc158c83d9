package readonly

import (
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// generic is the space of an access that names none.
const generic parse.Space = 255

// access is one address of an instruction.
type access struct {
	address       *parse.Operand
	space         parse.Space
	reads, writes bool
}

// spaceOf is the space that the modifiers of in name first.
func spaceOf(in *parse.Instr) parse.Space {
	for _, m := range in.Mods {
		m, _, _ = strings.Cut(m, "::")
		switch m {
		case "global":
			return parse.Global
		case "shared":
			return parse.Shared
		case "local":
			return parse.Local
		case "const":
			return parse.Const
		case "param":
			return parse.Param
		}
	}
	return generic
}

// accesses calls do for each address that in reads or writes. An instruction that is not known
// here and has addresses both reads and writes all of them.
func (s *solver) accesses(in *parse.Instr, do func(access)) {
	at := func(i int, space parse.Space, reads, writes bool) {
		if i < len(in.Args) {
			do(access{&in.Args[i], space, reads, writes})
		}
	}
	space := spaceOf(in)
	switch in.Op {
	case "ld", "ldu", "ldmatrix":
		at(1, space, true, false)
	case "tex", "tld4", "suld": // through a handle, which is the base
		at(1, parse.Global, true, false)
	case "st", "stmatrix":
		at(0, space, false, true)
	case "sust":
		at(0, parse.Global, false, true)
	case "atom":
		at(1, space, true, true)
	case "red":
		at(0, space, true, true)
	case "wmma":
		switch {
		case in.Has("load"):
			at(1, space, true, false)
		case in.Has("store"):
			at(0, space, false, true)
		}
	case "prefetch", "prefetchu", "applypriority", "createpolicy", "txq", "suq", "istypep", "isspacep", "call":
		// move no data; calls are followed elsewhere
	case "cp":
		if len(in.Args) >= 2 && !in.Has("bulk") && !in.Has("mbarrier") {
			at(0, parse.Shared, false, true)
			at(1, parse.Global, true, false)
			return
		}
		anyAccess(in, do)
	default:
		anyAccess(in, do)
	}
}

func anyAccess(in *parse.Instr, do func(access)) {
	space := spaceOf(in)
	if in.Op == "cp" || in.Op == "multimem" { // they name several
		space = generic
	}
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == parse.KAddr || o.Kind == parse.KVec && in.Op == "cp" { // a tensor's
			do(access{o, space, true, true})
		}
	}
}

// bases are the origins an access lies in by the base of its address. Where nothing is known to
// be an address, what pieces of addresses it was made of counts; and where there are none
// either, it is unknown.
func (s *solver) bases(a access) []uint64 {
	o := s.operand(a.address)
	switch a.space {
	case parse.Shared, parse.Local, parse.Const, parse.Param:
		return s.empty().base // no memory of a parameter
	}
	if none(o.base) {
		copy(o.base, o.part)
	}
	if none(o.base) {
		set(o.base, s.unknownBit())
	}
	return o.base
}

func none(s []uint64) bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// operand are the origins of what an operand stands for; of an address, those of the address.
func (s *solver) operand(o *parse.Operand) origins {
	r := s.empty()
	s.collect(o, &r)
	return r
}

func (s *solver) collect(o *parse.Operand, r *origins) {
	switch o.Kind {
	case parse.KReg:
		join(r, s.held[s.node[o.Var]])
	case parse.KSym:
		s.symbol(o.Var, r)
	case parse.KSpecial:
		if strings.HasPrefix(o.Name, "envreg") { // a workspace of the launch
			set(r.base, s.moduleBit())
		}
	case parse.KAddr:
		if len(o.List) > 0 {
			s.collect(&o.List[0], r)
		}
	case parse.KVec, parse.KList, parse.KPair:
		for i := range o.List {
			s.collect(&o.List[i], r)
		}
	}
	if o.Index != nil {
		x := s.empty()
		join(&x, s.held[s.node[o.Index]])
		demote(x)
		join(r, x)
	}
}

// symbol adds the origins of the address of a variable.
func (s *solver) symbol(v *parse.Var, r *origins) {
	i, own := s.param[v]
	switch {
	case own:
		set(r.base, len(s.kernel.Params)+i)
	case v.Space == parse.Shared:
		set(r.base, s.sharedBit())
	case v.Space == parse.Local || v.Space == parse.Param:
		set(r.base, s.localBit())
	default:
		set(r.base, s.moduleBit())
	}
}

// variable is the .param variable that an address names, if it names one.
func variable(o *parse.Operand) *parse.Var {
	if o.Kind == parse.KAddr && len(o.List) > 0 {
		o = &o.List[0]
	}
	if o.Kind == parse.KSym && o.Var.Space == parse.Param {
		return o.Var
	}
	return nil
}

// stored are the origins of the values that a load of a number of bytes (per register) finds.
func (s *solver) stored(a access, bytes int) origins {
	r := s.empty()
	switch a.space {
	case parse.Shared:
		join(&r, s.held[sharedNode])
	case parse.Local:
		join(&r, s.held[localNode])
	case parse.Param:
		s.storedParam(a, bytes, &r)
	case generic:
		from := s.bases(a)
		if has(from, s.sharedBit()) {
			join(&r, s.held[sharedNode])
		}
		if has(from, s.localBit()) {
			join(&r, s.held[localNode])
		}
		for i := range s.kernel.Params {
			if has(from, len(s.kernel.Params)+i) {
				s.value(i, bytes, &r)
			} else if has(from, i) {
				set(r.base, s.unknownBit())
			}
		}
		if has(from, s.unknownBit()) || has(from, s.moduleBit()) {
			set(r.base, s.unknownBit())
		}
	default:
		set(r.base, s.unknownBit())
	}
	return r
}

// storedParam is stored for .param memory.
func (s *solver) storedParam(a access, bytes int, r *origins) {
	if v := variable(a.address); v != nil {
		if i, own := s.param[v]; own {
			s.value(i, bytes, r)
		} else {
			join(r, s.held[s.node[v]])
		}
		return
	}
	from := s.operand(a.address)
	promote(from)
	known := false
	for i := range s.kernel.Params {
		if has(from.base, len(s.kernel.Params)+i) {
			s.value(i, bytes, r)
			known = true
		}
	}
	if has(from.base, s.localBit()) {
		join(r, s.held[localNode])
		known = true
	}
	if !known {
		set(r.base, s.unknownBit())
		for i := range s.kernel.Params {
			s.value(i, bytes, r)
		}
	}
}

// value adds the origin of the value of parameter i. A value of fewer bytes than an address is a number. If a program
// makes an address of two of them, that is unknown.
func (s *solver) value(i, bytes int, r *origins) {
	if bytes < s.pointer {
		set(r.part, s.unknownBit())
		return
	}
	set(r.base, i)
}

// store lets what an access writes flow into the memory it writes. What is written to global
// memory is not followed: what is loaded from there is unknown.
func (s *solver) store(a access, o origins, bytes int) {
	if bytes < s.pointer {
		promote(o) // a later load may put pieces together
	}
	switch a.space {
	case parse.Shared:
		s.flow(sharedNode, o)
	case parse.Local:
		s.flow(localNode, o)
	case parse.Param:
		if v := variable(a.address); v != nil {
			if n, ok := s.node[v]; ok {
				s.flow(n, o)
			}
			return
		}
		s.flow(localNode, o)
	case generic:
		to := s.bases(a)
		if has(to, s.sharedBit()) {
			s.flow(sharedNode, o)
		}
		if has(to, s.localBit()) {
			s.flow(localNode, o)
		}
	}
}
