package uvm

import "math/bits"

// Mask is a set of the pages of one tree: bit i is its i-th page.
type Mask [PagesPerChunk / 64]uint64

// Has says whether page i is in the set.
func (m *Mask) Has(i int) bool { return m[i>>6]>>(i&63)&1 != 0 }

// Set adds page i.
func (m *Mask) Set(i int) { m[i>>6] |= 1 << (i & 63) }

// Clear removes page i.
func (m *Mask) Clear(i int) { m[i>>6] &^= 1 << (i & 63) }

// Empty says that no page is in the set.
func (m *Mask) Empty() bool { return *m == Mask{} }

// Count is the number of pages.
func (m *Mask) Count() (n int) {
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// CountIn is the number of pages of the set among the n pages from the given one.
func (m *Mask) CountIn(from, n int) int {
	part := m.In(from, n)
	return part.Count()
}

// In is the part of the set among the n pages from the given one.
func (m *Mask) In(from, n int) Mask {
	r := span(from, n)
	return r.And(m)
}

// span is the n pages from the given one.
func span(from, n int) (m Mask) {
	for k := range m {
		lo, hi := max(from-k*64, 0), min(from+n-k*64, 64)
		if lo < hi {
			m[k] = ^uint64(0) >> (64 - (hi - lo)) << lo
		}
	}
	return m
}

// Or is the pages in either set.
func (m *Mask) Or(o *Mask) (r Mask) {
	for k := range m {
		r[k] = m[k] | o[k]
	}
	return r
}

// And is the pages in both sets.
func (m *Mask) And(o *Mask) (r Mask) {
	for k := range m {
		r[k] = m[k] & o[k]
	}
	return r
}

// Without is the pages of this set that are not in the other.
func (m *Mask) Without(o *Mask) (r Mask) {
	for k := range m {
		r[k] = m[k] &^ o[k]
	}
	return r
}

// Next is the first page of the set from i on; PagesPerChunk if there is none.
func (m *Mask) Next(i int) int {
	for k := i >> 6; k < len(m); k, i = k+1, 0 {
		if w := m[k] >> (i & 63) << (i & 63); w != 0 {
			return k<<6 + bits.TrailingZeros64(w)
		}
	}
	return PagesPerChunk
}
