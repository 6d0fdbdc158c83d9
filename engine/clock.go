// Package engine holds simulated time: exact ratios of clock domains, and the wheel that remembers when each
// component runs next. A reader must know two types: Clock and Wheel.
package engine

import "math/bits"

// Clock is a clock domain in exact rational ratio to the core clock.
type Clock struct {
	Num, Den uint64 // domain frequency / core frequency, in lowest terms

	ticks, core divisor // by Den, by Num
}

// divisor divides by a constant with a multiplication, which costs the computer that
// simulates a fraction of a division.
type divisor struct{ by, inverse, exact uint64 }

func newDivisor(by uint64) divisor {
	if by < 2 {
		return divisor{by: by}
	}
	return divisor{by, ^uint64(0)/by + 1, ^uint64(0) / by}
}

// of is x / by. The product is exact below 2^64 / by.
func (d *divisor) of(x uint64) uint64 {
	if x < d.exact {
		q, _ := bits.Mul64(x, d.inverse)
		return q
	}
	return x / d.by
}

// KHz converts a frequency from MHz, the unit of sheets, to kHz.
func KHz(mhz float64) uint64 { return uint64(mhz*1000 + 0.5) }

// NewClock reduces freq/core. Both are in the same unit (kHz).
func NewClock(freq, core uint64) Clock {
	a, b := freq, core
	for b != 0 {
		a, b = b, a%b
	}
	return Clock{freq / a, core / a, newDivisor(core / a), newDivisor(freq / a)}
}

// Ticks is the number of edges of the domain up to and including core cycle c.
// Edge 1 comes at the first core cycle c with c*Num >= Den.
func (k *Clock) Ticks(c uint64) uint64 {
	if k.Num == k.Den {
		return c
	}
	return k.ticks.of(c * k.Num)
}

// Core is the first core cycle at which edge t has happened.
func (k *Clock) Core(t uint64) uint64 {
	switch {
	case t == Never:
		return Never
	case k.Num == k.Den:
		return t
	}
	return k.core.of(t*k.Den + k.Num - 1)
}
