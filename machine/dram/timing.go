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

// apply records that cmd issued at t for bank b (any bank of the rank when the
// command addresses the rank) by pushing every ready time it constrains.
func (c *Channel) apply(cmd Cmd, b int, t uint64) {
	if c.cfg.Sched == FCFS {
		c.due = [numClasses]uint64{} // another request may be the head now, of any class
	}
	k := &c.bank[b]
	e := c.tab.effects[cmd&(NumCmds-1)][k.grp]
	at, i := &c.word[b>>6].at, b&63
	at[ACT][i] = max(at[ACT][i], t+e.bank[ACT])
	at[PRE][i] = max(at[PRE][i], t+e.bank[PRE])
	at[RD][i] = max(at[RD][i], t+e.bank[RD])
	at[WR][i] = max(at[WR][i], t+e.bank[WR])
	push(e.at, e.gap, t)
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
	if cmd == ACT {
		c.applyLimits(rank, t)
	}
	if c.share != nil {
		c.share.note(c, cmd, int(k.grp), t)
	}
}

// applyLimits enforces the limits on ACTs in any span of time.
func (c *Channel) applyLimits(rank int, t uint64) {
	for i := range c.limits {
		l := &c.limits[i]
		r, groups := &l.over[0], c.group[ACT][:c.tab.groups]
		if len(l.over) == c.cfg.Ranks { // the same where the rank is all there is
			r, groups = &l.over[rank], groups[rank*c.perRank:][:c.perRank]
		}
		r.until[r.next] = t + l.clocks
		if r.next++; r.next == len(r.until) {
			r.next = 0
		}
		raise(groups, r.until[r.next])
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

// own is the earliest clock bank b may take cmd as far as the bank itself goes.
func (c *Channel) own(cmd Cmd, b int) *uint64 {
	return &c.word[b>>6].at[cmd&(bankCmds-1)][b&63]
}

// ready is the earliest clock bank b may take cmd.
func (c *Channel) ready(cmd Cmd, b int) uint64 {
	banks, n, i := &c.word[b>>6], cmd&(bankCmds-1), b&63
	return max(banks.at[n][i], c.group[n][banks.grp[i]])
}

// soonest is the earliest clock any group may take cmd: a cheap lower bound after
// a command of the same class issued.
func (c *Channel) soonest(cmd Cmd) uint64 {
	best := Never
	for _, at := range c.group[cmd&(bankCmds-1)][:c.tab.groups] {
		best = min(best, at)
	}
	return best
}
