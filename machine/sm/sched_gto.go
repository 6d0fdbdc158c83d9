package sm

import "math/bits"

// gto is greedy-then-oldest: the same warp until it stalls, then the oldest by
// launch (baselines item 12).
func gto(cand uint64, last int, older *[64]uint64) int {
	if cand&bit(last) != 0 {
		return last
	}
	w := bits.TrailingZeros64(cand)
	for c := cand & older[w]; c != 0; c &= older[w] {
		w = bits.TrailingZeros64(c)
	}
	return w
}
