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
func (q *queues) place(r *request) Loc {
	k := &q.bank[r.bank]
	g := int(k.grp)
	return Loc{
		Rank: k.rank, BankGroup: uint8(g % q.perRank), Bank: uint8(int(r.bank) % q.cfg.Banks),
		Row: r.row, Col: r.col,
	}
}

// serveActive issues the next burst of an activated request, if one is ready.
func (c *Channel) serveActive(t uint64) bool {
	i, later := c.q.pickActive(t)
	c.q.tActive = later
	if i < 0 {
		return false
	}
	slot := c.q.actives[i].slot
	r := &c.q.slots[slot]
	n := c.rows[r.tenant]
	c.column(r, n, t)
	if r.left == 0 {
		c.q.dropActive(i, r)
		c.finish(slot, r, n, t)
	}
	c.q.tActive = c.q.nextActive(t)
	return true
}

// nextActive is the clock of the next column command of an activated request, after one at t.
func (q *queues) nextActive(t uint64) uint64 {
	next := Never
	for i := range q.actives {
		next = min(next, q.actives[i].ready())
	}
	return max(next, t+1)
}

// dropActive frees the bank of the i-th activated request for conflicts, and for
// held hits.
func (q *queues) dropActive(i int, r *request) {
	k := &q.bank[r.bank]
	last := len(q.actives) - 1
	for ; i < last; i++ {
		q.actives[i] = q.actives[i+1]
	}
	q.actives = q.actives[:last]
	k.active = none
	k.word.active &^= k.bit
	if k.open < 0 {
		return
	}
	if k.list[kindRead].miss != none || k.list[kindWrite].miss != none {
		q.lower(classPre, k, PRE)
	}
	if q.multi {
		q.due[classHit] = 0
	}
}

// activate makes slot i the activated request of its bank.
func (q *queues) activate(i int16, r *request) {
	k := &q.bank[r.bank]
	k.active = i
	k.word.active |= k.bit
	n := RD + Cmd(r.kind)
	q.tActive = min(q.tActive, q.time.ready(n, k))
	j := len(q.actives)
	q.actives = q.actives[:j+1]
	for ; j > 0 && q.actives[j-1].arrive > r.arrive; j-- {
		q.actives[j] = q.actives[j-1]
	}
	a := &q.actives[j]
	a.arrive, a.slot = r.arrive, i
	a.own, a.above, a.wide = k.own(n), &q.time.group[n&(bankCmds-1)][k.grp], &q.time.wide[n&(bankCmds-1)]
}

// issueHit issues the first burst of a queued request whose row is open.
func (c *Channel) issueHit(p pick, t uint64) {
	i := c.q.bank[p.bank()].list[p.kind()].hit
	r := &c.q.slots[i]
	n := c.rows[r.tenant]
	r.start(n, CReadHits)
	c.q.unlink(i, r, n, t)
	c.q.release(&c.q.bank[r.bank])
	c.column(r, n, t)
	if r.left > 0 {
		c.q.activate(i, r)
	} else {
		c.finish(i, r, n, t)
	}
	c.q.due[classHit] = max(c.q.nextHit(p.kind()), t+1)
}

// nextHit bounds the clock of the next hit after one of a kind; exactly when at most one
// bank has any.
func (q *queues) nextHit(kind uint8) uint64 {
	n := RD + Cmd(kind)
	if q.simple {
		hits := q.word[0].on[classHit][kind&(numKinds-1)]
		if hits == 0 {
			return Never
		}
		if hits&(hits-1) == 0 {
			return q.time.ready(n, &q.bank[bits.TrailingZeros64(hits)])
		}
	}
	if q.shared {
		return min(q.time.soonest(RD), q.time.soonest(WR))
	}
	return q.time.soonest(n)
}

// column issues one RD or WR for a request, with auto-precharge under the closed
// page policy when nothing else wants the row.
func (c *Channel) column(r *request, n *counts, t uint64) {
	k := &c.q.bank[r.bank]
	cmd := RD + Cmd(r.kind)
	r.left--
	n[CReadBursts+int(r.kind&(numKinds-1))]++
	n[CBusBusy] += uint64(c.cfg.BurstClocks)
	if c.asking.moving == 0 {
		n[CAskedBursts]++
	}
	closing := c.cfg.Page == ClosedPage && r.left == 0 && c.q.closes(r)
	if closing {
		cmd = RDA + Cmd(r.kind)
	}
	if c.Trace != nil {
		c.Trace(t, cmd, c.q.place(r))
	}
	c.apply(cmd, k, t)
	if closing {
		n[CPrecharges]++
		c.q.closed(k)
	}
}

// finish completes slot i, whose last burst issued at t: a read when its data is
// in, a write at once.
func (c *Channel) finish(i int16, r *request, n *counts, t uint64) {
	if r.kind == kindRead {
		at := t + uint64(c.cfg.ReadLatency)
		n[CReadLatency] += at - r.arrive + 1
		c.out.send(reply{depart: at + uint64(c.cfg.ReturnLatency), id: r.id, tenant: r.tenant})
	} else {
		c.out.done.push(reply{id: r.id, write: true, tenant: r.tenant})
	}
	c.leave(r.tenant, t)
	c.q.free[c.q.unused] = i
	c.q.unused++
}

// issueAct opens a row for the oldest request of a closed bank, which becomes the
// bank's activated request.
func (c *Channel) issueAct(p pick, t uint64) {
	b := p.bank()
	k := &c.q.bank[b]
	i := k.list[p.kind()].miss
	r := &c.q.slots[i]
	n := c.rows[r.tenant]
	r.start(n, CReadMisses)
	n[CActivates]++
	if c.Trace != nil {
		c.Trace(t, ACT, c.q.place(r))
	}
	c.apply(ACT, k, t)
	c.q.unlink(i, r, n, t)
	k.open = int64(r.row)
	c.q.activate(i, r)
	c.q.opened(k)
	c.q.due[classAct] = max(c.q.time.soonest(ACT), t+1)
	if c.half > 0 {
		c.mark(b, t, 3)
	}
}

// issuePre closes a row for a conflicting request, which stays queued.
func (c *Channel) issuePre(p pick, t uint64) {
	b := p.bank()
	k := &c.q.bank[b]
	r := &c.q.slots[k.list[p.kind()].miss]
	n := c.rows[r.tenant]
	r.start(n, CReadConflicts)
	n[CPrecharges]++
	if c.Trace != nil {
		at := c.q.place(r)
		at.Row = uint32(k.open)
		c.Trace(t, PRE, at)
	}
	c.apply(PRE, k, t)
	c.q.due[classPre] = max(p.later, t+1)
	c.q.closed(k)
	if c.half > 0 {
		c.mark(b, t, 1)
	}
}
