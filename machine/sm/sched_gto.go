package sm

import "math/bits"

// gto is greedy-then-oldest: the same warp until it stalls, then the oldest by
// launch (baselines item 12).
func gto(cand uint64, last int, age *[64]uint64) int {
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
