package noc

// ejection is the outputs of a network whose packets are known to arrive at a clock when they
// are sent: queues, each in order of arrival.
type ejection struct {
	queue    []ejectQueue
	headAt   []uint64 // by output: the clock at which the first packet arrives; Never: it has, or there is none
	next     uint64   // the earliest of those
	reserved []int    // by output: packets in its queue, those on their way included
	avail    bitset   // outputs with a packet that has arrived
}

// ejectQueue is the packets of an output, a ring.
type ejectQueue struct {
	ids     []int32
	at      []uint64
	head, n int
}

func (e *ejection) build(outputs, depth int) {
	n := 1
	for n < min(depth, 1024) {
		n *= 2
	}
	e.queue, e.headAt, e.reserved = make([]ejectQueue, outputs), make([]uint64, outputs), make([]int, outputs)
	e.avail, e.next = newBitset(outputs), Never
	for i := range e.queue {
		e.queue[i].ids, e.queue[i].at = make([]int32, n), make([]uint64, n)
		e.headAt[i] = Never
	}
}

// push sends a packet to an output, to arrive at a clock not before those sent there earlier.
func (e *ejection) push(out int, id int32, at uint64) {
	q := &e.queue[out]
	if q.n == len(q.ids) {
		q.grow()
	}
	k := (q.head + q.n) & (len(q.ids) - 1)
	q.ids[k], q.at[k] = id, at
	if q.n++; q.n == 1 {
		e.headAt[out], e.next = at, min(e.next, at)
	}
	e.reserved[out]++
}

func (q *ejectQueue) grow() {
	ids, at := make([]int32, 2*q.n), make([]uint64, 2*q.n)
	for i := range q.n {
		k := (q.head + i) & (q.n - 1)
		ids[i], at[i] = q.ids[k], q.at[k]
	}
	q.ids, q.at, q.head = ids, at, 0
}

// arrive shows the packets that have come by clock now, and returns when the next one does.
func (e *ejection) arrive(now uint64) uint64 {
	if e.next > now {
		return e.next
	}
	e.next = Never
	for out, at := range e.headAt {
		if at <= now {
			e.avail.add(out)
			e.headAt[out] = Never
			continue
		}
		e.next = min(e.next, at)
	}
	return e.next
}

func (e *ejection) peek(out int) (id int32, ok bool) {
	if !e.avail.has(out) {
		return 0, false
	}
	q := &e.queue[out]
	return q.ids[q.head], true
}

func (e *ejection) pop(out int, now uint64) (id int32, ok bool) {
	if id, ok = e.peek(out); !ok {
		return 0, false
	}
	q := &e.queue[out]
	q.head = (q.head + 1) & (len(q.ids) - 1)
	e.reserved[out]--
	if q.n--; q.n == 0 {
		q.head = 0
		e.avail.remove(out)
		return id, true
	}
	if at := q.at[q.head]; at > now {
		e.avail.remove(out)
		e.headAt[out], e.next = at, min(e.next, at)
	}
	return id, true
}
