package emulate

import (
	"heddle/isa"
	"heddle/ptx/analyze"
	"heddle/ptx/parse"
)

// instruction decodes d.in, instruction i of the function, into d.o and d.ins.
//
//heddle:table
func (d *decoder) instruction(i int, g *analyze.Graph) {
	in := d.in
	d.mods = append(d.mods[:0], in.Mods...)
	d.types()
	t := parse.NoType
	if len(d.typ) > 0 {
		t = d.typ[0]
	}
	d.ins.Unit, d.ins.Timing = classify(in.Op, t)
	if in.Has("cc") || in.Op == "addc" || in.Op == "subc" || in.Op == "madc" {
		d.carryOp()
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
			d.half(in.Op, d.oneType())
		case t == parse.U16x2 || t == parse.S16x2:
			d.packed(in.Op, d.oneType())
		case t.Float():
			d.float(in.Op, d.oneType())
		default:
			d.integer(in.Op)
		}
	case "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "bfind", "brev", "clz", "popc",
		"dp4a", "dp2a", "bmsk", "szext":
		d.bits(in.Op, t)
	case "setp":
		d.setp()
	case "set":
		d.set()
	case "selp":
		d.selp(t)
	case "slct":
		d.slct()
	case "testp":
		d.testp(t)
	case "mov":
		d.mov(t)
	case "cvt":
		d.cvt()
	case "cvta":
		d.cvta(t)
	case "isspacep":
		d.isspacep()
	case "ld", "ldu", "st":
		d.access(in.Op, t)
	case "atom", "red":
		d.atomic(in.Op, t)
	case "membar", "fence":
		d.fence()
	case "prefetch", "prefetchu", "discard", "applypriority":
		d.hint()
	case "nanosleep", "pmevent":
		d.count(1, 1)
		d.mods = d.mods[:0]
		d.o.shape = shNop
	case "bra", "brx":
		d.branch(i, g)
	case "ret", "exit", "trap", "brkpt":
		d.leave()
	case "call":
		d.callSite()
	case "bar", "barrier":
		d.barrierOp()
	case "mma":
		d.mma()
	case "ldmatrix":
		d.ldmatrix(t)
	case "cp":
		d.async()
	case "fns":
		d.count(4, 4)
		d.rows32(tri32(fns), parse.B32, 3)
	case "shfl", "vote", "match", "activemask", "redux", "elect":
		d.warpOp(t)
	default:
		d.unsupported("")
	}
	if len(d.mods) > 0 {
		d.unsupported("modifier ." + d.mods[0])
	}
}

// rows32 fills d.o for an op on 32-bit rows with n sources of type t.
func (d *decoder) rows32(f fn32, t parse.Type, n int) {
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

func (d *decoder) rows64(f fn64, t parse.Type, n int) {
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
func (d *decoder) sixteen(t parse.Type) {
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
func (d *decoder) integer(opcode string) {
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

// packed decodes add, min and max on pairs of 16-bit integers.
func (d *decoder) packed(opcode string, t parse.Type) {
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
func (d *decoder) saturating(key string, t parse.Type) bool {
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

func (d *decoder) mul24(key string, t parse.Type) {
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
func (d *decoder) hi16(key string, t parse.Type) {
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
func (d *decoder) wide(key string, t parse.Type) {
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

// float decodes f32 and f64 arithmetic.
func (d *decoder) float(opcode string, t parse.Type) {
	approx := d.oneOf("approx", "full")
	mode, rounded := d.mode()
	ftz, sat := d.take("ftz"), d.take("sat")
	nanny := d.take("NaN")
	if opcode == "mad" { // mad on floats is fma
		opcode = "fma"
	}
	if t == parse.F64 {
		d.double(opcode, t, mode, rounded, approx, ftz)
		if sat || nanny {
			d.unsupported("")
		}
		return
	}
	if t != parse.F32 {
		d.unsupported("type ." + t.String())
	}
	if ftz {
		d.o.flags |= fFtzIn | fFtzOut
	}
	if sat {
		d.o.flags |= fSat
	}
	if ftz || sat {
		d.o.shape = shA32m
	}
	if opcode == "fma" && !rounded {
		d.unsupported("fma needs a rounding mode")
	}
	if mode != rn {
		f := soft32(opcode, mode)
		if f == nil {
			d.unsupported("rounding mode")
		}
		n := map[string]int{"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}[opcode]
		d.rows32(f, t, n)
		return
	}
	f, n := floatTable(opcode, nanny)
	if f == nil {
		d.unsupported("")
	}
	f = fast32(opcode+".f", f)
	d.rows32(f, t, n)
}

//heddle:table
func floatTable(opcode string, nan bool) (fn32, int) {
	switch opcode {
	case "add":
		return addF32, 2
	case "sub":
		return subF32, 2
	case "mul":
		return mulF32, 2
	case "fma":
		return fmaF32, 3
	case "div":
		return divF32, 2
	case "rcp":
		return rcpF32, 1
	case "sqrt":
		return sqrtF32, 1
	case "rsqrt":
		return rsqrtF32, 1
	case "ex2":
		return special32(ex2), 1
	case "lg2":
		return special32(lg2), 1
	case "sin":
		return special32(sinF32), 1
	case "cos":
		return special32(cosF32), 1
	case "tanh":
		return tanhF32, 1
	case "neg":
		return negF32, 1
	case "abs":
		return absF32, 1
	case "copysign":
		return bin32(copysign32), 2
	case "min":
		if nan {
			return bin32(minNaN32), 2
		}
		return minF32, 2
	case "max":
		if nan {
			return bin32(maxNaN32), 2
		}
		return maxF32, 2
	}
	return nil, 0
}

func (d *decoder) double(opcode string, t parse.Type, mode rounding, rounded bool, approx string, ftz bool) {
	if opcode == "rcp" || opcode == "rsqrt" {
		if approx != "" {
			f := rcpD
			if opcode == "rsqrt" {
				f = rsqrtD
			}
			if opcode == "rcp" || ftz {
				f2 := high20(f)
				d.rows64(un64(f2), t, 1)
			} else {
				d.rows64(un64(plain64(f)), t, 1)
			}
			return
		}
	}
	if approx != "" || ftz {
		d.unsupported("")
	}
	if mode != rn {
		f := soft64(opcode, mode)
		if f == nil {
			d.unsupported("rounding mode")
		}
		d.rows64(f, t, map[string]int{"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}[opcode])
		return
	}
	var f fn64
	n := 2
	switch opcode {
	case "add":
		f = addF64
	case "sub":
		f = subF64
	case "mul":
		f = mulF64
	case "div":
		f = divF64
	case "fma":
		f, n = fmaF64, 3
		if !rounded {
			d.unsupported("fma needs a rounding mode")
		}
	case "rcp":
		f, n = rcpF64, 1
	case "sqrt":
		f, n = sqrtF64, 1
	case "min":
		f = bin64(minF64)
	case "max":
		f = bin64(maxF64)
	case "neg":
		f, n = un64(negF64), 1
	case "abs":
		f, n = un64(absF64), 1
	case "copysign":
		f = bin64(copysign64)
	default:
		d.unsupported("")
	}
	d.rows64(fast64(opcode+".f", f), t, n)
}

// bits decodes logic, shifts and bit-field operations.
//
//heddle:table
func (d *decoder) bits(opcode string, t parse.Type) {
	if t == parse.Pred {
		d.predOp(opcode)
		return
	}
	w := t.Bytes()
	if w < 2 || t.Float() {
		d.unsupported("type ." + t.String())
	}
	signed := t.Signed()
	switch opcode {
	case "and", "or", "xor", "not", "cnot":
		d.oneType()
		type pair struct {
			f32 fn32
			f64 fn64
			n   int
		}
		x := map[string]pair{"and": {and32, and64, 2}, "or": {or32, or64, 2}, "xor": {xor32, xor64, 2},
			"not": {not32, not64, 1}, "cnot": {un32(cnot32), un64(cnot64), 1}}[opcode]
		if w == 8 {
			d.rows64(fast64(opcode, x.f64), t, x.n)
			return
		}
		if w == 2 {
			d.sixteen(parse.B16)
		}
		d.rows32(fast32(opcode, x.f32), t, x.n)
	case "shl", "shr":
		d.oneType()
		d.shift(opcode, t)
	case "shf":
		d.oneType()
		f := map[string]func(a, b, c uint32) uint32{"l.wrap": shfLWrap, "r.wrap": shfRWrap, "l.clamp": shfLClamp, "r.clamp": shfRClamp}
		key := d.oneOf("l", "r") + "." + d.oneOf("wrap", "clamp")
		if f[key] == nil || w != 4 {
			d.unsupported("")
		}
		d.rows32(tri32(f[key]), t, 3)
	case "lop3":
		d.count(5, 5)
		o := d.arg(4)
		if o.Kind != parse.KInt || w != 4 {
			d.unsupported("the truth table must be a literal")
		}
		d.o.shape, d.o.f32 = shA32, lop3(uint32(o.Bits))
		d.o.d, d.o.a, d.o.b, d.o.c = d.dst(t), d.src(1, t), d.src(2, t), d.src(3, t)
	case "prmt":
		d.rows32(tri32(prmt(d.oneOf("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))), t, 3)
	case "bfe":
		d.bfe(t, signed)
	case "bfi":
		d.count(5, 5)
		d.o.shape, d.o.fx = shX, bfi32
		if w == 8 {
			d.o.fx = bfi64
		}
		d.o.d, d.o.a, d.o.b = d.dst(t), d.src(1, t), d.src(2, t)
		d.o.c, d.o.e = d.src32(d.arg(3), parse.B32), d.src32(d.arg(4), parse.B32)
	case "brev":
		if w == 8 {
			d.rows64(un64(reverse64), t, 1)
		} else {
			d.rows32(un32(reverse32), t, 1)
		}
	case "clz", "popc", "bfind":
		d.countBits(opcode, t)
	case "dp4a", "dp2a":
		d.dotProduct(opcode)
	case "szext", "bmsk":
		d.maskOps(opcode, t)
	default:
		d.unsupported("")
	}
}

func (d *decoder) shift(opcode string, t parse.Type) {
	d.count(3, 3)
	amount := d.arg(2)
	if t.Bytes() == 8 {
		d.o.shape = shShift
		d.o.d, d.o.a, d.o.b = d.dst(t), d.src(1, t), d.src32(amount, parse.U32)
		switch {
		case opcode == "shl":
			d.o.fs = shl64
		case t.Signed():
			d.o.fs = shrS64
		default:
			d.o.fs = shrU64
		}
		d.o.fs = fastShift(fastName(opcode, t.Signed()), d.o.fs)
		return
	}
	d.o.shape = shA32
	switch {
	case opcode == "shl":
		d.o.f32 = shl32
	case t.Signed():
		d.o.f32 = shrS32
	default:
		d.o.f32 = shrU32
	}
	d.o.f32 = fast32(fastName(opcode, t.Signed()), d.o.f32)
	d.o.d, d.o.a, d.o.b = d.dst(t), d.src(1, t), d.src32(amount, parse.U32)
	if t.Bytes() == 2 {
		d.o.shape = shX
		d.o.fx = shift16
		switch {
		case opcode == "shl":
			d.o.n = 0
		case t.Signed():
			d.o.n = 2
		default:
			d.o.n = 1
		}
	}
}

// shift16 executes 16-bit shifts; the amount is 32 bits wide and stays as it is.
func shift16(c *cta, wp *warp, o *op, mask uint32) error {
	a, b := c.row32(wp, o.a), c.row32(wp, o.b)
	for i := range c.t1 {
		switch o.n {
		case 0:
			c.t1[i] = a[i] << b[i] & 0xffff
		case 1:
			c.t1[i] = a[i] >> b[i]
		default:
			c.t1[i] = uint32(int32(int16(a[i]))>>b[i]) & 0xffff
		}
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
	return nil
}

func (d *decoder) bfe(t parse.Type, signed bool) {
	d.count(4, 4)
	d.o.d, d.o.a = d.dst(t), d.src(1, t)
	d.o.b, d.o.c = d.src32(d.arg(2), parse.B32), d.src32(d.arg(3), parse.B32)
	if t.Bytes() == 8 {
		d.o.shape, d.o.fs = shShift, bfeRowU64
		if signed {
			d.o.fs = bfeRowS64
		}
		return
	}
	d.o.shape = shA32
	d.o.f32 = tri32(func(a, b, c uint32) uint32 { return uint32(bfeU64(uint64(a), b, c, 32)) })
	if signed {
		d.o.f32 = tri32(func(a, b, c uint32) uint32 { return uint32(bfeS64(uint64(a), b, c, 32)) })
	}
}

// countBits decodes clz, popc and bfind, whose result has 32 bits.
func (d *decoder) countBits(opcode string, t parse.Type) {
	d.count(2, 2)
	shift := d.take("shiftamt")
	key := opcode
	if t.Signed() {
		key += ".s"
	}
	f32 := map[string]func(uint32) uint32{"clz": clz32, "popc": popc32, "bfind": bfindU32, "bfind.s": bfindS32}[key]
	f64 := map[string]func(uint64) uint64{"clz": clz64, "popc": popc64, "bfind": bfindU64, "bfind.s": bfindS64}[key]
	if f32 == nil {
		d.unsupported("")
	}
	d.o.d, d.o.a = d.dst(parse.U32), d.src(1, t)
	if t.Bytes() == 8 {
		f := f64
		if shift {
			f = func(v uint64) uint64 {
				if p := f64(v); uint32(p) != ^uint32(0) {
					return 63 - p
				}
				return ^uint64(0)
			}
		}
		d.o.shape, d.o.fn, d.o.b = shNarrow, narrow1(f), ^0
		return
	}
	f := f32
	if shift {
		f = func(v uint32) uint32 {
			if p := f32(v); p != ^uint32(0) {
				return 31 - p
			}
			return ^uint32(0)
		}
	}
	d.o.shape, d.o.f32 = shA32, un32(f)
}

func (d *decoder) dotProduct(opcode string) {
	if len(d.typ) != 2 {
		d.unsupported("two types are needed")
	}
	sa, sb := d.typ[0].Signed(), d.typ[1].Signed()
	if opcode == "dp4a" {
		d.rows32(tri32(dp4a(sa, sb)), parse.B32, 3)
		return
	}
	half := d.oneOf("lo", "hi")
	if half == "" {
		d.unsupported(".lo or .hi is needed")
	}
	d.rows32(tri32(dp2a(sa, sb, half == "hi")), parse.B32, 3)
}

// maskOps decodes szext and bmsk.
func (d *decoder) maskOps(opcode string, t parse.Type) {
	wrap := d.oneOf("wrap", "clamp")
	if wrap == "" || t.Bytes() != 4 {
		d.unsupported("")
	}
	limit := func(n uint32) uint32 {
		if wrap == "wrap" {
			return n & 31
		}
		return min(n, 32)
	}
	if opcode == "bmsk" {
		d.rows32(bin32(func(a, b uint32) uint32 { return (uint32(1)<<limit(b) - 1) << limit(a) }), t, 2)
		return
	}
	signed := t.Signed()
	d.rows32(bin32(func(a, b uint32) uint32 {
		n := limit(b)
		if n == 0 {
			return 0
		}
		return uint32(field(a, int(n), signed))
	}), t, 2)
}

// predOp decodes and, or, xor, not and mov on predicates.
func (d *decoder) predOp(opcode string) {
	n := map[string]uint8{"mov": predMov, "not": predNot, "and": predAnd, "or": predOr, "xor": predXor}
	k, ok := n[opcode]
	if !ok {
		d.unsupported("type .pred")
	}
	two := k >= predAnd
	if two {
		d.count(3, 3)
	} else {
		d.count(2, 2)
	}
	d.o.shape, d.o.n = shPred, k
	d.o.d = d.predDst(d.arg(0))
	if d.o.d < 0 {
		d.fail("the destination is not a predicate")
	}
	var neg bool
	d.o.a, neg = d.predOf(d.arg(1))
	if two && !neg {
		d.o.b, neg = d.predOf(d.arg(2))
	}
	if neg {
		d.unsupported("negated predicate operand")
	}
	d.ins.Unit, d.ins.Timing = isa.INT, isa.TimeOther
}
