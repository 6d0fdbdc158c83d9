package vm

import "github.com/heddle-sim/heddle/mem"

// turnQueue holds the driver's work, first in, first out for each application. Applications are served in turn, so
// that an application with a few pages does not wait behind another's thousands. Without turns it is one queue in
// order of arrival.
type turnQueue[T any] struct {
	of   []mem.Queue[T] // [tenant]; without turns one for all
	last int            // served last
	size int            // of all together
}

func newTurnQueue[T any](tenants int, turns bool) turnQueue[T] {
	if !turns {
		tenants = 1
	}
	return turnQueue[T]{of: make([]mem.Queue[T], tenants), last: tenants - 1}
}

// Len is the number of elements of all applications.
func (q *turnQueue[T]) Len() int { return q.size }

// Push appends v to an application's queue.
func (q *turnQueue[T]) Push(tenant mem.TenantID, v T) {
	q.of[int(tenant)%len(q.of)].Push(v)
	q.size++
}

// Pop removes and returns the oldest element of the next application that has one;
// the queue must not be empty.
func (q *turnQueue[T]) Pop() T {
	for {
		if q.last++; q.last >= len(q.of) {
			q.last = 0
		}
		if k := &q.of[q.last]; k.Len() > 0 {
			q.size--
			return k.Pop()
		}
	}
}
