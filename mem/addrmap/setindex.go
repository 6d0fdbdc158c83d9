package addrmap

import (
	"fmt"
	"math/bits"
)

// SetIndex is the set-index function of one cache.
type SetIndex struct {
	sets  uint64
	magic uint64
	shift uint
	mask  uint64
	fold  uint // bits of the index XORed per step; 0: no folding
	hash  *linear
	whole bool // sets is a power of two
}

// NewSetIndex makes the function of the given kind for any number of sets:
// linear (line number modulo sets), xor (the bits above the index XORed in) or
// ipoly (their polynomial remainder, as GPGPU-Sim). With a number of sets that is
// no power of two the hash is added modulo sets instead.
func NewSetIndex(kind string, sets int) (SetIndex, error) {
	if sets < 1 || sets > 1<<20 {
		return SetIndex{}, fmt.Errorf("a cache of %d sets: give 1 to %d", sets, 1<<20)
	}
	s := SetIndex{sets: uint64(sets), shift: uint(log2(sets)), whole: pow2(sets)}
	s.mask = 1<<s.shift - 1
	if !s.whole {
		s.magic = ^uint64(0)/s.sets + 1
	}
	d := int(s.shift)
	switch {
	case kind == "linear" || kind == "" || sets == 1:
		return s, nil
	case kind == "xor":
		s.fold = s.shift
	case kind == "ipoly":
		if d >= len(irreducible) {
			return SetIndex{}, fmt.Errorf("ipoly index over %d sets: at most %d", sets, 1<<(len(irreducible)-1))
		}
		terms := AddrBits
		if d < len(ipolyTerms) && ipolyTerms[d] > 0 {
			terms = ipolyTerms[d]
		}
		var col [64]uint64
		copy(col[:], ipolyImages(d, terms))
		s.hash = newLinear(&col)
	default:
		return SetIndex{}, fmt.Errorf("index %q: use linear, xor or ipoly", kind)
	}
	return s, nil
}

// Of is the set of a line; line is the address divided by the line size (for an
// LLC slice, the local address: Map.Local).
func (s *SetIndex) Of(line uint64) int {
	var i, q uint64
	if s.whole {
		i, q = line&s.mask, line>>s.shift
	} else {
		q, _ = bits.Mul64(line, s.magic)
		i = line - q*s.sets
	}
	var h uint64
	switch {
	case s.hash != nil:
		h = s.hash.of(q)
	case s.fold != 0:
		for ; q != 0; q >>= s.fold {
			h ^= q & s.mask
		}
	default:
		return int(i)
	}
	if s.whole {
		return int(i ^ h)
	}
	i += h
	for i >= s.sets { // h < 2 * sets: at most twice
		i -= s.sets
	}
	return int(i)
}
