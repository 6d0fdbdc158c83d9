package reference

import (
	"fmt"
	"math"
)

// matrixmul(A, B, m, n, k) is the m x n product, each element summed over k in order.
func matrixmul(list []any) (any, error) {
	in := arguments{list: list}
	a, b := in.f32s(-1), in.f32s(-1)
	m, n, k := in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(a) != m*k || len(b) != k*n {
		return nil, fmt.Errorf("A has %d elements and B %d: they must have %d x %d and %d x %d", len(a), len(b), m, k,
			k, n)
	}
	c := make([]float32, m*n)
	for i := range m {
		out := c[i*n : (i+1)*n]
		for p := range k {
			f, from := a[i*k+p], b[p*n:(p+1)*n]
			for j := range out {
				out[j] = fma32(f, from[j], out[j])
			}
		}
	}
	return c, nil
}

// blackscholes(side, price, strike, years, rate, volatility) prices "call" or "put".
// The kernel's exponential and logarithm are approximate, so compare with a tolerance.
func blackscholes(list []any) (any, error) {
	in := arguments{list: list}
	side := in.text()
	price := in.f32s(-1)
	strike, years := in.f32s(len(price)), in.f32s(len(price))
	rate, vol := in.f32(), in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	if side != "call" && side != "put" {
		return nil, fmt.Errorf("side %q: it must be call or put", side)
	}
	out := make([]float32, len(price))
	for i, s := range price {
		x, t := strike[i], years[i]
		root := float32(math.Sqrt(float64(t)))
		d1 := (log32(s/x) + mul32(fma32(mul32(0.5, vol), vol, rate), t)) / mul32(vol, root)
		d2 := fma32(-vol, root, d1)
		n1, n2 := normalCDF(d1), normalCDF(d2)
		discounted := mul32(x, exp32(mul32(-rate, t)))
		if side == "call" {
			out[i] = mul32(s, n1) - mul32(discounted, n2)
		} else {
			out[i] = mul32(discounted, 1-n2) - mul32(s, 1-n1)
		}
	}
	return out, nil
}

func exp32(x float32) float32 { return float32(math.Exp2(float64(mul32(x, 1.44269504)))) }
func log32(x float32) float32 { return mul32(float32(math.Log2(float64(x))), 0.69314718) }

// normalCDF is formula 26.2.17 of Abramowitz and Stegun.
func normalCDF(d float32) float32 {
	a := float32(math.Abs(float64(d)))
	k := 1 / fma32(0.2316419, a, 1)
	p := fma32(k, 1.330274429, -1.821255978)
	p = fma32(k, p, 1.781477937)
	p = fma32(k, p, -0.356563782)
	p = fma32(k, p, 0.319381530)
	tail := mul32(mul32(0.3989422804, exp32(mul32(mul32(-0.5, d), d))), mul32(k, p))
	if d > 0 {
		return 1 - tail
	}
	return tail
}
