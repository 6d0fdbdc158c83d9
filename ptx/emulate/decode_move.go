package emulate

import (
	"strings"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// comparison builds the row comparison of a CmpOp for type t. 16-bit signed types
// are compared after sign extension.
func (d logic) comparison(op string, t parse.Type) (fnCmp32, fnCmp64) {
	float := t.Float()
	if !float { // integer comparisons have no unordered forms
		switch op {
		case "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan":
			d.fail("comparison .%s is for floats: integers take eq, ne, lt, le, gt, ge, lo, ls, hi or hs", op)
		case "ne":
			op = "neu"
		}
	}
	switch {
	case t == parse.F64:
		f := compare[float64](op)
		return nil, func(a, b *v64) uint32 { return f(db(a), db(b)) }
	case t == parse.F32:
		f := compare[float32](op)
		return fastCompare("f", op, func(a, b *v32) uint32 { return f(fl(a), fl(b)) }), nil
	case t == parse.F16 || t == parse.BF16 || t == parse.F16x2 || t == parse.BF16x2:
		return halfCompare(op, halfOp{f: formatOf(halfOf(t)), ftz: d.take("ftz")}), nil
	case float:
		d.unsupported("type ." + t.String())
	case t.Bytes() == 8 && t.Signed():
		f := compare[int64](op)
		return nil, func(a, b *v64) uint32 { return f(sl(a), sl(b)) }
	case t.Bytes() == 8:
		return nil, fnCmp64(compare[uint64](op))
	case t.Signed():
		f := compare[int32](op)
		return fastCompare("s", op, func(a, b *v32) uint32 { return f(si(a), si(b)) }), nil
	}
	return fastCompare("u", op, fnCmp32(compare[uint32](op))), nil
}

// compareOp consumes CmpOp and BoolOp and fills in sources 1 and 2 of d.o.
func (d logic) compareOp(t parse.Type) {
	op := d.oneOf("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
		"num", "nan")
	if op == "" || t.Bytes() < 2 {
		d.unsupported("")
	}
	switch d.oneOf("and", "or", "xor") {
	case "and":
		d.o.n = combineAnd
	case "or":
		d.o.n = combineOr
	case "xor":
		d.o.n = combineXor
	}
	if t == parse.F32 && (d.take("ftz") || d.m.flushes()) {
		d.o.flags |= fFtzIn
	}
	if t.Bytes() == 2 && t.Signed() {
		d.o.flags |= fSext16
	}
	d.o.cmp32, d.o.cmp64 = d.comparison(op, t)
	d.o.a, d.o.b = d.src(1, t), d.src(2, t)
	d.o.c = falsePred
	if d.o.n != combineNone {
		d.count(4, 4)
		var neg bool
		if d.o.c, neg = d.predOf(d.arg(3)); neg {
			d.o.flags |= fNotC
		}
	} else {
		d.count(3, 3)
	}
}

func (d logic) setp() {
	t := d.oneType()
	if halfOf(t) != t {
		d.setpPair(t)
		return
	}
	d.compareOp(t)
	switch {
	case d.o.cmp64 != nil:
		d.o.shape = shCmp64
	case d.o.flags&(fFtzIn|fSext16) != 0:
		d.o.shape = shCmp32m
	default:
		d.o.shape = shCmp32
	}
	d.o.e = noPred
	if o := d.arg(0); o.Kind == parse.KPair {
		d.o.d, d.o.e = d.predDst(&o.List[0]), d.predDst(&o.List[1])
	} else {
		d.o.d = d.predDst(o)
	}
}

func (d logic) set() {
	if len(d.typ) != 2 {
		d.unsupported("two types are needed")
	}
	to, t := d.typ[0], d.typ[1]
	if halfOf(t) != t {
		d.setPair(t)
		return
	}
	d.o.e = -1
	switch to {
	case parse.F32, parse.F16, parse.BF16:
		d.o.e = int32(one(formatOf(to)))
	case parse.U16, parse.S16:
		d.o.e = 0xffff
	case parse.U32, parse.S32:
	default:
		d.unsupported("type ." + to.String())
	}
	d.compareOp(t)
	d.o.shape, d.o.d = shSet, d.dst(to)
}

func (d logic) selp(t parse.Type) {
	d.oneType()
	d.count(4, 4)
	d.o.shape = shSel32
	if t.Bytes() == 8 {
		d.o.shape = shSel64
	} else if t.Bytes() < 2 {
		d.unsupported("")
	}
	d.o.d, d.o.a, d.o.b = d.dst(t), d.src(1, t), d.src(2, t)
	var neg bool
	if d.o.c, neg = d.predOf(d.arg(3)); neg {
		d.o.flags |= fNotC
	}
}

// slct picks a when c >= 0.
func (d logic) slct() {
	if len(d.typ) != 2 || d.typ[1].Bytes() != 4 || d.typ[0].Bytes() < 4 {
		d.unsupported("")
	}
	ftz := d.take("ftz") || d.m.flushes()
	float := d.typ[1] == parse.F32
	nonneg := func(v uint32) bool {
		if float {
			if ftz && v&0x7f800000 == 0 {
				v &= 1 << 31
			}
			return v <= 0x7f800000 || v == 1<<31 // NaN picks b
		}
		return int32(v) >= 0
	}
	t := d.typ[0]
	if t.Bytes() == 4 {
		d.count(4, 4)
		d.o.shape, d.o.f32 = shA32, tri32(func(a, b, c uint32) uint32 {
			if nonneg(c) {
				return a
			}
			return b
		})
		d.o.d = d.dst(t)
		d.o.a, d.o.b, d.o.c = d.src(1, t), d.src(2, t), d.src(3, d.typ[1])
		return
	}
	d.count(4, 4)
	d.o.shape = shX
	d.o.d, d.o.a, d.o.b, d.o.c = d.dst(t), d.src(1, t), d.src(2, t), d.src(3, d.typ[1])
	d.o.fx = func(c *cta, wp *warp, o *op, mask uint32) error {
		a, b, k := c.row64(wp, o.a), c.row64(wp, o.b), c.row32(wp, o.c)
		for i := range c.w1 {
			c.w1[i] = b[i]
			if nonneg(k[i]) {
				c.w1[i] = a[i]
			}
		}
		blend64(&wp.r64[o.d], &c.w1, mask)
		return nil
	}
}

func (d logic) testp(t parse.Type) {
	d.count(2, 2)
	what := d.oneOf("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	f := formatOf(t)
	if what == "" || t != parse.F32 && t != parse.F64 {
		d.unsupported("")
	}
	test := func(v uint64) uint32 {
		s := f.unpack(v)
		e := v >> (f.p - 1) & (1<<(f.width-f.p) - 1)
		switch what {
		case "finite":
			return bit(s.class == zero || s.class == finite)
		case "infinite":
			return bit(s.class == inf)
		case "number":
			return bit(s.class != nan)
		case "notanumber":
			return bit(s.class == nan)
		case "normal":
			return bit(s.class == finite && e != 0)
		}
		return bit(s.class == finite && e == 0)
	}
	d.o.d, d.o.e, d.o.c = d.predDst(d.arg(0)), noPred, falsePred
	d.o.a = d.src(1, t)
	d.o.b = d.o.a
	if t == parse.F64 {
		d.o.shape = shCmp64
		d.o.cmp64 = func(a, _ *v64) (m uint32) {
			for i := range a {
				m |= test(a[i]) << i
			}
			return m
		}
		return
	}
	d.o.shape = shCmp32
	d.o.cmp32 = func(a, _ *v32) (m uint32) {
		for i := range a {
			m |= test(uint64(a[i])) << i
		}
		return m
	}
}

// moves decodes instructions that copy values and make addresses of them.
type moves struct{ *instr }

func (d moves) mov(t parse.Type) {
	d.oneType()
	d.count(2, 2)
	dst, src := d.arg(0), d.arg(1)
	switch {
	case t == parse.Pred:
		logic(d).predOp("mov")
	case t.Bytes() > 8:
		d.unsupported("")
	case dst.Kind == parse.KVec:
		d.unpackVector(t)
	case src.Kind == parse.KVec:
		d.packVector(t)
	case src.Kind == parse.KSpecial && specialOf(src.Name) == spNone:
		d.clock(src.Name, t)
	case src.Kind == parse.KSym && d.inFrame(src.Var):
		d.o.shape, d.o.fx = shX, frameAddress
		d.frameOperand(src)
		d.o.n = uint8(t.Bits())
		if t.Bytes() < 4 {
			d.fail("an address needs 32 or 64 bits")
		}
		d.o.d = d.dst(t)
	case src.Kind == parse.KReg && src.Off != 0 && t.Bytes() >= 4 && !t.Float():
		d.plusConstant(src, t)
	case t.Bytes() == 8:
		d.rows64(mov64, t, 1)
	case t.Bytes() == 2 && src.Kind == parse.KSpecial: // old code reads %tid into 16 bits
		d.o.shape, d.o.f32 = shA32, cvt32U16
		d.o.d, d.o.a = d.dst(t), d.specialRow(src.Name)
	case t.Bytes() == 2 || t.Bytes() == 4:
		d.rows32(mov32, t, 1)
	default:
		d.unsupported("")
	}
}

// plusConstant decodes mov of a register plus a constant.
func (d moves) plusConstant(src *parse.Operand, t parse.Type) {
	base := parse.Operand{Kind: parse.KReg, Var: src.Var, Neg: src.Neg}
	d.o.d = d.dst(t)
	if t.Bytes() == 8 {
		d.o.shape, d.o.f64, d.o.a, d.o.b = shA64, fast64("add", add64), d.src64(&base, t), d.constant64(uint64(src.Off))
		return
	}
	d.o.shape, d.o.f32, d.o.a, d.o.b = shA32, fast32("add", add32), d.src32(&base, t), d.constant32(uint32(src.Off))
}

// inFrame reports variables whose address depends on the activation.
func (d *instr) inFrame(v *parse.Var) bool { _, ok := d.frame[v]; return ok }

// frameOperand fills in the variable of frameAddress.
func (d *instr) frameOperand(o *parse.Operand) {
	d.o.a, d.o.b = d.frame[o.Var]+int32(o.Off), 0
	if o.Var.Space == parse.Param {
		d.o.b = 1
	}
}

// clock decodes reads of the clocks.
func (d moves) clock(name string, t parse.Type) {
	d.ins.Kind = isa.Clock
	if strings.HasPrefix(name, "globaltimer") {
		d.o.n = clockNanos
	}
	switch name {
	case "clock", "globaltimer_lo":
		d.o.shape = shClock32
		d.o.d = d.dst(parse.U32)
	case "clock_hi", "globaltimer_hi":
		d.o.shape, d.o.n = shClock32, d.o.n|clockHigh
		d.o.d = d.dst(parse.U32)
	case "clock64", "globaltimer":
		d.o.shape = shClock64
		d.o.d = d.dst(parse.U64)
	default:
		d.unsupported("%" + name)
	}
	if d.o.shape == shClock64 != (t.Bytes() == 8) {
		d.fail("%%%s has another width than .%s", name, t)
	}
}

// packVector decodes mov.b64 d, {lo, hi} and its kin.
func (d moves) packVector(t parse.Type) {
	list := d.arg(1).List
	m := &memop{n: uint8(len(list)), elem: uint8(t.Bytes() / max(len(list), 1))}
	if len(list) != 2 && len(list) != 4 || m.elem < 2 {
		d.unsupported("vector of this size")
	}
	for i := range list {
		m.rows[i] = d.src32(&list[i], bitType(int(m.elem)))
	}
	d.o.shape, d.o.mem, d.o.fx = shX, m, pack
	d.o.d, m.wide = d.dst(t), t.Bytes() == 8
}

func (d moves) unpackVector(t parse.Type) {
	list := d.arg(0).List
	m := &memop{n: uint8(len(list)), elem: uint8(t.Bytes() / max(len(list), 1))}
	if len(list) != 2 && len(list) != 4 || m.elem < 2 {
		d.unsupported("vector of this size")
	}
	for i, o := range list {
		switch o.Kind {
		case parse.KNone:
			m.skip |= 1 << i
		case parse.KReg:
			d.size(o.Var, int(m.elem))
			m.rows[i] = d.rows[o.Var.ID]
		default:
			d.fail("the destination is not a register")
		}
	}
	d.o.shape, d.o.mem, d.o.fx = shX, m, unpack
	m.wide = t.Bytes() == 8
	if m.wide {
		d.o.a = d.src64(d.arg(1), t)
	} else {
		d.o.a = d.src32(d.arg(1), t)
	}
}

func bitType(bytes int) parse.Type {
	return map[int]parse.Type{1: parse.B8, 2: parse.B16, 4: parse.B32, 8: parse.B64}[bytes]
}

// pack executes mov of a vector into a scalar.
func pack(c *cta, wp *warp, o *op, mask uint32) error {
	m := o.mem
	c.w1 = v64{}
	for e := range int(m.n) {
		a := c.row32(wp, m.rows[e])
		for i := range c.w1 {
			c.w1[i] |= uint64(a[i]) << (8 * e * int(m.elem))
		}
	}
	if m.wide {
		blend64(&wp.r64[o.d], &c.w1, mask)
		return nil
	}
	for i := range c.t1 {
		c.t1[i] = uint32(c.w1[i])
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
	return nil
}

// unpack executes mov of a scalar into a vector.
func unpack(c *cta, wp *warp, o *op, mask uint32) error {
	m := o.mem
	if m.wide {
		c.w1 = *c.row64(wp, o.a)
	} else {
		a := c.row32(wp, o.a)
		for i := range c.w1 {
			c.w1[i] = uint64(a[i])
		}
	}
	keep := uint64(1)<<(8*m.elem) - 1
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		for i := range c.t1 {
			c.t1[i] = uint32(c.w1[i] >> (8 * e * int(m.elem)) & keep)
		}
		blend32(&wp.r32[m.rows[e]], &c.t1, mask)
	}
	return nil
}

// cvtaTable gives the window of a space.
func (d moves) cvta(t parse.Type) {
	d.count(2, 2)
	to := d.take("to")
	space := d.oneOf("global", "shared", "local", "const", "param", "shared::cta")
	short := t.Bytes() == 4 && d.m.short32()
	if space == "" || t.Bytes() != 8 && !short || len(d.typ) != 1 {
		d.unsupported("addresses are 64 bits wide in this module")
	}
	base := uint64(0)
	switch space {
	case "shared", "shared::cta":
		base = sharedWindow
	case "local":
		base = localWindow
	case "param":
		base = paramWindow
	}
	d.o.shape = shA64
	d.o.d = d.dst(t)
	if src := d.arg(1); src.Kind == parse.KSym && d.inFrame(src.Var) {
		if to {
			d.unsupported("")
		}
		if d.o.shape, d.o.fx, d.o.n = shX, frameAddress, 1; short {
			d.o.n = 2
		}
		d.frameOperand(src)
		return
	}
	d.o.a = d.src(1, t)
	switch {
	case short:
		add := fold(base, 0)
		if to {
			add = -add
		}
		d.o.shape, d.o.f32, d.o.b = shA32, fast32("add", add32), d.constant32(add)
	case base == 0:
		d.o.f64 = mov64
	case to:
		d.o.f64, d.o.b = and64, d.constant64(1<<46-1)
	default:
		d.o.f64, d.o.b = fast64("add", add64), d.constant64(base)
	}
}

func (d moves) isspacep() {
	d.count(2, 2)
	s := d.oneOf("global", "shared", "local", "const", "param", "shared::cta")
	space, ok := map[string]isa.Space{
		"global": isa.Global, "shared": isa.Shared, "shared::cta": isa.Shared,
		"local": isa.Local, "const": isa.Const, "param": isa.Param,
	}[s]
	if !ok {
		d.unsupported("")
	}
	d.o.shape, d.o.fx, d.o.b = shX, isSpace, int32(space)
	d.o.d = d.predDst(d.arg(0))
	if src := d.arg(1); src.Kind == parse.KReg && src.Var.Type.Bytes() == 4 && d.m.short32() {
		d.o.n, d.o.a = 32, d.src32(src, parse.B32)
	} else {
		d.o.a = d.src64(src, parse.B64)
	}
}
