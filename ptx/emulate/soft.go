package emulate

import "math/bits"

// Exact arithmetic with one rounding, in every PTX rounding mode and format. The
// row functions use the host's floating point where that is provably the same
// (.rn) and this file everywhere else.

// rounding is a PTX rounding mode.
type rounding uint8

const (
	rn rounding = iota // nearest even
	rz                 // toward zero
	rm                 // toward minus infinity
	rp                 // toward plus infinity
	ra                 // nearest, ties away from zero (cvt.rna)
)

// format is a binary interchange format: p bits of significand (the hidden one
// included) and the exponent range of normal numbers.
type format struct {
	p, emin, emax int
	width         int
}

var (
	fmt16 = format{11, -14, 15, 16}
	fmtB  = format{8, -126, 127, 16} // bf16
	fmt32 = format{24, -126, 127, 32}
	fmt64 = format{53, -1022, 1023, 64}
)

type class uint8

const (
	zero class = iota
	finite
	inf
	nan
)

// soft is a number: (hi:lo) * 2^exp when finite. The lowest bit of lo also stands
// for everything below it (sticky), so at least two bits must lie between it and
// the rounding position, which every operation here ensures.
type soft struct {
	class  class
	neg    bool
	exp    int
	hi, lo uint64
}

// unpack reads the bits of a number in format f; the significand lands at the top of hi.
func (f *format) unpack(v uint64) soft {
	s := soft{neg: v>>(f.width-1)&1 != 0}
	frac := v & (1<<(f.p-1) - 1)
	e := int(v >> (f.p - 1) & (1<<(f.width-f.p) - 1))
	switch {
	case e == 1<<(f.width-f.p)-1:
		s.class = inf
		if frac != 0 {
			s.class = nan
		}
		return s
	case e == 0 && frac == 0:
		return s
	case e == 0:
		e = 1
	default:
		frac |= 1 << (f.p - 1)
	}
	s.class = finite
	z := bits.LeadingZeros64(frac)
	s.hi = frac << z
	s.exp = e - f.emax - (f.p - 1) - z - 64
	return s
}

// quietNaN is the NaN the GPU returns: all ones without the sign for the 16- and
// 32-bit formats, the default NaN for f64.
func (f *format) quietNaN() uint64 {
	if f.width == 64 {
		return canonNaN64
	}
	return 1<<(f.width-1) - 1
}

func (f *format) infinity(neg bool) uint64 {
	v := uint64(1<<(f.width-f.p)-1) << (f.p - 1)
	return v | signBit(neg, f.width)
}

func signBit(neg bool, width int) uint64 {
	if neg {
		return 1 << (width - 1)
	}
	return 0
}

// pack rounds s into format f.
func (f *format) pack(s soft, mode rounding) uint64 {
	switch s.class {
	case nan:
		return f.quietNaN()
	case inf:
		return f.infinity(s.neg)
	case zero:
		return signBit(s.neg, f.width)
	}
	s.normalise()
	e := s.exp + 127 // value = 1.x * 2^e
	keep := f.p
	if e < f.emin {
		keep -= f.emin - e
		e = f.emin
	}
	m, inexact, half, odd := topBits(s.hi, s.lo, keep)
	if inexact && roundUp(mode, s.neg, half, odd) {
		m++
	}
	if m>>f.p != 0 {
		m >>= 1
		e++
	}
	if e > f.emax {
		if mode == rz || mode == rm && !s.neg || mode == rp && s.neg { // the largest finite number
			return f.infinity(s.neg) - 1
		}
		return f.infinity(s.neg)
	}
	biased := uint64(e + f.emax)
	if m>>(f.p-1) == 0 { // subnormal
		biased = 0
	}
	return signBit(s.neg, f.width) | biased<<(f.p-1) | m&(1<<(f.p-1)-1)
}

// roundUp decides whether the magnitude grows. half compares the discarded part
// with one half: -1 below, 0 equal, 1 above.
func roundUp(mode rounding, neg bool, half int, odd bool) bool {
	switch mode {
	case rn:
		return half > 0 || half == 0 && odd
	case ra:
		return half >= 0
	case rm:
		return neg
	case rp:
		return !neg
	}
	return false
}

// topBits takes the keep highest bits of hi:lo (whose top bit is set).
func topBits(hi, lo uint64, keep int) (m uint64, inexact bool, half int, odd bool) {
	switch {
	case keep < 0:
		return 0, true, -1, false
	case keep == 0: // the value is at least half of the last place
		half = 1
		if hi == 1<<63 && lo == 0 {
			half = 0
		}
		return 0, true, half, false
	}
	m = hi >> (64 - keep)
	rest := hi << keep
	inexact = rest|lo != 0
	switch {
	case rest < 1<<63:
		half = -1
	case rest > 1<<63 || lo != 0:
		half = 1
	}
	return m, inexact, half, m&1 != 0
}

func (s *soft) normalise() {
	if s.hi == 0 {
		s.hi, s.lo = s.lo, 0
		s.exp -= 64
	}
	z := bits.LeadingZeros64(s.hi)
	s.hi = s.hi<<z | s.lo>>(64-z)
	s.lo <<= z
	s.exp -= z
}

// shiftRight moves the significand right n places, keeping lost bits sticky.
func (s *soft) shiftRight(n int) {
	s.exp += n
	lost := uint64(0)
	switch {
	case n >= 128:
		lost, s.hi, s.lo = s.hi|s.lo, 0, 0
	case n >= 64:
		lost = s.lo | s.hi<<(128-n)
		if n == 64 {
			lost = s.lo
		}
		s.lo, s.hi = s.hi>>(n-64), 0
	case n > 0:
		lost = s.lo << (64 - n)
		s.lo = s.lo>>n | s.hi<<(64-n)
		s.hi >>= n
	}
	if lost != 0 {
		s.lo |= 1
	}
}

func softMul(a, b soft) soft {
	r := soft{class: finite, neg: a.neg != b.neg, exp: a.exp + b.exp + 128}
	switch {
	case a.class == nan || b.class == nan || a.class == inf && b.class == zero || a.class == zero && b.class == inf:
		r.class = nan
	case a.class == inf || b.class == inf:
		r.class = inf
	case a.class == zero || b.class == zero:
		r.class = zero
	default:
		r.hi, r.lo = bits.Mul64(a.hi, b.hi) // operands are unpacked: lo is 0
	}
	return r
}

// softAdd adds; the mode gives the sign of an exact zero.
func softAdd(a, b soft, mode rounding) soft {
	switch {
	case a.class == nan || b.class == nan || a.class == inf && b.class == inf && a.neg != b.neg:
		return soft{class: nan}
	case a.class == inf:
		return a
	case b.class == inf:
		return b
	case a.class == zero && b.class == zero:
		if a.neg != b.neg {
			a.neg = mode == rm
		}
		return a
	case a.class == zero:
		return b
	case b.class == zero:
		return a
	}
	a.normalise()
	b.normalise()
	a.shiftRight(1) // room for a carry
	b.shiftRight(1)
	if a.exp < b.exp {
		a, b = b, a
	}
	b.shiftRight(a.exp - b.exp)
	var c uint64
	if a.neg == b.neg {
		a.lo, c = bits.Add64(a.lo, b.lo, 0)
		a.hi, _ = bits.Add64(a.hi, b.hi, c)
		return a
	}
	if a.hi < b.hi || a.hi == b.hi && a.lo < b.lo {
		a, b = b, a
	}
	a.lo, c = bits.Sub64(a.lo, b.lo, 0)
	a.hi, _ = bits.Sub64(a.hi, b.hi, c)
	if a.hi|a.lo == 0 {
		return soft{class: zero, neg: mode == rm}
	}
	return a
}

func softDiv(a, b soft) soft {
	r := soft{class: finite, neg: a.neg != b.neg}
	switch {
	case a.class == nan || b.class == nan || a.class == inf && b.class == inf || a.class == zero && b.class == zero:
		r.class = nan
	case a.class == inf || b.class == zero:
		r.class = inf
	case b.class == inf || a.class == zero:
		r.class = zero
	default:
		var rem uint64
		r.hi, rem = bits.Div64(a.hi>>1, a.hi<<63, b.hi)
		r.lo, rem = bits.Div64(rem, 0, b.hi)
		if rem != 0 {
			r.lo |= 1
		}
		r.exp = a.exp - b.exp - 127
	}
	return r
}

func softSqrt(a soft) soft {
	switch {
	case a.class == nan || a.class == zero:
		return a
	case a.neg:
		return soft{class: nan}
	case a.class == inf:
		return a
	}
	// a = hi * 2^(exp+64); the root of hi:lo*2^e with even e has 64 bits.
	hi, lo, e := a.hi, uint64(0), a.exp
	if e&1 != 0 {
		hi, lo, e = hi>>1, hi<<63, e+1
	}
	var root, remHi, remLo uint64
	for range 64 { // digit by digit: rem = rem*4 + next two bits
		remHi = remHi<<2 | remLo>>62
		remLo = remLo<<2 | hi>>62
		hi = hi<<2 | lo>>62
		lo <<= 2
		tHi, tLo := root>>62, root<<2|1
		root <<= 1
		if remHi > tHi || remHi == tHi && remLo >= tLo {
			var c uint64
			remLo, c = bits.Sub64(remLo, tLo, 0)
			remHi, _ = bits.Sub64(remHi, tHi, c)
			root |= 1
		}
	}
	r := soft{class: finite, hi: root, exp: e/2 - 64}
	if remHi|remLo != 0 {
		r.lo = 1
	}
	return r
}

// The operations on bit patterns, by format and mode.

func (f *format) add(a, b uint64, m rounding) uint64 {
	return f.pack(softAdd(f.unpack(a), f.unpack(b), m), m)
}

func (f *format) mul(a, b uint64, m rounding) uint64 {
	return f.pack(softMul(f.unpack(a), f.unpack(b)), m)
}

func (f *format) fma(a, b, c uint64, m rounding) uint64 {
	return f.pack(softAdd(softMul(f.unpack(a), f.unpack(b)), f.unpack(c), m), m)
}

func (f *format) div(a, b uint64, m rounding) uint64 {
	return f.pack(softDiv(f.unpack(a), f.unpack(b)), m)
}

func (f *format) sqrt(a uint64, m rounding) uint64 { return f.pack(softSqrt(f.unpack(a)), m) }

// convert changes the format of a value with one rounding.
func convertFloat(from, to *format, v uint64, m rounding) uint64 {
	return to.pack(from.unpack(v), m)
}

// fromInt converts a signed or unsigned integer.
func (f *format) fromInt(v uint64, signed bool, m rounding) uint64 {
	s := soft{class: finite, hi: v, exp: -64}
	if signed && int64(v) < 0 {
		s.neg, s.hi = true, -v
	}
	if v == 0 {
		return 0
	}
	return f.pack(s, m)
}

// toInt rounds to an integer and saturates to [-2^(n-1), 2^(n-1)) or [0, 2^n);
// NaN gives 0.
func (f *format) toInt(v uint64, n int, signed bool, m rounding) uint64 {
	s := f.unpack(v)
	limit := uint64(1)<<(n-1)<<1 - 1
	if signed {
		limit >>= 1
	}
	var mag uint64
	switch s.class {
	case nan, zero:
		return 0
	case inf:
		mag = ^uint64(0)
	default:
		keep := s.exp + 128 // bits above the binary point
		if keep > 64 {
			mag = ^uint64(0)
			break
		}
		var inexact, odd bool
		var half int
		mag, inexact, half, odd = topBits(s.hi, s.lo, keep)
		if inexact && roundUp(m, s.neg, half, odd) {
			if mag++; mag == 0 {
				mag = ^uint64(0)
			}
		}
	}
	if s.neg {
		if !signed {
			return 0
		}
		return -min(mag, limit+1)
	}
	return min(mag, limit)
}

// toIntegral rounds to an integral value of the same format (cvt.rni.f32.f32).
func (f *format) toIntegral(v uint64, m rounding) uint64 {
	s := f.unpack(v)
	if s.class != finite || s.exp+128 >= f.p {
		return f.pack(s, m)
	}
	mag, inexact, half, odd := topBits(s.hi, s.lo, s.exp+128)
	if inexact && roundUp(m, s.neg, half, odd) {
		mag++
	}
	if mag == 0 {
		return signBit(s.neg, f.width)
	}
	return f.pack(soft{class: finite, neg: s.neg, hi: mag, exp: -64}, m)
}
