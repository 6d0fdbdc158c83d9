package dram

// apply records that cmd issued at t for bank b (any bank of the rank when the
// command addresses the rank) by pushing every ready time it constrains.
func (c *Channel) apply(cmd Cmd, b int, t uint64) {
	if c.cfg.Sched == FCFS {
		c.due = [3]uint64{} // another request may be the head now, of any class
	}
	for i := range c.tab.bank[cmd] {
		r := &c.tab.bank[cmd][i]
		at := &c.bankAt[r.next][b]
		*at = max(*at, t+r.gap)
	}
	g, rank := int(c.grpOf[b]), int(c.rankOf[b])
	lo := rank * c.perRank
	rel := c.rel[g]
	for i := range c.tab.group[cmd] {
		r := &c.tab.group[cmd][i]
		from, to := lo, lo+c.perRank
		if r.wide {
			from, to = 0, c.groups
		}
		at := c.grpAt[r.next][:to]
		for h := from; h < to; h++ {
			at[h] = max(at[h], t+r.gap[rel[h]&3])
		}
	}
	for i := range c.tab.rank[cmd] {
		r := &c.tab.rank[cmd][i]
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
}

// applyWindows enforces the limits on ACTs in any span of time.
func (c *Channel) applyWindows(rank int, t uint64) {
	all := c.cfg.Ranks
	c.remember(rank, t)
	c.remember(all, t)
	act := c.grpAt[ACT]
	for i := range c.tab.windows {
		w := &c.tab.windows[i]
		ring, from, to := rank, rank*c.perRank, (rank+1)*c.perRank
		if w.channel {
			ring, from, to = all, 0, c.groups
		}
		if c.actNum[ring] < w.n {
			continue
		}
		at := c.nth(ring, w.n) + w.min
		for g := from; g < to; g++ {
			act[g] = max(act[g], at)
		}
	}
}

// remember stores an ACT clock in a ring of the last tab.deepest.
func (c *Channel) remember(ring int, t uint64) {
	a := c.acts[ring]
	p := c.actPos[ring]
	a[p] = t
	if p++; p == len(a) {
		p = 0
	}
	c.actPos[ring] = p
	c.actNum[ring] = min(c.actNum[ring]+1, len(a))
}

// nth is the n-th last ACT clock of a ring.
func (c *Channel) nth(ring, n int) uint64 {
	p := c.actPos[ring] - n
	if p < 0 {
		p += len(c.acts[ring])
	}
	return c.acts[ring][p]
}

// soonest is the earliest clock any group may take cmd: a cheap lower bound after
// a command of the same class issued.
func (c *Channel) soonest(cmd Cmd) uint64 {
	best := Never
	for _, t := range c.grpAt[cmd] {
		best = min(best, t)
	}
	return best
}
