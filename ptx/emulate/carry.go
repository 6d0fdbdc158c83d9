package emulate

import (
	"math/bits"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Extended-precision arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc. The
// carry flag is one bit per lane in warp.carry; for subtraction it is the borrow.

// Bits of op.n.
const (
	xSub    = 1 << iota // subtract
	xMad                // multiply-add
	xHigh               // upper half of the product
	xSigned             // of a signed product
	xIn                 // the carry is added
	xOut                // the carry is written
	xWide               // 64 bits
)

func isCarry(in *parse.Instr) bool {
	return in.Has("cc") || in.Op == "addc" || in.Op == "subc" || in.Op == "madc"
}

// carryOp decodes one of them.
func (d arithmetic) carryOp() {
	t := d.oneType()
	if t != parse.U32 && t != parse.S32 && t != parse.U64 && t != parse.S64 {
		d.unsupported("type ." + t.String())
	}
	o := d.o
	o.shape, o.fx = shX, extended
	name := d.in.Op
	if d.take("cc") {
		o.n |= xOut
		d.carryOut = true
	}
	if name[len(name)-1] == 'c' {
		o.n |= xIn
		name = name[:len(name)-1]
		d.carryIn = true
	}
	d.ins.Unit, d.ins.Timing = classify(name, t)
	n := 3
	switch name {
	case "sub":
		o.n |= xSub
	case "mad":
		o.n |= xMad
		n = 4
		switch d.oneOf("lo", "hi") {
		case "hi":
			o.n |= xHigh
		case "":
			d.unsupported("")
		}
	}
	d.count(n, n)
	if t.Signed() {
		o.n |= xSigned
	}
	if t.Bytes() == 8 {
		o.n |= xWide
	}
	o.d, o.a, o.b = d.dst(t), d.src(1, t), d.src(2, t)
	if n == 4 {
		o.c = d.src(3, t)
	}
}

// extended executes them.
func extended(c *cta, wp *warp, o *op, mask uint32) error {
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var carry uint64
		if o.n&xIn != 0 {
			carry = uint64(wp.carry >> i & 1)
		}
		if o.n&xWide != 0 {
			a, b := c.row64(wp, o.a)[i], c.row64(wp, o.b)[i]
			if o.n&xMad != 0 {
				a, b = product64(a, b, o.n), c.row64(wp, o.c)[i]
			}
			if o.n&xSub != 0 {
				a, carry = bits.Sub64(a, b, carry)
			} else {
				a, carry = bits.Add64(a, b, carry)
			}
			wp.r64[o.d][i] = a
		} else {
			a, b := c.row32(wp, o.a)[i], c.row32(wp, o.b)[i]
			if o.n&xMad != 0 {
				a, b = product32(a, b, o.n), c.row32(wp, o.c)[i]
			}
			v := uint64(a) + uint64(b) + carry
			if o.n&xSub != 0 {
				v = uint64(a) - uint64(b) - carry
			}
			wp.r32[o.d][i], carry = uint32(v), v>>32&1
		}
		if o.n&xOut != 0 {
			wp.carry = wp.carry&^(1<<i) | uint32(carry)<<i
		}
	}
	return nil
}

func product64(a, b uint64, n uint8) uint64 {
	switch {
	case n&xHigh == 0:
		return a * b
	case n&xSigned != 0:
		return mulHiS64(a, b)
	}
	return mulHiU64(a, b)
}

func product32(a, b uint32, n uint8) uint32 {
	p := uint64(a) * uint64(b)
	if n&xSigned != 0 {
		p = uint64(int64(int32(a)) * int64(int32(b)))
	}
	if n&xHigh != 0 {
		p >>= 32
	}
	return uint32(p)
}
