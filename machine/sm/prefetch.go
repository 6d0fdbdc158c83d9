package sm

import "math/bits"

// lineWords is the 32-bit words in a line of the computer's caches.
const lineWords = 16

// Prefetch brings the warps that may issue before cycle end into the caches of the computer; the SM runs next up to
// end. The caches have no room for 80 SMs. A warp's first instruction of a visit would wait for its state, its
// registers' times and its code, one after the other, for longer than it takes to simulate. Here they are read for
// all warps at once, and the computer waits for many of them together.
func (s *SM) Prefetch(end uint64) {
	ws := &s.pipe.warps
	blocked := ws.ready &^ s.pipe.issuable() // for a while, as a rule
	sum := uint32(0)
	for m := ^(s.pipe.ctas.free | blocked); m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		if ws.wake[w] >= end {
			continue
		}
		wp := &ws.slot[w]
		for i := 0; i < len(wp.ready); i += lineWords {
			sum += wp.ready[i]
		}
		sum += uint32(wp.exec.PC(int(wp.in)))
	}
	s.pipe.prefetched = sum
}
