package residency

import "github.com/heddle-sim/heddle/machine/sm"

// framesInFlight counts the requests of SMs that are under way to each frame. So a page leaves its frame only when no
// access can reach it any more.
type framesInFlight struct {
	to      []uint16     // [frame] requests without an answer, and leaves
	bits    uint         // log2 of a page
	mask    uint64       // of a frame's number, without its layout
	watched []sm.Watched // every SM
}

// leaves marks a frame that is being taken away, in addition to the number of requests.
const leaves = 1 << 15

// drainPoll is the number of cycles between two checks whether the accesses to leaving pages have ended.
const drainPoll = 16

func newFramesInFlight(frames int64, bits, layoutBit uint) framesInFlight {
	return framesInFlight{to: make([]uint16, frames), bits: bits, mask: 1<<layoutBit - 1}
}

// frame is the place of a line's frame.
func (x *framesInFlight) frame(line uint64) int { return int(line >> x.bits & x.mask) }

// count records n requests for a line of device memory.
func (x *framesInFlight) count(line uint64, n int) {
	if f := x.frame(line); f < len(x.to) {
		x.to[f] += uint16(n)
	}
}

// leaves says whether a line's frame is being taken away.
func (x *framesInFlight) leaves(line uint64) bool {
	f := x.frame(line)
	return f < len(x.to) && x.to[f]&leaves != 0
}

// mark marks frames as being taken away (leaves), or not (0).
func (x *framesInFlight) mark(frames []uint64, bit uint16) {
	for _, f := range frames {
		k := x.frame(f << x.bits)
		x.to[k] = x.to[k]&^leaves | bit
	}
}

// quiet says that no SM can reach marked frames any more.
func (x *framesInFlight) quiet(frames []uint64) bool {
	for _, f := range frames {
		if x.to[x.frame(f<<x.bits)]&^leaves > 0 {
			return false
		}
	}
	for _, s := range x.watched {
		if s.HasAccessToLeaving() {
			return false
		}
	}
	return true
}
