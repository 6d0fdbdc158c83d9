package reference

import (
	"fmt"
	"math"
)

// sgemm(A, B, C, alpha, beta, m, n, k) is alpha A B^T + beta C, all column-major; each
// element is summed over k in order.
func sgemm(list []any) (any, error) {
	in := arguments{list: list}
	a, b, c := in.f32s(-1), in.f32s(-1), in.f32s(-1)
	alpha, beta := in.f32(), in.f32()
	m, n, k := in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(a) != m*k || len(b) != n*k || len(c) != m*n {
		return nil, fmt.Errorf("A, B, C have %d, %d, %d elements: they must have %d x %d, %d x %d, %d x %d", len(a),
			len(b), len(c), m, k, n, k, m, n)
	}
	out := make([]float32, len(c))
	for j := range n {
		col := out[j*m : (j+1)*m]
		for p := range k {
			f, from := b[p*n+j], a[p*m:(p+1)*m]
			for i := range col {
				col[i] = fma32(from[i], f, col[i])
			}
		}
		for i := range col {
			col[i] = fma32(alpha, col[i], mul32(beta, c[j*m+i]))
		}
	}
	return out, nil
}

// mriq(part, x, y, z, kx, ky, kz, re, im) is the "real" or "imaginary" part of the sum
// over samples of |phi|^2 exp(2 pi i k.x). The kernel's sine and cosine are
// approximate, so compare with a tolerance.
func mriq(list []any) (any, error) {
	in := arguments{list: list}
	part := in.text()
	x := in.f32s(-1)
	y, z := in.f32s(len(x)), in.f32s(len(x))
	kx := in.f32s(-1)
	ky, kz, re, im := in.f32s(len(kx)), in.f32s(len(kx)), in.f32s(len(kx)), in.f32s(len(kx))
	if err := in.done(); err != nil {
		return nil, err
	}
	wave := map[string]func(float64) float64{"real": math.Cos, "imaginary": math.Sin}[part]
	if wave == nil {
		return nil, fmt.Errorf("part %q: it must be real or imaginary", part)
	}
	q := make([]float32, len(x))
	for i := range q {
		var sum float32
		for k := range kx {
			turns := fma32(kx[k], x[i], fma32(ky[k], y[i], mul32(kz[k], z[i])))
			angle := mul32(6.2831853, turns-float32(math.RoundToEven(float64(turns))))
			sum = fma32(fma32(re[k], re[k], mul32(im[k], im[k])), float32(wave(float64(angle))), sum)
		}
		q[i] = sum
	}
	return q, nil
}

// tpacf(x, y, z, edges, n) counts pairs by angle: of the first set of n points with
// itself, of every other set with itself, of the first with every other. A pair's bin
// is the number of edges (falling cosines) above its dot product.
func tpacf(list []any) (any, error) {
	in := arguments{list: list}
	x := in.f32s(-1)
	y, z := in.f32s(len(x)), in.f32s(len(x))
	edges, n := in.f32s(-1), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if n == 0 || len(x)%n != 0 || len(x) == 0 {
		return nil, fmt.Errorf("%d points are no whole number of sets of %d", len(x), n)
	}
	sets, bins := len(x)/n-1, len(edges)+1
	out := make([]uint32, (2*sets+1)*bins)
	pairs := func(h []uint32, left, right int, cross bool) {
		for i := range n {
			first := i + 1
			if cross {
				first = 0
			}
			for j := first; j < n; j++ {
				a, b := left*n+i, right*n+j
				dot := fma32(x[a], x[b], fma32(y[a], y[b], mul32(z[a], z[b])))
				bin := 0
				for bin < len(edges) && dot < edges[bin] {
					bin++
				}
				h[bin]++
			}
		}
	}
	for s := range sets + 1 {
		pairs(out[s*bins:(s+1)*bins], s, s, false)
		if s > 0 {
			pairs(out[(sets+s)*bins:(sets+s+1)*bins], 0, s, true)
		}
	}
	return out, nil
}
