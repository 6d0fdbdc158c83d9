package dram

// PrIS is the scheduler of HAShCache (Patil and Govindarajan, ACM TACO 14(4), 2017): CPU requests before
// those of the GPU, row hits before others. In order: a row hit of the CPU that may issue now, one of
// the GPU, then opening or closing a row for the CPU, then for the GPU; the oldest of several. Fills,
// which no program has asked for, are urgent like the CPU's requests. Refreshes and activated requests
// come first as under FR-FCFS. A GPU starves while the CPU keeps a channel busy, as it does there.
//
// A request that is not urgent is younger than any that is: its age has the high bit set, and a bank's
// list is in the order of ages, so that the search for the oldest is FR-FCFS's own.

// patient is set in the age of requests that are not urgent.
const patient = 1 << 62

// ageOf is the age of a request that arrives now.
func (q *queues) ageOf(kind uint8, bank int, urgent bool) uint64 {
	age := q.seq<<ageShift | uint64(kind)*maxBanks | uint64(bank)
	if !urgent {
		age |= patient
	}
	return age
}

// enqueueByAge is enqueue where a request may have to wait before others that came earlier.
func (q *queues) enqueueByAge(i int16, r *request) bool {
	k := &q.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	before := l.last
	for before != none && q.slots[before].age > r.age {
		before = q.slots[before].prev
	}
	q.insert(l, i, before)
	q.count[r.kind&(numKinds-1)]++
	q.turn = q.turns()
	if r.kind == kindWrite {
		q.places[placeHash(int(r.bank), r.row, r.col)]++
	}
	class, cmd := classPre, PRE
	switch {
	case int64(r.row) == k.open:
		if l.hit != none && q.slots[l.hit].age < r.age {
			return q.turn
		}
		q.newHit(k, r.kind, i)
		return true
	case l.miss != none && q.slots[l.miss].age < r.age:
		return q.turn
	case k.open < 0:
		class, cmd = classAct, ACT
	}
	q.newMiss(class, k, r.kind, i)
	q.lower(class, k, cmd)
	return true
}

// insert puts slot i into a list behind another; at the front behind none.
func (q *queues) insert(l *bankList, i, before int16) {
	r := &q.slots[i]
	r.prev, r.next = before, l.first
	if before != none {
		r.next = q.slots[before].next
		q.slots[before].next = i
	} else {
		l.first = i
	}
	if r.next != none {
		q.slots[r.next].prev = i
	} else {
		l.last = i
	}
}
