package emulate

import (
	"math"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Half precision: f16 and bf16, alone in 16-bit registers or two in a 32-bit one.
// Results are computed exactly and rounded once (soft.go); speed matters little here.

// halfOp is one operation on values of format f.
type halfOp struct {
	f                   *format
	mode                rounding
	ftz, sat, relu, nan bool
	xorSign             bool // min and max of the magnitudes, with the product of the signs
}

// half decodes arithmetic on half precision.
func (d arithmetic) half(opcode string, t parse.Type) {
	h := halfOp{f: &fmt16}
	if t == parse.BF16 || t == parse.BF16x2 {
		h.f = &fmtB
	}
	approx := d.take("approx")
	h.mode, _ = d.mode()
	h.ftz, h.sat, h.relu, h.nan = d.take("ftz"), d.take("sat"), d.take("relu"), d.take("NaN")
	if opcode == "min" || opcode == "max" {
		h.xorSign = d.take("xorsign")
		if d.take("abs") != h.xorSign {
			d.fail("%s takes .xorsign.abs together", opcode)
		}
	}
	if h.mode != rn {
		d.unsupported("rounding mode")
	}
	f, n := h.function(opcode)
	if f == nil || approx != (opcode == "ex2" || opcode == "tanh") {
		d.unsupported("")
	}
	if t == parse.F16x2 || t == parse.BF16x2 {
		one := f
		f = func(a, b, c uint64) uint64 {
			return one(a&0xffff, b&0xffff, c&0xffff) | one(a>>16, b>>16, c>>16)<<16
		}
	}
	d.rows32(tri32(func(a, b, c uint32) uint32 { return uint32(f(uint64(a), uint64(b), uint64(c))) }), t, n)
}

// function is the operation on one value per operand, and its number of operands.
func (h halfOp) function(opcode string) (func(a, b, c uint64) uint64, int) {
	f := h.f
	sign := uint64(1) << (f.width - 1)
	fl, fin := h.flush, h.finish
	switch opcode {
	case "add":
		return func(a, b, _ uint64) uint64 { return fin(f.add(fl(a), fl(b), rn)) }, 2
	case "sub":
		return func(a, b, _ uint64) uint64 { return fin(f.add(fl(a), fl(b)^sign, rn)) }, 2
	case "mul":
		return func(a, b, _ uint64) uint64 { return fin(f.mul(fl(a), fl(b), rn)) }, 2
	case "fma":
		return func(a, b, c uint64) uint64 { return fin(f.fma(fl(a), fl(b), fl(c), rn)) }, 3
	case "neg":
		return func(a, _, _ uint64) uint64 { return fl(a) ^ sign }, 1
	case "abs":
		return func(a, _, _ uint64) uint64 { return fl(a) &^ sign }, 1
	case "min":
		return func(a, b, _ uint64) uint64 { return h.extreme(fl(a), fl(b), min32) }, 2
	case "max":
		return func(a, b, _ uint64) uint64 { return h.extreme(fl(a), fl(b), max32) }, 2
	case "ex2":
		return func(a, _, _ uint64) uint64 { return h.special(fl(a), math.Exp2) }, 1
	case "tanh":
		return func(a, _, _ uint64) uint64 { return h.special(fl(a), math.Tanh) }, 1
	}
	return nil, 0
}

// flush zeroes a subnormal under .ftz.
func (h halfOp) flush(v uint64) uint64 {
	if h.ftz && v>>(h.f.p-1)&(1<<(h.f.width-h.f.p)-1) == 0 {
		return v & (1 << (h.f.width - 1))
	}
	return v
}

// finish applies .ftz, .sat and .relu to a result.
func (h halfOp) finish(v uint64) uint64 {
	v = h.flush(v)
	isNaN := h.f.unpack(v).class == nan
	negative := v>>(h.f.width-1) != 0
	switch {
	case h.sat && (isNaN || negative), h.relu && !isNaN && negative:
		return 0
	case h.sat && v > one(h.f):
		return one(h.f)
	}
	return v
}

// extreme is min or max through f32, which holds every half exactly.
func (h halfOp) extreme(a, b uint64, pick func(x, y float32) float32) uint64 {
	if h.nan && (h.f.unpack(a).class == nan || h.f.unpack(b).class == nan) {
		return h.f.quietNaN()
	}
	if h.xorSign {
		sign := uint64(1) << (h.f.width - 1)
		r := h.narrow(pick(h.widen(a&^sign), h.widen(b&^sign)))
		if h.f.unpack(r).class != nan {
			r |= (a ^ b) & sign
		}
		return r
	}
	return h.narrow(pick(h.widen(a), h.widen(b)))
}

func (h halfOp) special(a uint64, f func(float64) float64) uint64 {
	return h.flush(convertFloat(&fmt64, h.f, math.Float64bits(f(float64(h.widen(a)))), rn))
}

func (h halfOp) widen(v uint64) float32 {
	return math.Float32frombits(uint32(convertFloat(h.f, &fmt32, v, rn)))
}

func (h halfOp) narrow(v float32) uint64 {
	return convertFloat(&fmt32, h.f, uint64(math.Float32bits(v)), rn)
}

// halfCompare compares rows of half precision.
func halfCompare(op string, h halfOp) fnCmp32 {
	cmp := compareOne(op)
	return func(a, b *v32) (m uint32) {
		for i := range a {
			m |= bit(cmp(h.widen(h.flush(uint64(a[i]))), h.widen(h.flush(uint64(b[i]))))) << i
		}
		return m
	}
}

// compareOne is the comparison of two floats named by a CmpOp.
func compareOne(op string) func(a, b float32) bool {
	nan := func(a, b float32) bool { return a != a || b != b }
	switch op {
	case "eq":
		return func(a, b float32) bool { return a == b }
	case "ne":
		return func(a, b float32) bool { return a != b && !nan(a, b) }
	case "lt":
		return func(a, b float32) bool { return a < b }
	case "le":
		return func(a, b float32) bool { return a <= b }
	case "gt":
		return func(a, b float32) bool { return a > b }
	case "ge":
		return func(a, b float32) bool { return a >= b }
	case "equ":
		return func(a, b float32) bool { return a == b || nan(a, b) }
	case "neu":
		return func(a, b float32) bool { return a != b }
	case "ltu":
		return func(a, b float32) bool { return !(a >= b) }
	case "leu":
		return func(a, b float32) bool { return !(a > b) }
	case "gtu":
		return func(a, b float32) bool { return !(a <= b) }
	case "geu":
		return func(a, b float32) bool { return !(a < b) }
	case "num":
		return func(a, b float32) bool { return !nan(a, b) }
	}
	return nan
}

// packHalves decodes cvt of two f32 into a packed pair: the first source goes to the
// upper half.
func (d arithmetic) packHalves(c conversion) {
	h := halfOp{f: &fmt16}
	if c.dst == parse.BF16x2 {
		h.f = &fmtB
	}
	var ok bool
	if h.mode, ok = d.mode(); !ok || c.src != parse.F32 || c.dst != parse.F16x2 && c.dst != parse.BF16x2 ||
		h.mode > rz {
		d.unsupported("")
	}
	h.relu = d.take("relu")
	finite := d.take("satfinite")
	one := func(v uint32) uint32 { return h.narrowed(v, finite) }
	d.o.shape, d.o.f32 = shA32, bin32(func(a, b uint32) uint32 { return one(a)<<16 | one(b) })
	d.o.d, d.o.a, d.o.b = d.dst(c.dst), d.src(1, c.src), d.src(2, c.src)
}

// toTF32 rounds f32 to tf32 (10 bits of fraction), ties away from zero.
func toTF32(a uint32) uint32 {
	if a&0x7f800000 == 0x7f800000 {
		if a&0x7fffff != 0 {
			return canonNaN32
		}
		return a
	}
	return (a + 1<<12) &^ (1<<13 - 1)
}
