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

// ma is a*b+c with two roundings on every architecture (the conversion keeps the
// compiler from fusing them), so that results do not depend on the host.
func ma(a, b, c float64) float64 { return float64(a*b) + c }

// ex2F32 computes 2^x as 2^n * 2^f with |f| <= 1/2; the series for 2^f is good to
// 2^-42, so the result is the correctly rounded one but for near ties.
func ex2F32(d, a, _, _ *v32) {
	r, x := fl(d), fl(a)
	for i := range r {
		v := float64(x[i])
		switch {
		case v >= 128:
			r[i] = float32(math.Inf(1))
			continue
		case v < -151:
			r[i] = 0
			continue
		case v != v:
			r[i] = c32(x[i])
			continue
		}
		n := math.Floor(v + 0.5)
		t := (v - n) * math.Ln2
		p := ma(t, 1./3628800, 1./362880)
		p = ma(t, ma(t, ma(t, p, 1./40320), 1./5040), 1./720)
		p = ma(t, ma(t, ma(t, p, 1./120), 1./24), 1./6)
		p = ma(t, ma(t, ma(t, p, 1./2), 1), 1)
		r[i] = float32(p * math.Float64frombits(uint64(int64(n)+1023)<<52))
	}
}

// lg2F32 computes log2 as exponent plus 2/ln2 * atanh((m-1)/(m+1)) with the
// significand m in [sqrt(1/2), sqrt(2)); the series is good to 2^-50.
func lg2F32(d, a, _, _ *v32) {
	r, x := fl(d), fl(a)
	for i := range r {
		v := float64(x[i])
		if !(v > 0 && v <= math.MaxFloat32) {
			r[i] = c32(float32(math.Log2(v))) // zero, negative, infinite, NaN
			continue
		}
		b := math.Float64bits(v)
		e := int64(b>>52) - 1023
		m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
		if m > math.Sqrt2 {
			m, e = m/2, e+1
		}
		s := (m - 1) / (m + 1)
		q := s * s
		p := ma(q, ma(q, ma(q, 1./17, 1./15), 1./13), 1./11)
		p = ma(q, ma(q, ma(q, p, 1./9), 1./7), 1./5)
		p = s * ma(q, ma(q, p, 1./3), 1)
		r[i] = float32(ma(p, 2/math.Ln2, float64(e)))
	}
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
