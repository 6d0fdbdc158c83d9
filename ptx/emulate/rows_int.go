package emulate

import "math/bits"

// Integer rows of 32 bits. Division by zero gives all ones and the remainder by
// zero the dividend, as GPUs do (the PTX ISA leaves both unspecified).

func mov32(d, a, _, _ *v32) { *d = *a }

func add32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func sub32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulLo32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func mulHiU32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = uint32(uint64(a[i]) * uint64(b[i]) >> 32)
	}
}

func mulHiS32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = uint32(int64(int32(a[i])) * int64(int32(b[i])) >> 32)
	}
}

func madLo32(d, a, b, c *v32) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

func madHiU32(d, a, b, c *v32) {
	for i := range d {
		d[i] = uint32(uint64(a[i])*uint64(b[i])>>32) + c[i]
	}
}

func madHiS32(d, a, b, c *v32) {
	for i := range d {
		d[i] = uint32(int64(int32(a[i]))*int64(int32(b[i]))>>32) + c[i]
	}
}

func madHiSatS32(a, b, c uint32) uint32 {
	v := int64(int32(a))*int64(int32(b))>>32 + int64(int32(c))
	return uint32(min(max(v, -1<<31), 1<<31-1))
}

func addSatS32(a, b uint32) uint32 {
	return uint32(min(max(int64(int32(a))+int64(int32(b)), -1<<31), 1<<31-1))
}

func subSatS32(a, b uint32) uint32 {
	return uint32(min(max(int64(int32(a))-int64(int32(b)), -1<<31), 1<<31-1))
}

// 24-bit multiplies use the low 24 bits of each operand.
func s24(v uint32) int64 { return int64(int32(v<<8) >> 8) }

func mul24LoU(a, b uint32) uint32 { return (a & 0xffffff) * (b & 0xffffff) }
func mul24LoS(a, b uint32) uint32 { return uint32(s24(a) * s24(b)) }
func mul24HiU(a, b uint32) uint32 { return uint32(uint64(a&0xffffff) * uint64(b&0xffffff) >> 16) }
func mul24HiS(a, b uint32) uint32 { return uint32(s24(a) * s24(b) >> 16) }

func sadU32(d, a, b, c *v32) {
	for i := range d {
		d[i] = c[i] + max(a[i], b[i]) - min(a[i], b[i])
	}
}

func sadS32(d, a, b, c *v32) {
	x, y := si(a), si(b)
	for i := range d {
		d[i] = c[i] + uint32(max(x[i], y[i])) - uint32(min(x[i], y[i]))
	}
}

func divU32(a, b uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return a / b
}

func divS32(a, b uint32) uint32 {
	if b == 0 {
		return ^uint32(0)
	}
	return uint32(int32(int64(int32(a)) / int64(int32(b)))) // 64 bits: -2^31 / -1 wraps
}

func remU32(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}

func remS32(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return uint32(int64(int32(a)) % int64(int32(b)))
}

func neg32(d, a, _, _ *v32) {
	for i := range d {
		d[i] = -a[i]
	}
}

func abs32(d, a, _, _ *v32) {
	for i := range d {
		s := uint32(int32(a[i]) >> 31)
		d[i] = (a[i] ^ s) - s
	}
}

func minU32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func maxU32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func minS32(d, a, b, _ *v32) {
	r, x, y := si(d), si(a), si(b)
	for i := range r {
		r[i] = min(x[i], y[i])
	}
}

func maxS32(d, a, b, _ *v32) {
	r, x, y := si(d), si(a), si(b)
	for i := range r {
		r[i] = max(x[i], y[i])
	}
}

func and32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func or32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xor32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func not32(d, a, _, _ *v32) {
	for i := range d {
		d[i] = ^a[i]
	}
}

func cnot32(a uint32) uint32 {
	if a == 0 {
		return 1
	}
	return 0
}

// Shift amounts above the width are clamped to it, which is what Go's shifts do.
func shl32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] << b[i]
	}
}

func shrU32(d, a, b, _ *v32) {
	for i := range d {
		d[i] = a[i] >> b[i]
	}
}

func shrS32(d, a, b, _ *v32) {
	r, x := si(d), si(a)
	for i := range r {
		r[i] = x[i] >> b[i]
	}
}

func shfLWrap(a, b, c uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) << (c & 31) >> 32) }
func shfRWrap(a, b, c uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) >> (c & 31)) }
func shfLClamp(a, b, c uint32) uint32 {
	return uint32((uint64(b)<<32 | uint64(a)) << min(c, 32) >> 32)
}
func shfRClamp(a, b, c uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) >> min(c, 32)) }

func popc32(a uint32) uint32 { return uint32(bits.OnesCount32(a)) }
func clz32(a uint32) uint32  { return uint32(bits.LeadingZeros32(a)) }

// bfind gives the position of the highest bit that differs from the sign (or is
// one, when unsigned); all ones when there is none.
func bfindU32(a uint32) uint32 { return uint32(bits.Len32(a) - 1) }
func bfindS32(a uint32) uint32 { return bfindU32(a ^ uint32(int32(a)>>31)) }

func bfeU64(a uint64, pos, n uint32, width uint32) uint64 {
	pos, n = pos&0xff, n&0xff
	if n == 0 || pos >= width {
		return 0
	}
	a >>= pos
	if n < 64 {
		a &= 1<<n - 1
	}
	return a
}

// bfeS64 replicates the top bit of the field, or of a when the field leaves it.
func bfeS64(a uint64, pos, n uint32, width uint32) uint64 {
	pos, n = pos&0xff, n&0xff
	if n == 0 {
		return 0
	}
	top := min(pos+n-1, width-1)
	sign := a>>top&1 != 0
	v := bfeU64(a, pos, n, width)
	if have := min(n, width-min(pos, width)); sign && have < 64 {
		v |= ^uint64(0) << have
	}
	return v
}

// bfi inserts the low n bits of a into b at pos.
func bfi(a, b uint64, pos, n uint32, width uint32) uint64 {
	pos, n = pos&0xff, n&0xff
	if pos >= width || n == 0 {
		return b
	}
	m := ^uint64(0)
	if n < 64 {
		m = 1<<n - 1
	}
	m <<= pos
	return b&^m | a<<pos&m
}

// prmt picks bytes of b:a. mode "" takes selectors with sign replication.
func prmt(mode string) func(a, b, c uint32) uint32 {
	pick := func(a, b, c uint32, sel [4]uint32) (r uint32) {
		all := uint64(b)<<32 | uint64(a)
		for i, s := range sel {
			v := uint32(all>>(s&7*8)) & 0xff
			if s&8 != 0 {
				v = uint32(int32(int8(v))>>7) & 0xff
			}
			r |= v << (8 * i)
		}
		return r
	}
	return func(a, b, c uint32) uint32 {
		k := c & 3
		switch mode {
		case "f4e":
			return pick(a, b, c, [4]uint32{k, k + 1, k + 2, k + 3})
		case "b4e":
			return pick(a, b, c, [4]uint32{k, (k + 7) & 7, (k + 6) & 7, (k + 5) & 7})
		case "rc8":
			return pick(a, b, c, [4]uint32{k, k, k, k})
		case "ecl":
			return pick(a, b, c, [4]uint32{k, max(k, 1), max(k, 2), 3})
		case "ecr":
			return pick(a, b, c, [4]uint32{0, min(k, 1), min(k, 2), k})
		case "rc16":
			h := c & 1 * 2
			return pick(a, b, c, [4]uint32{h, h + 1, h, h + 1})
		}
		return pick(a, b, c, [4]uint32{c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15})
	}
}

// lop3 is any function of three inputs, given as its truth table.
func lop3(table uint32) fn32 {
	return func(d, a, b, c *v32) {
		for i := range d {
			var r uint32
			x, y, z := a[i], b[i], c[i]
			if table&1 != 0 {
				r |= ^x & ^y & ^z
			}
			if table&2 != 0 {
				r |= ^x & ^y & z
			}
			if table&4 != 0 {
				r |= ^x & y & ^z
			}
			if table&8 != 0 {
				r |= ^x & y & z
			}
			if table&16 != 0 {
				r |= x & ^y & ^z
			}
			if table&32 != 0 {
				r |= x & ^y & z
			}
			if table&64 != 0 {
				r |= x & y & ^z
			}
			if table&128 != 0 {
				r |= x & y & z
			}
			d[i] = r
		}
	}
}

// dp4a multiplies four bytes pairwise and adds; sa and sb sign-extend.
func dp4a(sa, sb bool) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		for i := 0; i < 32; i += 8 {
			c += uint32(field(a>>i, 8, sa) * field(b>>i, 8, sb))
		}
		return c
	}
}

// dp2a multiplies two halfwords of a with two bytes of b (the upper two when hi).
func dp2a(sa, sb, hi bool) func(a, b, c uint32) uint32 {
	return func(a, b, c uint32) uint32 {
		if hi {
			b >>= 16
		}
		for i := range 2 {
			c += uint32(field(a>>(16*i), 16, sa) * field(b>>(8*i), 8, sb))
		}
		return c
	}
}

func field(v uint32, n int, signed bool) int32 {
	v <<= 32 - n
	if signed {
		return int32(v) >> (32 - n)
	}
	return int32(v >> (32 - n))
}

func mulWideU(d *v64, a, b *v32, _ *v64) {
	for i := range d {
		d[i] = uint64(a[i]) * uint64(b[i])
	}
}

func mulWideS(d *v64, a, b *v32, _ *v64) {
	for i := range d {
		d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
	}
}

func madWideU(d *v64, a, b *v32, c *v64) {
	for i := range d {
		d[i] = uint64(a[i])*uint64(b[i]) + c[i]
	}
}

func madWideS(d *v64, a, b *v32, c *v64) {
	for i := range d {
		d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
	}
}

// sext16 and trunc16 adapt 16-bit registers to 32-bit rows.
func sext16(d, a *v32) {
	for i := range d {
		d[i] = uint32(int16(a[i]))
	}
}

func trunc16(d *v32) {
	for i := range d {
		d[i] &= 0xffff
	}
}

func reverse32(a uint32) uint32 { return bits.Reverse32(a) }
func reverse64(a uint64) uint64 { return bits.Reverse64(a) }

// fns finds the n-th one of mask counting from bit base, upwards for n > 0,
// downwards for n < 0; n = 0 asks whether bit base is set.
func fns(mask, base, n uint32) uint32 {
	count := int32(n)
	step := int32(1)
	if count < 0 {
		count, step = -count, -1
	}
	if count == 0 {
		count = 1
		mask &= 1 << (base & 31)
	}
	for i := int32(base & 31); i >= 0 && i < 32; i += step {
		if mask>>i&1 != 0 {
			if count--; count == 0 {
				return uint32(i)
			}
		}
	}
	return ^uint32(0)
}
