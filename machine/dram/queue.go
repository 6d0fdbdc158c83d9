package dram

func set(m []uint64, b int, on bool) {
	if on {
		m[b>>6] |= 1 << (b & 63)
	} else {
		m[b>>6] &^= 1 << (b & 63)
	}
}

func has(m []uint64, b int) bool { return m[b>>6]>>(b&63)&1 != 0 }

// enqueue appends slot i to its bank's list and, when it becomes a candidate,
// lowers the bound of the command it needs.
func (c *Channel) enqueue(i int16) {
	r := &c.slots[i]
	b, k := int(r.bank), r.kind
	l := &c.lists[k][b]
	r.prev = l.last
	if l.last == none {
		l.first = i
	} else {
		c.slots[l.last].next = i
	}
	l.last = i
	c.count[k]++
	if int64(r.row) == c.open[b] {
		if l.hit == none {
			c.setHit(k, b, i)
		}
	} else if l.miss == none {
		c.setMiss(k, b, i)
	}
}

// unlink takes slot i out of its list, accounts its wait and finds the list's
// next candidates of the same sort.
func (c *Channel) unlink(i int16, now uint64) {
	r := &c.slots[i]
	b, k := int(r.bank), r.kind
	l := &c.lists[k][b]
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
	c.count[k]--
	c.rows[r.tenant][CQueueCycles] += now - r.arrive
	row := c.open[b]
	if i == l.hit {
		j := r.next
		for j != none && int64(c.slots[j].row) != row {
			j = c.slots[j].next
		}
		c.setHit(k, b, j)
	}
	if i == l.miss {
		j := r.next
		for j != none && int64(c.slots[j].row) == row {
			j = c.slots[j].next
		}
		c.setMiss(k, b, j)
	}
}

// regroup recomputes the candidates of bank b after its open row changed.
func (c *Channel) regroup(b int) {
	row := c.open[b]
	for k := range uint8(numKinds) {
		l := &c.lists[k][b]
		hit, miss := none, none
		for j := l.first; j != none && (hit == none || miss == none); j = c.slots[j].next {
			if int64(c.slots[j].row) == row {
				if hit == none {
					hit = j
				}
			} else if miss == none {
				miss = j
			}
			if row < 0 {
				break // closed: the oldest is all that matters
			}
		}
		c.setHit(k, b, hit)
		c.setMiss(k, b, miss)
	}
}

func (c *Channel) setHit(k uint8, b int, i int16) {
	c.lists[k][b].hit = i
	set(c.hitOn[k], b, i != none)
	if i != none {
		c.hitSeq[k][b] = c.slots[i].seq
		n := RD + Cmd(k)
		c.due[classHit] = min(c.due[classHit], max(c.bankAt[n][b], c.grpAt[n][c.grpOf[b]]))
	}
}

func (c *Channel) setMiss(k uint8, b int, i int16) {
	c.lists[k][b].miss = i
	open := c.open[b] >= 0
	set(c.missOn[k], b, i != none && open)
	set(c.actOn[k], b, i != none && !open)
	if i == none {
		return
	}
	c.oldSeq[k][b] = c.slots[i].seq
	if open {
		c.due[classPre] = min(c.due[classPre], max(c.bankAt[PRE][b], c.grpAt[PRE][c.grpOf[b]]))
	} else {
		c.due[classAct] = min(c.due[classAct], max(c.bankAt[ACT][b], c.grpAt[ACT][c.grpOf[b]]))
	}
}

// release returns slot i to the pool.
func (c *Channel) release(i int16) { c.free = append(c.free, i) }
