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
	if c.rankOpen(c.refRank) {
		return PREA
	}
	return REFab
}

// banksOf is the banks of a rank.
func (c *Channel) banksOf(rank int) []bank {
	n := c.perRank * c.cfg.Banks
	return c.bank[rank*n:][:n]
}

// rankOpen tells whether a rank has an open bank, and rankActive whether it has an
// activated request. Only refreshes ask.
func (c *Channel) rankOpen(rank int) bool {
	banks := c.banksOf(rank)
	for i := range banks {
		if banks[i].open >= 0 {
			return true
		}
	}
	return false
}

func (c *Channel) rankActive(rank int) bool {
	for i := range c.actives {
		if int(c.bank[c.slots[c.actives[i].slot].bank].rank) == rank {
			return true
		}
	}
	return false
}

// refreshAt is the earliest clock of that command, Never while an activated
// request blocks it: its column command is an event of its own.
func (c *Channel) refreshAt(t uint64) uint64 {
	cmd := c.refreshCmd()
	if cmd == PREA && c.rankActive(c.refRank) {
		return Never
	}
	at := max(c.rankReady(cmd, c.refRank), t+1)
	if cmd == REFab {
		return c.odd(at)
	}
	return at
}

// tryRefresh issues the head's next command if it may issue at t.
func (c *Channel) tryRefresh(t uint64) {
	cmd, rank := c.refreshCmd(), c.refRank
	if t < c.rankReady(cmd, rank) || cmd == PREA && c.rankActive(rank) {
		return
	}
	falling := c.cfg.HalfCycle && t&1 == 0
	if falling && (cmd != PREA || !c.fallingAllowed(PREA, rank, -1, t)) {
		return
	}
	if c.Trace != nil {
		c.Trace(t, cmd, Loc{Rank: uint8(rank), BankGroup: AllBanks, Bank: AllBanks})
	}
	banks := c.banksOf(rank)
	c.apply(cmd, &banks[0], t)
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
	for i := range banks {
		if k := &banks[i]; k.open >= 0 {
			c.closed(k)
		}
	}
}

// skipRefreshes jumps over refreshes of an idle channel with every bank closed:
// each is a lone REFab at its time. The last few are stepped so that the timing
// state is exact.
func (c *Channel) skipRefreshes(now uint64) {
	if c.Trace != nil || c.refsDue > 0 || !c.idle() {
		return
	}
	for rank := range c.cfg.Ranks {
		if c.rankOpen(rank) {
			return
		}
	}
	refi := uint64(c.cfg.Refi)
	span := (now - c.nextRef) / refi
	if span < 4 || c.rankReady(REFab, 0) > c.nextRef || uint64(c.slowRefresh()) > refi {
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
	for n := range c.tab.rank {
		for _, r := range c.tab.rank[n] {
			if r.prev == REFab {
				gap = max(gap, r.same, r.other)
			}
		}
	}
	return int(gap) * (c.cfg.Ranks + 1)
}
