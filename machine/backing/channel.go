package backing

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/mem"
)

// channel is a DRAM channel with a fixed latency before its scheduler (GPGPU-Sim's -dram_latency). It runs in the
// command clock. R is a request of the part before it: a slice's fetch, or an access of the controller of two tiers.
type channel[R any] struct {
	dram  *dram.Channel
	clock engine.Clock
	extra uint64 // core cycles of the latency
	delay mem.Ring[delayed[R]]
}

// delayed is a request on its way to the scheduler, and the cycle it gets there.
type delayed[R any] struct {
	at uint64
	of R
}

// enter takes a request, for which there is room.
func (c *channel[R]) enter(now uint64, r R) { c.delay.Push(delayed[R]{now + c.extra, r}) }

// due is the oldest request when its latency is over; nil: none is there.
func (c *channel[R]) due(now uint64) *R {
	if c.delay.Len() == 0 || c.delay.Head().at > now {
		return nil
	}
	return &c.delay.Head().of
}

// run advances scheduler and devices to command clock tick, and returns the core cycle of their next work.
func (c *channel[R]) run(tick uint64) uint64 {
	if t := c.dram.Tick(tick); t != dram.Never {
		return c.clock.Core(max(t, tick+1))
	}
	return engine.Never
}

// wait is the core cycle after clock tick in which a request can enter, if there are more, or get to the scheduler.
func (c *channel[R]) wait(tick uint64, more bool) uint64 {
	next := engine.Never
	if c.delay.Len() > 0 {
		next = max(c.clock.Core(tick+1), c.delay.Head().at)
	}
	if more {
		next = min(next, c.clock.Core(tick+1))
	}
	return next
}

// settle brings the counters up to core cycle now, which has not run: its requests have yet to come.
func (c *channel[R]) settle(now uint64) { c.dram.Sync(c.clock.Ticks(max(now, 1) - 1)) }
