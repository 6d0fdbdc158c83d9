package dram

// start counts the row state a request finds when its first command issues.
func (c *Channel) start(r *request) {
	if r.started {
		return
	}
	r.started = true
	n := CReadHits
	if r.kind == kindWrite {
		n = CWriteHits
	}
	switch open := c.open[r.bank]; {
	case open < 0:
		n += CReadMisses - CReadHits
	case open != int64(r.row):
		n += CReadConflicts - CReadHits
	}
	c.rows[r.tenant][n]++
}

// place is the location of a request, for traces.
func (c *Channel) place(r *request) Loc {
	g := int(c.grpOf[r.bank])
	return Loc{Rank: c.rankOf[r.bank], BankGroup: uint8(g % c.perRank), Bank: uint8(int(r.bank) % c.cfg.Banks), Row: r.row, Col: r.col}
}

// issueActive issues the next burst of the activated request of bank b. later is
// the earliest clock of the other activated requests that were not ready.
func (c *Channel) issueActive(b int, later, t uint64) {
	i := c.active[b]
	c.column(i, t)
	if c.slots[i].left == 0 {
		c.dropActive(b)
		c.finish(i, t)
	} else {
		later = t // its next burst
	}
	c.tActive = max(later, t+1)
	if c.actives[kindWrite] == 0 {
		c.tActive = max(c.tActive, c.soonest(RD))
	}
}

// dropActive frees bank b for conflicts, and for held hits.
func (c *Channel) dropActive(b int) {
	c.actives[c.slots[c.active[b]].kind]--
	c.activeCnt[c.rankOf[b]]--
	c.active[b] = none
	set(c.activeOn, b, false)
	for k := range uint8(numKinds) {
		if c.lists[k][b].miss != none || c.lists[k][b].hit != none {
			c.regroup(b)
			return
		}
	}
}

// hold makes slot i the activated request of its bank.
func (c *Channel) hold(i int16) {
	r := &c.slots[i]
	b := int(r.bank)
	c.active[b] = i
	c.promoted++
	c.activeSeq[b] = c.promoted
	c.actives[r.kind]++
	c.activeCnt[c.rankOf[b]]++
	set(c.activeOn, b, true)
	n := RD + Cmd(r.kind)
	c.tActive = min(c.tActive, max(c.bankAt[n][b], c.grpAt[n][c.grpOf[b]]))
}

// issueHit issues the first burst of a queued request whose row is open.
func (c *Channel) issueHit(p pick, t uint64) {
	i := c.lists[p.kind][p.bank].hit
	r := &c.slots[i]
	c.start(r)
	c.unlink(i, t)
	c.column(i, t)
	if r.left > 0 {
		c.hold(i)
	} else {
		c.finish(i, t)
	}
	soon := c.soonest(RD + Cmd(p.kind))
	if c.shared {
		soon = min(c.soonest(RD), c.soonest(WR))
	}
	c.due[classHit] = max(c.due[classHit], t+1, soon)
}

// column issues one RD or WR for slot i, with auto-precharge under the closed
// page policy when nothing else wants the row.
func (c *Channel) column(i int16, t uint64) {
	r := &c.slots[i]
	b := int(r.bank)
	cmd := RD + Cmd(r.kind)
	r.left--
	n := c.rows[r.tenant]
	n[CReadBursts+int(r.kind)]++
	n[CBusBusy] += uint64(c.cfg.BurstClocks)
	closing := r.left == 0 && c.closes(b, i)
	if closing {
		cmd = RDA + Cmd(r.kind)
	}
	if c.Trace != nil {
		c.Trace(t, cmd, c.place(r))
	}
	c.apply(cmd, b, t)
	if closing {
		n[CPrecharges]++
		c.open[b] = -1
		c.openCount[c.rankOf[b]]--
		c.regroup(b)
	}
}

// finish completes slot i, whose last burst issued at t: a read when its data is
// in, a write at once.
func (c *Channel) finish(i int16, t uint64) {
	r := &c.slots[i]
	if r.kind == kindRead {
		at := t + uint64(c.cfg.ReadLatency)
		c.rows[r.tenant][CReadLatency] += at - r.arrive + 1
		c.pending.push(reply{depart: at, id: r.id, tenant: r.tenant})
	} else {
		c.done.push(reply{id: r.id, write: true, tenant: r.tenant})
	}
	c.release(i)
}

// issueAct opens a row for the oldest request of a closed bank, which becomes the
// bank's activated request.
func (c *Channel) issueAct(p pick, t uint64) {
	i := c.lists[p.kind][p.bank].miss
	r := &c.slots[i]
	c.start(r)
	c.rows[r.tenant][CActivates]++
	if c.Trace != nil {
		c.Trace(t, ACT, c.place(r))
	}
	c.apply(ACT, p.bank, t)
	c.open[p.bank] = int64(r.row)
	c.openCount[c.rankOf[p.bank]]++
	c.unlink(i, t)
	c.hold(i)
	c.regroup(p.bank)
	c.due[classAct] = max(c.due[classAct], t+1, c.soonest(ACT))
	if c.cfg.HalfCycle {
		c.mark(p.bank, t, 3)
	}
}

// issuePre closes a row for a conflicting request, which stays queued.
func (c *Channel) issuePre(p pick, t uint64) {
	r := &c.slots[c.lists[p.kind][p.bank].miss]
	c.start(r)
	c.rows[r.tenant][CPrecharges]++
	if c.Trace != nil {
		at := c.place(r)
		at.Row = uint32(c.open[p.bank])
		c.Trace(t, PRE, at)
	}
	c.apply(PRE, p.bank, t)
	c.open[p.bank] = -1
	c.openCount[c.rankOf[p.bank]]--
	c.due[classPre] = max(p.later, t+1)
	c.regroup(p.bank)
	if c.cfg.HalfCycle {
		c.mark(p.bank, t, 1)
	}
}
