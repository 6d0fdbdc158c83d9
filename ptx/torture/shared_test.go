package torture

import (
	"math"
	"slices"
	"sort"
)

var shared = []kernelTest{
	one("shared", "sh_transpose", d2(3, 2), d2(16, 16), 0, func() []any {
		const w, h = 40, 23
		a := words(1, w*h)
		return []any{ptr(in(a)), ptr(out(table(w*h, func(i int) uint32 { return a[i%h*w+i/h] }))), uint32(w), uint32(h)}
	}),
	one("shared", "sh_types", d1(2), d1(256), 0, func() []any {
		a := words(2, 512)
		return []any{ptr(in(a)), ptr(out(table(512, func(i int) uint64 {
			b, t := a[i&^255:], uint32(i&255)
			s := int64(uint8(b[255-t]))*3 + int64(int16(b[(t+1)&255]>>8))*5 + int64(int8(b[t^85]>>24))*7 +
				int64(b[t*7&255])
			return uint64(s)
		})))}
	}),
	one("shared", "sh_dynamic", d1(1), d1(64), 9*150, func() []any {
		const n = 150
		f := unit(3, n)
		return []any{ptr(in(f)), ptr(out(table(n, func(i int) float32 {
			if (n-1-i)%3 == 1 {
				return f[(i*5+3)%n]
			}
			return -f[i]
		}))), uint32(n)}
	}),
	one("shared", "sh_mixed", d1(1), d1(96), 4*96, func() []any {
		a := words(4, 96)
		var count [64]uint32
		for _, v := range a {
			count[v&63]++
		}
		return []any{ptr(in(a)), ptr(out(table(96, func(t int) uint32 { return a[(t+13)%96]*1000 + count[t&63] })))}
	}),
	one("shared", "sh_matmul", d2(3, 3), d2(8, 8), 0, func() []any {
		const n = 24
		a, b := units(5, n*n), units(6, n*n)
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(table(n*n, func(i int) float64 {
			var acc float64
			for k := range n {
				acc = math.FMA(a[i/n*n+k], b[k*n+i%n], acc)
			}
			return acc
		}))), uint32(n)}
	}),
	one("shared", "sh_scan", d1(2), d1(256), 0, func() []any {
		a := words(7, 512)
		want := slices.Clone(a)
		for i := range want {
			if i&255 != 0 {
				want[i] += want[i-1]
			}
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("shared", "sh_bitonic", d1(2), d1(128), 0, func() []any {
		key := table(512, func(i int) int32 { return int32(mix(uint32(i) + 500)) })
		val := table(512, func(i int) uint32 { return uint32(i) })
		order := slices.Clone(val)
		for b := 0; b < 512; b += 256 {
			part := order[b : b+256]
			sort.Slice(part, func(x, y int) bool { return key[part[x]] < key[part[y]] })
		}
		return []any{ptr(inout(key, table(512, func(i int) int32 { return key[order[i]] }))), ptr(inout(val, order))}
	}),
	one("shared", "sh_vector", d1(2), d1(64), 0, func() []any {
		const n = 128
		a := unit(8, 4*n)
		at := func(i, c int) float32 { return a[4*max(0, min(n-1, i))+c] }
		want := make([]float32, 4*n)
		for i := range n {
			o := want[4*i:]
			o[0] = at(i-1, 0) + float32(at(i, 1)*at(i+1, 2))
			o[1] = at(i, 0) - at(i-1, 3)
			o[2] = fma32(at(i+1, 0), at(i-1, 1), at(i, 2))
			o[3] = at(i, 3) * 0.5
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("shared", "sh_reduce", d1(3), d1(256), 0, func() []any {
		a := table(768, func(i int) int64 { return int64(longs(uint32(i), 1)[0]) })
		return []any{ptr(in(a)), ptr(out(table(3, func(b int) int64 {
			s := slices.Clone(a[256*b : 256*b+256])
			for d := 128; d > 0; d >>= 1 {
				for t := range d {
					if s[t] > s[t+d] {
						s[t] -= s[t+d]
					} else {
						s[t] = s[t+d]*3 - s[t]
					}
				}
			}
			return s[0]
		})))}
	}),
}
