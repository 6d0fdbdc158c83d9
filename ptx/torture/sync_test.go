package torture

import "math/bits"

var syncs = []kernelTest{
	one("sync", "sy_block_lock", d1(20), d1(64), 0, func() []any {
		return []any{ptr(in([]uint32{0})), ptr(out([]uint32{60, 59 * 3})), uint32(3)}
	}),
	one("sync", "sy_warp_lock", d1(3), d1(64), 0, func() []any {
		return []any{ptr(in([]uint32{0})), ptr(out([]uint32{3 * 64 * 65 / 2}))}
	}),
	one("sync", "sy_hard_lock", d1(3), d1(64), 0, func() []any {
		return []any{ptr(in([]uint32{0})), ptr(out([]uint32{3 * 64 * 65 / 2}))}
	}),
	one("sync", "sy_token", d1(1), d1(128), 0, func() []any {
		return []any{ptr(out(table(12, func(i int) uint32 { return uint32(i%4*10 + i/4) })))}
	}),
	one("sync", "sy_chain", d1(50), d1(32), 0, func() []any {
		a, sum := words(71, 50), make([]uint32, 50)
		before := uint32(0)
		for b, v := range a {
			sum[b] = before*3 + v
			before = sum[b]
		}
		return []any{ptr(in(a)), ptr(out(sum)), ptr(out(table(50, func(int) uint32 { return 1 })))}
	}),
	one("sync", "sy_grid_barrier", d1(6), d1(64), 0, func() []any {
		const n, rounds = 384, 4
		data := words(72, 2*n)
		want := append([]uint32(nil), data...)
		for r := range uint32(rounds) {
			from, to := r&1*n, ^r&1*n
			for i := range uint32(n) {
				want[i+to] = want[(i+37)%n+from]*5 + r
			}
		}
		return []any{ptr(inout(data, want)), ptr(out([]uint32{rounds * 6})), uint32(rounds)}
	}),
	one("sync", "sy_last_block", d1(10), d1(64), 0, func() []any {
		a, partial := words(73, 640), make([]uint32, 10)
		var sum uint32
		for b := range partial {
			for _, v := range a[64*b : 64*b+64] {
				partial[b] += v
			}
			sum = sum*7 + partial[b]
		}
		return []any{ptr(in(a)), ptr(out(partial)), ptr(out([]uint32{10})), ptr(out([]uint32{sum}))}
	}),
	one("sync", "sy_reduce", d1(2), d1(96), 0, func() []any {
		a := words(74, 192)
		for i := range 96 {
			a[i] = a[i]&^0x3f | 0x15 // the first block agrees: bits 0, 2 and 4 are set in all
		}
		return []any{ptr(in(a)), ptr(out(table(192, func(i int) uint32 {
			var acc uint32
			for k := range 6 {
				count := uint32(0)
				for _, v := range a[i/96*96 : i/96*96+96] {
					count += v >> k & 1
				}
				acc = acc*1000 + count*4 + flag(count == 96 || k == 3)*2 + flag(count > 0 && k != 4)
			}
			return acc + uint32(i%96)
		})))}
	}),
	one("sync", "sy_named", d1(1), d1(128), 0, func() []any {
		return []any{ptr(out(table(320, func(i int) uint32 {
			return mix(uint32(i/64*64 + i/32%2*32 + 31 - i%32))
		})))}
	}),
	one("sync", "sy_leavers", d1(2), d1(256), 0, func() []any {
		// Both blocks write the same values to the same places.
		return []any{ptr(out(table(256, func(t int) uint32 {
			v, other := uint32(t), uint32(t^1)
			for r := range uint32(t / 32) {
				v, other = other+r+1, v+r+1
			}
			return v
		})))}
	}),
	one("sync", "sy_warp", d1(1), d1(128), 0, func() []any {
		v := table(128, func(t int) uint32 { return mix(uint32(t)) })
		for r := range 5 {
			for t, x := range v {
				if x&1 != 0 {
					v[t] = x*3 + 1
				} else {
					v[t] = x >> 1
				}
			}
			old := append([]uint32(nil), v...)
			for t := range v {
				v[t] += old[t^1<<r]
			}
		}
		return []any{ptr(out(v))}
	}),
}

// rotr is the rotation to the right of SHA-2 and of PCG.
func rotr(x uint32, n uint32) uint32 { return bits.RotateLeft32(x, -int(n)) }
