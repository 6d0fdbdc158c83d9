package dram

// limit is a window at work: at most so many ACTs of a rank, or of the channel, in any
// clocks clocks.
type limit struct {
	clocks uint64
	over   []actRing // by rank, or one
}

// actRing holds from when the last ACTs no longer count, oldest at next; 0 before
// there are that many.
type actRing struct {
	until []uint64
	next  int
}

func newLimit(w window, ranks int) limit {
	if w.channel {
		ranks = 1
	}
	l := limit{clocks: w.min, over: make([]actRing, ranks)}
	for i := range l.over {
		l.over[i].until = make([]uint64, w.n)
	}
	return l
}

// apply records that cmd issued at t for bank k (any bank of the rank when the
// command addresses the rank) by pushing every ready time it constrains.
func (c *Channel) apply(cmd Cmd, k *bank, t uint64) {
	if c.cfg.Sched == FCFS {
		c.due = [numClasses]uint64{} // another request may be the head now, of any class
	}
	e := k.effects[cmd&(NumCmds-1)]
	at, i := &k.word.at, k.id&63
	at[ACT][i] = max(at[ACT][i], t+e.bank[ACT])
	at[PRE][i] = max(at[PRE][i], t+e.bank[PRE])
	at[RD][i] = max(at[RD][i], t+e.bank[RD])
	at[WR][i] = max(at[WR][i], t+e.bank[WR])
	for _, p := range e.above {
		*p.at = max(*p.at, t+uint64(p.gap))
	}
	k.last[cmd&(NumCmds-1)] = t + 1
	if cmd == ACT {
		c.applyLimits(int(k.rank), t)
	}
	if c.share != nil {
		c.share.note(c, cmd, int(k.grp), t)
	}
}

// applyLimits enforces the limits on ACTs in any span of time.
func (c *Channel) applyLimits(rank int, t uint64) {
	for i := range c.limits {
		l := &c.limits[i]
		if len(l.over) == 1 {
			c.wide[ACT] = max(c.wide[ACT], l.over[0].add(t+l.clocks))
			continue
		}
		until := l.over[rank].add(t + l.clocks)
		groups := c.group[ACT][rank*c.perRank:][:c.perRank]
		for g := range groups {
			groups[g] = max(groups[g], until)
		}
	}
}

// add takes an ACT in, and returns from when the oldest of the last ones does not count.
func (r *actRing) add(until uint64) uint64 {
	r.until[r.next] = until
	if r.next++; r.next == len(r.until) {
		r.next = 0
	}
	return r.until[r.next]
}

// own is the earliest clock the bank may take cmd as far as the bank itself goes.
func (k *bank) own(cmd Cmd) *uint64 { return &k.word.at[cmd&(bankCmds-1)][k.id&63] }

// ready is the earliest clock bank k may take cmd.
func (c *Channel) ready(cmd Cmd, k *bank) uint64 {
	return max(*k.own(cmd), c.group[cmd&(bankCmds-1)][k.grp], c.wide[cmd&(bankCmds-1)])
}

// soonest is the earliest clock any group may take cmd: a cheap lower bound after
// a command of the same class issued.
func (c *Channel) soonest(cmd Cmd) uint64 {
	best, wide := Never, c.wide[cmd&(bankCmds-1)]
	for _, at := range c.group[cmd&(bankCmds-1)][:c.tab.groups] {
		if at <= wide {
			return wide
		}
		best = min(best, at)
	}
	return best
}

// rankReady is the earliest clock a rank may take PREA or REFab.
func (c *Channel) rankReady(cmd Cmd, rank int) uint64 {
	at := c.rankAt[cmd-PREA][rank]
	for h := range c.last {
		for _, r := range c.tab.rank[cmd-PREA] {
			gap := r.other
			if h == rank {
				gap = r.same
			}
			if last := c.last[h][r.prev]; last > 0 {
				at = max(at, last-1+gap)
			}
		}
	}
	return at
}
