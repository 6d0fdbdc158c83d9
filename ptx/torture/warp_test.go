package torture

import "math/bits"

// perWarp builds n outputs of `sets` arrays, warp by warp: f fills out[set][lane].
func perWarp(n, sets int, f func(w int, out [][]uint32)) []uint32 {
	all := make([]uint32, n*sets)
	for w := range n / 32 {
		o := make([][]uint32, sets)
		for s := range o {
			o[s] = all[s*n+32*w : s*n+32*w+32]
		}
		f(w, o)
	}
	return all
}

// shflSource is the PTX ISA's pseudocode of shfl: the source lane and the predicate.
func shflSource(mode string, lane, b, c int) (int, bool) {
	b, cval, seg := b&31, c&31, c>>8&31
	maxLane := lane&seg | cval&^seg
	minLane := lane & seg
	var j int
	var p bool
	switch mode {
	case "up":
		j = lane - b
		p = j >= maxLane
	case "down":
		j = lane + b
		p = j <= maxLane
	case "bfly":
		j = lane ^ b
		p = j <= maxLane
	case "idx":
		j = minLane | b&^seg
		p = j <= maxLane
	}
	if !p {
		j = lane
	}
	return j, p
}

func seg(width int) int { return (32 - width) << 8 }

var warp = []kernelTest{
	one("warp", "wp_shfl", d1(2), d1(64), 0, func() []any {
		const n = 128
		a := words(21, n)
		want := perWarp(n, 9, func(w int, o [][]uint32) {
			for l := range 32 {
				for s, q := range []struct {
					mode string
					b, c int
				}{
					{"idx", l*7 + 3, 31},
					{"up", 3, 0},
					{"down", 5, 31},
					{"bfly", 21, 31},
					{"idx", l >> 1, 31 | seg(8)},
					{"up", 2, seg(8)},
					{"down", 9, 31 | seg(16)},
					{"bfly", 4, 31 | seg(4)},
					{"down", l, 31},
				} {
					src, _ := shflSource(q.mode, l, q.b, q.c)
					o[s][l] = a[32*w+src]
				}
			}
		})
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("warp", "wp_shfl_pred", d1(1), d1(96), 0, func() []any {
		a := words(22, 96)
		want := perWarp(96, 1, func(w int, o [][]uint32) {
			for l := range 32 {
				acc := uint32(0)
				for _, q := range []struct {
					mode string
					b, c int
				}{
					{"up", 4, 0},
					{"down", 4, 31},
					{"bfly", 16, 31},
					{"idx", 40, 31},
					{"up", 1, seg(8)},
					{"down", 3, 31 | seg(16)},
					{"bfly", 8, 31 | seg(8)},
				} {
					src, p := shflSource(q.mode, l, q.b, q.c)
					v := uint32(1)
					if p {
						v = a[32*w+src]
					}
					acc = acc*3 + v
				}
				o[0][l] = acc
			}
		})
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("warp", "wp_shfl_part", d1(1), d1(64), 0, func() []any {
		a := unit(23, 64)
		want := append([]float32(nil), a...)
		for w := 0; w < 64; w += 32 {
			for d := 1; d < 12; d <<= 1 {
				old := append([]float32(nil), want[w:w+32]...)
				for l := 0; l+d < 12; l++ {
					want[w+l] = old[l] + old[l+d]
				}
			}
			for l := 13; l < 32; l += 2 {
				want[w+l] = a[w+31] - a[w+l]
			}
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("warp", "wp_vote", d1(2), d1(64), 0, func() []any {
		const n = 128
		a := words(24, n)
		for l := range 32 {
			a[l] &= 0x0fffffff // the first warp: all below, none above, uniform
		}
		return []any{ptr(in(a)), ptr(out(perWarp(n, 3, func(w int, o [][]uint32) { refVote(a[32*w:32*w+32], o) })))}
	}),
	one("warp", "wp_active", d1(2), d1(64), 0, func() []any {
		const n = 128
		a := words(25, n)
		return []any{
			ptr(in(a)),
			ptr(out(perWarp(n, 1, func(w int, o [][]uint32) { refActive(a[32*w:32*w+32], o[0]) }))),
		}
	}),
	one("warp", "wp_match", d1(2), d1(96), 0, func() []any {
		const n = 192
		a := words(26, n)
		return []any{ptr(in(a)), ptr(out(perWarp(n, 3, func(w int, o [][]uint32) {
			for l := range 32 {
				var m uint32
				for k := range 32 {
					if a[32*w+k]&3 == a[32*w+l]&3 {
						m |= 1 << k
					}
				}
				o[0][l], o[1][l] = m, m
				if w>>1&1 != 0 { // match.all: all lanes gave 5, mask 0xffffffff and predicate 1
					o[2][l] = 0xfffffffd + 1
				} // else the values differ, and both are 0
			}
		})))}
	}),
	one("warp", "wp_compact", d1(2), d1(96), 0, func() []any {
		a := words(27, 192)
		want, count := make([]uint32, 192), make([]uint32, 6)
		for i, v := range a {
			if v%3 == 0 {
				want[i&^31+int(count[i/32])] = v
				count[i/32]++
			}
		}
		return []any{ptr(in(a)), ptr(out(want)), ptr(out(count))}
	}),
	one("warp", "wp_reconverge", d1(2), d1(96), 0, func() []any {
		a := words(29, 192)
		counts := make([]uint32, 3)
		masks := perWarp(192, 8, func(w int, o [][]uint32) { refReconverge(a[32*w:32*w+32], uint32(32*w), o, counts) })
		return []any{ptr(in(a)), ptr(out(append(masks, counts...)))}
	}),
	one("warp", "wp_switch", d1(2), d1(96), 0, func() []any {
		a := words(30, 192)
		want := table(195, func(i int) uint32 { return 0xffffffff })
		counts := want[192:]
		clear(counts)
		for _, v := range a {
			c := v >> 8 & 3
			counts[0] += 2 * flag(c == 0)
			counts[1] += 3 * flag(c == 1)
			counts[2] += 4 * flag(c == 1 || c == 2)
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("warp", "wp_wide", d1(1), d1(64), 0, func() []any {
		a := units(28, 64)
		want := append([]float64(nil), a...)
		for w := 0; w < 64; w += 32 {
			for d := 1; d < 32; d <<= 1 {
				old := append([]float64(nil), want[w:w+32]...)
				for l := d; l < 32; l++ {
					want[w+l] = old[l] + old[l-d]
				}
			}
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
}

func ballot(a []uint32, f func(v uint32) bool) (m uint32) {
	for l, v := range a {
		if f(v) {
			m |= 1 << l
		}
	}
	return m
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func refVote(a []uint32, o [][]uint32) {
	odd := ballot(a, func(v uint32) bool { return v&1 != 0 })
	low := ballot(a, func(v uint32) bool { return v < 0xf0000000 })
	high := ballot(a, func(v uint32) bool { return v > 0xf8000000 })
	top := ballot(a, func(v uint32) bool { return v>>31 != 0 })
	some := ballot(a, func(v uint32) bool { return v&6 == 6 })
	for l, v := range a {
		o[0][l] = odd
		o[1][l] = flag(low == 0xffffffff) | flag(high != 0)<<1 | flag(top == 0 || top == 0xffffffff)<<2
		if v&2 != 0 {
			o[2][l] = some
		}
	}
}

func refActive(a []uint32, o []uint32) {
	odd := ballot(a, func(v uint32) bool { return v&1 != 0 })
	both := ballot(a, func(v uint32) bool { return v&3 == 3 })
	for l, v := range a {
		r := ^odd
		if v&1 != 0 {
			r = odd ^ 0x1111
			if v&2 != 0 {
				r += both * 3
			}
		}
		eq := bits.RotateLeft32(1, l)
		lt, ge := eq-1, -eq
		r += lt*5 + (lt|eq)*7 + eq*11 + (ge&^eq)*13 + ge*17
		o[l] = r + uint32(l)
	}
}

// refReconverge fills the masks of one warp and counts the atomics.
func refReconverge(a []uint32, first uint32, o [][]uint32, counts []uint32) {
	bit16 := ballot(a, func(v uint32) bool { return v>>16&1 == 0 })
	stay := ballot(a, func(v uint32) bool { return v>>20&7 != 0 })
	for l, v := range a {
		for _, s := range []int{0, 1, 2, 4, 6} {
			o[s][l] = 0xffffffff
		}
		if bit16>>l&1 != 0 {
			o[3][l] = bit16
		}
		if stay>>l&1 != 0 {
			o[7][l] = stay
		}
		x := v
		for x&7 != 0 {
			if x&1 != 0 {
				x = x*3 + 1
			} else {
				x >>= 1
			}
		}
		o[5][l] = 0xffffffff + x&7
		countReconverge(v, first+uint32(l), counts)
	}
}

func countReconverge(v, i uint32, counts []uint32) {
	counts[0] += v & 1
	counts[1] += v >> 1 & 1 &^ v & 1
	for k := uint32(0); k < v>>4&15 && mix(k+i)&15 != 3; k++ {
		counts[2]++
	}
	switch v >> 8 & 7 {
	case 0:
		counts[0] += 2
	case 1:
		counts[1] += 3
		counts[2] += 4
	case 2:
		counts[2] += 4
	}
	for k := range 6 {
		counts[0] += 5 * (^v >> (12 + k) & 1)
	}
	counts[0] += 7 * (v >> 5 & 1)
	counts[1] += 11 * flag(v&(32|64) != 0)
}
