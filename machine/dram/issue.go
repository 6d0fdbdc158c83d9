package dram

// start counts the row state a request finds when its first command issues: hit is
// CReadHits, CReadMisses or CReadConflicts.
func (c *Channel) start(r *request, hit int) {
	if !r.started {
		r.started = true
		c.rows[r.tenant][hit+int(r.kind)*(CWriteHits-CReadHits)]++
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
	c.column(r, t)
	if r.left == 0 {
		c.dropActive(i, r)
		c.finish(slot, r, t)
	} else {
		later = t // its next burst
	}
	c.tActive = max(later, t+1)
	if c.writing == 0 {
		c.tActive = max(c.tActive, c.soonest(RD))
	}
	return true
}

// dropActive frees the bank of the i-th activated request for conflicts, and for
// held hits.
func (c *Channel) dropActive(i int, r *request) {
	b := int(r.bank)
	k := &c.bank[b]
	last := len(c.actives) - 1
	for ; i < last; i++ {
		c.actives[i] = c.actives[i+1]
	}
	c.actives = c.actives[:last]
	c.writing -= int(r.kind)
	c.usage[k.rank].active--
	k.active = none
	c.activeOn.unset(b)
	if k.open < 0 {
		return
	}
	if k.list[kindRead].miss != none || k.list[kindWrite].miss != none {
		c.lower(classPre, b, PRE)
	}
	if c.multi {
		c.due[classHit] = 0
	}
}

// activate makes slot i the activated request of its bank.
func (c *Channel) activate(i int16, r *request) {
	b := int(r.bank)
	k := &c.bank[b]
	k.active = i
	c.writing += int(r.kind)
	c.usage[k.rank].active++
	c.activeOn.set(b)
	n := RD + Cmd(r.kind)
	c.tActive = min(c.tActive, c.ready(n, b))
	c.actives = append(c.actives, active{})
	j := len(c.actives) - 1
	for ; j > 0 && c.actives[j-1].arrive > r.arrive; j-- {
		c.actives[j] = c.actives[j-1]
	}
	c.actives[j] = active{arrive: r.arrive, own: c.own(n, b), above: &c.group[n&(bankCmds-1)][k.grp], slot: i}
}

// issueHit issues the first burst of a queued request whose row is open.
func (c *Channel) issueHit(p pick, t uint64) {
	i := c.bank[p.bank()].list[p.kind].hit
	r := &c.slots[i]
	c.start(r, CReadHits)
	c.unlink(i, r, t)
	c.column(r, t)
	if r.left > 0 {
		c.activate(i, r)
	} else {
		c.finish(i, r, t)
	}
	soon := c.soonest(RD + Cmd(p.kind))
	if c.shared {
		soon = min(c.soonest(RD), c.soonest(WR))
	}
	c.due[classHit] = max(c.due[classHit], t+1, soon)
}

// column issues one RD or WR for a request, with auto-precharge under the closed
// page policy when nothing else wants the row.
func (c *Channel) column(r *request, t uint64) {
	b := int(r.bank)
	cmd := RD + Cmd(r.kind)
	r.left--
	n := c.rows[r.tenant]
	n[CReadBursts+int(r.kind)]++
	n[CBusBusy] += uint64(c.cfg.BurstClocks)
	closing := c.cfg.Page == ClosedPage && r.left == 0 && c.closes(r)
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
func (c *Channel) finish(i int16, r *request, t uint64) {
	if r.kind == kindRead {
		at := t + uint64(c.cfg.ReadLatency)
		c.rows[r.tenant][CReadLatency] += at - r.arrive + 1
		c.send(reply{depart: at, id: r.id, tenant: r.tenant})
	} else {
		c.done.push(reply{id: r.id, write: true, tenant: r.tenant})
	}
	c.free = append(c.free, i)
}

// issueAct opens a row for the oldest request of a closed bank, which becomes the
// bank's activated request.
func (c *Channel) issueAct(p pick, t uint64) {
	b := p.bank()
	k := &c.bank[b]
	i := k.list[p.kind].miss
	r := &c.slots[i]
	c.start(r, CReadMisses)
	c.rows[r.tenant][CActivates]++
	if c.Trace != nil {
		c.Trace(t, ACT, c.place(r))
	}
	c.apply(ACT, b, t)
	c.unlink(i, r, t)
	c.usage[k.rank].open++
	k.open = int64(r.row)
	c.activate(i, r)
	c.opened(k, b)
	c.due[classAct] = max(c.due[classAct], t+1, c.soonest(ACT))
	if c.half > 0 {
		c.mark(b, t, 3)
	}
}

// issuePre closes a row for a conflicting request, which stays queued.
func (c *Channel) issuePre(p pick, t uint64) {
	b := p.bank()
	k := &c.bank[b]
	r := &c.slots[k.list[p.kind].miss]
	c.start(r, CReadConflicts)
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
	if c.half > 0 {
		c.mark(b, t, 1)
	}
}
