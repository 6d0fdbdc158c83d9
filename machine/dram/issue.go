package dram

import "math/bits"

// counts are the counters of a tenant.
type counts = [NumCounters]uint64

// start counts the row state a request finds when its first command issues: hit is
// CReadHits, CReadMisses or CReadConflicts.
func (r *request) start(n *counts, hit int) {
	if !r.started {
		r.started = true
		n[hit+int(r.kind&(numKinds-1))*(CWriteHits-CReadHits)]++
	}
}

// place is the location of a request, for traces.
func (c *Channel) place(r *request) Loc {
	k := &c.bank[r.bank]
	g := int(k.grp)
	return Loc{Rank: k.rank, BankGroup: uint8(g % c.perRank), Bank: uint8(int(r.bank) % c.cfg.Banks), Row: r.row, Col: r.col}
}

// serveActive issues the next burst of an activated request, if one is ready.
func (c *Channel) serveActive(t uint64) bool {
	i, later := c.pickActive(t)
	c.tActive = later
	if i < 0 {
		return false
	}
	slot := c.actives[i].slot
	r := &c.slots[slot]
	n := c.rows[r.tenant]
	c.column(r, n, t)
	if r.left == 0 {
		c.dropActive(i, r)
		c.finish(slot, r, n, t)
	}
	c.tActive = c.nextActive(t)
	return true
}

// nextActive is the clock of the next column command of an activated request, after one at t.
func (c *Channel) nextActive(t uint64) uint64 {
	next := Never
	for i := range c.actives {
		next = min(next, c.actives[i].ready())
	}
	return max(next, t+1)
}

// dropActive frees the bank of the i-th activated request for conflicts, and for
// held hits.
func (c *Channel) dropActive(i int, r *request) {
	k := &c.bank[r.bank]
	last := len(c.actives) - 1
	for ; i < last; i++ {
		c.actives[i] = c.actives[i+1]
	}
	c.actives = c.actives[:last]
	k.active = none
	k.word.active &^= k.bit
	if k.open < 0 {
		return
	}
	if k.list[kindRead].miss != none || k.list[kindWrite].miss != none {
		c.lower(classPre, k, PRE)
	}
	if c.multi {
		c.due[classHit] = 0
	}
}

// activate makes slot i the activated request of its bank.
func (c *Channel) activate(i int16, r *request) {
	k := &c.bank[r.bank]
	k.active = i
	k.word.active |= k.bit
	n := RD + Cmd(r.kind)
	c.tActive = min(c.tActive, c.ready(n, k))
	j := len(c.actives)
	c.actives = c.actives[:j+1]
	for ; j > 0 && c.actives[j-1].arrive > r.arrive; j-- {
		c.actives[j] = c.actives[j-1]
	}
	a := &c.actives[j]
	a.arrive, a.slot = r.arrive, i
	a.own, a.above, a.wide = k.own(n), &c.group[n&(bankCmds-1)][k.grp], &c.wide[n&(bankCmds-1)]
}

// issueHit issues the first burst of a queued request whose row is open.
func (c *Channel) issueHit(p pick, t uint64) {
	i := c.bank[p.bank()].list[p.kind()].hit
	r := &c.slots[i]
	n := c.rows[r.tenant]
	r.start(n, CReadHits)
	c.unlink(i, r, n, t)
	c.column(r, n, t)
	if r.left > 0 {
		c.activate(i, r)
	} else {
		c.finish(i, r, n, t)
	}
	c.due[classHit] = max(c.nextHit(p.kind()), t+1)
}

// nextHit bounds the clock of the next hit after one of a kind; exactly when at most one
// bank has any.
func (c *Channel) nextHit(kind uint8) uint64 {
	n := RD + Cmd(kind)
	if c.simple {
		hits := c.word[0].on[classHit][kind&(numKinds-1)]
		if hits == 0 {
			return Never
		}
		if hits&(hits-1) == 0 {
			return c.ready(n, &c.bank[bits.TrailingZeros64(hits)])
		}
	}
	if c.shared {
		return min(c.soonest(RD), c.soonest(WR))
	}
	return c.soonest(n)
}

// column issues one RD or WR for a request, with auto-precharge under the closed
// page policy when nothing else wants the row.
func (c *Channel) column(r *request, n *counts, t uint64) {
	k := &c.bank[r.bank]
	cmd := RD + Cmd(r.kind)
	r.left--
	n[CReadBursts+int(r.kind&(numKinds-1))]++
	n[CBusBusy] += uint64(c.cfg.BurstClocks)
	closing := c.cfg.Page == ClosedPage && r.left == 0 && c.closes(r)
	if closing {
		cmd = RDA + Cmd(r.kind)
	}
	if c.Trace != nil {
		c.Trace(t, cmd, c.place(r))
	}
	c.apply(cmd, k, t)
	if closing {
		n[CPrecharges]++
		c.closed(k)
	}
}

// finish completes slot i, whose last burst issued at t: a read when its data is
// in, a write at once.
func (c *Channel) finish(i int16, r *request, n *counts, t uint64) {
	if r.kind == kindRead {
		at := t + uint64(c.cfg.ReadLatency)
		n[CReadLatency] += at - r.arrive + 1
		c.send(reply{depart: at, id: r.id, tenant: r.tenant})
	} else {
		c.done.push(reply{id: r.id, write: true, tenant: r.tenant})
	}
	c.free[c.unused] = i
	c.unused++
}

// issueAct opens a row for the oldest request of a closed bank, which becomes the
// bank's activated request.
func (c *Channel) issueAct(p pick, t uint64) {
	b := p.bank()
	k := &c.bank[b]
	i := k.list[p.kind()].miss
	r := &c.slots[i]
	n := c.rows[r.tenant]
	r.start(n, CReadMisses)
	n[CActivates]++
	if c.Trace != nil {
		c.Trace(t, ACT, c.place(r))
	}
	c.apply(ACT, k, t)
	c.unlink(i, r, n, t)
	k.open = int64(r.row)
	c.activate(i, r)
	c.opened(k)
	c.due[classAct] = max(c.soonest(ACT), t+1)
	if c.half > 0 {
		c.mark(b, t, 3)
	}
}

// issuePre closes a row for a conflicting request, which stays queued.
func (c *Channel) issuePre(p pick, t uint64) {
	b := p.bank()
	k := &c.bank[b]
	r := &c.slots[k.list[p.kind()].miss]
	n := c.rows[r.tenant]
	r.start(n, CReadConflicts)
	n[CPrecharges]++
	if c.Trace != nil {
		at := c.place(r)
		at.Row = uint32(k.open)
		c.Trace(t, PRE, at)
	}
	c.apply(PRE, k, t)
	c.due[classPre] = max(p.later, t+1)
	c.closed(k)
	if c.half > 0 {
		c.mark(b, t, 1)
	}
}
