package torture

import "math"

const atN = 500 // of 4 blocks of 128 threads

// opResults is what the twelve 32-bit operations of at_global32 and at_shared32 leave,
// for words w (already holding the starting values) and s.
func opResults(w []uint32, s []int32, in []uint32, incWrap, decWrap uint32) {
	for _, v := range in {
		w[0] += v
		w[1] -= v & 255
		w[2] = min(w[2], v)
		w[3] = max(w[3], v)
		w[4] &= v | 0xff
		w[5] |= v & 0x10101010
		w[6] ^= v
		if w[7] >= incWrap {
			w[7] = 0
		} else {
			w[7]++
		}
		if w[8] == 0 || w[8] > decWrap {
			w[8] = decWrap
		} else {
			w[8]--
		}
		s[0] = min(s[0], int32(v))
		s[1] = max(s[1], int32(v))
		s[2] -= 3
	}
}

var atomics = []kernelTest{
	one("atomics", "at_global32", d1(4), d1(128), 0, func() []any {
		w := []uint32{5, 6, 1 << 31, 7, 0xffffffff, 0, 9, 20, 30}
		s := []int32{100, -100, 0}
		a := words(11, atN)
		ww, ws := append([]uint32(nil), w...), append([]int32(nil), s...)
		opResults(ww, ws, a, 10, 10)
		return []any{ptr(inout(w, ww)), ptr(inout(s, ws)), ptr(in(a)), uint32(atN)}
	}),
	one("atomics", "at_shared32", d1(3), d1(96), 0, func() []any {
		a := words(12, 3*96)
		var want []uint32
		for b := range 3 {
			w, s := []uint32{0, 0, 0xffffffff, 0, 0xffffffff, 0, 0, 0, 0}, make([]int32, 3)
			opResults(w, s, a[b*96:b*96+96], 6, 6)
			want = append(want, w...)
			for _, v := range s {
				want = append(want, uint32(v))
			}
		}
		return []any{ptr(out(want)), ptr(in(a))}
	}),
	one("atomics", "at_generic", d1(2), d1(128), 0, func() []any {
		a := words(13, 256)
		mine, cells := make([]uint32, 8), make([]uint32, 5)
		for i, v := range a {
			m := mine[i/128*4 : i/128*4+4]
			if v&1 != 0 {
				m[v>>1&3] += v >> 8
				cells[4]++
			} else {
				cells[v>>1&3] += v >> 8
				m[0]++
			}
		}
		return []any{ptr(out(mine)), ptr(out(cells)), ptr(in(a))}
	}),
	one("atomics", "at_64", d1(4), d1(128), 0, func() []any {
		w := []uint64{1, math.MaxUint64, 5, math.MaxUint64, 0, 3, 1 << 40}
		s := []int64{0, 0}
		a := longs(14, atN)
		ww, ws := append([]uint64(nil), w...), append([]int64(nil), s...)
		for _, v := range a {
			ww[0] += v
			ww[1] = min(ww[1], v)
			ww[2] = max(ww[2], v)
			ww[3] &= v | 0xffff
			ww[4] |= v & 0x1111111111111111
			ww[5] ^= v
			ww[6] += v & 0xffff
			ws[0] = min(ws[0], int64(v))
			ws[1] = max(ws[1], int64(v))
		}
		return []any{ptr(inout(w, ww)), ptr(inout(s, ws)), ptr(in(a)), uint32(atN)}
	}),
	one("atomics", "at_float", d1(4), d1(128), 0, func() []any {
		a := words(15, atN)
		f, d := make([]float32, 5), make([]float64, 5)
		for i, v := range a {
			x := float32(v&63) - 31
			f[0] += x
			d[0] += float64(x) * 0.5
			f[1+(i&3)] += x
			d[1+(i&3)] += float64(x) * 0.25
		}
		return []any{ptr(out(f)), ptr(out(d)), ptr(in(a)), uint32(atN)}
	}),
	one("atomics", "at_ticket", d1(4), d1(128), 0, func() []any {
		next := make([]uint32, 9)
		next[0] = atN
		for i := range atN {
			next[2+i%7]++
		}
		next[1] = atN % 7
		return []any{ptr(out(next)), ptr(out(table(atN, func(int) uint32 { return 1 }))), uint32(atN)}
	}),
	one("atomics", "at_cas_float", d1(4), d1(128), 0, func() []any {
		a := unit(16, atN)
		best := float32(-1)
		for _, v := range a {
			best = max(best, v)
		}
		return []any{ptr(inout([]float32{-1}, []float32{best})), ptr(in(a)), uint32(atN)}
	}),
	one("atomics", "at_list", d1(1), d1(200), 0, func() []any {
		return []any{
			ptr(out(table(8, func(i int) int32 { return int32(i) }))), ptr(scratch(make([]int32, 200))),
			ptr(out([]uint32{200, 199 * 200 / 2})),
		}
	}),
}
