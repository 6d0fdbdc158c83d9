package sm

import "math/bits"

// lrr is loose round-robin: the next ready warp after the last issued one.
func lrr(cand uint64, last int, _ *[64]uint64) int {
	if after := cand &^ (bit(last)<<1 - 1); after != 0 {
		return bits.TrailingZeros64(after)
	}
	return bits.TrailingZeros64(cand)
}
