package dram

// All-bank refresh: every Refi clocks each rank is owed a REFab. Ranks are served
// in turn, one command at a time; the rank's open banks are closed by a PREab
// first, which waits for activated requests of the rank.

// refreshes are those owed and when the next ones will be.
type refreshes struct {
	next uint64 // clock at which each rank is owed another
	owed int    // waiting, rank by rank
	rank int    // whose turn it is
}

// oweRefresh starts the refreshes that are due.
func (c *Channel) oweRefresh(t uint64) {
	for c.refresh.next <= t {
		c.refresh.owed += c.cfg.Ranks
		c.refresh.next += uint64(c.cfg.Refi)
	}
}

// refreshCmd is the next command of the refresh at the head.
func (c *Channel) refreshCmd() Cmd {
	if c.q.rankOpen(c.refresh.rank) {
		return PREA
	}
	return REFab
}

// banksOf is the banks of a rank.
func (q *queues) banksOf(rank int) []bank {
	n := q.perRank * q.cfg.Banks
	return q.bank[rank*n:][:n]
}

// rankOpen tells whether a rank has an open bank, and rankActive whether it has an
// activated request. Only refreshes ask.
func (q *queues) rankOpen(rank int) bool {
	banks := q.banksOf(rank)
	for i := range banks {
		if banks[i].open >= 0 {
			return true
		}
	}
	return false
}

func (q *queues) rankActive(rank int) bool {
	for i := range q.actives {
		if int(q.bank[q.slots[q.actives[i].slot].bank].rank) == rank {
			return true
		}
	}
	return false
}

// refreshAt is the earliest clock of that command, Never while an activated
// request blocks it: its column command is an event of its own.
func (c *Channel) refreshAt(t uint64) uint64 {
	cmd := c.refreshCmd()
	if cmd == PREA && c.q.rankActive(c.refresh.rank) {
		return Never
	}
	at := max(c.q.time.rankReady(cmd, c.refresh.rank), t+1)
	if cmd == REFab {
		return c.odd(at)
	}
	return at
}

// tryRefresh issues the head's next command if it may issue at t.
func (c *Channel) tryRefresh(t uint64) {
	cmd, rank := c.refreshCmd(), c.refresh.rank
	if t < c.q.time.rankReady(cmd, rank) || cmd == PREA && c.q.rankActive(rank) {
		return
	}
	falling := c.cfg.HalfCycle && t&1 == 0
	if falling && (cmd != PREA || !c.edge.allows(PREA, rank, -1, t)) {
		return
	}
	if c.Trace != nil {
		c.Trace(t, cmd, Loc{Rank: uint8(rank), BankGroup: AllBanks, Bank: AllBanks})
	}
	banks := c.q.banksOf(rank)
	c.apply(cmd, &banks[0], t)
	if c.cfg.HalfCycle && !falling {
		c.edge = risingEdge{at: t + 1, rank: rank, bank: -1}
	}
	if cmd == REFab {
		c.rows[0][CRefreshes]++
		c.refresh.owed--
		if c.refresh.rank++; c.refresh.rank == c.cfg.Ranks {
			c.refresh.rank = 0
		}
		return
	}
	c.rows[0][CPrechargeAll]++
	for i := range banks {
		if k := &banks[i]; k.open >= 0 {
			c.q.closed(k)
		}
	}
}

// skipRefreshes jumps over refreshes of an idle channel with every bank closed:
// each is a lone REFab at its time. The last few are stepped so that the timing
// state is exact.
func (c *Channel) skipRefreshes(now uint64) {
	if c.Trace != nil || c.refresh.owed > 0 || !c.idle() {
		return
	}
	for rank := range c.cfg.Ranks {
		if c.q.rankOpen(rank) {
			return
		}
	}
	refi := uint64(c.cfg.Refi)
	span := (now - c.refresh.next) / refi
	if span < 4 || c.q.time.rankReady(REFab, 0) > c.refresh.next || uint64(c.slowRefresh()) > refi {
		return
	}
	span -= 3
	c.rows[0][CRefreshes] += span * uint64(c.cfg.Ranks)
	c.refresh.next += span * refi
	c.work, c.next = c.refresh.next, c.refresh.next
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
