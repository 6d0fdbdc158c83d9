package sm

import "math/bits"

// picker chooses among the candidate warps of one scheduler (bit w = warp slot w,
// never empty). last is the slot the scheduler issued from before; age is the
// launch order of each slot.
type picker func(cand uint64, last int, age []uint64) int

var pickers = map[string]picker{"gto": gto, "lrr": lrr}

// lrr is loose round-robin: the next ready warp after the last issued one.
func lrr(cand uint64, last int, _ []uint64) int {
	if after := cand &^ (uint64(2)<<last - 1); after != 0 {
		return bits.TrailingZeros64(after)
	}
	return bits.TrailingZeros64(cand)
}

// gto is greedy-then-oldest: the same warp until it stalls, then the oldest by
// launch (baselines item 12).
func gto(cand uint64, last int, age []uint64) int {
	if cand>>last&1 != 0 {
		return last
	}
	best := bits.TrailingZeros64(cand)
	for c := cand & (cand - 1); c != 0; c &= c - 1 {
		if w := bits.TrailingZeros64(c); age[w] < age[best] {
			best = w
		}
	}
	return best
}
