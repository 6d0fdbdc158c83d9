package characterise

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// Shape is the pattern of addresses of one warp access to global memory.
type Shape uint8

const (
	Single    Shape = iota // one active lane: says nothing
	Uniform                // every lane the same address
	Unit                   // each lane the element after its neighbour's
	Strided                // a constant stride below a cache line
	Block                  // the same short dense row in equal groups of lanes, at a constant distance
	Sparse                 // a constant stride of a cache line or more
	Scattered              // none of these
	numShapes
)

var shapeNames = [numShapes]string{"single", "uniform", "unit", "strided", "block", "sparse", "scattered"}

// lineBytes is the LLC line of the papers' machines.
const lineBytes = 128

// shapeOf classifies the addresses of the lanes in mask, which is not empty; width
// is what each lane moves in bytes.
func shapeOf(addr *[isa.Lanes]uint64, mask uint32, width int64) Shape {
	if mask&(mask-1) == 0 {
		return Single
	}
	if s, ok := fit(addr, mask, isa.Lanes); ok {
		switch {
		case s == 0:
			return Uniform
		case s == width:
			return Unit
		case -lineBytes < s && s < lineBytes:
			return Strided
		}
		return Sparse
	}
	for g := isa.Lanes / 2; g >= 2; g /= 2 {
		if s, ok := fit(addr, mask, g); ok {
			if -lineBytes < s && s < lineBytes {
				return Block
			}
			return Sparse
		}
	}
	return Scattered
}

// fit finds the stride s and, for groups of g lanes, the distance d such that lane
// l is at start + (l mod g)*s + (l div g)*d. Where no group has two active lanes it
// gives d, the only distance there is.
func fit(addr *[isa.Lanes]uint64, mask uint32, g int) (s int64, ok bool) {
	last := -1
	for m := mask; m != 0 && !ok; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if last >= 0 && l/g == last/g {
			diff, gap := int64(addr[l]-addr[last]), int64(l-last)
			if diff%gap != 0 {
				return 0, false
			}
			s, ok = diff/gap, true
		}
		last = l
	}
	alone := !ok                // no group has two lanes: what counts is how the groups lie
	group, base := -1, int64(0) // of the latest group
	var d int64
	known := false
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		at := int64(addr[l]) - int64(l%g)*s
		if l/g == group {
			if at != base {
				return 0, false
			}
			continue
		}
		if group >= 0 {
			diff, gap := at-base, int64(l/g-group)
			if diff%gap != 0 || known && diff/gap != d {
				return 0, false
			}
			d, known = diff/gap, true
		}
		group, base = l/g, at
	}
	if alone {
		return d, known
	}
	return s, true
}
