package dram

// lower lowers the bound of a class to when bank k may take its command.
func (c *Channel) lower(class int, k *bank, cmd Cmd) {
	c.due[class] = min(c.due[class], c.ready(cmd, k))
}

// enqueue appends slot i to its bank's list and, when it becomes a candidate,
// lowers the bound of the command it needs. It tells whether there may be anything to do
// for it before what there was to do already.
func (c *Channel) enqueue(i int16, r *request) bool {
	k := &c.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	r.prev = l.last
	if l.last == none {
		l.first = i
	} else {
		c.slots[l.last].next = i
	}
	l.last = i
	c.count[r.kind&(numKinds-1)]++
	c.turn = c.turns()
	if r.kind == kindWrite {
		c.places[placeHash(int(r.bank), r.row, r.col)]++
	}
	switch {
	case int64(r.row) == k.open:
		if l.hit != none {
			return c.turn
		}
		c.newHit(k, r.kind, i)
	case l.miss != none:
		return c.turn
	case k.open < 0:
		c.newMiss(classAct, k, r.kind, i)
		c.lower(classAct, k, ACT)
	default:
		c.newMiss(classPre, k, r.kind, i)
		c.lower(classPre, k, PRE)
	}
	return true
}

// want notes slot i as what a bank wants.
func (c *Channel) want(k *bank, kind uint8, want int, i int16) {
	age := c.slots[i].age
	k.word.since[kind&(numKinds-1)][want][k.id&63] = ^age
}

// newHit makes slot i the oldest hit of its bank and kind.
func (c *Channel) newHit(k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].hit = i
	c.want(k, kind, wantHit, i)
	k.word.on[classHit][kind&(numKinds-1)] |= k.bit
	c.lower(classHit, k, RD+Cmd(kind))
}

// newMiss makes slot i the oldest request of its bank and kind that needs another
// row (classPre), or any row as the bank is closed (classAct).
func (c *Channel) newMiss(class int, k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].miss = i
	c.want(k, kind, wantMiss, i)
	k.word.on[class&(bankCmds-1)][kind&(numKinds-1)] |= k.bit
}

// unlink takes slot i out of its list, accounts its wait and, if its bank is and
// stays open, finds the list's next hit. (A closed bank's oldest request leaves
// just before opened finds the candidates anew.)
func (c *Channel) unlink(i int16, r *request, n *counts, now uint64) {
	k := &c.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
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
	c.count[r.kind&(numKinds-1)]--
	c.turn = c.turns()
	if r.kind == kindWrite {
		c.places[placeHash(int(r.bank), r.row, r.col)]--
	}
	n[CQueueCycles] += now - r.arrive
	if i != l.hit {
		return
	}
	j := r.next
	for j != none && int64(c.slots[j].row) != k.open {
		j = c.slots[j].next
	}
	if j == none {
		l.hit = none
		k.word.on[classHit][r.kind&(numKinds-1)] &^= k.bit
	} else {
		l.hit = j // as ready as the one before
		c.want(k, r.kind, wantHit, j)
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

// opened finds the candidates of bank k after a row of it was opened.
func (c *Channel) opened(k *bank) {
	word, bit, conflict := k.word, k.bit, false
	for kind := range uint8(numKinds) {
		l := &k.list[kind]
		if l.miss == none {
			continue // nothing has waited for the row
		}
		word.on[classAct][kind] &^= bit
		l.miss = none
		hit, miss := c.find(l.first, uint32(k.open))
		if hit != none {
			c.newHit(k, kind, hit)
		}
		if miss != none {
			c.newMiss(classPre, k, kind, miss)
			conflict = true
		}
	}
	if conflict {
		c.lower(classPre, k, PRE)
	}
}

// closed makes the oldest requests of bank k candidates after its row was closed.
func (c *Channel) closed(k *bank) {
	k.open = -1
	word, bit, wanted := k.word, k.bit, false
	for kind := range uint8(numKinds) {
		l := &k.list[kind]
		if l.first == none {
			continue // and no candidate either
		}
		word.on[classHit][kind] &^= bit
		word.on[classPre][kind] &^= bit
		l.hit = none
		c.newMiss(classAct, k, kind, l.first)
		wanted = true
	}
	if wanted {
		c.lower(classAct, k, ACT)
	}
}
