package addrmap

import "math/bits"

// linear is a linear function over GF(2) from an address to a packed word,
// evaluated byte by byte: six loads and five XORs, whatever the function is.
// Every map whose output bits are XORs of address bits is such a function.
type linear struct {
	tab [addrBytes][256]uint64
}

const addrBytes = (AddrBits + 7) / 8

// newLinear builds the tables from columns: col[i] is the image of address bit i.
func newLinear(col *[64]uint64) *linear {
	l := &linear{}
	for c := range l.tab {
		for v := 1; v < 256; v++ {
			low := bits.TrailingZeros(uint(v))
			l.tab[c][v] = l.tab[c][v&(v-1)] ^ col[8*c+low]
		}
	}
	return l
}

func (l *linear) of(x uint64) uint64 {
	return l.tab[0][x&255] ^ l.tab[1][x>>8&255] ^ l.tab[2][x>>16&255] ^
		l.tab[3][x>>24&255] ^ l.tab[4][x>>32&255] ^ l.tab[5][x>>40&255]
}

// columns turns output masks (bit b of the result is the parity of x & mask[b])
// into images of the single input bits.
func columns(mask *[64]uint64) (col [64]uint64) {
	for b, m := range mask {
		for ; m != 0; m &= m - 1 {
			col[bits.TrailingZeros64(m)] |= 1 << b
		}
	}
	return col
}

// invert finds, for a function given by its columns on the input bits of in, the
// input that each output bit stands for. ok is false when two inputs share an
// image. Output bits that carry nothing new get a zero entry.
func invert(col *[64]uint64, in uint64) (inv [64]uint64, ok bool) {
	type row struct{ out, in uint64 }
	var basis [64]row // basis[b] has output bit b as its highest
	for rest := in; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		r := row{col[i], 1 << i}
		for r.out != 0 {
			b := bits.Len64(r.out) - 1
			if basis[b].out == 0 {
				basis[b] = r
				break
			}
			r.out ^= basis[b].out
			r.in ^= basis[b].in
		}
		if r.out == 0 {
			return inv, false
		}
	}
	// Reduce so that each pivot bit occurs in its own row alone.
	for b := range basis {
		if basis[b].out == 0 {
			continue
		}
		for c := range basis {
			if c != b && basis[c].out>>b&1 == 1 {
				basis[c].out ^= basis[b].out
				basis[c].in ^= basis[b].in
			}
		}
	}
	for b := range basis {
		inv[b] = basis[b].in
	}
	return inv, true
}

// applyColumns is the linear function with the given columns, bit by bit.
func applyColumns(col *[64]uint64, x uint64) (y uint64) {
	for ; x != 0; x &= x - 1 {
		y ^= col[bits.TrailingZeros64(x)]
	}
	return y
}

// irreducible[d] is the polynomial of degree d used for IPOLY interleaving
// (Rau, "Pseudo-randomly interleaved memory", ISCA 1991), bit i being the
// coefficient of x^i. Degrees 4, 5 and 6 are those GPGPU-Sim uses (19, 37, 67);
// the others are the smallest irreducible polynomials.
var irreducible = [...]uint64{
	1: 3, 2: 7, 3: 11, 4: 19, 5: 37, 6: 67, 7: 131, 8: 283, 9: 515, 10: 1033, 11: 2053,
	12: 4105,
}

// ipolyTerms is how many higher address bits the published equations take for
// degrees 4, 5 and 6; GPGPU-Sim ignores those above.
var ipolyTerms = [...]int{4: 13, 5: 15, 6: 19}

// ipolyImages gives, for term i = 0, 1, ..., the remainder of x^(d+i) modulo the
// irreducible polynomial of degree d: what address bit i above the index field
// adds to the index.
func ipolyImages(d, terms int) []uint64 {
	out := make([]uint64, terms)
	r := irreducible[d] &^ (1 << d) // x^d
	for i := range out {
		out[i] = r
		r <<= 1
		if r>>d&1 == 1 {
			r ^= irreducible[d]
		}
	}
	return out
}

// log2 is the exponent of the smallest power of two that is at least n.
func log2(n int) int { return bits.Len(uint(n - 1)) }

func pow2(n int) bool { return n > 0 && n&(n-1) == 0 }
