package cache

import "github.com/heddle-sim/heddle/mem"

// arrival is a request and the clock at which it reaches the tags.
type arrival struct {
	at uint64
	h  int32
}

// input is the input pipeline of a slice, and the queue between it and the tags. The slice may be some clocks ahead
// of the parts that hand it requests, for no longer than its pipeline is: a place that it frees in the queue is
// theirs from the clock on in which it was freed.
type input struct {
	queue mem.Queue[arrival]
	freed mem.Queue[uint64] // clocks at which requests have left, later than the last one in which a part asked
	limit int               // of requests in the queue

	latency uint64 // of the pipeline

	stalled bool   // the oldest request waits for a fill or for room,
	stallAt uint64 // from this clock on
}

// room says whether another request has room at clock now; clocks do not go back.
func (q *input) room(now uint64) bool {
	for q.freed.Len() > 0 && *q.freed.Head() <= now {
		q.freed.Pop()
	}
	return q.queue.Len()+q.freed.Len() < q.limit
}

// pop removes the oldest request at clock now.
func (q *input) pop(now uint64) {
	q.queue.Pop()
	q.freed.Push(now)
}
