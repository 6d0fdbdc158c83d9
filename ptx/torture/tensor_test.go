package torture

import (
	"math"
)

// small gives whole numbers from -8 to 7: their products and sums are exact in every
// order, whatever the tensor unit's internal precision.
func small(seed uint32, n int) []float32 {
	return table(n, func(i int) float32 { return float32(int(mix(seed*97+uint32(i))&15) - 8) })
}

// toHalf is the binary16 pattern of a small whole number.
func toHalf(x float32) uint16 {
	if x == 0 {
		return 0
	}
	f, e := math.Frexp(math.Abs(float64(x)))
	h := uint16(e+14)<<10 | uint16(f*2048)&1023
	if x < 0 {
		h |= 1 << 15
	}
	return h
}

func toBfloat(x float32) uint32 { return math.Float32bits(x) >> 16 }

var tensor = []kernelTest{
	one("tensor", "tn_f16", d1(2), d1(32), 0, func() []any {
		var a, b []uint16
		var c, d []float32
		var turned []uint32
		for block := range uint32(2) {
			fa, fb, fc := small(block, 256), small(block+10, 128), small(block+20, 128) // B by columns: [n][k]
			for _, v := range fa {
				a = append(a, toHalf(v))
			}
			for _, v := range fb {
				b = append(b, toHalf(v))
			}
			c = append(c, fc...)
			for i, sum := range fc {
				for k := range 16 {
					p := fa[i/8*16+k] * fb[i%8*16+k]
					sum += p
					if k >= 8 { // added again by the product with k = 8
						sum += p
					}
				}
				d = append(d, sum)
			}
			for l := range 32 { // element pairs of column l/4 of the upper left quarter
				row, col := l%4*2, l/4
				turned = append(turned, uint32(toHalf(fa[row*16+col]))|uint32(toHalf(fa[(row+1)*16+col]))<<16)
			}
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(in(c)), ptr(out(d)), ptr(out(turned))}
	}),
	one("tensor", "tn_fragments", d1(1), d1(32), 0, func() []any {
		a, b := small(31, 16*16), small(32, 16*8) // A [row][k], B [k][n]
		s, u := small(33, 16*8), small(34, 8*8)
		var bf, tf []uint32
		var want []float32
		two := func(lo, hi float32) uint32 { return toBfloat(lo) | toBfloat(hi)<<16 }
		for l := range 32 {
			g, t := l/4, l%4
			for _, at := range [][2]int{{g, 2 * t}, {g + 8, 2 * t}, {g, 2*t + 8}, {g + 8, 2*t + 8}} {
				bf = append(bf, two(a[at[0]*16+at[1]], a[at[0]*16+at[1]+1]))
			}
			for _, k := range []int{2 * t, 2*t + 8} {
				bf = append(bf, two(b[k*8+g], b[(k+1)*8+g]))
			}
			for _, at := range [][2]int{{g, t}, {g + 8, t}, {g, t + 4}, {g + 8, t + 4}} {
				tf = append(tf, math.Float32bits(s[at[0]*8+at[1]]))
			}
			for _, k := range []int{t, t + 4} {
				tf = append(tf, math.Float32bits(u[k*8+g]))
			}
			for i, first := range []float32{1, 1, 2, 2} {
				for k := range 16 {
					first += a[(g+i/2*8)*16+k] * b[k*8+2*t+i%2]
				}
				want = append(want, first)
			}
			for i, first := range []float32{2, 1, 2, 1} {
				for k := range 8 {
					first += s[(g+i/2*8)*8+k] * u[k*8+2*t+i%2]
				}
				want = append(want, first)
			}
		}
		return []any{ptr(in(bf)), ptr(in(tf)), ptr(out(want))}
	}),
}
