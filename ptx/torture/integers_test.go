package torture

import (
	"math/big"
	"math/bits"
)

// edges are the operands where integer arithmetic goes wrong.
var edges = []uint32{
	0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 100, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff,
	0x1000000, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, 0xffffffff,
}

// pairs gives every pair of edges and 300 random ones.
func pairs() (a, b []uint32) {
	for _, x := range edges {
		for _, y := range edges {
			a, b = append(a, x), append(b, y)
		}
	}
	return append(a, words(31, 300)...), append(b, words(32, 300)...)
}

// perPair tests kernels k(a, b, out, n) that write a fixed number of values per pair.
func perPair[T any](name string, f func(x, y uint32) []T) kernelTest {
	a, b := pairs()
	return one("integers", name, d1((uint32(len(a))+95)/96), d1(96), 0, func() []any {
		var want []T
		for i := range a {
			want = append(want, f(a[i], b[i])...)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want)), uint32(len(a))}
	})
}

var integers = []kernelTest{
	perPair("in_mul", refMul),
	perPair("in_div", refDiv),
	perPair("in_shift", refShift),
	perPair("in_bits", refBits),
	perPair("in_idioms", refIdioms),
	one("integers", "in_narrow", d1(3), d1(128), 0, func() []any {
		const n = 300
		b := table(n, func(i int) int8 { return int8(mix(uint32(i))) })
		h := table(n, func(i int) uint16 { return uint16(mix(uint32(i) + 999)) })
		bo, ho, wo := make([]int8, n), make([]uint16, n), []int64{}
		for i, x := range b {
			ux, y, sy := uint8(x), h[i], int16(h[i])
			bo[i] = int8(int32(x)*3 + int32(sy))
			ho[i] = uint16(uint32(y) + uint32(ux)*257)
			less := int64(flag(int16(x) < sy)) + 2*int64(flag(uint16(ux) < y))
			wo = append(wo, int64(x)*int64(sy), int64(uint32(ux)<<24)+less,
				int64(int32(sy>>3)+int32(y>>3)+int32(x>>1)+int32(ux>>1)), int64(int8(sy))-int64(uint8(y)))
		}
		return []any{ptr(in(b)), ptr(in(h)), ptr(out(bo)), ptr(out(ho)), ptr(out(wo)), uint32(n)}
	}),
	one("integers", "in_vector", d1(1), d1(64), 0, func() []any {
		const n = 50
		a, b := words(33, 4*n), longs(34, 2*n)
		var o4 []uint32
		var o2 []uint64
		for i := range n {
			v, c := a[4*i:], a[4*i]
			s0, s1 := int16(v[1]), int16(v[1]>>16)
			o4 = append(o4, v[3]+c&255, v[2]^c>>24, v[1]+uint32(int32(s0)), v[0]-uint32(int32(s1))+
				(c>>8&255)*(c>>16&255))
			o2 = append(o2, b[2*i+1], b[2*i]^1)
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(o4)), ptr(out(o2)), uint32(n)}
	}),
	one("wide", "in_carry", d1(2), d1(128), 0, refCarry),
	one("wide", "in_wide128", d1(1), d1(256), 0, func() []any {
		a, b := longs(35, 200), longs(36, 200)
		mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
		var want []uint64
		for i := range a {
			x, y := new(big.Int).SetUint64(a[i]), new(big.Int).SetUint64(b[i])
			s := new(big.Int).Mul(x, y)
			s.Add(s, x).Sub(s, y.Lsh(y, 40)).And(s, mask)
			l := new(big.Int).Lsh(s, uint(a[i]&63))
			s.Or(l, s.Rsh(s, 90)).And(s, mask)
			want = append(want, new(big.Int).And(s, new(big.Int).SetUint64(1<<64-1)).Uint64(),
				new(big.Int).Rsh(s, 64).Uint64())
		}
		return []any{ptr(in(a)), ptr(in(b)), ptr(out(want)), uint32(200)}
	}),
}

// refCarry does the same sums on big integers.
func refCarry() []any {
	const n = 200
	a, b := words(37, 3*n), words(38, 3*n)
	for i := range 60 { // carries that run through all words
		a[i], b[i] = 0xffffffff*(mix(uint32(i))&1), 0xffffffff*(mix(uint32(i)+7)&1)+mix(uint32(i)+9)&1
	}
	number := func(w []uint32) *big.Int {
		v := new(big.Int)
		for i := len(w) - 1; i >= 0; i-- {
			v.Lsh(v, 32).Or(v, big.NewInt(int64(w[i])))
		}
		return v
	}
	wordsOf := func(v *big.Int, n int) (w []uint32) { // two's complement
		v = new(big.Int).Set(v)
		for range n {
			w = append(w, uint32(new(big.Int).And(v, big.NewInt(0xffffffff)).Int64()))
			v.Rsh(v, 32)
		}
		return w
	}
	var want []uint32
	for i := range n {
		x, y := a[3*i:3*i+3], b[3*i:3*i+3]
		bx, by := number(x), number(y)
		want = append(want, wordsOf(new(big.Int).Add(bx, by), 4)...)
		want = append(want, wordsOf(new(big.Int).Sub(bx, by), 4)...)
		want = append(want, wordsOf(new(big.Int).Mul(number(x[:2]), number(y[:2])), 4)...)
		carry := flag(x[0]+y[0] < x[0])
		if x[0] < y[1] {
			carry = y[1] >> 31
		}
		want = append(want, 100+carry)
	}
	return []any{ptr(in(a)), ptr(in(b)), ptr(out(want)), uint32(n)}
}

func refMul(x, y uint32) []uint32 {
	sx, sy := int32(x), int32(y)
	wide, swide := uint64(x)*uint64(y), int64(sx)*int64(sy)
	xx, yy := uint64(x)<<32|uint64(y), uint64(y)<<17^uint64(x)
	acc := xx + wide
	hi, _ := bits.Mul64(xx, yy)
	shi := hi // signed high part from the unsigned one
	if int64(xx) < 0 {
		shi -= yy
	}
	if int64(yy) < 0 {
		shi -= xx
	}
	x24, y24 := x&0xffffff, y&0xffffff
	s24 := int64(sx<<8>>8) * int64(sy<<8>>8)
	return []uint32{
		x * y, uint32(wide >> 32), uint32(swide >> 32), uint32(acc), uint32(acc >> 32), uint32(hi), uint32(shi),
		uint32(wide>>32) + 7, uint32(swide>>32) + 7, x24 * y24, uint32(s24 >> 16), uint32(s24) + 9,
	}
}

func refDiv(x, y uint32) []uint64 {
	o := make([]uint64, 10)
	if y == 0 {
		return o
	}
	two := func(q, r uint32) uint64 { return uint64(q)<<32 | uint64(r) }
	xx, yy := uint64(x)<<32|uint64(y), uint64(y)<<(x&31)
	o[0] = two(x/y, x%y)
	if !(x == 0x80000000 && y == 0xffffffff) {
		o[1] = two(uint32(int32(x)/int32(y)), uint32(int32(x)%int32(y)))
	}
	o[2], o[3] = xx/yy, xx%yy
	if !(xx == 1<<63 && yy == 1<<64-1) {
		o[4], o[5] = uint64(int64(xx)/int64(yy)), uint64(int64(xx)%int64(yy))
	}
	xs, ys := uint16(x), uint16(y|1)
	o[6] = two(uint32(xs/ys), uint32(xs%ys))
	ps, qs := int16(x&0x7fff), int16(y|1)
	o[7] = two(uint32(int32(ps/qs)), uint32(int32(ps%qs)))
	xc, yc := int64(int8(x)), int64(int8(y&0x7e|1))
	o[8] = uint64(xc/yc)<<8 ^ uint64(xc%yc)
	o[9] = xx/1000000007 + uint64(x/7) + uint64(uint32(int32(x)/12))
	return o
}

func refShift(x, s uint32) []uint32 {
	fold := func(v uint64) uint32 { return uint32(v) ^ uint32(v>>32) }
	xx, hi := uint64(x)<<32|uint64(^x), ^x*3
	both := uint64(hi)<<32 | uint64(x) // shf: a is the low word, b the high one
	return []uint32{
		x << s, x >> s, uint32(int32(x) >> s), fold(xx << s), fold(xx >> s), fold(uint64(int64(xx) >> s)),
		uint32(uint16(x) << s), uint32(int32(int16(x) >> s)),
		uint32(both << min(s, 32) >> 32), uint32(both >> (s & 31)),
	}
}

// bfe64 is bfe: the sign bit fills beyond the field or the register.
func bfe64(v uint64, pos, length, width uint32, signed bool) uint64 {
	sign := uint64(0)
	if signed && length > 0 {
		sign = v >> min(pos+length-1, width-1) & 1
	}
	r := uint64(0)
	for i := uint32(0); i < width; i++ {
		bit := sign
		if i < length && pos+i < width {
			bit = v >> (pos + i) & 1
		}
		r |= bit << i
	}
	return r
}

func bfi32(f, base, pos, length uint32) uint32 {
	for i := uint32(0); i < length && pos+i < 32; i++ {
		base = base&^(1<<(pos+i)) | f>>i&1<<(pos+i)
	}
	return base
}

func prmt(a, b, sel uint32) uint32 {
	v, r := uint64(b)<<32|uint64(a), uint32(0)
	for i := range 4 {
		s := sel >> (4 * i) & 15
		byt := uint32(v >> (8 * (s & 7)) & 255)
		if s&8 != 0 {
			byt = uint32(int32(int8(byt))>>7) & 255
		}
		r |= byt << (8 * i)
	}
	return r
}

func refBits(x, y uint32) []uint32 {
	xx := uint64(x)<<32 | uint64(y)
	p, l := y&255, y>>8&255
	fold := func(v uint64) uint32 { return uint32(v) ^ uint32(v>>32) }
	sfind := x // bfind.s32 looks for the first bit that differs from the sign
	if int32(x) < 0 {
		sfind = ^x
	}
	shiftamt := uint32(0xffffffff)
	if x != 0 {
		shiftamt = uint32(bits.LeadingZeros32(x))
	}
	z := x * 77
	sad, ssad := max(x, y)-min(x, y), uint32(max(int32(x), int32(y)))-uint32(min(int32(x), int32(y)))
	return []uint32{
		uint32(bits.OnesCount32(x)), uint32(bits.OnesCount64(xx)), uint32(bits.LeadingZeros32(x)),
		uint32(bits.LeadingZeros64(xx)),
		bits.Reverse32(x), uint32(bits.Reverse64(xx) >> 13), uint32(bits.Len32(x) - 1), uint32(bits.Len32(sfind) - 1),
		shiftamt,
		uint32(bfe64(uint64(x), p, l, 32, false)), uint32(bfe64(uint64(x), p, l, 32, true)), fold(bfe64(xx, p, l, 64,
			false)), fold(bfe64(xx, p, l, 64, true)),
		bfi32(x, y, p, l), prmt(x, y, x>>7), x&y | x&z | y&z, x ^ y ^ z, sad + 5, ssad + 5, flag(x&1 == 0),
	}
}

func refIdioms(x, y uint32) []uint32 {
	sx, sy := int32(x), int32(y)
	abs := x
	if sx < 0 {
		abs = -x
	}
	sum := x + y
	if sum < x {
		sum = 0xffffffff
	}
	sat := uint32(int32(max(-1<<31, min(1<<31-1, int64(sx)+int64(sy)))))
	return []uint32{
		bits.RotateLeft32(x, int(y&31)),
		bits.ReverseBytes32(x) ^ uint32(bits.ReverseBytes64(uint64(x)<<32|uint64(y))>>5),
		uint32(min(sx, sy)), uint32(max(sx, sy)) ^ max(x, y), abs, sum, sat, x&y + (x^y)>>1,
		uint32(bits.OnesCount64(uint64(x)*uint64(y))) + uint32(bits.TrailingZeros32(x|0x80000000)), sat,
	}
}
