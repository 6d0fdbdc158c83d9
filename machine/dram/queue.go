package dram

// lower lowers the bound of a class to when bank k may take its command.
func (q *queues) lower(class int, k *bank, cmd Cmd) {
	q.due[class] = min(q.due[class], q.time.ready(cmd, k))
}

// enqueue appends slot i to its bank's list and, when it becomes a candidate,
// lowers the bound of the command it needs. It tells whether there may be anything to do
// for it before what there was to do already.
func (q *queues) enqueue(i int16, r *request) bool {
	k := &q.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	r.prev = l.last
	if l.last == none {
		l.first = i
	} else {
		q.slots[l.last].next = i
	}
	l.last = i
	q.count[r.kind&(numKinds-1)]++
	q.turn = q.turns()
	if r.kind == kindWrite {
		q.places[placeHash(int(r.bank), r.row, r.col)]++
	}
	switch {
	case int64(r.row) == k.open:
		if l.hit != none {
			return q.turn
		}
		q.newHit(k, r.kind, i)
	case l.miss != none:
		return q.turn
	case k.open < 0:
		q.newMiss(classAct, k, r.kind, i)
		q.lower(classAct, k, ACT)
	default:
		q.newMiss(classPre, k, r.kind, i)
		q.lower(classPre, k, PRE)
	}
	return true
}

// want notes slot i as what a bank wants.
func (q *queues) want(k *bank, kind uint8, want int, i int16) {
	age := q.slots[i].age
	k.word.since[kind&(numKinds-1)][want][k.id&63] = ^age
}

// newHit makes slot i the oldest hit of its bank and kind.
func (q *queues) newHit(k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].hit = i
	q.want(k, kind, wantHit, i)
	k.word.on[classHit][kind&(numKinds-1)] |= k.bit
	q.lower(classHit, k, RD+Cmd(kind))
}

// newMiss makes slot i the oldest request of its bank and kind that needs another
// row (classPre), or any row as the bank is closed (classAct).
func (q *queues) newMiss(class int, k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].miss = i
	q.want(k, kind, wantMiss, i)
	k.word.on[class&(bankCmds-1)][kind&(numKinds-1)] |= k.bit
}

// unlink takes slot i out of its list, accounts its wait and, if its bank is and
// stays open, finds the list's next hit. (A closed bank's oldest request leaves
// just before opened finds the candidates anew.)
func (q *queues) unlink(i int16, r *request, n *counts, now uint64) {
	k := &q.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	if r.prev == none {
		l.first = r.next
	} else {
		q.slots[r.prev].next = r.next
	}
	if r.next == none {
		l.last = r.prev
	} else {
		q.slots[r.next].prev = r.prev
	}
	q.count[r.kind&(numKinds-1)]--
	q.turn = q.turns()
	if r.kind == kindWrite {
		q.places[placeHash(int(r.bank), r.row, r.col)]--
	}
	n[CQueueCycles] += now - r.arrive
	if i != l.hit {
		return
	}
	j := r.next
	for j != none && int64(q.slots[j].row) != k.open {
		j = q.slots[j].next
	}
	if j == none {
		l.hit = none
		k.word.on[classHit][r.kind&(numKinds-1)] &^= k.bit
	} else {
		l.hit = j // as ready as the one before
		q.want(k, r.kind, wantHit, j)
	}
}

// find is the oldest request for a row and the oldest for another among those from
// slot i on.
func (q *queues) find(i int16, row uint32) (hit, miss int16) {
	hit, miss = none, none
	for slots := q.slots; i != none && (hit == none || miss == none); {
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
func (q *queues) opened(k *bank) {
	word, bit, conflict := k.word, k.bit, false
	for kind := range uint8(numKinds) {
		l := &k.list[kind]
		if l.miss == none {
			continue // nothing has waited for the row
		}
		word.on[classAct][kind] &^= bit
		l.miss = none
		hit, miss := q.find(l.first, uint32(k.open))
		if hit != none {
			q.newHit(k, kind, hit)
		}
		if miss != none {
			q.newMiss(classPre, k, kind, miss)
			conflict = true
		}
	}
	if conflict {
		q.lower(classPre, k, PRE)
	}
}

// closed makes the oldest requests of bank k candidates after its row was closed.
func (q *queues) closed(k *bank) {
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
		q.newMiss(classAct, k, kind, l.first)
		wanted = true
	}
	if wanted {
		q.lower(classAct, k, ACT)
	}
}

// wanted tells whether a queued request of a kind being served hits the open row
// of bank b.
func (q *queues) wanted(b int) bool {
	k := &q.bank[b]
	hits := &k.word.on[classHit]
	switch {
	case q.shared:
		return (hits[kindRead]|hits[kindWrite])&k.bit != 0
	case q.write:
		return hits[kindWrite]&k.bit != 0
	}
	return hits[kindRead]&k.bit != 0
}

// activated tells whether bank b has an activated request.
func (q *queues) activated(b int) bool { return q.bank[b].active != none }

// waits tells whether a request no younger than seq that touches columns [col,
// col+n) of the row waits in bank b. An activated request is taken for all its row:
// some of its bursts may be gone.
func (q *queues) waits(b int, row, col, n uint32, seq uint64) bool {
	k := &q.bank[b]
	if k.active != none && q.slots[k.active].row == row && q.slots[k.active].age>>ageShift <= seq {
		return true
	}
	for kind := range k.list {
		for i := k.list[kind].first; i != none; i = q.slots[i].next {
			r := &q.slots[i]
			if r.age>>ageShift > seq {
				break
			}
			if r.row == row && r.col < col+n && col < r.col+uint32(r.left) {
				return true
			}
		}
	}
	return false
}
