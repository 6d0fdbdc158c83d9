package emulate

import (
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// instruction decodes d.in, instruction i of the function, into d.o and d.ins.
//
//heddle:table
func (d *decoder) instruction(i int, g *analyze.Graph) {
	in, x := d.in, &d.instr
	d.mods = append(d.mods[:0], in.Mods...)
	d.types()
	t := parse.NoType
	if len(d.typ) > 0 {
		t = d.typ[0]
	}
	d.ins.Unit, d.ins.Timing = classify(in.Op, t)
	d.ins.Timing = refine(in, d.typ, d.ins.Timing)
	for i := range in.Args {
		if a := &in.Args[i]; a.Kind == parse.KReg && a.Off != 0 && in.Op != "mov" {
			d.fail("%s plus a constant is an operand of mov, or an address in brackets: add it before", a.Var.Name)
		} else if a.Sel != "" && !isVideo(in.Op) {
			d.fail("%s.%s selects a part of a register, which video instructions do: extract it before", a.Var.Name,
				a.Sel)
		}
	}
	if in.Op == "lop3" && len(in.Args) == 6 {
		d.unsupported("one operand more than other forms have")
	}
	if isCarry(in) {
		arithmetic{x}.carryOp()
		if len(d.mods) > 0 {
			d.unsupported("modifier ." + d.mods[0])
		}
		return
	}
	switch in.Op {
	case "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "abs", "neg", "mul24", "mad24", "sad",
		"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "copysign":
		switch {
		case t == parse.F16 || t == parse.BF16 || t == parse.F16x2 || t == parse.BF16x2:
			arithmetic{x}.half(in.Op, d.oneType())
		case t == parse.F32x2:
			arithmetic{x}.pairOfFloats(in.Op)
		case t == parse.U16x2 || t == parse.S16x2:
			arithmetic{x}.packed(in.Op, d.oneType())
		case t.Float():
			arithmetic{x}.float(in.Op, d.oneType())
		default:
			arithmetic{x}.integer(in.Op)
		}
	case "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "bfind", "brev", "clz",
		"popc",
		"dp4a", "dp2a", "bmsk", "szext":
		logic{x}.bits(in.Op, t)
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vadd2", "vsub2", "vavrg2",
		"vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4":
		video{x}.decode()
	case "setp":
		logic{x}.setp()
	case "set":
		logic{x}.set()
	case "selp":
		logic{x}.selp(t)
	case "slct":
		logic{x}.slct()
	case "testp":
		logic{x}.testp(t)
	case "mov":
		moves{x}.mov(t)
	case "cvt":
		arithmetic{x}.cvt()
	case "cvta":
		moves{x}.cvta(t)
	case "isspacep":
		moves{x}.isspacep()
	case "ld", "ldu", "st":
		accesses{x}.access(in.Op, t)
	case "atom", "red":
		accesses{x}.atomic(in.Op, t)
	case "alloca", "stacksave", "stackrestore":
		moves{x}.stack()
	case "createpolicy":
		accesses{x}.createPolicy()
	case "membar", "fence":
		accesses{x}.fence()
	case "prefetch", "prefetchu", "discard", "applypriority":
		accesses{x}.hint()
	case "nanosleep":
		flow{x}.sleep()
	case "pmevent":
		d.count(1, 1)
		d.mods = d.mods[:0]
		d.o.shape = shNop
	case "bra", "brx":
		flow{x}.branch(i, g)
	case "ret", "exit", "trap", "brkpt":
		flow{x}.leave()
	case "call":
		flow{x}.callSite()
	case "bar", "barrier":
		flow{x}.barrierOp()
	case "mma":
		matrices{accesses{x}}.mma()
	case "tex", "tld4":
		textures{accesses{x}}.fetch()
	case "suld", "sust":
		textures{accesses{x}}.surface()
	case "txq", "suq":
		textures{accesses{x}}.ask()
	case "istypep":
		isType(textures{accesses{x}})
	case "wmma":
		fragments{accesses{x}}.wmma()
	case "ldmatrix":
		matrices{accesses{x}}.ldmatrix(t)
	case "cp":
		copies{accesses{x}}.async()
	case "fns":
		d.count(4, 4)
		d.rows32(tri32(fns), parse.B32, 3)
	case "shfl", "vote", "match", "activemask", "redux", "elect":
		flow{x}.warpOp(t)
	default:
		d.unsupported("")
	}
	if len(d.mods) > 0 {
		d.unsupported("modifier ." + d.mods[0])
	}
}

// arithmetic decodes instructions that compute numbers.
type arithmetic struct{ *instr }

// rows32 fills d.o for an op on 32-bit rows with n sources of type t.
func (d *instr) rows32(f fn32, t parse.Type, n int) {
	d.count(n+1, n+1)
	d.o.f32 = f
	if d.o.shape == shNop {
		d.o.shape = shA32
	}
	d.o.d = d.dst(t)
	if n > 0 {
		d.o.a = d.src(1, t)
	}
	if n > 1 {
		d.o.b = d.src(2, t)
	}
	if n > 2 {
		d.o.c = d.src(3, t)
	}
}

func (d *instr) rows64(f fn64, t parse.Type, n int) {
	d.count(n+1, n+1)
	d.o.f64 = f
	d.o.shape = shA64
	d.o.d = d.dst(t)
	if n > 0 {
		d.o.a = d.src(1, t)
	}
	if n > 1 {
		d.o.b = d.src(2, t)
	}
	if n > 2 {
		d.o.c = d.src(3, t)
	}
}

// sixteen adapts a 32-bit row function to 16-bit operands.
func (d *instr) sixteen(t parse.Type) {
	d.o.shape = shA32m
	d.o.flags |= fTrunc16
	if t.Signed() {
		d.o.flags |= fSext16
	}
}

// intTable maps an integer form to its rows. A 16-bit form uses the 32-bit function.
//
//heddle:table
func intTable(key string, signed bool) (f32 fn32, f64 fn64, n int) {
	pick32 := func(u, s fn32) fn32 {
		if signed {
			return s
		}
		return u
	}
	pick64 := func(u, s fn64) fn64 {
		if signed {
			return s
		}
		return u
	}
	switch key {
	case "add":
		return add32, add64, 2
	case "sub":
		return sub32, sub64, 2
	case "mul.lo":
		return mulLo32, mulLo64, 2
	case "mul.hi":
		return pick32(mulHiU32, mulHiS32), pick64(bin64(mulHiU64), bin64(mulHiS64)), 2
	case "mad.lo":
		return madLo32, madLo64, 3
	case "mad.hi":
		return pick32(madHiU32, madHiS32), pick64(tri64(madHiU64), tri64(madHiS64)), 3
	case "sad":
		return pick32(sadU32, sadS32), pick64(tri64(sadU64), tri64(sadS64)), 3
	case "div":
		return pick32(bin32(divU32), bin32(divS32)), pick64(bin64(divU64), bin64(divS64)), 2
	case "rem":
		return pick32(bin32(remU32), bin32(remS32)), pick64(bin64(remU64), bin64(remS64)), 2
	case "min":
		return pick32(minU32, minS32), pick64(bin64(minU64), bin64(minS64)), 2
	case "max":
		return pick32(maxU32, maxS32), pick64(bin64(maxU64), bin64(maxS64)), 2
	case "abs":
		return abs32, un64(abs64), 1
	case "neg":
		return neg32, neg64, 1
	}
	return nil, nil, 0
}

// integer decodes integer arithmetic.
func (d arithmetic) integer(opcode string) {
	t := d.oneType()
	if t < parse.U8 || t > parse.S64 || t.Bytes() == 1 {
		d.unsupported("type ." + t.String())
	}
	part := d.oneOf("lo", "hi", "wide")
	key := opcode
	if part != "" {
		key += "." + part
	}
	signed := t.Signed()
	if t.Bytes() == 4 && d.saturating(key, t) {
		return
	}
	if (key == "min" || key == "max") && t == parse.S32 && d.take("relu") {
		d.clamped(key)
		return
	}
	switch key {
	case "mul.wide", "mad.wide":
		d.wide(key, t)
		return
	case "mul24.lo", "mul24.hi", "mad24.lo", "mad24.hi":
		d.mul24(key, t)
		return
	case "mul.hi", "mad.hi":
		if t.Bytes() == 2 {
			d.hi16(key, t)
			return
		}
	}
	f32, f64, n := intTable(key, signed)
	if t.Bytes() >= 4 {
		f32, f64 = fast32(fastName(key, signed), f32), fast64(key, f64)
	}
	switch {
	case f32 == nil:
		d.unsupported("")
	case t.Bytes() == 8:
		d.rows64(f64, t, n)
	default:
		if t.Bytes() == 2 {
			d.sixteen(t)
		}
		d.rows32(f32, t, n)
	}
}

// clamped decodes min.relu.s32 and max.relu.s32: what is below zero becomes zero.
func (d arithmetic) clamped(key string) {
	d.rows32(bin32(func(a, b uint32) uint32 {
		v := min(int32(a), int32(b))
		if key == "max" {
			v = max(int32(a), int32(b))
		}
		return uint32(max(v, 0))
	}), parse.S32, 2)
}

// packed decodes add, min and max on pairs of 16-bit integers.
func (d arithmetic) packed(opcode string, t parse.Type) {
	signed := t == parse.S16x2
	f := func(a, b uint32) uint32 { return a + b }
	switch {
	case opcode == "add":
	case opcode == "min" && signed:
		f = func(a, b uint32) uint32 { return uint32(min(int16(a), int16(b))) }
	case opcode == "min":
		f = func(a, b uint32) uint32 { return min(a, b) }
	case opcode == "max" && signed:
		f = func(a, b uint32) uint32 { return uint32(max(int16(a), int16(b))) }
	case opcode == "max":
		f = func(a, b uint32) uint32 { return max(a, b) }
	default:
		d.unsupported("type ." + t.String())
	}
	d.rows32(bin32(func(a, b uint32) uint32 {
		return f(a&0xffff, b&0xffff)&0xffff | f(a>>16, b>>16)<<16
	}), t, 2)
}

// fastName is the key of fast32: min and max depend on the sign.
func fastName(key string, signed bool) string {
	switch {
	case key != "min" && key != "max" && key != "shr":
		return key
	case signed:
		return key + ".s"
	}
	return key + ".u"
}

// saturating decodes add.sat.s32, sub.sat.s32 and mad.hi.sat.s32.
func (d arithmetic) saturating(key string, t parse.Type) bool {
	if t != parse.S32 || !d.take("sat") {
		return false
	}
	switch key {
	case "add":
		d.rows32(bin32(addSatS32), t, 2)
	case "sub":
		d.rows32(bin32(subSatS32), t, 2)
	case "mad.hi":
		d.rows32(tri32(madHiSatS32), t, 3)
	default:
		d.unsupported(".sat")
	}
	return true
}

func (d arithmetic) mul24(key string, t parse.Type) {
	if t.Bytes() != 4 {
		d.unsupported("")
	}
	f := map[string]func(a, b uint32) uint32{"lo.u": mul24LoU, "lo.s": mul24LoS, "hi.u": mul24HiU, "hi.s": mul24HiS}
	s := ".u"
	if t.Signed() {
		s = ".s"
	}
	mul := f[key[6:]+s]
	if key[:3] == "mul" {
		d.rows32(bin32(mul), t, 2)
		return
	}
	d.rows32(tri32(func(a, b, c uint32) uint32 { return mul(a, b) + c }), t, 3)
}

// hi16 is the upper half of a 16-bit product.
func (d arithmetic) hi16(key string, t parse.Type) {
	mul := func(a, b uint32) uint32 { return a * b >> 16 }
	if t.Signed() {
		mul = func(a, b uint32) uint32 { return uint32(int32(a) * int32(b) >> 16) }
	}
	d.sixteen(t)
	if key == "mul.hi" {
		d.rows32(bin32(mul), t, 2)
		return
	}
	d.rows32(tri32(func(a, b, c uint32) uint32 { return mul(a, b) + c }), t, 3)
}

// wide decodes mul.wide and mad.wide: the result has twice the width.
func (d arithmetic) wide(key string, t parse.Type) {
	n := 3
	if key == "mad.wide" {
		n = 4
	}
	d.count(n, n)
	if t.Bytes() == 2 { // 16 x 16 -> 32 bits
		to := parse.U32
		d.o.shape, d.o.f32 = shA32m, mulLo32
		if t.Signed() {
			to = parse.S32
			d.o.flags |= fSext16
		}
		d.o.d, d.o.a, d.o.b = d.dst(to), d.src(1, t), d.src(2, t)
		if n == 4 { // the addend has 32 bits and must not be extended
			d.o.shape, d.o.fx = shX, madWide16
			if t.Signed() {
				d.o.n = 1
			}
			d.o.c = d.src(3, to)
		}
		return
	}
	if t.Bytes() != 4 {
		d.unsupported("")
	}
	d.o.shape = shWide
	to := parse.U64
	d.o.fw = mulWideU
	if t.Signed() {
		to, d.o.fw = parse.S64, mulWideS
	}
	d.o.d, d.o.a, d.o.b = d.dst(to), d.src(1, t), d.src(2, t)
	if n == 4 {
		d.o.c = d.src(3, to)
		d.o.fw = madWideU
		if t.Signed() {
			d.o.fw = madWideS
		}
	}
	d.o.fw = fastWide(key[:3]+map[bool]string{false: ".u", true: ".s"}[t.Signed()], d.o.fw)
}

// madWide16 executes mad.wide.u16 and mad.wide.s16 (o.n is 1).
func madWide16(c *cta, wp *warp, o *op, mask uint32) error {
	a, b, k := c.row32(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c)
	for i := range c.t1 {
		if o.n == 1 {
			c.t1[i] = uint32(int32(int16(a[i]))*int32(int16(b[i]))) + k[i]
		} else {
			c.t1[i] = a[i]*b[i] + k[i]
		}
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
	return nil
}
