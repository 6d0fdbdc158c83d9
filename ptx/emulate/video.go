package emulate

import (
	"cmp"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Video instructions: arithmetic on bytes and half-words that selectors pick from registers, with saturation, a second
// operation on the third source, or a merge into it (PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions").

// video decodes them.
type video struct{ *instr }

// isVideo reports their opcodes; vote is none.
func isVideo(opcode string) bool { return opcode[0] == 'v' && opcode != "vote" }

// selected is a source with what its selector picks, extended by its type.
type selected struct {
	shift, width int
	signed       bool
}

func (s selected) of(v uint32) int64 {
	x := uint64(v) >> s.shift << (64 - s.width)
	if s.signed {
		return int64(x) >> (64 - s.width)
	}
	return int64(x >> (64 - s.width))
}

// part reads a selector of a scalar instruction.
func (d video) part(selector string, t parse.Type) selected {
	s := selected{0, 32, t.Signed()}
	switch selector {
	case "":
	case "b0", "b1", "b2", "b3":
		s.shift, s.width = 8*int(selector[1]-'0'), 8
	case "h0", "h1":
		s.shift, s.width = 16*int(selector[1]-'0'), 16
	default:
		d.fail("%s takes the selectors .b0 to .b3, .h0 and .h1, not .%s", d.in.Op, selector)
	}
	return s
}

// source is the row of operand i, whose selector and sign have been read.
func (d video) source(i int) int32 {
	o := *d.arg(i)
	o.Sel, o.Neg = "", false
	return d.src32(&o, parse.U32)
}

// decode dispatches: SIMD instructions end in the number of their parts.
func (d video) decode() {
	for _, t := range d.typ {
		if t != parse.U32 && t != parse.S32 {
			d.unsupported("type ." + t.String())
		}
	}
	want := 3
	if strings.HasPrefix(d.in.Op, "vset") {
		want = 2
	}
	if len(d.typ) != want {
		d.fail("%s has %d types, it takes %d of .u32 and .s32", d.in.Op, len(d.typ), want)
	}
	d.o.shape = shA32
	switch {
	case d.in.Op == "vmad":
		d.multiply()
	case strings.HasSuffix(d.in.Op, "2"), strings.HasSuffix(d.in.Op, "4"):
		d.parallel()
	default:
		d.scalar()
	}
	to := *d.arg(0)
	if to.Kind != parse.KReg || to.Neg {
		d.fail("the destination is not a register")
	}
	d.size(to.Var, 4)
	d.o.d = d.rows[to.Var.ID]
}

// operation is what an instruction does with two parts.
func (d video) operation(opcode string) func(a, b int64) int64 {
	compare := func(f func(a, b int64) bool) func(a, b int64) int64 {
		return func(a, b int64) int64 { return int64(bit(f(a, b))) }
	}
	switch opcode {
	case "vadd":
		return func(a, b int64) int64 { return a + b }
	case "vsub":
		return func(a, b int64) int64 { return a - b }
	case "vabsdiff":
		return func(a, b int64) int64 { return max(a-b, b-a) }
	case "vmin":
		return func(a, b int64) int64 { return min(a, b) }
	case "vmax":
		return func(a, b int64) int64 { return max(a, b) }
	case "vavrg": // ties go away from zero: up above it, down below
		return func(a, b int64) int64 {
			if a+b >= 0 {
				return (a + b + 1) >> 1
			}
			return (a + b) >> 1
		}
	case "vshl", "vshr":
		return d.shifts(opcode)
	}
	switch d.oneOf("eq", "ne", "lt", "le", "gt", "ge") {
	case "eq":
		return compare(func(a, b int64) bool { return a == b })
	case "ne":
		return compare(func(a, b int64) bool { return a != b })
	case "lt":
		return compare(func(a, b int64) bool { return a < b })
	case "le":
		return compare(func(a, b int64) bool { return a <= b })
	case "gt":
		return compare(func(a, b int64) bool { return a > b })
	case "ge":
		return compare(func(a, b int64) bool { return a >= b })
	}
	d.fail("%s has no comparison: add .eq, .ne, .lt, .le, .gt or .ge", d.in.Op)
	return nil
}

// shifts is vshl or vshr; the amount is unsigned.
func (d video) shifts(opcode string) func(a, b int64) int64 {
	mode := d.oneOf("clamp", "wrap")
	if mode == "" || d.typ[2] != parse.U32 {
		d.fail("%s shifts by a .u32 and says .clamp or .wrap", opcode)
	}
	left := opcode == "vshl"
	return func(a, b int64) int64 {
		n := min(b, 32)
		if mode == "wrap" {
			n = b & 31
		}
		switch {
		case !left:
			return a >> n
		case n < 32:
			return a << n
		}
		return int64(cmp.Compare(a, 0)) << 62 // of what is beyond all words only the sign and the low word count
	}
}

// clamped limits v to width bits.
func clamped(v int64, width int, signed bool) int64 {
	if signed {
		return min(max(v, -1<<(width-1)), 1<<(width-1)-1)
	}
	return min(max(v, 0), 1<<width-1)
}

// scalar decodes vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr and vset.
func (d video) scalar() {
	to, ta, tb := parse.U32, d.typ[len(d.typ)-2], d.typ[len(d.typ)-1]
	if len(d.typ) == 3 {
		to = d.typ[0]
	}
	f := d.operation(d.in.Op)
	sat := d.take("sat")
	second := d.oneOf("add", "min", "max")
	into := d.part(d.arg(0).Sel, to)
	a, b := d.part(d.arg(1).Sel, ta), d.part(d.arg(2).Sel, tb)
	n := 3
	if into.width < 32 || second != "" {
		n = 4
	}
	if into.width < 32 && second != "" {
		d.fail("%s has a second operation, .%s, or a selector of the destination, not both", d.in.Op, second)
	}
	d.count(n, n)
	d.o.a, d.o.b = d.source(1), d.source(2)
	if n == 4 {
		if d.arg(3).Sel != "" {
			d.fail("the third source of %s has no selector", d.in.Op)
		}
		d.o.c = d.source(3)
	}
	combine := secondary(second, to.Signed())
	keep := ^(uint32(1<<into.width-1) << into.shift)
	d.o.f32 = tri32(func(x, y, z uint32) uint32 {
		v := f(a.of(x), b.of(y))
		if sat {
			v = clamped(v, into.width, into.signed)
		}
		if second != "" {
			return combine(uint32(v), z)
		}
		return uint32(v)<<into.shift&^keep | z&keep
	})
}

// secondary is the operation on the result and the third source.
func secondary(name string, signed bool) func(v, c uint32) uint32 {
	switch {
	case name == "min" && signed:
		return func(v, c uint32) uint32 { return uint32(min(int32(v), int32(c))) }
	case name == "max" && signed:
		return func(v, c uint32) uint32 { return uint32(max(int32(v), int32(c))) }
	case name == "min":
		return func(v, c uint32) uint32 { return min(v, c) }
	case name == "max":
		return func(v, c uint32) uint32 { return max(v, c) }
	}
	return func(v, c uint32) uint32 { return v + c }
}

// multiply decodes vmad: a product of parts plus c, shifted and saturated; .po adds one more.
func (d video) multiply() {
	d.count(4, 4)
	a, b := d.part(d.arg(1).Sel, d.typ[1]), d.part(d.arg(2).Sel, d.typ[2])
	po, sat := d.take("po"), d.take("sat")
	shift := map[string]int{"shr7": 7, "shr15": 15}[d.oneOf("shr7", "shr15")]
	negProduct, negC := d.arg(1).Neg != d.arg(2).Neg, d.arg(3).Neg
	if po && (d.arg(1).Neg || d.arg(2).Neg || negC) || negProduct && negC {
		d.fail("vmad negates the product or the third source, and neither with .po")
	}
	if d.arg(3).Sel != "" || d.arg(0).Sel != "" {
		d.fail("vmad has selectors on its first two sources only")
	}
	d.o.a, d.o.b, d.o.c = d.source(1), d.source(2), d.source(3)
	signed := a.signed || b.signed || negProduct || negC
	d.o.f32 = tri32(func(x, y, z uint32) uint32 {
		hi, lo := product(a.of(x), b.of(y))
		one := uint64(bit(po || negProduct || negC))
		if negProduct {
			hi, lo = ^hi, ^lo
		}
		if negC {
			z = ^z
		}
		addHi, addLo := uint64(0), uint64(z)
		if signed {
			addLo = uint64(int64(int32(z)))
			addHi = uint64(int64(addLo) >> 63)
		}
		var carry, more uint64
		lo, carry = bits.Add64(lo, addLo, 0)
		lo, more = bits.Add64(lo, one, 0)
		hi += addHi + carry + more
		if shift > 0 {
			lo = lo>>shift | hi<<(64-shift)
		}
		switch {
		case sat && signed:
			lo = uint64(clamped(int64(lo), 32, true))
		case sat:
			lo = min(lo, 1<<32-1)
		}
		return uint32(lo)
	})
}

// product is a signed product of 128 bits.
func product(a, b int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return hi, lo
}

// parallel decodes the SIMD instructions: their parts are half-words (2) or bytes (4), which each source selects from
// those of both; the results go where the mask says, beside the third source's, or are added to it.
func (d video) parallel() {
	d.count(4, 4)
	last := len(d.in.Op) - 1
	n := int(d.in.Op[last] - '0')
	f := d.operation(d.in.Op[:last])
	sat, sum := d.take("sat"), d.take("add")
	to := parse.U32
	if len(d.typ) == 3 {
		to = d.typ[0]
	}
	mask := d.masked(d.arg(0).Sel, n)
	pickA, pickB := d.picks(d.arg(1).Sel, n, 0), d.picks(d.arg(2).Sel, n, n)
	if d.arg(3).Sel != "" {
		d.fail("the third source of %s has no selector", d.in.Op)
	}
	d.o.a, d.o.b, d.o.c = d.source(1), d.source(2), d.source(3)
	width := 32 / n
	ta, tb := d.typ[len(d.typ)-2].Signed(), d.typ[len(d.typ)-1].Signed()
	d.o.f32 = tri32(func(x, y, z uint32) uint32 {
		both := uint64(y)<<32 | uint64(x)
		lanes := ^uint32(0) >> (32 - width)
		out := z
		for i := range n {
			if mask>>i&1 == 0 {
				continue
			}
			part := func(pick uint32, signed bool) int64 {
				from := int(pick>>(4*i)&15) * width
				return selected{0, width, signed}.of(uint32(both >> from))
			}
			v := f(part(pickA, ta), part(pickB, tb))
			if sat {
				v = clamped(v, width, to.Signed())
			}
			if sum {
				out += uint32(v)
			} else {
				out = out&^(lanes<<(width*i)) | uint32(v)&lanes<<(width*i)
			}
		}
		return out
	})
}

// letter begins the selectors of a SIMD instruction of n parts.
func letter(n int) string { return map[int]string{2: "h", 4: "b"}[n] }

// picks are the parts of both sources, 4 bits each, that a selector such as .h31 names, the highest first; without one
// they are those from first on.
func (d video) picks(selector string, n, first int) (pick uint32) {
	for i := range n {
		pick |= uint32(first+i) << (4 * i)
	}
	if selector == "" {
		return pick
	}
	digits, ok := strings.CutPrefix(selector, letter(n))
	pick = 0
	for _, c := range digits {
		ok = ok && c >= '0' && int(c-'0') < 2*n
		pick = pick<<4 | uint32(c-'0')&15
	}
	if !ok || len(digits) != n {
		d.fail("the sources of %s take selectors of .%s and %d digits from 0 to %d, not .%s", d.in.Op, letter(n), n,
			2*n-1, selector)
	}
	return pick
}

// masked are the parts that a mask such as .b20 names; without one all.
func (d video) masked(mask string, n int) (bits uint32) {
	if mask == "" {
		return 1<<n - 1
	}
	digits, ok := strings.CutPrefix(mask, letter(n))
	last := rune('0' + n)
	for _, c := range digits {
		ok = ok && c >= '0' && c < last // they fall
		last = c
		bits |= 1 << (uint32(c-'0') & 31)
	}
	if !ok || bits == 0 {
		d.fail("the destination of %s takes a mask of .%s and falling digits below %d, not .%s", d.in.Op, letter(n), n,
			mask)
	}
	return bits
}
