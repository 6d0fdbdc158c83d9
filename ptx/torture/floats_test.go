package torture

import (
	"math"
	"math/big"
)

var negZero = math.Copysign(0, -1)

// values64 are the operands where floating point goes wrong; values32 the same for float32.
var values64 = []float64{
	0, negZero, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, 1.0 / 3, math.Inf(1), math.Inf(-1), math.NaN(),
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022,
	0x1.fffffffffffffp-1023,
	1 + 0x1p-52, 1 - 0x1p-53, 0x1p53 + 2, 2147483647, 2147483648, -2147483648.5, 4294967295.5, 9.223372036854775e18,
	1.8446744073709552e19, 1e-310, 123456789.987654321,
}

var values32 = []float32{
	0, float32(negZero), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, 1.0 / 3, float32(math.Inf(1)),
	float32(math.Inf(-1)),
	float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	0x1p-126, 0x1.fffffcp-127,
	1 + 0x1p-23, 1 - 0x1p-24, 1<<24 + 2, 2147483520, 2147483648, -2147483904, 4294967040, 9.223372e18, 1.8446744e19,
	1e-41, 123456.79,
}

// operands gives count values: specials in three independent orders, then bit patterns
// of every magnitude, then values near one, where results round in every direction.
func operands64(seed uint32, count int) []float64 {
	return table(count, func(i int) float64 {
		h := mix(seed*31337 + uint32(i))
		raw := longs(h, 1)[0]
		switch {
		case i%3 == 0:
			return values64[h%uint32(len(values64))]
		case i%3 == 1:
			if v := math.Float64frombits(raw); !math.IsNaN(v) {
				return v
			}
			return 7
		}
		return math.Float64frombits(raw&(1<<63|(1<<52-1)) | (1023-4+raw>>52&7)<<52)
	})
}

func operands32(seed uint32, count int) []float32 {
	return table(count, func(i int) float32 {
		h := mix(seed*31337 + uint32(i))
		raw := mix(h)
		switch {
		case i%3 == 0:
			return values32[h%uint32(len(values32))]
		case i%3 == 1:
			if v := math.Float32frombits(raw); v == v {
				return v
			}
			return 7
		}
		return math.Float32frombits(raw&(1<<31|(1<<23-1)) | (127-4+raw>>23&7)<<23)
	})
}

const flN = 360

// flMin and flMax: a NaN operand is missing data, and -0 is below +0.
func flMin(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	}
	return min(x, y)
}

func flMax(x, y float64) float64 { return -flMin(-x, -y) }

// modesOf lists the results of the four modes of the six operations.
func modesOf(f format, x, y, z float64) (o []float64) {
	for _, op := range []func(m mode) float64{
		func(m mode) float64 { return f.add(x, y, m) }, func(m mode) float64 { return f.mul(x, y, m) },
		func(m mode) float64 { return f.div(x, y, m) }, func(m mode) float64 { return f.fma(x, y, z, m) },
		func(m mode) float64 { return f.sqrt(math.Abs(x), m) }, func(m mode) float64 { return f.div(1, y, m) },
	} {
		for _, m := range modes {
			o = append(o, op(m))
		}
	}
	return o
}

func narrow(v []float64) []float32 {
	return table(len(v), func(i int) float32 { return float32(v[i]) })
}

var floats = []kernelTest{
	one("floats", "fl_f64", d1(3), d1(128), 0, func() []any {
		a, b := operands64(41, flN), operands64(42, flN)
		var want []float64
		for i, x := range a {
			y := b[i]
			last := math.Abs(y)
			if x < y {
				last = -x
			}
			want = append(want, x+y, x*y, x/y, math.Sqrt(x), math.FMA(x, y, -x), 1/y, flMin(x, y), flMax(x, y),
				math.Floor(x)+math.Trunc(y), last)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want)), uint32(flN)}
	}),
	one("floats", "fl_f32", d1(3), d1(128), 0, func() []any {
		a, b, c := operands32(43, flN), operands32(44, flN), operands32(45, flN)
		var want []float32
		for i, x := range a {
			y, z := b[i], c[i]
			fx, fy, fz := float64(x), float64(y), float64(z)
			want = append(want, x+y, x*y, x/y, float32(math.Sqrt(fx)), fma32(x, y, z), 1/y, float32(flMin(fx, fy)),
				float32(flMax(fx, fz)),
				float32(float32(math.Floor(fx))-float32(math.Ceil(fy)))+float32(math.Trunc(fz)), x-float32(y*z))
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(in(c)), ptr(out(want)), uint32(flN)}
	}),
	one("floats", "fl_round32", d1(3), d1(128), 0, func() []any {
		a, b, c := operands32(46, flN), operands32(47, flN), operands32(48, flN)
		var want []float64
		for i := range a {
			want = append(want, modesOf(single, float64(a[i]), float64(b[i]), float64(c[i]))...)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(in(c)), ptr(out(narrow(want))), uint32(flN)}
	}),
	one("floats", "fl_round64", d1(2), d1(96), 0, func() []any {
		const n = 180 // exact arithmetic on 2000-bit numbers takes its time
		a, b, c := operands64(49, n), operands64(50, n), operands64(51, n)
		var want []float64
		for i := range a {
			want = append(want, modesOf(double, a[i], b[i], c[i])...)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(in(c)), ptr(out(want)), uint32(n)}
	}),
	one("floats", "fl_to_int", d1(3), d1(128), 0, refToInt),
	one("floats", "fl_from_int", d1(3), d1(128), 0, refFromInt),
	one("floats", "fl_compare", d1(1), d2(32, 32), 0, func() []any {
		n := len(values32)
		return []any{ptr(in(values32)), ptr(in(values64)), ptr(out(table(n*n, func(i int) uint32 {
			f, d := compared(float64(values32[i/n]), float64(values32[i%n])), compared(values64[i/n], values64[i%n])
			var acc uint32
			for k := range f {
				acc = acc<<2 | flag(f[k])<<1 | flag(d[k])
			}
			return acc
		}))), uint32(n)}
	}),
	one("floats", "fl_special", d1(1), d2(32, 32), 0, func() []any {
		var want []float32
		for _, x := range values32 {
			for _, y := range values32 {
				want = append(want, refSpecial(float64(x), float64(y))...)
			}
		}
		return []any{ptr(in(values32)), ptr(out(want)), uint32(len(values32))}
	}),
	one("floats", "fl_ex2", d1(2), d1(127), 0, func() []any {
		return []any{ptr(out(table(254, func(i int) float32 { return float32(math.Ldexp(1, i-126)) })))}
	}),
	one("floats", "fl_kahan", d1(2), d1(64), 0, func() []any {
		const per = 50
		a := unit(52, 128*per)
		var want []float32
		for i := range 128 {
			var sum, lost float32
			for _, v := range a[i*per : (i+1)*per] {
				y := v - lost
				t := sum + y
				lost = (t - sum) - y
				sum = t
			}
			want = append(want, sum, lost)
		}
		return []any{ptr(in(a)), ptr(out(want)), uint32(per)}
	}),
	one("floats", "fl_bits", d1(1), d1(200), 0, func() []any {
		a := units(53, 200)
		var f []float64
		var e []int32
		for _, x := range a {
			frac, expo := math.Frexp(x)
			if expo&1 != 0 {
				frac *= 2
			}
			f, e = append(f, frac), append(e, int32(expo))
		}
		return []any{ptr(in(a)), ptr(out(f)), ptr(out(e)), uint32(200)}
	}),
}

// compared lists the fourteen comparisons in the order of fl_compare.
func compared(x, y float64) []bool {
	un := math.IsNaN(x) || math.IsNaN(y)
	o := []bool{x == y, x != y && !un, x < y, x <= y, x > y, x >= y}
	for _, b := range o[:6] {
		o = append(o, b || un)
	}
	return append(o, !un, un)
}

// ftz flushes a subnormal float32 to zero of its sign.
func ftz(x float64) float64 {
	if x != 0 && math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

// sat clamps to [0, 1]; NaN becomes +0.
func sat(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}

func refSpecial(x, y float64) []float32 {
	fx, fy := ftz(x), ftz(y)
	return narrow([]float64{
		flMin(x, y), flMax(x, y), sat(single.add(x, y, rn)), ftz(single.mul(fx, fy, rn)), ftz(single.add(fx, fy, rn)),
		sat(ftz(single.fma(fx, fy, fx, rn))), -x, math.Abs(fx), sat(x), math.Copysign(y, x),
	})
}

func refToInt() []any {
	// No NaN here: what it converts to depends on both types and is no matter of IEEE 754.
	a, b := operands32(54, flN), operands64(55, flN)
	for i := range a {
		if a[i] != a[i] {
			a[i] = -2.5
		}
		if b[i] != b[i] {
			b[i] = 3.5
		}
	}
	var o []int32
	var q []uint64
	for i := range a {
		x, y := float64(a[i]), b[i]
		o = append(o, int32(toInt(x, rn, 32, true)), int32(toInt(x, rz, 32, true)), int32(toInt(x, rm, 32, true)),
			int32(toInt(x, rp, 32, true)),
			int32(toInt(x, rn, 32, false)), int32(toInt(x, rz, 32, false)), int32(toInt(y, rn, 32, true)),
			int32(toInt(y, rz, 32, true)),
			int32(toInt(y, rm, 32, false)), int32(toInt(y, rp, 32, true)), int32(int16(toInt(x, rz, 16, true))),
			int32(uint16(toInt(x, rn, 16, false))))
		q = append(q, toInt(x, rn, 64, true), toInt(x, rz, 64, false), toInt(y, rn, 64, true), toInt(y, rm, 64, true),
			toInt(y, rp, 64, false), toInt(y, rz, 64, false))
	}
	return []any{ptr(in(a)), ptr(in(b)), ptr(out(o)), ptr(out(q)), uint32(flN)}
}

func refFromInt() []any {
	a, b, c := words(56, flN), longs(57, flN), operands64(58, flN)
	copy(a, edges)
	for i, e := range edges { // 64-bit values around powers of two and half-way cases
		b[i] = uint64(e)<<31 | uint64(e)>>1
	}
	var f []float32
	var d []float64
	for i := range a {
		s, u := big.NewInt(int64(int32(a[i]))), big.NewInt(int64(a[i]))
		sl, ul, z := big.NewInt(int64(b[i])), new(big.Int).SetUint64(b[i]), c[i]
		from := func(v *big.Int, m mode) float32 { return float32(single.fromInt(v, m)) }
		down := func(m mode) float32 { return float32(single.add(z, math.Copysign(0, z), m)) }
		near := down(rn)
		f = append(f, from(s, rn), from(s, rz), from(s, rm), from(s, rp), from(u, rn), from(u, rz), from(sl, rn),
			from(ul, rn), from(sl, rm), from(ul, rp),
			near, down(rz), down(rm), down(rp), float32(math.RoundToEven(float64(near))),
			float32(math.Ceil(float64(near))))
		d = append(d, float64(int32(a[i])), float64(a[i]), double.fromInt(sl, rn), double.fromInt(ul, rz),
			float64(near), math.RoundToEven(z))
	}
	return []any{ptr(in(a)), ptr(in(b)), ptr(in(c)), ptr(out(f)), ptr(out(d)), uint32(flN)}
}
