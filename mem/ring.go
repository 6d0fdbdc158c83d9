package mem

// Ring is a bounded first-in first-out queue. A full queue refuses: that is the
// back-pressure between components.
type Ring[T any] struct {
	buf        []T // a power of two of elements
	head, size int
	limit      int
}

// firstRoom is the elements that a ring has memory for at first. The queue of an SM's memory accesses may hold
// thousands, and seldom holds more than a few instructions'.
const firstRoom = 256

// NewRing makes a queue of at most limit elements. Its memory grows with what it has to hold, and is kept.
func NewRing[T any](limit int) Ring[T] {
	n := 1
	for n < min(limit, firstRoom) {
		n *= 2
	}
	return Ring[T]{buf: make([]T, n), limit: limit}
}

// Len is the number of queued elements.
func (q *Ring[T]) Len() int { return q.size }

// Full says that Push would refuse.
func (q *Ring[T]) Full() bool { return q.size >= q.limit }

// Push appends v; false when the queue is full.
func (q *Ring[T]) Push(v T) bool {
	if q.size >= q.limit {
		return false
	}
	if q.size == len(q.buf) { // twice the same elements: those before the head follow the others in the second half
		q.buf = append(q.buf, q.buf...)
	}
	q.buf[(q.head+q.size)&(len(q.buf)-1)] = v
	q.size++
	return true
}

// Head is the oldest element; the queue must not be empty. The pointer is good until the next Push.
func (q *Ring[T]) Head() *T { return &q.buf[q.head] }

// At is the i-th oldest element.
func (q *Ring[T]) At(i int) *T { return &q.buf[(q.head+i)&(len(q.buf)-1)] }

// Pop removes and returns the oldest element; the queue must not be empty.
func (q *Ring[T]) Pop() T {
	v := q.buf[q.head]
	q.head = (q.head + 1) & (len(q.buf) - 1)
	if q.size--; q.size == 0 {
		q.head = 0 // a queue that is mostly short stays in few lines of the computer's cache
	}
	return v
}

// Clear empties the queue.
func (q *Ring[T]) Clear() { q.head, q.size = 0, 0 }

// Queue is a first-in first-out queue without a limit of its own, for places where something else bounds its length.
// It keeps its storage.
type Queue[T any] struct {
	buf  []T
	head int
}

// Len is the number of queued elements.
func (q *Queue[T]) Len() int { return len(q.buf) - q.head }

// Push appends v.
func (q *Queue[T]) Push(v T) {
	if len(q.buf) == cap(q.buf) && q.head > len(q.buf)/2 { // less would copy the same elements again and again
		n := copy(q.buf, q.buf[q.head:])
		q.buf, q.head = q.buf[:n], 0
	}
	q.buf = append(q.buf, v)
}

// Clear empties the queue.
func (q *Queue[T]) Clear() { q.buf, q.head = q.buf[:0], 0 }

// At is the i-th oldest element.
func (q *Queue[T]) At(i int) *T { return &q.buf[q.head+i] }

// Head is the oldest element; the queue must not be empty.
func (q *Queue[T]) Head() *T { return &q.buf[q.head] }

// Pop removes and returns the oldest element; the queue must not be empty.
func (q *Queue[T]) Pop() T {
	v := q.buf[q.head]
	if q.head++; q.head == len(q.buf) {
		q.buf, q.head = q.buf[:0], 0
	}
	return v
}
