package torture

import (
	"math"
	"math/big"
	"math/bits"
	"testing"
)

// half is IEEE binary16: 11 bits, exponents from -14.
var half = format{11, func(r *big.Rat) float64 {
	x := new(big.Rat).Abs(r)
	f, _ := x.Float64()
	_, e := math.Frexp(f)
	quantum := max(e-11, -24)
	n := x.Mul(x, new(big.Rat).SetFloat64(math.Ldexp(1, -quantum))) // whole for a representable value
	q, rest := new(big.Int).QuoRem(n.Num(), n.Denom(), new(big.Int))
	switch c := rest.Lsh(rest, 1).Cmp(n.Denom()); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	v := math.Ldexp(float64(q.Int64()), quantum)
	if v >= 65536 {
		v = math.Inf(1)
	}
	return math.Copysign(v, float64(r.Sign()))
}, func(x, towards float64) float64 {
	switch {
	case math.IsInf(x, 0):
		return math.Copysign(65504, x)
	case x == 0:
		return math.Copysign(0x1p-24, towards)
	}
	_, e := math.Frexp(x)
	if m, _ := math.Frexp(math.Abs(x)); m == 0.5 && math.Abs(towards) < math.Abs(x) {
		e-- // below a power of two the numbers are denser
	}
	v := x + math.Copysign(math.Ldexp(1, max(e-11, -24)), towards-x)
	if math.Abs(v) > 65504 {
		return math.Inf(int(v))
	}
	if v == 0 {
		return math.Copysign(0, x)
	}
	return v
}}

// fromHalf is the value of a binary16 pattern.
func fromHalf(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(m, -24)
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(1024+m, e-25)
	}
	if h>>15 != 0 {
		return -v
	}
	return v
}

// down rounds any float64 to the format.
func (f format) down(x float64, m mode) float64 { return f.add(x, math.Copysign(0, x), m) }

const nwN = 192 // two blocks of 96

// newer are the kernels of testdata/hand/newer.ptx: k(a, b, out) with two words per
// thread in and a row of words out.
var newer = []kernelTest{
	wordsTest("newer", "nw_bits", refNewBits),
	wordsTest("newer", "nw_testp", func(x, y uint32) []uint32 { return []uint32{refTestp(x, y)} }),
	one("newer", "nw_redux", d1(2), d1(96), 0, func() []any {
		a, b := words(91, nwN), words(92, nwN)
		var want []uint32
		for i := range a {
			w, p := a[i&^31:i&^31+32], b[i&^31:i&^31+9]
			add, and, or, xor, lo, hi := uint32(0), ^uint32(0), uint32(0), uint32(0), w[0], w[0]
			slo, shi, part := int32(w[0]), int32(w[0]), uint32(0)
			for _, v := range w {
				add, and, or, xor = add+v, and&v, or|v, xor^v
				lo, hi, slo, shi = min(lo, v), max(hi, v), min(slo, int32(v)), max(shi, int32(v))
			}
			if i&31 < 9 {
				for _, v := range p {
					part += v
				}
			}
			want = append(want, add, add, lo, uint32(slo), hi, uint32(shi), and, or, xor, part)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want))}
	}),
	one("newer", "nw_memory", d1(2), d1(96), 0, func() []any {
		a, b := words(93, nwN), words(94, nwN)
		var want []uint32
		for i, v := range a {
			want = append(want, a[i^1], 2*v, 1, 0, v, b[i])
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want))}
	}),
}

// halves are the kernels of testdata/hand/half.ptx, of the same form.
var halves = []kernelTest{
	wordsTest("half", "nw_half", func(x, y uint32) []float32 { return narrow(refHalf(x, y)) }),
	wordsTest("half", "nw_half_cvt", func(x, y uint32) []float32 { return narrow(refHalfCvt(x, y)) }),
}

// wordsTest feeds pairs of words, among them patterns that are special as f16, f32 and f64.
func wordsTest[T any](file, name string, f func(x, y uint32) []T) kernelTest {
	return one(file, name, d1(2), d1(96), 0, func() []any {
		a, b := words(95, nwN), words(96, nwN)
		odd := []uint32{
			0, 1 << 31, 0x3c003c00, 0x7c007c00, 0xfc00fc00, 0x7e017e01, 0x00010001, 0x83ff03ff, 0x04000400, 0x7bff7bff,
			0xfbfffbff,
			0x7f800000, 0xff800000, 0x7fc00001, 0x00000001, 0x80400000, 0x7ff00000, 0x00080000, 0x47800000, 0x477ff000,
			0x33000000, 0x33000001, 0x32ffffff, 0x38801000,
		}
		for i := range 100 { // the rest is random
			a[i] = odd[mix(uint32(i))%uint32(len(odd))]
			if i%3 != 0 {
				b[i] = odd[mix(uint32(i)+50)%uint32(len(odd))]
			}
		}
		var want []T
		for i := range a {
			want = append(want, f(a[i], b[i])...)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want))}
	})
}

// dot is dp4a (size 1) and dp2a (size 2): sums of products of parts of a and bytes of b.
func dot(a, b uint32, size, first int, sa, sb bool, c uint32) uint32 {
	for i := range 4 / size {
		x, y := int64(a>>(8*size*i))&(1<<(8*size)-1), int64(uint8(b>>(8*(first+i))))
		if sa {
			x = x << (64 - 8*size) >> (64 - 8*size)
		}
		if sb {
			y = int64(int8(y))
		}
		c += uint32(x * y)
	}
	return c
}

func refNewBits(x, y uint32) []uint32 {
	minus5 := ^uint32(4)
	pos, length := y&63, y>>8&63
	mask := func(p, n uint32) uint32 { return uint32((uint64(1)<<min(p+n, 32) - 1) &^ (uint64(1)<<p - 1)) }
	clamped := uint32(0)
	if pos < 32 {
		clamped = mask(pos, length)
	}
	extend := func(n uint32, signed bool) uint32 {
		if n == 0 || n >= 32 {
			return x & (1<<n - 1)
		}
		v := x & (1<<n - 1)
		if signed && v>>(n-1) != 0 {
			v |= ^uint32(0) << n
		}
		return v
	}
	return []uint32{
		dot(x, y, 1, 0, false, false, 5), dot(x, y, 1, 0, true, true, minus5), dot(x, y, 1, 0, true, false, 0), dot(x,
			y, 1, 0, false, true, x),
		dot(x, y, 2, 0, false, false, 5), dot(x, y, 2, 2, true, true, minus5), dot(x, y, 2, 0, true, false, 0), dot(x,
			y, 2, 2, false, true, 1),
		clamped, mask(pos&31, length&31), extend(pos, true), extend(pos&31, true), extend(pos, false),
	}
}

func refTestp(x, y uint32) (r uint32) {
	f, d := float64(math.Float32frombits(x)), math.Float64frombits(uint64(x)<<32|uint64(y))
	for i, c := range []struct{ v, least float64 }{{f, 0x1p-126}, {d, 0x1p-1022}} {
		inf, nan := math.IsInf(c.v, 0), math.IsNaN(c.v)
		normal := !inf && !nan && math.Abs(c.v) >= c.least
		for k, b := range []bool{!inf && !nan, inf, !nan, nan, normal, !inf && !nan && !normal && c.v != 0} {
			r |= flag(b) << (2*k + i)
		}
	}
	return r
}

func refHalf(x, y uint32) []float64 {
	h1, h2, h3, h4 := fromHalf(uint16(x)), fromHalf(uint16(x>>16)), fromHalf(uint16(y)), fromHalf(uint16(y>>16))
	return []float64{
		half.add(h1, h3, rn), half.add(h1, -h3, rn), half.mul(h1, h3, rn), half.fma(h1, h3, h2, rn), -h1, math.Abs(h1),
		sat(half.add(h1, h3, rn)), flMin(h1, h3), flMax(h1, h3),
		half.add(h1, h3, rn), half.add(h2, h4, rn), half.mul(h1, h3, rn), half.mul(h2, h4, rn),
		half.fma(h1, h3, h1, rn), half.fma(h2, h4, h2, rn), half.add(h1, -h3, rn), half.add(h2, -h4, rn),
		float64(flag(h1 < h3)), float64(flag(!(h1 < h3))),
	}
}

func refHalfCvt(x, y uint32) (o []float64) {
	f, d := float64(math.Float32frombits(x)), math.Float64frombits(uint64(x)<<32|uint64(y))
	for _, m := range modes {
		o = append(o, half.down(f, m))
	}
	h := fromHalf(uint16(y))
	if math.IsNaN(h) {
		h = 0 // as the ISA says of conversions from types other than f64 to 32 bits
	}
	s, u := big.NewInt(int64(int32(y))), big.NewInt(int64(y))
	back := func(v uint64) float64 { return float64(float32(int32(v))) }
	return append(o, half.fromInt(s, rn), half.fromInt(u, rn), half.fromInt(s, rz), half.down(d, rn),
		back(toInt(h, rz, 32, true)), back(toInt(h, rn, 32, true)), back(toInt(h, rm, 32, false)))
}

// TestHalfFormat holds the reference itself to known values.
func TestHalfFormat(t *testing.T) {
	for h := range uint32(1 << 16) {
		v := fromHalf(uint16(h))
		if special(v) || v == 0 {
			continue
		}
		if got := half.nearest(rat(v)); got != v {
			t.Fatalf("%04x is %v, rounds to %v", h, v, got)
		}
		if h&0x7fff < 0x7bff { // the next larger magnitude
			if up := half.next(v, math.Copysign(math.Inf(1), v)); up != fromHalf(uint16(h+1)) {
				t.Fatalf("after %v comes %v, not %v", v, fromHalf(uint16(h+1)), up)
			}
		}
	}
	for x, want := range map[float64]float64{
		65519: 65504, 65520: math.Inf(1), 0x1p-25: 0, 0x1.01p-25: 0x1p-24,
		2049: 2048, 2051: 2052,
	} {
		if got := half.down(x, rn); got != want {
			t.Errorf("%v rounds to %v, want %v", x, got, want)
		}
	}
	if bits.OnesCount(uint(dot(0x01020304, 0x01010101, 1, 0, false, false, 0))) != 2 { // 10
		t.Error("dot")
	}
}
