package torture

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

func letters(seed uint32, n, alphabet int) []byte {
	return table(n, func(i int) byte { return 'a' + byte(mix(seed*7919+uint32(i))%uint32(alphabet)) })
}

var algorithms = []kernelTest{
	one("algorithms", "al_mandelbrot", d2(5, 4), d2(8, 8), 0, refMandelbrot),
	one("algorithms", "al_lcg", d1(2), d1(64), 0, func() []any {
		const n, steps = 100, 40
		state := longs(81, n)
		after, hash := slices.Clone(state), make([]uint32, n)
		for i := range after {
			for k := range uint32(steps) {
				s := after[i]*6364136223846793005 + 1442695040888963407
				after[i] = s
				hash[i] ^= rotr(uint32((s>>18^s)>>27), uint32(s>>59)) + k
			}
		}
		return []any{ptr(inout(state, after)), ptr(out(hash)), uint32(n), uint32(steps)}
	}),
	{"al_crc", "algorithms", func() []launch {
		const n, per = 80, 23
		text := letters(82, n*per+8, 26)
		want := out(table(n, func(i int) uint32 { return crc32.ChecksumIEEE(text[i*per : i*per+per+i&7]) }))
		return []launch{
			{"al_crc_table", d1(1), d1(256), 0, nil},
			{"al_crc", d1(3), d1(32), 0, []any{ptr(in(text)), &want, uint32(n), uint32(per)}},
		}
	}},
	one("algorithms", "al_inverse", d1(1), d1(16), 0, func() []any {
		const n = 16
		a := unit(83, n*n)
		return []any{ptr(in(a)), ptr(out(refInverse(a, n))), uint32(n)}
	}),
	one("algorithms", "al_fft32", d1(2), d1(32), 0, func() []any { return fftArgs[float32](84) }),
	one("algorithms", "al_fft64", d1(2), d1(32), 0, func() []any { return fftArgs[float64](85) }),
	one("algorithms", "al_queens", d1(2), d1(32), 0, func() []any {
		return []any{ptr(out([]uint32{92})), uint32(8)}
	}),
	one("algorithms", "al_search", d1(8), d1(128), 0, func() []any {
		text, pattern := letters(86, 1000, 3), []byte("ab?c")
		first, hits := uint32(math.MaxUint32), make([]uint32, 4)
		for i := 0; i+4 <= len(text); i++ {
			if t := text[i:]; t[0] == 'a' && t[1] == 'b' && t[3] == 'c' {
				first = min(first, uint32(i))
				hits[i&3]++
			}
		}
		return []any{
			ptr(in(text)), uint32(1000), ptr(in(pattern)), uint32(4),
			ptr(inout([]uint32{math.MaxUint32}, []uint32{first})), ptr(out(hits)),
		}
	}),
	{"al_hash", "algorithms", func() []launch {
		const n, size = 400, 512
		key := table(n, func(i int) uint32 { return mix(uint32(i)%300) | 1 })
		sum := map[uint32]uint32{}
		for i, k := range key {
			sum[k] += uint32(i) + 1
		}
		ask := table(200, func(i int) uint32 { return mix(uint32(i)*2) | 1 }) // half of them were never inserted
		slots, value := ptr(scratch(make([]uint32, size))), ptr(scratch(make([]uint32, size)))
		return []launch{
			{"al_hash_insert", d1(4), d1(100), 0, []any{ptr(in(key)), slots, value, uint32(size), uint32(n)}},
			{"al_hash_find", d1(2), d1(100), 0, []any{
				ptr(in(ask)), slots, value, uint32(size),
				ptr(out(table(200, func(i int) uint32 { return sum[ask[i]] }))), uint32(200),
			}},
		}
	}},
	one("algorithms", "al_queue", d1(3), d1(64), 0, func() []any {
		sizes := []uint32{37, 1, 64, 5, 90}
		total, capacity := uint32(0), uint32(0)
		for _, s := range sizes {
			total, capacity = total+s, capacity+2*s-1
		}
		task, full, ready := make([]uint32, capacity), make([]uint32, capacity), table(int(capacity),
			func(int) uint32 { return 1 })
		copy(task, sizes)
		copy(full, []uint32{1, 1, 1, 1, 1})
		return []any{
			ptr(scratch(task)), ptr(inout(full, ready)), ptr(scratch([]uint32{0})), ptr(inout([]uint32{5},
				[]uint32{capacity})),
			ptr(inout([]uint32{total}, []uint32{0})), ptr(out([]uint32{total})), capacity,
		}
	}),
	one("algorithms", "al_sha256", d1(1), d1(64), 0, func() []any {
		const n = 50
		var text []byte
		var want []uint32
		for i := range n {
			msg := letters(87+uint32(i), i, 26)
			block := append(bytes.Clone(msg), 0x80)
			block = append(block, make([]byte, 56-len(block))...)
			text = append(text, binary.BigEndian.AppendUint64(block, uint64(8*len(msg)))...)
			sum := sha256.Sum256(msg)
			for k := range 8 {
				want = append(want, binary.BigEndian.Uint32(sum[4*k:]))
			}
		}
		return []any{ptr(in(text)), ptr(out(want)), uint32(n)}
	}),
	one("algorithms", "al_quicksort", d1(2), d1(32), 0, func() []any {
		const n, per = 50, 37
		a := table(n*per, func(i int) int32 { return int32(mix(uint32(i)+880)) % 50 })
		want := slices.Clone(a)
		for i := range n {
			slices.Sort(want[i*per : i*per+per])
		}
		return []any{ptr(inout(a, want)), uint32(per), uint32(n)}
	}),
	one("algorithms", "al_edit", d1(2), d1(32), 0, func() []any {
		const n, length = 50, 20
		a, b := letters(89, n*length, 4), letters(90, n*length, 4)
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(table(n, func(i int) uint32 {
			return refEdit(a[i*length:i*length+length], b[i*length:i*length+length])
		}))), uint32(length), uint32(n)}
	}),
	one("algorithms", "al_life", d1(2), d2(16, 16), 0, func() []any {
		cells := table(512, func(i int) byte { return byte(mix(uint32(i)+91) & 1) })
		return []any{ptr(inout(cells, refLife(cells, 7))), uint32(7)}
	}),
}

func refMandelbrot() []any {
	const w, h, limit = 37, 29, 60
	iters, last := make([]uint32, w*h), make([]float32, w*h)
	for i := range iters {
		cr := float32(float32(i%w)*float32(3.0/float32(w))) - 2.25
		ci := float32(float32(i/w)*float32(2.5/float32(h))) - 1.25
		var zr, zi float32
		for iters[i] < limit && float32(zr*zr)+float32(zi*zi) <= 4 {
			zr, zi = float32(float32(zr*zr)-float32(zi*zi))+cr, fma32(2*zr, zi, ci)
			iters[i]++
		}
		last[i] = zr
	}
	return []any{ptr(out(iters)), ptr(out(last)), uint32(w), uint32(h), uint32(limit)}
}

func refInverse(a []float32, n int) []float32 {
	m := make([][]float32, n)
	for t := range m {
		m[t] = append(slices.Clone(a[t*n:t*n+n]), make([]float32, n)...)
		m[t][n+t] = 1
	}
	for c := range m {
		best := c
		for r := c + 1; r < n; r++ {
			if math.Abs(float64(m[r][c])) > math.Abs(float64(m[best][c])) {
				best = r
			}
		}
		m[c], m[best] = m[best], m[c]
		p := m[c][c]
		for j := range m[c] {
			m[c][j] /= p
		}
		for t := range m {
			f := m[t][c]
			for j := range m[t] {
				if t != c {
					m[t][j] = fma32(-f, m[c][j], m[t][j])
				}
			}
		}
	}
	var o []float32
	for _, row := range m {
		o = append(o, row[n:]...)
	}
	return o
}

// fftArgs transforms two blocks of 128 points.
func fftArgs[F float32 | float64](seed uint32) []any {
	const n = 128
	re := table(2*n, func(i int) F { return F(units(seed+uint32(i), 1)[0]) })
	im := table(2*n, func(i int) F { return F(units(seed+1000+uint32(i), 1)[0]) })
	wr := table(n/2, func(i int) F { return F(math.Cos(2 * math.Pi * float64(i) / n)) })
	wi := table(n/2, func(i int) F { return F(-math.Sin(2 * math.Pi * float64(i) / n)) })
	ore, oim := make([]F, 2*n), make([]F, 2*n)
	for b := 0; b < 2*n; b += n {
		sr, si := ore[b:b+n], oim[b:b+n]
		for i := range uint32(n) {
			r := bits.Reverse32(i) >> (32 - 7)
			sr[r], si[r] = re[b+int(i)], im[b+int(i)]
		}
		for half := 1; half < n; half *= 2 {
			for k := range n / 2 {
				j := k & (half - 1)
				x, y, w := 2*k-j, 2*k-j+half, j*(n/2/half)
				xr := F(sr[y]*wr[w]) - F(si[y]*wi[w]) //nolint:unconvert // keeps the compiler from fusing
				xi := F(sr[y]*wi[w]) + F(si[y]*wr[w]) //nolint:unconvert // keeps the compiler from fusing
				sr[y], si[y] = sr[x]-xr, si[x]-xi
				sr[x], si[x] = sr[x]+xr, si[x]+xi
			}
		}
	}
	return []any{ptr(inout(re, ore)), ptr(inout(im, oim)), ptr(in(wr)), ptr(in(wi)), uint32(n)}
}

func refEdit(a, b []byte) uint32 {
	row := table(len(b)+1, func(i int) uint32 { return uint32(i) })
	for r := range a {
		diag := row[0]
		row[0] = uint32(r) + 1
		for c := range b {
			up := row[c+1]
			row[c+1] = min(diag+flag(a[r] != b[c]), up+1, row[c]+1)
			diag = up
		}
	}
	return row[len(b)]
}

func refLife(cells []byte, rounds int) []byte {
	now := slices.Clone(cells)
	for range rounds {
		next := make([]byte, len(now))
		for i := range now {
			sum, base, y, x := 0, i&^255, i>>4&15, i&15
			for d := range 9 {
				sum += int(now[base+(y+d/3+15)&15*16+(x+d%3+15)&15])
			}
			if sum == 3 || now[i] == 1 && sum == 4 {
				next[i] = 1
			}
		}
		now = next
	}
	return now
}
