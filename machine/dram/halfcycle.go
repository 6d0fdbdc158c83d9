package dram

// HBM3 and later send row commands on both clock edges. Here a clock is half a
// CK and odd clocks are rising edges: columns, ACT and refresh start on rising
// edges only; PRE may use the falling edge too, unless the rising-edge command it
// pairs with went to the same bank, or to the whole rank (JESD238, row command
// truth table). An ACT lasts three half clocks, so it pairs with the falling edge
// after the next rising one.

// risingEdge is the last row command of a rising edge: the falling edge it pairs with, its
// rank, and its bank, or -1 for all of the rank.
type risingEdge struct {
	at         uint64
	rank, bank int
}

// mark remembers a rising-edge row command of bank b and how far its falling edge is.
func (c *Channel) mark(b int, t uint64, edge uint64) {
	if t&1 == 1 {
		c.edge = risingEdge{at: t + edge, rank: int(c.q.bank[b].rank), bank: b}
	}
}

// allows tells whether a PRE (bank b) or PREA (b < 0) may use the falling edge t.
func (e *risingEdge) allows(cmd Cmd, rank, b int, t uint64) bool {
	if t != e.at || rank != e.rank {
		return true
	}
	return e.bank >= 0 && cmd == PRE && b != e.bank
}

// fallingPre picks a queued PRE for a falling edge.
func (c *Channel) fallingPre(t uint64) pick {
	if t != c.edge.at {
		return c.q.pick(classPre, t)
	}
	first, n := c.edge.bank, 1
	if c.edge.bank < 0 { // the whole rank; there are no migrations, which keep banks out too
		n = c.q.perRank * c.cfg.Banks
		first = c.edge.rank * n
	}
	for b := first; b < first+n; b++ {
		c.q.bank[b].word.out[classPre] |= c.q.bank[b].bit
	}
	p := c.q.pick(classPre, t)
	for b := first; b < first+n; b++ {
		c.q.bank[b].word.out[classPre] &^= c.q.bank[b].bit
	}
	p.later = min(p.later, t+1) // those left out may go on the next edge
	c.q.due[classPre] = min(c.q.due[classPre], t+1)
	return p
}
