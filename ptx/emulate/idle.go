package emulate

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// DefaultIdle is the number of warp instructions without anything useful after which a
// functional run counts as hung: half a minute of it.
const DefaultIdle = 500_000_000

// idle tells a program that works from one that only waits. Useful is the end of a CTA, and a warp at
// an instruction where none was; so a loop of few instructions is not, even if it stores.
type idle struct {
	most     uint64
	from     uint64   // warp instructions when something useful was last done
	seen     []uint64 // bitset of the instructions executed in the second half of what may pass,
	distinct int      // and their number
}

// useful begins to count anew.
func (r *runner) useful() {
	r.idle.from = r.n.WarpInsts
	clear(r.idle.seen)
	r.idle.distinct = 0
	r.check = min(r.limit, r.idle.from+r.idle.most/2)
}

// look is told of the instructions a run executes when its limit is reached, or when nothing useful has been
// done for half the time it may take.
func (r *runner) look(c *resident, w int, pc int32) error {
	if r.n.WarpInsts >= r.limit {
		if c.live == 1 && r.step.Next < 0 && len(r.ctas) == 1 && r.next == r.geo.CTAs {
			return nil // the last one
		}
		return fmt.Errorf("%s:%d: kernel %s: the limit of %d warp instructions was reached in block %s, warp %d: "+
			"an endless loop, or raise the limit",
			r.code.File, r.code.Instr[pc].Line, r.code.Kernel, r.limit, r.block(c.index), w)
	}
	d := &r.idle
	if r.n.WarpInsts < d.from+d.most/2 {
		return nil
	}
	if d.seen == nil {
		d.seen = make([]uint64, len(r.code.Instr)/64+1)
	}
	if bit := uint64(1) << (pc & 63); d.seen[pc>>6]&bit == 0 {
		d.seen[pc>>6] |= bit
		d.distinct++
	}
	if d.distinct > isa.FewInstructions {
		r.useful()
		return nil
	}
	if r.n.WarpInsts < d.from+d.most {
		return nil
	}
	return fmt.Errorf("%s:%d: kernel %s: for %d warp instructions no block has ended and all warps have been at "+
		"the same %d instructions; block %s, warp %d spins here or waits for something that never comes "+
		"(raise the limit with --watchdog)",
		r.code.File, r.code.Instr[pc].Line, r.code.Kernel, d.most, d.distinct, r.block(c.index), w)
}
