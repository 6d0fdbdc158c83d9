package emulate

import (
	"math"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Conversions to and from the packed 8-bit floats, saturating conversions to 16 bits and
// tf32, and cvt.pack of integers.

// float8 is an 8-bit floating-point format. Neither has results beyond the largest number:
// conversions to them always saturate.
type float8 struct {
	fraction int    // bits
	bias     int    //
	largest  uint32 // finite
}

// float8Of finds a format by the type of a pair of it.
func float8Of(pair string) *float8 {
	switch pair {
	case "e4m3x2":
		return &float8{3, 7, 0x7e}
	case "e5m2x2":
		return &float8{2, 15, 0x7b}
	}
	return nil
}

// nan8 is the NaN of both formats.
const nan8 = 0x7f

// from rounds x to nearest even, saturating; every f32 and f16 is a float64.
func (f *float8) from(x float64, relu bool) uint32 {
	if x != x {
		return nan8
	}
	sign := uint32(0)
	if math.Signbit(x) {
		if relu {
			return 0
		}
		sign, x = 0x80, -x
	}
	_, e := math.Frexp(x)
	e = max(e-1, 1-f.bias)
	if x == 0 || x > math.Ldexp(1, 20) {
		e = 1 - f.bias
		if x > 0 {
			return sign | f.largest
		}
	}
	n := uint32(math.RoundToEven(math.Ldexp(x, f.fraction-e))) // 2^fraction and above for normal numbers
	v := uint32(e+f.bias-1)<<f.fraction + n                    // a carry goes into the exponent
	return sign | min(v, f.largest)
}

// toHalf is the f16 equal to v; every number of the formats is one.
func (f *float8) toHalf(v uint32, relu bool) uint32 {
	sign, e, m := v&0x80<<8, int(v>>f.fraction&(1<<(7-f.fraction)-1)), v&(1<<f.fraction-1)
	special := f.fraction == 2 && e == 31
	switch {
	case v&0x7f == 0x7f && !special, special && m != 0:
		return 0x7fff
	case relu && sign != 0:
		return 0
	case special:
		return sign | 0x7c00
	}
	x := math.Ldexp(float64(m), 1-f.bias-f.fraction)
	if e > 0 {
		x = math.Ldexp(float64(m|1<<f.fraction), e-f.bias-f.fraction)
	}
	return sign | uint32(convertFloat(&fmt64, &fmt16, math.Float64bits(x), rn))
}

func half64(h uint32) float64 {
	return math.Float64frombits(convertFloat(&fmt16, &fmt64, uint64(h&0xffff), rn))
}

// floats8 decodes cvt between pairs of 8-bit floats and pairs of f16 or two f32; false for
// other forms.
func (d arithmetic) floats8() bool {
	name := d.oneOf("e4m3x2", "e5m2x2")
	f := float8Of(name)
	if f == nil {
		return false
	}
	narrow := d.in.Mods[len(d.in.Mods)-1] != name // the destination comes before the source
	mode, rounded := d.mode()
	sat, relu := d.take("satfinite"), d.take("relu")
	if len(d.typ) != 1 || !rounded || mode != rn || sat != narrow {
		d.unsupported("")
	}
	switch t := d.typ[0]; {
	case narrow && t == parse.F32:
		d.count(3, 3)
		d.o.f32 = bin32(func(a, b uint32) uint32 {
			hi, lo := float64(math.Float32frombits(a)), float64(math.Float32frombits(b))
			return f.from(hi, relu)<<8 | f.from(lo, relu)
		})
		d.o.d, d.o.a, d.o.b = d.dst(parse.B16), d.src(1, t), d.src(2, t)
	case narrow && t == parse.F16x2:
		d.count(2, 2)
		d.o.f32 = un32(func(a uint32) uint32 { return f.from(half64(a>>16), relu)<<8 | f.from(half64(a), relu) })
		d.o.d, d.o.a = d.dst(parse.B16), d.src(1, t)
	case !narrow && t == parse.F16x2:
		d.count(2, 2)
		d.o.f32 = un32(func(a uint32) uint32 { return f.toHalf(a>>8&0xff, relu)<<16 | f.toHalf(a&0xff, relu) })
		d.o.d, d.o.a = d.dst(t), d.src(1, parse.B16)
	default:
		d.unsupported("")
	}
	d.o.shape = shA32
	return true
}

// saturated decodes cvt of f32 to f16, bf16 or tf32 with .relu or .satfinite, and to tf32
// with .rn or .rz.
func (d arithmetic) saturated(c conversion, relu, satfinite bool) {
	d.count(2, 2)
	h := halfOp{f: formatOf(c.dst), mode: c.mode, relu: relu}
	width := parse.B16
	if c.dst == parse.TF32 {
		h.f, width = &fmtTF, parse.B32
	}
	rounds := c.mode <= rz || c.mode == ra && c.dst == parse.TF32
	if h.f == nil || h.f.p > fmtTF.p || c.src != parse.F32 || c.integral || c.ftz || c.sat || !rounds {
		d.unsupported("")
	}
	d.o.shape, d.o.d, d.o.a = shA32, d.dst(width), d.src(1, c.src)
	d.o.f32 = un32(func(v uint32) uint32 { return h.narrowed(v, satfinite) })
}

// fmtTF is tf32 without the 13 bits that follow its fraction in a register.
var fmtTF = format{11, -126, 127, 19}

// narrowed converts an f32.
func (h halfOp) narrowed(v uint32, satfinite bool) uint32 {
	out := uint64(0)
	switch tf := h.f == &fmtTF; {
	case v&0x7fffffff > 0x7f800000:
		out = h.f.quietNaN()
		if tf {
			return canonNaN32
		}
	case h.mode == ra:
		out = uint64(toTF32(v) >> 13)
	default:
		out = convertFloat(&fmt32, h.f, uint64(v), h.mode)
	}
	if top := uint64(1)<<(h.f.width-1) - 1<<(h.f.p-1); satfinite && out&(1<<(h.f.width-1)-1) == top {
		out-- // infinity: the largest number comes before it
	}
	if out = h.finish(out); h.f == &fmtTF {
		out <<= 13
	}
	return uint32(out)
}

// pack decodes cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}: a above b, and above them c where
// there is room.
func (d arithmetic) pack() {
	if !d.take("sat") {
		d.unsupported("")
	}
	width, signed := 0, false
	switch small := d.oneOf("u2", "s2", "u4", "s4"); {
	case small != "":
		width, signed = int(small[1]-'0'), small[0] == 's'
	case len(d.typ) > 0:
		width, signed = d.typ[0].Bits(), d.typ[0].Signed()
		d.typ = d.typ[1:]
	}
	three := len(d.typ) == 2 && d.typ[1] == parse.B32
	if len(d.typ) == 0 || d.typ[0] != parse.S32 || three == (width == 16) || width > 16 || width == 0 {
		d.unsupported("")
	}
	lo, hi := int32(0), int32(1)<<width-1
	if signed {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	one := func(v uint32) uint32 { return uint32(min(max(int32(v), lo), hi)) & (1<<width - 1) }
	n := 3
	if three {
		n = 4
		d.o.c = d.src(3, parse.B32)
	}
	d.count(n, n)
	d.o.shape, d.o.f32 = shA32, tri32(func(a, b, c uint32) uint32 { return c<<(2*width) | one(a)<<width | one(b) })
	d.o.d, d.o.a, d.o.b = d.dst(parse.B32), d.src(1, parse.S32), d.src(2, parse.S32)
}
