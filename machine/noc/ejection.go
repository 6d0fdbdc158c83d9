package noc

import "github.com/heddle-sim/heddle/mem"

// ejection is the outputs of a network whose packets are known to arrive at a clock when they
// are sent: queues, each in order of arrival.
type ejection struct {
	queue    []mem.Ring[ejected]
	headAt   []uint64 // by output: the clock at which the first packet arrives; Never: it has, or there is none
	next     uint64   // the earliest of those
	reserved []int    // by output: packets in its queue, those on their way included
	avail    bitset   // outputs with a packet that has arrived
}

// ejected is a packet, and the clock at which it arrives.
type ejected struct {
	at uint64
	id int32
}

func (e *ejection) build(outputs, depth int) {
	e.queue, e.headAt, e.reserved = make([]mem.Ring[ejected], outputs), make([]uint64, outputs), make([]int, outputs)
	e.avail, e.next = newBitset(outputs), Never
	for i := range e.queue {
		e.queue[i] = mem.NewRing[ejected](depth)
		e.headAt[i] = Never
	}
}

// push sends a packet to an output, to arrive at a clock not before those sent there earlier.
func (e *ejection) push(out int, id int32, at uint64) {
	q := &e.queue[out]
	push(q, ejected{at, id})
	if q.Len() == 1 {
		e.headAt[out], e.next = at, min(e.next, at)
	}
	e.reserved[out]++
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
	return e.queue[out].Head().id, true
}

func (e *ejection) pop(out int, now uint64) (id int32, ok bool) {
	if id, ok = e.peek(out); !ok {
		return 0, false
	}
	q := &e.queue[out]
	q.Pop()
	e.reserved[out]--
	if q.Len() == 0 {
		e.avail.remove(out)
		return id, true
	}
	if at := q.Head().at; at > now {
		e.avail.remove(out)
		e.headAt[out], e.next = at, min(e.next, at)
	}
	return id, true
}
