package sm

import "github.com/heddle-sim/heddle/isa"

// asyncCopies are a warp's copies into shared memory without registers (cp.async). Its copies since the last Commit are
// the open group. Hardware counts the groups of a warp, too, up to 63 under way; here there may be more.
type asyncCopies struct {
	group   uint32 // number of the open group
	until   uint32 // while the warp waits: the first group it does not wait for,
	missing int32  // and the copies of earlier ones that are under way
}

// await notes what a warp waits for; false if all of it is there.
func (x *operations) await(w int, c *asyncCopies, g isa.Groups) bool {
	c.until = c.group - min(c.group, uint32(g.Spare))
	if g.Open {
		c.until++
	}
	return x.missing(w, c)
}

// missing counts the copies that a warp waits for.
func (x *operations) missing(w int, c *asyncCopies) bool {
	c.missing = 0
	for i := range x.list {
		if o := &x.list[i]; o.left > 0 && int(o.warp) == w && o.kind == isa.AsyncCopy && o.group < c.until {
			c.missing++
		}
	}
	return c.missing > 0
}

// copied lets a warp go on with the last of the copies that it waits for.
func (ws *warps) copied(w int, o *memOp, now uint64) {
	c := &ws.slot[w].copies
	if o.kind != isa.AsyncCopy || o.group >= c.until {
		return
	}
	if c.missing--; c.missing == 0 {
		ws.resumeAt(w, AtFence, max(now+1, o.at), now)
	}
}
