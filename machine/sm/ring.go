package sm

import "math/bits"

// ringSize is the reach of a ring; what is to wait longer is put in again then.
const ringSize = 64

// ring holds sets of slots by the time at which they are due, ringSize-1 ahead at most. Times are
// cycles, or turns of the register file.
type ring struct {
	used uint64 // times, modulo ringSize, at which some are due
	due  [ringSize]uint64
}

// put has slot i due at a time.
func (r *ring) put(i int, at uint64) {
	at %= ringSize
	r.due[at] |= bit(i)
	r.used |= 1 << at
}

// putAll has a set of slots, not an empty one, due at a time.
func (r *ring) putAll(slots, at uint64) {
	at %= ringSize
	r.due[at] |= slots
	r.used |= 1 << at
}

// has says that some are due at a time.
func (r *ring) has(at uint64) bool { return r.used>>(at%ringSize)&1 != 0 }

// take takes out those that are due at a time.
func (r *ring) take(at uint64) uint64 {
	at %= ringSize
	m := r.due[at]
	r.due[at] = 0
	r.used &^= 1 << at
	return m
}

// wait is how long after a time the first are due, of which there are some.
func (r *ring) wait(from uint64) uint64 {
	return uint64(bits.TrailingZeros64(bits.RotateLeft64(r.used, -int(from%ringSize))))
}
