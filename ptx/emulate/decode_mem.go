package emulate

import (
	"strings"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// accesses decodes instructions that read and write memory.
type accesses struct{ *instr }

// space consumes the state space of a memory instruction.
func (d accesses) space() isa.Space {
	switch d.oneOf("global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func") {
	case "global":
		return isa.Global
	case "shared", "shared::cta":
		return isa.Shared
	case "local":
		return isa.Local
	case "const":
		return isa.Const
	case "param", "param::entry", "param::func":
		return isa.Param
	}
	return isa.Generic
}

// cacheOp consumes cache operators, ordering, scope and eviction hints. Orderings
// and scopes need nothing more functionally: memory is sequentially consistent here.
func (d accesses) cacheOp() isa.Cache {
	c := isa.CacheAll
	switch d.oneOf("ca", "cg", "cs", "lu", "cv", "wb", "wt") {
	case "cg", "wt":
		c = isa.CacheGlobal
	case "cs", "lu":
		c = isa.CacheStream
	case "cv":
		c = isa.CacheVolatile
	}
	if d.take("nc") || d.take("ro") {
		c = isa.CacheReadOnly
	}
	mmio := d.take("mmio")
	if d.oneOf("volatile", "relaxed", "acquire", "release") != "" || mmio {
		c = isa.CacheVolatile
	}
	d.take("weak")
	d.oneOf("cta", "cluster", "gpu", "sys")
	d.hints()
	return c
}

// hints drops eviction and prefetch-size hints, which change only performance.
func (d accesses) hints() {
	keep := d.mods[:0]
	for _, m := range d.mods {
		level := strings.HasPrefix(m, "L1::") || strings.HasPrefix(m, "L2::")
		if !level {
			keep = append(keep, m)
		}
	}
	d.mods = keep
}

// policy checks the cache policy that .L2::cache_hint adds as last operand to n others, and
// takes it away: it has no effect on values, and the machine has no policies.
func (d accesses) policy(n int) {
	last := len(d.in.Args) - 1
	if !d.in.Has("L2::cache_hint") || last < n {
		return
	}
	d.src64(d.arg(last), parse.B64)
	short := *d.in
	short.Args = short.Args[:last]
	d.in = &short
}

// createPolicy decodes createpolicy: a value for accesses, without an effect.
func (d accesses) createPolicy() {
	d.mods = d.mods[:0]
	d.o.shape, d.o.f64, d.o.d, d.o.a = shA64, mov64, d.dst(parse.B64), d.constant64(0)
}

// location decodes an address operand into m.
func (d accesses) location(o *parse.Operand, m *memop) {
	element := o.Kind == parse.KSym && o.Var.Dims != nil // a[i] needs no brackets
	if o.Kind != parse.KAddr && !element {
		d.fail("operand is not an address: write it in brackets")
	}
	m.off = uint64(o.Off)
	m.slot = -1
	if m.space == isa.Global || m.space == isa.Const || m.space == isa.Generic {
		m.slot = int32(d.prog.slots)
		d.prog.slots++
	}
	if len(o.List) == 0 && !element {
		return
	}
	b := o
	if !element {
		b = &o.List[0]
	}
	switch b.Kind {
	case parse.KReg:
		d.registerBase(b, m)
	case parse.KSym:
		d.symbolBase(b, m)
		if o.Index != nil {
			m.baseIn, m.index, m.scale = baseIndexed, d.rows[o.Index.ID], int32(b.Var.Stride())
			m.long = o.Index.Type.Bytes() == 8
		}
	default:
		d.fail("the base of an address must be a register or a variable")
	}
}

func (d accesses) registerBase(b *parse.Operand, m *memop) {
	global := m.space == isa.Global || m.space == isa.Generic
	switch n := b.Var.Type.Bytes(); {
	case b.Var.Type == parse.Pred || b.Neg:
		d.fail("%s cannot hold an address", b.Var.Name)
	case n == 8:
		m.baseIn = base64
	case n == 4 && m.space == isa.Generic && d.m.short32():
		m.baseIn, d.short = baseShort, true
	case n == 4 && (!global || d.m.short32()):
		m.baseIn, d.short = base32, d.short || global
	default:
		d.fail("register %s is too narrow for an address: the module has 64-bit addresses", b.Var.Name)
	}
	m.base = d.rows[b.Var.ID]
}

func (d accesses) symbolBase(b *parse.Operand, m *memop) {
	v := b.Var
	if d.inFrame(v) {
		if m.space != isa.Local && m.space != isa.Param {
			d.fail("%s is %s: use the instruction of that space", v.Name, v.Space)
		}
		m.frame, m.args = true, v.Space == parse.Param
		if m.args != (m.space == isa.Param) {
			d.fail("%s is %s: use the instruction of that space", v.Name, v.Space)
		}
		m.off += uint64(d.frame[v])
		return
	}
	want := map[parse.Space]isa.Space{
		parse.Global: isa.Global, parse.Const: isa.Const, parse.Shared: isa.Shared,
		parse.Param: isa.Param, parse.Local: isa.Local,
	}[v.Space]
	if m.space != want && m.space != isa.Generic {
		d.fail("%s is %s: use the instruction of that space", v.Name, v.Space)
	}
	switch v.Space {
	case parse.Global, parse.Const:
		m.baseIn, m.base = base64, d.symbolRow(v, 0)
	case parse.Shared:
		m.off += uint64(d.shared[v])
		if m.space == isa.Generic {
			m.off += sharedWindow
		}
	case parse.Local: // of the module
		m.off += uint64(d.thread.at[v])
		if m.space == isa.Generic {
			m.off += localWindow
		}
	case parse.Param:
		off, ok := d.paramOffset(v)
		if !ok || m.space == isa.Generic {
			d.fail("parameter %s cannot be reached this way", v.Name)
		}
		m.off += uint64(off)
	}
}

// access decodes ld, ldu and st.
func (d accesses) access(opcode string, t parse.Type) {
	d.policy(2)
	d.count(2, 2)
	d.oneType()
	store := opcode == "st"
	m := &memop{space: d.space(), n: 1, elem: uint8(t.Bytes()), signed: t.Signed()}
	cache := d.cacheOp()
	d.take("unified")
	m.n = d.vectorLength()
	m.width = m.elem * m.n
	wide := m.width == 32 && m.elem >= 4 && m.space == isa.Global && t != parse.B128 // sm_100
	if m.elem == 0 || m.elem > 8 || m.width > 16 && !wide || m.n == 8 && !wide {
		d.unsupported("access of this width")
	}
	ad, data := 1, 0
	if store {
		ad, data = 0, 1
	}
	d.location(d.arg(ad), m)
	d.vector(d.arg(data), m, t, store)
	d.o.mem = m
	d.ins.Unit, d.ins.Timing, d.ins.Cache = isa.LDST, isa.TimeOther, cache
	d.ins.Space, d.ins.Width = m.space, m.width
	d.o.shape, d.ins.Kind = shLoad, isa.Load
	if store {
		d.o.shape, d.ins.Kind = shStore, isa.Store
	}
	if store && (m.space == isa.Const || m.space == isa.Param && d.f.Entry && !m.frame) {
		d.unsupported("store to read-only memory")
	}
	if m.space == isa.Param {
		d.paramAccess(m, store)
	}
}

// vectorLength consumes .v2, .v4 or .v8; a scalar has one element.
func (d accesses) vectorLength() uint8 {
	if v := d.oneOf("v2", "v4", "v8"); v != "" {
		return v[1] - '0'
	}
	return 1
}

// paramAccess settles .param accesses. A kernel's parameters are constants. The
// parameters of functions live in argument memory but are registers in
// compiled code, so they count as moves.
func (d accesses) paramAccess(m *memop, store bool) {
	if d.f.Entry && !m.frame {
		_, total := layoutParams(d.f)
		if m.baseIn == 0 && !store {
			if m.off+uint64(m.width) > uint64(total) {
				d.fail("read of %d bytes at parameter offset %d: the kernel has %d bytes of parameters", m.width, m.off,
					total)
			}
			d.o.shape = shLdParam
		}
		return
	}
	m.args = true
	d.ins.Kind, d.ins.Unit, d.ins.Space, d.ins.Width = isa.ALU, isa.INT, isa.NoSpace, 0
}

// vector decodes the register side of an access.
func (d accesses) vector(o *parse.Operand, m *memop, t parse.Type, store bool) {
	list := []parse.Operand{*o}
	if o.Kind == parse.KVec {
		list = o.List
	}
	if len(list) != int(m.n) {
		d.fail("%d registers for %d elements", len(list), m.n)
	}
	width := 0
	for i := range list {
		e := &list[i]
		switch {
		case e.Kind == parse.KReg && !e.Neg && e.Var.Type != parse.Pred:
			w := e.Var.Type.Bytes()
			if w < int(m.elem) {
				d.fail("register %s is narrower than .%s", e.Var.Name, t)
			}
			if width != 0 && w != width {
				d.fail("the registers of a vector must have one width")
			}
			width = w
			m.rows[i] = d.rows[e.Var.ID]
		case e.Kind == parse.KNone && (!store || d.in.Op == "st" && m.n > 1):
			m.skip |= 1 << i
		case store && e.Kind != parse.KReg && e.Kind != parse.KVec && e.Kind != parse.KNone:
		default:
			d.fail("operand is not a data register")
		}
	}
	if width == 0 {
		width = max(int(m.elem), 4)
	}
	m.wide, m.narrow = width == 8, width == 2
	for i := range list { // literals and addresses, now that the width is known
		if e := &list[i]; store && e.Kind != parse.KReg && e.Kind != parse.KNone {
			if m.wide {
				m.rows[i] = d.src64(e, t)
			} else {
				m.rows[i] = d.src32(e, t)
			}
		}
	}
}

// atomic decodes atom and red.
func (d accesses) atomic(opcode string, t parse.Type) {
	m := &memop{n: 1, result: opcode == "atom"}
	d.oneType()
	m.space = d.space()
	if m.space == isa.Local || m.space == isa.Const || m.space == isa.Param {
		d.unsupported("")
	}
	d.oneOf("relaxed", "acquire", "release", "acq_rel")
	d.oneOf("cta", "cluster", "gpu", "sys")
	d.take("noftz")
	name := d.oneOf("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
	op, ok := map[string]atomOp{
		"add": atAdd, "min": atMin, "max": atMax, "and": atAnd, "or": atOr, "xor": atXor,
		"exch": atExch, "cas": atCas, "inc": atInc, "dec": atDec,
	}[name]
	if !ok {
		d.unsupported("")
	}
	m.atom = op
	m.n = d.vectorLength()
	m.typ = d.atomType(op, t, m.n > 1)
	m.elem = uint8(t.Bytes())
	m.width, m.wide = m.elem*m.n, m.elem == 8
	first := 0
	if m.result {
		first = 1
	}
	n := first + 2
	if op == atCas {
		n++
	}
	d.hints()
	d.policy(n)
	d.count(n, n)
	d.location(d.arg(first), m)
	d.o.shape, d.o.mem = shAtom, m
	d.o.b, d.o.c = ^0, ^0
	d.ins.Kind = isa.Reduce
	if m.result {
		d.ins.Kind = isa.Atomic
	}
	d.ins.Change = change(op, t)
	if m.n > 1 {
		d.atomicVector(m, first, t)
	} else {
		d.o.b = d.src(first+1, t)
		if op == atCas {
			d.o.c = d.src(first+2, t)
		}
		if m.result && d.arg(0).Kind == parse.KNone {
			if m.result = false; op != atExch && op != atCas { // of which there are no reductions
				d.ins.Kind = isa.Reduce
			}
		} else if m.result {
			d.o.d = d.dst(t)
		}
	}
	d.ins.Unit, d.ins.Timing, d.ins.Space, d.ins.Width = isa.LDST, isa.TimeOther, m.space, m.width
}

func change(op atomOp, t parse.Type) isa.Change {
	switch {
	case op == atCas:
		return isa.Compare
	case op == atAdd && t.Float():
		return isa.Float
	}
	return isa.Whole
}

// atomicVector decodes the registers of an atomic on a vector of n elements in global memory.
func (d accesses) atomicVector(m *memop, first int, t parse.Type) {
	if m.space != isa.Global && m.space != isa.Generic || m.width > 16 {
		d.unsupported("a vector of this size or in this space")
	}
	side := memop{n: m.n, elem: m.elem}
	d.vector(d.arg(first+1), &side, t, true)
	m.rows = side.rows
	if !m.result {
		return
	}
	side = memop{n: m.n, elem: m.elem}
	d.vector(d.arg(0), &side, t, false)
	for i, row := range side.rows[:m.n] {
		if side.skip>>i&1 != 0 {
			row = -1
		}
		m.out = append(m.out, row)
	}
}

// atomType checks that the operation exists for the type, alone or in a vector.
func (d accesses) atomType(op atomOp, t parse.Type, vector bool) atomType {
	ok, kind := false, atU32
	if vector {
		half := t == parse.F16 || t == parse.BF16 || t == parse.F16x2 || t == parse.BF16x2
		if t == parse.F32 && op != atAdd || t != parse.F32 && !half || half && op > atMax {
			d.unsupported("type ." + t.String())
		}
	}
	switch t {
	case parse.U32, parse.B32:
		ok = op != atInc && op != atDec || t == parse.U32
	case parse.S32:
		kind, ok = atS32, op == atAdd || op == atMin || op == atMax
	case parse.F32:
		kind, ok = atF32, op == atAdd || op == atExch
	case parse.U64, parse.B64:
		kind, ok = atU64, op != atInc && op != atDec
	case parse.S64:
		kind, ok = atS64, op == atAdd || op == atMin || op == atMax
	case parse.F64:
		kind, ok = atF64, op == atAdd || op == atExch
	case parse.B16:
		kind, ok = atB16, op == atCas || op == atExch
	case parse.F16:
		kind, ok = atF16, op == atAdd || vector
	case parse.BF16:
		kind, ok = atBF16, op == atAdd || vector
	case parse.F16x2:
		kind, ok = atF16x2, op == atAdd || vector
	case parse.BF16x2:
		kind, ok = atBF16x2, op == atAdd || vector
	}
	if !ok {
		d.unsupported("type ." + t.String())
	}
	return kind
}

// fence decodes membar and fence. Memory is sequentially consistent functionally;
// the machine makes the warp wait.
func (d accesses) fence() {
	d.count(0, 0)
	d.oneOf("sc", "acq_rel", "acquire", "release")
	switch d.oneOf("gl", "cta", "sys", "gpu", "cluster") {
	case "":
		d.unsupported("")
	case "cta":
		d.ins.Scope = isa.CTAScope
	case "sys":
		d.ins.Scope = isa.SystemScope
	default:
		d.ins.Scope = isa.GPUScope
	}
	d.o.shape = shNop
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Fence, isa.LDST, isa.TimeOther
}

// hint decodes prefetches and their kin, which have no effect on values; they take an
// issue slot and are otherwise ignored by the machine.
func (d accesses) hint() {
	d.space()
	d.oneOf("L1", "L2")
	d.hints()
	d.mods = d.mods[:0]
	d.o.shape = shNop
}
