package dram

// actRing holds the clocks of the last ACTs.
type actRing struct {
	buf    []uint64
	pos, n int
}

// add stores a clock; nth is the n-th last one, 0 before there are that many.
func (r *actRing) add(t uint64) {
	r.buf[r.pos] = t
	if r.pos++; r.pos == len(r.buf) {
		r.pos = 0
	}
	r.n = min(r.n+1, len(r.buf))
}

func (r *actRing) nth(n int) (t uint64, ok bool) {
	p := r.pos - n
	if p < 0 {
		p += len(r.buf)
	}
	return r.buf[p], r.n >= n
}

// apply records that cmd issued at t for bank b (any bank of the rank when the
// command addresses the rank) by pushing every ready time it constrains.
func (c *Channel) apply(cmd Cmd, b int, t uint64) {
	if c.cfg.Sched == FCFS {
		c.due = [numClasses]uint64{} // another request may be the head now, of any class
	}
	k := &c.bank[b]
	e := c.tab.effect(cmd, int(k.grp))
	for i := range e.bank {
		r := &e.bank[i]
		at := &c.at[r.next&(bankCmds-1)][b]
		*at = max(*at, t+r.gap)
	}
	push(c.groups[e.from:][:len(e.gap)], e.gap, t)
	rank := int(k.rank)
	for i := range e.rank {
		r := &e.rank[i]
		at := c.rankAt[r.next-PREA]
		at[rank] = max(at[rank], t+r.same)
		if r.other != 0 {
			for h := range at {
				if h != rank {
					at[h] = max(at[h], t+r.other)
				}
			}
		}
	}
	if cmd == ACT && c.tab.deepest > 0 {
		c.applyWindows(rank, t)
	}
	if c.share != nil {
		c.share.note(c, cmd, int(k.grp), t)
	}
}

// applyWindows enforces the limits on ACTs in any span of time.
func (c *Channel) applyWindows(rank int, t uint64) {
	c.acts[rank].add(t)
	all := c.cfg.Ranks
	if c.tab.channel {
		c.acts[all].add(t)
	}
	for i := range c.tab.windows {
		w := &c.tab.windows[i]
		ring, groups := rank, c.group[ACT][rank*c.perRank:][:c.perRank]
		if w.channel {
			ring, groups = all, c.group[ACT]
		}
		if first, ok := c.acts[ring].nth(w.n); ok {
			raise(groups, first+w.min)
		}
	}
}

// push moves times to the gaps after t, and raise to t, where they are earlier.
func push(at, gap []uint64, t uint64) {
	gap = gap[:len(at)]
	for i := range at {
		at[i] = max(at[i], t+gap[i])
	}
}

func raise(at []uint64, t uint64) {
	for i := range at {
		at[i] = max(at[i], t)
	}
}

// ready is the earliest clock bank b may take cmd.
func (c *Channel) ready(cmd Cmd, b int) uint64 {
	n := cmd & (bankCmds - 1)
	return max(c.at[n][b], c.group[n][c.grp[b]])
}

// soonest is the earliest clock any group may take cmd: a cheap lower bound after
// a command of the same class issued.
func (c *Channel) soonest(cmd Cmd) uint64 {
	best := Never
	for _, at := range c.group[cmd&(bankCmds-1)] {
		best = min(best, at)
	}
	return best
}
