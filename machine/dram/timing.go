package dram

// timing is from when on commands may issue, as far as more than a bank is concerned.
type timing struct {
	tab     *tables
	wide    [bankCmds]uint64            // earliest clock of each command in any bank
	groups  []uint64                    // and by bank group, where some groups wait longer than others
	group   [bankCmds]*[maxBanks]uint64 // its rows, one for each command; long arrays, whose indices need no check
	last    [][NumCmds]uint64           // clock after the last command of each kind by rank; 0 before the first
	rankAt  [rankCmds][]uint64          // earliest clock of PREA and REFab by rank as far as migrations go
	limits  []limit                     // on ACTs in any span of time
	perRank int                         // bank groups per rank
}

func (x *timing) build(cfg *Config, tab *tables) {
	x.tab, x.perRank = tab, cfg.Sids*cfg.Groups
	x.groups = make([]uint64, bankCmds*maxBanks)
	for n := range x.group {
		x.group[n] = (*[maxBanks]uint64)(x.groups[n*tab.groups:])
	}
	for g := range tab.effects {
		for _, e := range tab.effects[g] {
			for i := range e.above {
				p := &e.above[i]
				p.at = &x.wide[p.next]
				if p.group != none {
					p.at = &x.group[p.next][p.group]
				}
			}
		}
	}
	x.last = make([][NumCmds]uint64, cfg.Ranks)
	for n := range rankCmds {
		x.rankAt[n] = make([]uint64, cfg.Ranks)
	}
	for _, w := range tab.windows {
		x.limits = append(x.limits, newLimit(w, cfg.Ranks))
	}
}

// limit is a window at work: a greatest number of ACTs of a rank, or of the channel, in any clocks clocks.
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
		c.q.due = [numClasses]uint64{} // another request may be the head now, of any class
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
		c.q.time.applyLimits(int(k.rank), t)
	}
	if c.share != nil {
		c.share.note(cmd, int(k.grp), t)
	}
}

// applyLimits enforces the limits on ACTs in any span of time.
func (x *timing) applyLimits(rank int, t uint64) {
	for i := range x.limits {
		l := &x.limits[i]
		if len(l.over) == 1 {
			x.wide[ACT] = max(x.wide[ACT], l.over[0].add(t+l.clocks))
			continue
		}
		until := l.over[rank].add(t + l.clocks)
		groups := x.group[ACT][rank*x.perRank:][:x.perRank]
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
func (x *timing) ready(cmd Cmd, k *bank) uint64 {
	return max(*k.own(cmd), x.group[cmd&(bankCmds-1)][k.grp], x.wide[cmd&(bankCmds-1)])
}

// soonest is the earliest clock any group may take cmd: a cheap lower bound after
// a command of the same class issued.
func (x *timing) soonest(cmd Cmd) uint64 {
	best, wide := Never, x.wide[cmd&(bankCmds-1)]
	for _, at := range x.group[cmd&(bankCmds-1)][:x.tab.groups] {
		if at <= wide {
			return wide
		}
		best = min(best, at)
	}
	return best
}

// delay keeps commands of a class from every group until clock t.
func (x *timing) delay(cmd Cmd, t uint64) {
	x.wide[cmd] = max(x.wide[cmd], t)
}

// rankReady is the earliest clock a rank may take PREA or REFab.
func (x *timing) rankReady(cmd Cmd, rank int) uint64 {
	at := x.rankAt[cmd-PREA][rank]
	for h := range x.last {
		for _, r := range x.tab.rank[cmd-PREA] {
			gap := r.other
			if h == rank {
				gap = r.same
			}
			if last := x.last[h][r.prev]; last > 0 {
				at = max(at, last-1+gap)
			}
		}
	}
	return at
}
