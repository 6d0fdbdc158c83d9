package emulate

import "math"

// Special functions. The PTX ISA bounds the error of the .approx forms (1 to 2 ulp
// or an absolute 2^-20 or so); these are computed in f64 and rounded once, which
// is within every bound and makes ex2 of an integer exact.

func special32(f func(x float64) float64) fn32 {
	return func(d, a, _, _ *v32) {
		r, x := fl(d), fl(a)
		for i := range r {
			r[i] = c32(float32(f(float64(x[i]))))
		}
	}
}

func rsqrtF32(d, a, _, _ *v32) {
	r, x := fl(d), fl(a)
	for i := range r {
		r[i] = c32(1 / float32(math.Sqrt(float64(x[i])))) // two roundings: 2^-23, the bound is 2^-22.9
	}
}

// lg2 is log2, -Inf at zeros and NaN below.
func lg2(x float64) float64 { return math.Log2(x) }

// ex2 is 2^x. The integer part is exact; the fraction goes through exp2 on [-1/2, 1/2].
func ex2(x float64) float64 { return math.Exp2(x) }

func tanhF32(d, a, _, _ *v32) {
	special32(math.Tanh)(d, a, nil, nil)
}

// sincos of huge arguments is reduced exactly by the library; of infinities NaN.
func sinF32(x float64) float64 { return math.Sin(x) }
func cosF32(x float64) float64 { return math.Cos(x) }

// high20 keeps the upper word of an f64: rcp.approx.ftz.f64 and
// rsqrt.approx.ftz.f64 return 20 bits of fraction with the lower word zero.
func high20(f func(float64) float64) func(uint64) uint64 {
	return func(a uint64) uint64 {
		if a&0x7ff0000000000000 == 0 {
			a &= 1 << 63
		} else if a&0x7ff0000000000000 != 0x7ff0000000000000 {
			a &^= 1<<32 - 1
		}
		v := math.Float64bits(c64(f(math.Float64frombits(a)))) &^ (1<<32 - 1)
		if v&0x7ff0000000000000 == 0 {
			v &= 1 << 63
		}
		return v
	}
}

func rcpD(x float64) float64   { return 1 / x }
func rsqrtD(x float64) float64 { return 1 / math.Sqrt(x) }

func plain64(f func(float64) float64) func(uint64) uint64 {
	return func(a uint64) uint64 { return math.Float64bits(c64(f(math.Float64frombits(a)))) }
}
