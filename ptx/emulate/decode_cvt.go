package emulate

import "github.com/heddle-sim/heddle/ptx/parse"

func (d arithmetic) cvt() {
	switch {
	case d.take("pack"):
		d.pack()
	case d.in.Has("rs"):
		stochastic(d).decode()
	case !d.floats8():
		d.oneValue()
	}
}

// oneValue decodes cvt from and to a number that fills a register, or of two f32 to a pair.
func (d arithmetic) oneValue() {
	d.count(2, 3)
	if len(d.typ) != 2 {
		d.unsupported("two types are needed")
	}
	c := conversion{dst: d.typ[0], src: d.typ[1]}
	if len(d.in.Args) == 3 {
		d.packHalves(c)
		return
	}
	var rounded bool
	switch r := d.oneOf("rni", "rzi", "rmi", "rpi", "rna"); r {
	case "rni":
		c.mode, c.integral = rn, true
	case "rzi":
		c.mode, c.integral = rz, true
	case "rmi":
		c.mode, c.integral = rm, true
	case "rpi":
		c.mode, c.integral = rp, true
	case "rna":
		c.mode, rounded = ra, true
	default:
		c.mode, rounded = d.mode()
	}
	c.ftz, c.sat = d.take("ftz"), d.take("sat")
	c.ftz = c.ftz || d.m.flushes() && c.dst.Bytes() < 8
	if c.dst == parse.TF32 && c.src == parse.F32 && c.mode == ra && !c.ftz && !c.sat {
		d.rows32(un32(toTF32), parse.B32, 1)
		return
	}
	relu, finite := d.take("relu"), d.take("satfinite")
	if relu || finite || c.dst == parse.TF32 {
		d.saturated(c, relu, finite)
		return
	}
	df, sf := formatOf(c.dst), formatOf(c.src)
	known := func(t parse.Type, f *format) bool { return f != nil || t >= parse.U8 && t <= parse.S64 }
	if c.mode == ra || !known(c.dst, df) || !known(c.src, sf) {
		d.unsupported("")
	}
	switch {
	case df == nil && sf != nil && !c.integral:
		d.fail("a float becomes an integer by .rni, .rzi, .rmi or .rpi: add one")
	case df != nil && sf == nil && !rounded, df != nil && sf != nil && df.p < sf.p && !rounded && !c.integral:
		d.fail("the conversion has no rounding mode: add .rn, .rz, .rm or .rp")
	case c.integral && df != nil && (sf == nil || df != sf && df.p < sf.p):
		d.unsupported("")
	}
	d.convert(c)
}

// stochastic is cvt with rounding by random bits.
type stochastic struct{ *instr }

// decode decodes cvt.rs of two f32 to a pair: random bits are added below the last place of the magnitude, and the
// bits below it are cut off. The upper value takes its bits from bit 16 of the fourth operand on, the lower from bit
// 0: 13 for f16, 16 for bf16, as many as the fraction loses. The ISA draws this and does not define the result for
// values below the normal range of f16, where more bits are lost: here the same 13 are added.
func (d stochastic) decode() {
	if len(d.typ) != 2 || d.typ[1] != parse.F32 || d.typ[0] != parse.F16x2 && d.typ[0] != parse.BF16x2 {
		d.unsupported("")
	}
	d.count(4, 4)
	d.take("rs")
	h := halfOp{f: formatOf(halfOf(d.typ[0])), mode: rz, relu: d.take("relu")}
	finite := d.take("satfinite")
	lost := fmt32.p - h.f.p
	one := func(v, random uint32) uint32 {
		if v&0x7f800000 == 0x7f800000 { // infinite, or no number
			return h.narrowed(v, finite)
		}
		v += random & (1<<lost - 1)
		if int(v>>23&0xff)-127 > h.f.emax { // beyond the largest number
			v = v&(1<<31) | 0x7f800000
		}
		return h.narrowed(v, finite)
	}
	d.o.shape = shA32
	d.o.f32 = tri32(func(a, b, random uint32) uint32 { return one(a, random>>16)<<16 | one(b, random) })
	d.o.d, d.o.a, d.o.b, d.o.c = d.dst(d.typ[0]), d.src(1, parse.F32), d.src(2, parse.F32), d.src(3, parse.B32)
}

// convert picks the shape of a conversion by the widths of the registers, which may
// be wider than the types.
func (d arithmetic) convert(c conversion) {
	do, so := d.arg(0), d.arg(1)
	if do.Kind != parse.KReg || do.Var.Type == parse.Pred {
		d.fail("the destination is not a register")
	}
	db := do.Var.Type.Bytes()
	if db < c.dst.Bytes() || db > 8 {
		d.fail("register %s is narrower than .%s", do.Var.Name, c.dst)
	}
	d.o.d = d.rows[do.Var.ID]
	sb := c.src.Bytes()
	if so.Kind == parse.KReg {
		if so.Var.Type == parse.Pred || so.Neg {
			d.fail("the source is not a data register")
		}
		if sb = so.Var.Type.Bytes(); sb < c.src.Bytes() {
			d.fail("register %s is narrower than .%s", so.Var.Name, c.src)
		}
	}
	st := c.src
	if so.Kind == parse.KReg {
		st = bitType(sb)
	} else if so.Kind == parse.KSpecial {
		sb, st = 4, parse.B32
	}
	f := c.lane()
	if f2 := f; db < 4 { // 16-bit registers hold values zero-extended
		f = func(v uint64) uint64 { return f2(v) & (1<<(8*db) - 1) }
	}
	switch {
	case sb == 8 && db == 8:
		d.o.shape, d.o.a, d.o.f64 = shA64, d.src64(so, st), un64(f)
	case sb == 8:
		d.o.shape, d.o.a, d.o.fn = shNarrow, d.src64(so, st), narrow1(f)
	case db == 8:
		d.o.shape, d.o.a, d.o.fw = shWide, d.src32(so, st), wide1(f)
	default:
		d.o.shape, d.o.a = shA32, d.src32(so, st)
		d.o.f32 = un32(func(v uint32) uint32 { return uint32(f(uint64(v))) })
	}
	if !c.sat && !c.ftz {
		d.fastConvert(c, sb, db)
	}
}

// fastConvert replaces the general loop for the conversions compilers emit most.
//
//heddle:table
func (d arithmetic) fastConvert(c conversion, sb, db int) {
	type pair struct{ dst, src parse.Type }
	p := pair{c.dst, c.src}
	switch {
	case sb == 4 && db == 4 && c.mode == rn && !c.integral && p == pair{parse.F32, parse.U32}:
		d.o.f32 = cvtU32F32
	case sb == 4 && db == 4 && c.mode == rn && !c.integral && p == pair{parse.F32, parse.S32}:
		d.o.f32 = fast32("cvt.f32.s32", cvtS32F32)
	case sb == 4 && db == 4 && c.mode == rz && p == pair{parse.S32, parse.F32}:
		d.o.f32 = cvtF32S32
	case sb == 4 && db == 8 && !c.integral && p == pair{parse.F64, parse.F32}:
		d.o.fw = cvtF32F64
	case sb == 8 && db == 4 && c.mode == rn && !c.integral && p == pair{parse.F32, parse.F64}:
		d.o.fn = cvtF64F32
	case sb == 4 && db == 8 && p == pair{parse.F64, parse.S32}:
		d.o.fw = cvtS32F64
	case sb == 4 && db == 8 && p == pair{parse.F64, parse.U32}:
		d.o.fw = cvtU32F64
	case formatOf(c.dst) != nil || formatOf(c.src) != nil:
	case sb == 4 && db == 8 && c.src == parse.U32:
		d.o.fw = fastWide("cvt.u64.u32", cvtU32U64)
	case sb == 4 && db == 8 && p == pair{parse.S64, parse.S32}:
		d.o.fw = fastWide("cvt.s64.s32", cvtS32S64)
	case sb == 8 && db == 4 && c.dst.Bytes() == 4 && c.src.Bytes() >= 4:
		d.o.fn = fastNarrow("cvt.u32.u64", cvt64U32)
	case sb <= 4 && db == 4 && c.src == parse.U8 && c.dst.Bytes() == 4:
		d.o.f32 = cvt32U8
	case sb <= 4 && db == 4 && c.src == parse.U16 && c.dst.Bytes() == 4:
		d.o.f32 = cvt32U16
	case sb <= 4 && db == 4 && c.src == parse.S8 && c.dst.Bytes() == 4:
		d.o.f32 = cvt32S8
	case sb <= 4 && db == 4 && c.src == parse.S16 && c.dst.Bytes() == 4:
		d.o.f32 = cvt32S16
	}
}
