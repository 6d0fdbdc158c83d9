package dram

// HBM3 and later send row commands on both clock edges. Here a clock is half a
// CK and odd clocks are rising edges: columns, ACT and refresh start on rising
// edges only; PRE may use the falling edge too, unless the rising-edge command it
// pairs with went to the same bank, or to the whole rank (JESD238, row command
// truth table). An ACT lasts three half clocks, so it pairs with the falling edge
// after the next rising one.

// mark remembers a rising-edge row command and the falling edge it pairs with.
func (c *Channel) mark(b int, t uint64, edge uint64) {
	if t&1 == 1 {
		c.edgeRank, c.edgeBank, c.edgeAt = int(c.bank[b].rank), b, t+edge
	}
}

// fallingAllowed tells whether a PRE (bank b) or PREA (b < 0) may use the falling
// edge t.
func (c *Channel) fallingAllowed(cmd Cmd, rank, b int, t uint64) bool {
	if t != c.edgeAt || rank != c.edgeRank {
		return true
	}
	return c.edgeBank >= 0 && cmd == PRE && b != c.edgeBank
}

// fallingPre picks a queued PRE for a falling edge.
func (c *Channel) fallingPre(t uint64) pick {
	if t != c.edgeAt {
		return c.pick(classPre, t)
	}
	first, n := c.edgeBank, 1
	if c.edgeBank < 0 { // the whole rank; there are no migrations, which keep banks out too
		n = c.perRank * c.cfg.Banks
		first = c.edgeRank * n
	}
	for b := first; b < first+n; b++ {
		c.bank[b].word.out[classPre] |= c.bank[b].bit
	}
	p := c.pick(classPre, t)
	for b := first; b < first+n; b++ {
		c.bank[b].word.out[classPre] &^= c.bank[b].bit
	}
	p.later = min(p.later, t+1) // those left out may go on the next edge
	c.due[classPre] = min(c.due[classPre], t+1)
	return p
}
