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
	switch open := c.bank[r.bank].open; {
	case open < 0:
		n += CReadMisses - CReadHits
	case open != int64(r.row):
		n += CReadConflicts - CReadHits
	}
	c.rows[r.tenant][n]++
}

// place is the location of a request, for traces.
func (c *Channel) place(r *request) Loc {
	k := &c.bank[r.bank]
	g := int(k.grp)
	return Loc{Rank: k.rank, BankGroup: uint8(g % c.perRank), Bank: uint8(int(r.bank) % c.cfg.Banks), Row: r.row, Col: r.col}
}

// issueActive issues the next burst of the activated request of bank b. later is
// the earliest clock of the other activated requests that were not ready.
func (c *Channel) issueActive(b int, later, t uint64) {
	i := c.bank[b].active
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
	k := &c.bank[b]
	c.actives[c.slots[k.active].kind]--
	c.usage[k.rank].active--
	k.active = none
	c.activeOn.unset(b)
	if k.open < 0 {
		return
	}
	if k.list[kindRead].miss != none || k.list[kindWrite].miss != none {
		c.due[classPre] = min(c.due[classPre], max(k.at[PRE], c.group[k.grp].at[PRE]))
	}
	if c.multi {
		c.due[classHit] = 0
	}
}

// hold makes slot i the activated request of its bank.
func (c *Channel) hold(i int16) {
	r := &c.slots[i]
	b := int(r.bank)
	k := &c.bank[b]
	c.promoted++
	k.active, k.activeSeq = i, c.promoted
	c.actives[r.kind]++
	c.usage[k.rank].active++
	c.activeOn.set(b)
	n := RD + Cmd(r.kind)
	c.tActive = min(c.tActive, max(k.at[n], c.group[k.grp].at[n]))
}

// issueHit issues the first burst of a queued request whose row is open.
func (c *Channel) issueHit(p pick, t uint64) {
	i := c.bank[p.bank()].list[p.kind].hit
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
		k := &c.bank[b]
		c.usage[k.rank].open--
		c.closed(k, b)
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
	b := p.bank()
	k := &c.bank[b]
	i := k.list[p.kind].miss
	r := &c.slots[i]
	c.start(r)
	c.rows[r.tenant][CActivates]++
	if c.Trace != nil {
		c.Trace(t, ACT, c.place(r))
	}
	c.apply(ACT, b, t)
	c.unlink(i, t)
	c.usage[k.rank].open++
	k.open = int64(r.row)
	c.hold(i)
	c.opened(k, b)
	c.due[classAct] = max(c.due[classAct], t+1, c.soonest(ACT))
	if c.cfg.HalfCycle {
		c.mark(b, t, 3)
	}
}

// issuePre closes a row for a conflicting request, which stays queued.
func (c *Channel) issuePre(p pick, t uint64) {
	b := p.bank()
	k := &c.bank[b]
	r := &c.slots[k.list[p.kind].miss]
	c.start(r)
	c.rows[r.tenant][CPrecharges]++
	if c.Trace != nil {
		at := c.place(r)
		at.Row = uint32(k.open)
		c.Trace(t, PRE, at)
	}
	c.apply(PRE, b, t)
	c.usage[k.rank].open--
	c.due[classPre] = max(p.later, t+1)
	c.closed(k, b)
	if c.cfg.HalfCycle {
		c.mark(b, t, 1)
	}
}
