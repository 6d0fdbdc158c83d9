package emulate

import "github.com/heddle-sim/heddle/ptx/parse"

// Operations on the two values that one register holds: arithmetic on .f32x2, comparisons of
// .f16x2 and .bf16x2.

// pairOfFloats decodes add, sub, mul and fma on two f32 in a 64-bit register.
func (d arithmetic) pairOfFloats(opcode string) {
	mode, rounded := d.mode()
	n := map[string]int{"add": 2, "sub": 2, "mul": 2, "fma": 3}[opcode]
	if n == 0 {
		d.unsupported("")
	}
	if opcode == "fma" && !rounded {
		d.fail("fma.f32x2 has no rounding mode: add .rn, .rz, .rm or .rp")
	}
	f, _ := floatTable(opcode, false)
	if mode != rn {
		f = soft32(opcode, mode)
	}
	d.count(n+1, n+1)
	d.o.shape, d.o.fx, d.o.f32 = shX, floatPairs, f
	if d.take("ftz") {
		d.o.flags |= fFtzIn
	}
	d.o.d, d.o.a, d.o.b = d.dst(parse.B64), d.src(1, parse.B64), d.src(2, parse.B64)
	if n == 3 {
		d.o.c = d.src(3, parse.B64)
	}
}

// floatPairs executes o.f32 on the lower and on the upper halves of 64-bit rows.
func floatPairs(c *cta, wp *warp, o *op, mask uint32) error {
	a, b, k := c.row64(wp, o.a), c.row64(wp, o.b), c.row64(wp, o.c)
	c.w1 = v64{}
	for shift := 0; shift < 64; shift += 32 {
		for i := range c.t1 {
			c.t1[i], c.t2[i], c.t3[i] = uint32(a[i]>>shift), uint32(b[i]>>shift), uint32(k[i]>>shift)
		}
		if o.flags&fFtzIn != 0 {
			flush32(&c.t1, &c.t1)
			flush32(&c.t2, &c.t2)
			flush32(&c.t3, &c.t3)
		}
		o.f32(&c.t4, &c.t1, &c.t2, &c.t3)
		if o.flags&fFtzIn != 0 {
			flush32(&c.t4, &c.t4)
		}
		for i := range c.w1 {
			c.w1[i] |= uint64(c.t4[i]) << shift
		}
	}
	blend64(&wp.r64[o.d], &c.w1, mask)
	return nil
}

// setpPair decodes setp of pairs: the comparison of the lower halves goes to the first predicate,
// that of the upper halves to the second.
func (d logic) setpPair(t parse.Type) {
	o := d.arg(0)
	if o.Kind != parse.KPair {
		d.fail("setp.%s writes two predicates, one for each half: write p|q", t)
	}
	d.compareOp(t)
	d.o.shape, d.o.fx = shX, setPredPair
	d.o.d, d.o.e = d.predDst(&o.List[0]), d.predDst(&o.List[1])
}

// setPair decodes set of pairs: d[i] is 1.0 or 0.0 where the result is a pair of floats, else all ones or zero.
func (d logic) setPair(t parse.Type) {
	to := d.typ[0]
	truth := uint32(0xffff)
	if to == t {
		truth = uint32(one(formatOf(halfOf(t))))
	} else if to != parse.U32 && to != parse.S32 {
		d.unsupported("type ." + to.String())
	}
	d.compareOp(t)
	d.o.shape, d.o.fx, d.o.d, d.o.e = shX, setRowPair, d.dst(to), int32(truth)
}

// halfOf is the type of one value of a pair.
func halfOf(pair parse.Type) parse.Type {
	switch pair {
	case parse.F16x2:
		return parse.F16
	case parse.BF16x2:
		return parse.BF16
	}
	return pair
}

// one is 1.0.
func one(f *format) uint64 { return uint64(f.emax) << (f.p - 1) }

// compareHalves compares the lower and the upper halves of two rows and combines each with predicate o.c.
func compareHalves(c *cta, wp *warp, o *op) (lower, upper uint32) {
	a, b := c.row32(wp, o.a), c.row32(wp, o.b)
	for i := range c.t1 {
		c.t1[i], c.t2[i] = a[i]&0xffff, b[i]&0xffff
		c.t3[i], c.t4[i] = a[i]>>16, b[i]>>16
	}
	k := combining(wp, o)
	return combine(o.n, o.cmp32(&c.t1, &c.t2), k), combine(o.n, o.cmp32(&c.t3, &c.t4), k)
}

func setPredPair(c *cta, wp *warp, o *op, mask uint32) error {
	lower, upper := compareHalves(c, wp, o)
	if o.d >= 0 {
		wp.p[o.d] = wp.p[o.d]&^mask | lower&mask
	}
	if o.e >= 0 {
		wp.p[o.e] = wp.p[o.e]&^mask | upper&mask
	}
	return nil
}

func setRowPair(c *cta, wp *warp, o *op, mask uint32) error {
	lower, upper := compareHalves(c, wp, o)
	for i := range c.t1 {
		c.t1[i] = uint32(o.e) * (lower>>i&1 | upper>>i&1<<16)
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
	return nil
}

// combining is the predicate that set and setp combine a comparison with.
func combining(wp *warp, o *op) uint32 {
	if o.flags&fNotC != 0 {
		return ^pred(wp, o.c)
	}
	return pred(wp, o.c)
}

// combine is the BoolOp of set and setp.
func combine(n uint8, m, k uint32) uint32 {
	switch n {
	case combineAnd:
		return m & k
	case combineOr:
		return m | k
	case combineXor:
		return m ^ k
	}
	return m
}
