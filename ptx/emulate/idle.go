package emulate

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// DefaultIdle is the number of warp instructions without progress after which a functional run counts as hung: about
// half a minute.
const DefaultIdle = 500_000_000

// looks is how often warps are looked at in that time.
const looks = 1000

// idle tells a program that works from one that only waits. Useful is the end of a CTA, and a warp at a line or in
// a state in which it has not been (isa.Seen); so loops that wait are not, even if they store.
type idle struct {
	most  uint64
	from  uint64 // warp instructions when something useful was last done
	seen  isa.Seen
	state isa.State // of the warp looked at
}

// useful sets the count to 0.
func (r *runner) useful() {
	r.idle.from = r.n.WarpInsts
	r.later()
}

// later says when to look next.
func (r *runner) later() { r.check = min(r.limit, r.n.WarpInsts+r.idle.most/looks|1) }

// look looks at the warps of a run when it is time, while warp w of c is at an instruction.
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
	if r.news(c, w) {
		r.useful()
		return nil
	}
	if r.later(); r.n.WarpInsts < d.from+d.most {
		return nil
	}
	return fmt.Errorf("%s:%d: kernel %s: for %d warp instructions no block has ended and all warps have been where "+
		"they were before, with the same values for what ends their loops; block %s, warp %d spins here or waits for "+
		"something that never comes (raise the limit with --watchdog)",
		r.code.File, r.code.Instr[pc].Line, r.code.Kernel, d.most, r.block(c.index), w)
}

// news says whether a warp has done what none did before: the one that runs, or else any.
func (r *runner) news(now *resident, w int) (news bool) {
	if r.new(now, w) {
		return true
	}
	for _, c := range r.ctas {
		for w := range c.waiting {
			news = r.new(c, w) || news
		}
	}
	return news
}

func (r *runner) new(c *resident, w int) bool {
	pc := c.cta.PC(w)
	c.cta.State(w, &r.idle.state)
	return pc >= 0 && (r.idle.seen.State(r.idle.state.Own) || r.idle.seen.Line(pc))
}
