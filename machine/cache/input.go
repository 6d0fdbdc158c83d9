package cache

import "github.com/heddle-sim/heddle/mem"

// arrival is a request and the clock at which it reaches the tags.
type arrival struct {
	at uint64
	h  int32
}

// input is the input pipeline of a slice, and the queue between it and the tags.
type input struct {
	queue mem.Queue[arrival]
	limit int  // of requests in it
	leads bool // Lead
	gone  mem.Queue[uint64]

	stalled bool   // the oldest request waits for a fill or for room,
	stallAt uint64 // from this clock on

	_     [64]byte // what follows another core of the computer writes
	ahead lookahead
	_     [64]byte
}

// lookahead is what lets the interconnect, on one core of the computer, follow to where
// the slice is, while the slice may go on, on another: the queue as it was when the slice
// was there.
type lookahead struct {
	on       bool              // between Part and Join
	had      int               // requests in the queue at Part
	left     mem.Queue[uint64] // clocks at which requests have left it, since Lead
	accepted []arrival         // since Part
}

// room says whether another request has room at clock now.
func (q *input) room(now uint64) bool {
	if !q.ahead.on {
		return q.queue.Len() < q.limit
	}
	return q.ahead.queued(now) < q.limit
}

// accept takes a request.
func (q *input) accept(a arrival) {
	if q.ahead.on {
		q.ahead.accepted = append(q.ahead.accepted, a)
	} else {
		q.queue.Push(a)
	}
}

// pop removes the oldest request at clock now.
func (q *input) pop(now uint64) {
	q.queue.Pop()
	if q.leads {
		q.gone.Push(now)
	}
}

// queued is the number of requests in the queue as the slice had it at clock now.
func (x *lookahead) queued(now uint64) int {
	for x.left.Len() > 0 && *x.left.Head() <= now {
		x.left.Pop()
	}
	return x.had + x.left.Len() + len(x.accepted)
}

// Lead says that the slice now runs ahead of those who ask CanAccept, and has to keep
// the clocks at which requests leave the queue; or that it has done so.
func (s *Slice) Lead(on bool) { s.in[0].leads = on }

// Part lets the interconnect follow to where the slice is, by CanAccept and Accept,
// while the slice may go on, on another core, for no longer than its pipeline is. The
// queue is then for the interconnect what it was when the slice was there.
func (s *Slice) Part() {
	q, x := &s.in[0], &s.in[0].ahead
	x.on, x.had = true, q.queue.Len()
	x.left.Clear()
	x.left, q.gone = q.gone, x.left
}

// Join ends what Part began; true when requests were accepted meanwhile.
func (s *Slice) Join() bool {
	x := &s.in[0].ahead
	x.on = false
	for _, a := range x.accepted {
		s.in[0].queue.Push(a)
	}
	any := len(x.accepted) > 0
	x.accepted = x.accepted[:0]
	return any
}
