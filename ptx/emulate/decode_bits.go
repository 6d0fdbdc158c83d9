package emulate

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// logic decodes instructions on bits and predicates: bit fields, comparisons, selections.
type logic struct{ *instr }

// bits decodes logic, shifts and bit-field operations.
//
//heddle:table
func (d logic) bits(opcode string, t parse.Type) {
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
		x := map[string]pair{
			"and": {and32, and64, 2}, "or": {or32, or64, 2}, "xor": {xor32, xor64, 2},
			"not": {not32, not64, 1}, "cnot": {un32(cnot32), un64(cnot64), 1},
		}[opcode]
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
		f := map[string]func(a, b, c uint32) uint32{
			"l.wrap": shfLWrap, "r.wrap": shfRWrap, "l.clamp": shfLClamp,
			"r.clamp": shfRClamp,
		}
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

func (d logic) shift(opcode string, t parse.Type) {
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

func (d logic) bfe(t parse.Type, signed bool) {
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
func (d logic) countBits(opcode string, t parse.Type) {
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

func (d logic) dotProduct(opcode string) {
	if len(d.typ) != 2 {
		d.unsupported("two types are needed")
	}
	for _, t := range d.typ {
		if t != parse.U32 && t != parse.S32 {
			d.unsupported("type ." + t.String())
		}
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
func (d logic) maskOps(opcode string, t parse.Type) {
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
func (d logic) predOp(opcode string) {
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
