package dram

// All-bank refresh: every Refi clocks each rank is owed a REFab. Ranks are served
// in turn, one command at a time; the rank's open banks are closed by a PREab
// first, which waits for activated requests of the rank.

// oweRefresh starts the refreshes that are due.
func (c *Channel) oweRefresh(t uint64) {
	for c.nextRef <= t {
		c.refsDue += c.cfg.Ranks
		c.nextRef += uint64(c.cfg.Refi)
	}
}

// refreshCmd is the next command of the refresh at the head.
func (c *Channel) refreshCmd() Cmd {
	if c.usage[c.refRank].open > 0 {
		return PREA
	}
	return REFab
}

// refreshAt is the earliest clock of that command, Never while an activated
// request blocks it: its column command is an event of its own.
func (c *Channel) refreshAt(t uint64) uint64 {
	cmd := c.refreshCmd()
	if cmd == PREA && c.usage[c.refRank].active > 0 {
		return Never
	}
	at := max(c.rankAt[cmd-PREA][c.refRank], t+1)
	if cmd == REFab {
		return c.odd(at)
	}
	return at
}

// tryRefresh issues the head's next command if it may issue at t.
func (c *Channel) tryRefresh(t uint64) {
	cmd, rank := c.refreshCmd(), c.refRank
	if t < c.rankAt[cmd-PREA][rank] || cmd == PREA && c.usage[rank].active > 0 {
		return
	}
	falling := c.cfg.HalfCycle && t&1 == 0
	if falling && (cmd != PREA || !c.fallingAllowed(PREA, rank, -1, t)) {
		return
	}
	if c.Trace != nil {
		c.Trace(t, cmd, Loc{Rank: uint8(rank), BankGroup: AllBanks, Bank: AllBanks})
	}
	first := rank * c.perRank * c.cfg.Banks
	c.apply(cmd, first, t)
	if c.cfg.HalfCycle && !falling {
		c.edgeRank, c.edgeBank, c.edgeAt = rank, -1, t+1
	}
	if cmd == REFab {
		c.rows[0][CRefreshes]++
		c.refsDue--
		if c.refRank++; c.refRank == c.cfg.Ranks {
			c.refRank = 0
		}
		return
	}
	c.rows[0][CPrechargeAll]++
	for b := first; b < first+c.perRank*c.cfg.Banks; b++ {
		if k := &c.bank[b]; k.open >= 0 {
			c.closed(k, b)
		}
	}
	c.usage[rank].open = 0
}

// skipRefreshes jumps over refreshes of an idle channel with every bank closed:
// each is a lone REFab at its time. The last few are stepped so that the timing
// state is exact.
func (c *Channel) skipRefreshes(now uint64) {
	if c.Trace != nil || c.refsDue > 0 || !c.idle() {
		return
	}
	for _, n := range c.usage {
		if n.open > 0 {
			return
		}
	}
	refi := uint64(c.cfg.Refi)
	span := (now - c.nextRef) / refi
	if span < 4 || c.rankAt[REFab-PREA][0] > c.nextRef || uint64(c.slowRefresh()) > refi {
		return
	}
	span -= 3
	c.rows[0][CRefreshes] += span * uint64(c.cfg.Ranks)
	c.nextRef += span * refi
	c.work, c.next = c.nextRef, c.nextRef
}

// slowRefresh bounds the clocks from one refresh being due to every rank done.
func (c *Channel) slowRefresh() int {
	gap := uint64(2)
	for _, r := range c.tab.rank[REFab] {
		gap = max(gap, r.same, r.other)
	}
	return int(gap) * (c.cfg.Ranks + 1)
}
