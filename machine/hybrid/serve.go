package hybrid

// serve looks a part up and starts what its entry asks for; false if there was no room.
func (c *Controller) serve(h int32, now uint64) bool {
	p := &c.parts[h]
	if c.early != nil && !p.write && c.passesBy(p, now) {
		return c.passBy(h) || c.stall(p)
	}
	if here, taken := c.entry(h); !here {
		return taken || c.stall(p)
	}
	if c.cfg.SerialTag && !p.tagged {
		return c.readTag(h) || c.stall(p)
	}
	if i := c.moving.of(p.set, p.index); i != none {
		c.join(i, h, now)
		return true
	}
	at := c.table.find(p.set, p.index)
	if c.table.flat() && !c.table.isTouched(p.set, p.index) {
		if c.table.touch(&c.moving, p.set, p.index, c.ownersOf(p.set).Of[p.class]) {
			c.changed(p)
		}
		at = c.table.find(p.set, p.index)
	}
	if int(at.pos) < c.table.ways {
		return c.hit(h, at, now) || c.stall(p)
	}
	return c.miss(h, at, now) || c.stall(p)
}

// passesBy says whether a read goes to the slow tier without a look-up. It does not while an earlier request may
// still change its block.
func (c *Controller) passesBy(p *part, now uint64) bool {
	return !p.granted && c.early.passes(now, c.table.number(p.set, p.index), p.class) &&
		c.moving.of(p.set, p.index) == none && c.held(p) == none && !c.awaited(p) &&
		(c.tagging == nil || c.tagging[c.tag(p)] == 0)
}

// passBy sends a read to the slow tier.
func (c *Controller) passBy(h int32) bool {
	p := &c.parts[h]
	at := c.table.home(p.set, p.index)
	if !c.out.takes(at, p.units) {
		return false
	}
	c.rows[c.requests[p.request].fetch.Tenant][Passed]++
	c.sendUnits(h, at)
	return true
}

// tag is where parts of a block are counted that read their tags.
func (c *Controller) tag(p *part) uint32 {
	return c.table.number(p.set, p.index) & uint32(len(c.tagging)-1)
}

// readTag reads the tags of the part's set, which lie in the fast memory: the table's line
// stands for them.
func (c *Controller) readTag(h int32) bool {
	p := &c.parts[h]
	line := c.table.entryLine(p.set, p.index)
	if !c.out.takesEntry(line) {
		return false
	}
	tenant := c.requests[p.request].fetch.Tenant
	c.rows[tenant][TagReads]++
	p.granted = true
	c.tagging[c.tag(p)]++
	c.out.send(Fast, c.table.entryAddress(line), false, ofTag|h, tenant)
	return true
}

// ownersOf says which class owns each way of a set: worked out when it is first asked for after a
// reconfiguration.
func (c *Controller) ownersOf(n uint32) Owners {
	s := &c.table.set[n]
	if s.seen != c.round {
		s.seen, s.owners = c.round, c.policy.Owners(uint64(n))
	}
	return s.owners
}

// see is the state in which a part finds a set.
func (c *Controller) see(p *part, set uint32) *View {
	s, v := &c.table.set[set], &c.view
	v.Set, v.Block, v.Class, v.Write = uint64(set), c.table.number(p.set, p.index), p.class, p.write
	v.Stays = p.write && c.cfg.WritesStay
	v.Again, p.asked = p.asked, true
	v.Valid, v.Dirty, v.Busy = s.valid, s.dirty, c.moving.ways(set, c.table.ways)
	v.Owners = c.ownersOf(set)
	v.order, v.ways = s.order, c.table.ways
	if c.table.flat() {
		v.Dirty = s.valid // what leaves is moved
	}
	return v
}

// hit serves a part whose block lies in a way.
func (c *Controller) hit(h int32, at place, now uint64) bool {
	p := &c.parts[h]
	if !c.out.takes(at, p.units) {
		return false
	}
	v := c.see(p, at.set)
	v.Now = now
	action, other := c.policy.Hit(v, int(at.pos))
	c.countHit(p, v, int(at.pos))
	s := &c.table.set[at.set]
	s.order = s.order.use(int(at.pos))
	if p.write {
		c.writeHit(h, at, action)
		return true
	}
	switch action {
	case Keep:
	case Drop:
		if c.drop(h, at, true) {
			return true
		}
	case Swap:
		if c.swap(h, at, other) {
			return true
		}
	case Assign:
		to := place{at.set, uint16(other)}
		if c.out.takes(to, p.units) && c.readers[c.table.hold(at)] == 0 && c.readers[c.table.hold(to)] == 0 {
			c.exchangeAtOnce(at, to)
			c.rows[c.requests[p.request].fetch.Tenant][Swaps]++
			at = to
		}
	}
	c.sendUnits(h, at)
	return true
}

func (c *Controller) countHit(p *part, v *View, way int) {
	if p.filled {
		return
	}
	n := HitsGPU
	switch {
	case v.Owners.Dedicated>>way&1 != 0:
		n = HitsDedicated
	case v.Owners.Of[GPU]>>way&1 == 0:
		n = HitsCPU
	}
	c.rows[c.requests[p.request].fetch.Tenant][n]++
}

// writeHit writes to a way, which a misplaced block leaves afterwards.
func (c *Controller) writeHit(h int32, at place, action Action) {
	p := &c.parts[h]
	s := &c.table.set[at.set]
	if bit := uint16(1) << at.pos; s.dirty&bit == 0 && !c.table.flat() {
		s.dirty |= bit
		c.changed(p)
		c.tell(at, true)
	}
	if action == Drop {
		c.drop(h, at, false)
	}
	// The write is sent before the transfer reads anything.
	c.sendUnits(h, at)
}

// swap exchanges the blocks of two ways of a set; the part waits for the first of them.
// False when there is no room for it: the block stays.
func (c *Controller) swap(h int32, at place, other int) bool {
	p := &c.parts[h]
	row := c.rows[c.requests[p.request].fetch.Tenant]
	to := place{at.set, uint16(other)}
	legs := [2]leg{{set: p.set, index: p.index, from: at, to: to, want: c.all()}}
	set, index, valid := c.table.resident(to)
	legs[1] = leg{set: set, index: index, from: to, to: at}
	n := 1
	if valid {
		legs[1].want = c.all()
		n = 2
	}
	if !c.moving.room(n) {
		row[SwapsSkipped]++
		return false
	}
	if !valid && !c.table.flat() {
		n = 1
	} else {
		n = 2
	}
	row[Swaps]++
	c.table.exchange(at, to)
	s := &c.table.set[at.set]
	s.order = s.order.use(other)
	c.changed(p)
	i := c.begin(h, legs[:n])
	c.parts.push(&c.moving.list[i].waiters, h)
	return true
}

// drop takes a block out of its way: a clean one is forgotten, others go to the slow tier. A read may wait for the
// move. False if the part must be served in the normal way.
func (c *Controller) drop(h int32, at place, waits bool) bool {
	p := &c.parts[h]
	row := c.rows[c.requests[p.request].fetch.Tenant]
	flat := c.table.flat()
	dirty := c.table.set[at.set].dirty>>at.pos&1 != 0
	if !flat && !dirty {
		row[Invalidations]++
		c.table.remove(at)
		c.changed(p)
		return false
	}
	legs, n := [2]leg{{set: p.set, index: p.index, from: at, to: c.table.home(p.set, p.index), want: c.all()}}, 1
	if flat {
		to, ok := c.leavesTo(at)
		if !ok || !c.moving.room(2) {
			return false
		}
		legs[0].to, n = to, 2
		set, index, used := c.table.resident(to)
		legs[1] = leg{set: set, index: index, from: to, to: at}
		if used {
			legs[1].want = c.all()
		}
	} else if !c.moving.room(1) {
		return false
	}
	row[Invalidations]++
	row[DirtyDrops]++
	c.changed(p)
	if flat {
		c.table.exchange(at, legs[0].to)
	} else {
		c.tell(at, false)
		c.table.remove(at)
	}
	i := c.begin(h, legs[:n])
	if waits {
		c.parts.push(&c.moving.list[i].waiters, h)
	}
	return waits
}

// leavesTo is the position of the slow tier that a misplaced block of flat memory goes to:
// one that holds nothing, or else each in turn.
func (c *Controller) leavesTo(at place) (place, bool) {
	var some place
	found := false
	n := c.table.spots - c.table.ways
	for k := range n {
		p := place{at.set, uint16(c.table.ways + (k+c.turn)%n)}
		if c.moving.uses(p) || c.readers[c.table.hold(p)] > 0 {
			continue
		}
		if _, _, used := c.table.resident(p); !used {
			return p, true
		}
		if !found {
			some, found = p, true
		}
	}
	c.turn = (c.turn + 1) % n
	return some, found
}

// held is a transfer of other blocks that earlier parts of the same block wait for, as no way was free for theirs;
// none.
func (c *Controller) held(p *part) int32 {
	m := &c.moving
	for i := *m.head(p.set); i != none; i = m.list[i].bucket {
		for h := m.list[i].waiters.first; h != none; h = c.parts[h].next {
			if o := &c.parts[h]; o.blocked && o.set == p.set && o.index == p.index {
				return i
			}
		}
	}
	return none
}

// miss serves a part whose block lies in the slow tier.
func (c *Controller) miss(h int32, at place, now uint64) bool {
	p := &c.parts[h]
	if i := c.held(p); i != none { // behind those
		p.blocked = true
		c.parts.push(&c.moving.list[i].waiters, h)
		return true
	}
	if !c.out.takes(at, p.units) || (!p.write || !c.cfg.WritesStay) && !c.moving.room(2) {
		return false
	}
	v := c.see(p, p.set)
	v.Now = now
	_, addr := c.table.address(at, 0)
	v.Slow = c.cfg.Tiers[Slow].Map.Channel(addr)
	choice := c.policy.Miss(v)
	row := c.rows[c.requests[p.request].fetch.Tenant]
	if !p.missed {
		p.missed = true
		if p.write {
			row[WriteMisses]++
		} else {
			row[Misses]++
		}
	}
	if choice.Way == Wait {
		if i := c.moving.any(p.set); i != none {
			p.blocked = true
			c.parts.push(&c.moving.list[i].waiters, h)
			return true
		}
	}
	if choice.Way < 0 {
		if !p.write {
			row[Bypasses]++
		}
		c.sendUnits(h, at)
		return true
	}
	c.fill(h, at, place{choice.Set, uint16(choice.Way)})
	return true
}

// fill brings the block of a part into a way; the block that is there goes where the new one was, or, in a cache,
// home if it is dirty. A write waits until all of the block is there, and is looked up again then.
func (c *Controller) fill(h int32, at, to place) {
	p := &c.parts[h]
	row := c.rows[c.requests[p.request].fetch.Tenant]
	row[Migrations]++
	p.filled = true
	legs, n := [2]leg{{set: p.set, index: p.index, from: at, to: to, want: c.all()}}, 1
	set, index, valid := c.table.resident(to)
	s := &c.table.set[to.set]
	switch dirty := s.dirty>>to.pos&1 != 0; {
	case c.table.flat():
		legs[1], n = leg{set: set, index: index, from: to, to: at}, 2
		if valid {
			legs[1].want = c.all()
			row[DirtyVictims]++
		}
		c.table.exchange(at, to)
	default:
		if valid && dirty {
			legs[1], n = leg{set: set, index: index, from: to, to: c.table.home(set, index), want: c.all()}, 2
			row[DirtyVictims]++
			c.tell(to, false)
		}
		if valid {
			c.table.remove(to)
		}
		c.table.install(to, p.set, p.index)
	}
	s.order = s.order.use(int(to.pos))
	c.changed(p)
	i := c.begin(h, legs[:n])
	c.parts.push(&c.moving.list[i].waiters, h)
}

// begin takes a register for the transfer that a part has caused; the part's units are read first.
func (c *Controller) begin(h int32, legs []leg) int32 {
	p := &c.parts[h]
	asker := c.requests[p.request].fetch.Tenant
	return c.moving.begin(asker, c.mover(asker), p.units, legs)
}

// tell reports to a policy that watches dirty data that the data of a way have become dirty, or will be written back.
func (c *Controller) tell(at place, dirty bool) {
	if c.dirt != nil {
		c.dirt.dirtied(c.table.block[c.table.slot(at)], dirty)
	}
}
