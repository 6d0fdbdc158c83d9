package dram

func (m *mask) set(b int)      { m[b>>6&(maxWords-1)] |= 1 << (b & 63) }
func (m *mask) unset(b int)    { m[b>>6&(maxWords-1)] &^= 1 << (b & 63) }
func (m *mask) has(b int) bool { return m[b>>6&(maxWords-1)]>>(b&63)&1 != 0 }

// lower lowers the bound of a class to when bank b may take its command.
func (c *Channel) lower(class, b int, cmd Cmd) {
	c.due[class] = min(c.due[class], c.ready(cmd, b))
}

// enqueue appends slot i to its bank's list and, when it becomes a candidate,
// lowers the bound of the command it needs.
func (c *Channel) enqueue(i int16, r *request) {
	b := int(r.bank)
	k := &c.bank[b]
	l := &k.list[r.kind]
	r.prev = l.last
	if l.last == none {
		l.first = i
	} else {
		c.slots[l.last].next = i
	}
	l.last = i
	c.count[r.kind]++
	c.turn = c.turns()
	if r.kind == kindWrite {
		c.places[placeHash(int(r.bank), r.row, r.col)]++
	}
	switch {
	case int64(r.row) == k.open:
		if l.hit == none {
			c.newHit(b, r.kind, i)
		}
	case l.miss != none:
	case k.open < 0:
		c.newMiss(classAct, b, r.kind, i)
		c.lower(classAct, b, ACT)
	default:
		c.newMiss(classPre, b, r.kind, i)
		c.lower(classPre, b, PRE)
	}
}

// oldestOf is the age of what a bank wants.
func (c *Channel) oldestOf(kind uint8, want, b int) *uint64 {
	return &c.word[b>>6].age[kind&(numKinds-1)][want][b&63]
}

// newHit makes slot i the oldest hit of its bank and kind.
func (c *Channel) newHit(b int, kind uint8, i int16) {
	c.bank[b].list[kind].hit = i
	*c.oldestOf(kind, wantHit, b) = c.slots[i].age
	c.on[classHit][kind].set(b)
	c.lower(classHit, b, RD+Cmd(kind))
}

// newMiss makes slot i the oldest request of its bank and kind that needs another
// row (classPre), or any row as the bank is closed (classAct).
func (c *Channel) newMiss(class, b int, kind uint8, i int16) {
	c.bank[b].list[kind].miss = i
	*c.oldestOf(kind, wantMiss, b) = c.slots[i].age
	c.on[class][kind].set(b)
}

// unlink takes slot i out of its list, accounts its wait and, if its bank is and
// stays open, finds the list's next hit. (A closed bank's oldest request leaves
// just before opened finds the candidates anew.)
func (c *Channel) unlink(i int16, r *request, now uint64) {
	k := &c.bank[r.bank]
	l := &k.list[r.kind]
	if r.prev == none {
		l.first = r.next
	} else {
		c.slots[r.prev].next = r.next
	}
	if r.next == none {
		l.last = r.prev
	} else {
		c.slots[r.next].prev = r.prev
	}
	c.count[r.kind]--
	c.turn = c.turns()
	if r.kind == kindWrite {
		c.places[placeHash(int(r.bank), r.row, r.col)]--
	}
	c.rows[r.tenant][CQueueCycles] += now - r.arrive
	if i != l.hit {
		return
	}
	j := r.next
	for j != none && int64(c.slots[j].row) != k.open {
		j = c.slots[j].next
	}
	if j == none {
		l.hit = none
		c.on[classHit][r.kind].unset(int(r.bank))
	} else {
		l.hit = j // as ready as the one before
		*c.oldestOf(r.kind, wantHit, int(r.bank)) = c.slots[j].age
	}
}

// find is the oldest request for a row and the oldest for another among those from
// slot i on.
func (c *Channel) find(i int16, row uint32) (hit, miss int16) {
	hit, miss = none, none
	for slots := c.slots; i != none && (hit == none || miss == none); {
		r := &slots[i]
		switch {
		case r.row != row:
			if miss == none {
				miss = i
			}
		case hit == none:
			hit = i
		}
		i = r.next
	}
	return hit, miss
}

// opened finds the candidates of bank b after a row of it was opened.
func (c *Channel) opened(k *bank, b int) {
	conflict := false
	for kind := range k.list {
		l, q := &k.list[kind], uint8(kind)
		c.on[classAct][kind].unset(b)
		l.hit, l.miss = none, none
		if l.first == none {
			continue
		}
		hit, miss := c.find(l.first, uint32(k.open))
		if hit != none {
			c.newHit(b, q, hit)
		}
		if miss != none {
			c.newMiss(classPre, b, q, miss)
			conflict = true
		}
	}
	if conflict {
		c.lower(classPre, b, PRE)
	}
}

// closed makes the oldest requests of bank b candidates after its row was closed.
func (c *Channel) closed(k *bank, b int) {
	k.open = -1
	wanted := false
	for kind := range k.list {
		l := &k.list[kind]
		c.on[classHit][kind].unset(b)
		c.on[classPre][kind].unset(b)
		l.hit, l.miss = none, none
		if l.first != none {
			c.newMiss(classAct, b, uint8(kind), l.first)
			wanted = true
		}
	}
	if wanted {
		c.lower(classAct, b, ACT)
	}
}
