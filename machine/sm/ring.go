package sm

import "math/bits"

// ringSize is the reach of a ring. A slot that must wait longer is put in again at its end.
const ringSize = 64

// ring holds sets of slots by the time at which they are due, ringSize-1 ahead at most. Times are
// cycles, or turns of the register file.
type ring struct {
	used uint64 // times, modulo ringSize, at which some are due
	due  [ringSize]uint64
}

// put makes slot i due at a time.
func (r *ring) put(i int, at uint64) {
	at %= ringSize
	r.due[at] |= bit(i)
	r.used |= 1 << at
}

// putAll makes a set of slots due at a time. The set is not empty.
func (r *ring) putAll(slots, at uint64) {
	at %= ringSize
	r.due[at] |= slots
	r.used |= 1 << at
}

// has says whether slots are due at a time.
func (r *ring) has(at uint64) bool { return r.used>>(at%ringSize)&1 != 0 }

// take takes out the slots that are due at a time.
func (r *ring) take(at uint64) uint64 {
	at %= ringSize
	m := r.due[at]
	r.due[at] = 0
	r.used &^= 1 << at
	return m
}

// wait is the time from a given one until the first slots are due. There must be some.
func (r *ring) wait(from uint64) uint64 {
	return uint64(bits.TrailingZeros64(bits.RotateLeft64(r.used, -int(from%ringSize))))
}
