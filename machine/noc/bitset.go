package noc

import "math/bits"

// bitset is a set of small integers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (s bitset) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) remove(i int)   { s[i>>6] &^= 1 << (i & 63) }
func (s bitset) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

func (s bitset) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// from is the first member at or after start, wrapping round, that is not in
// without; -1 when there is none. without may be nil.
func (s bitset) from(start int, without bitset) int {
	n := len(s)
	w, low := start>>6, ^uint64(0)<<(start&63)
	for i := 0; i <= n; i++ {
		m := s[w]
		if without != nil {
			m &^= without[w]
		}
		switch i {
		case 0:
			m &= low
		case n:
			m &^= low
		}
		if m != 0 {
			return w<<6 | bits.TrailingZeros64(m)
		}
		if w++; w == n {
			w = 0
		}
	}
	return -1
}

// next is the first member at or after i; -1 when there is none.
func (s bitset) next(i int) int {
	low := ^uint64(0) << (i & 63)
	for w := i >> 6; w < len(s); w++ {
		if m := s[w] & low; m != 0 {
			return w<<6 | bits.TrailingZeros64(m)
		}
		low = ^uint64(0)
	}
	return -1
}
