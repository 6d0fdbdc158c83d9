// Package engine holds simulated time: exact clock-domain ratios and the wheel
// that remembers which component runs when.
package engine

// Clock is a clock domain in exact rational ratio to the core clock.
type Clock struct {
	Num, Den uint64 // domain frequency / core frequency, in lowest terms
}

// NewClock reduces freq/core. Both are in the same unit (kHz).
func NewClock(freq, core uint64) Clock {
	a, b := freq, core
	for b != 0 {
		a, b = b, a%b
	}
	return Clock{freq / a, core / a}
}

// Ticks is the number of edges of the domain up to and including core cycle c.
// Edge 1 comes at the first core cycle c with c*Num >= Den.
func (k Clock) Ticks(c uint64) uint64 {
	if k.Num == k.Den {
		return c
	}
	return c * k.Num / k.Den
}

// Core is the first core cycle at which edge t has happened.
func (k Clock) Core(t uint64) uint64 {
	switch {
	case t == Never:
		return Never
	case k.Num == k.Den:
		return t
	}
	return (t*k.Den + k.Num - 1) / k.Num
}
