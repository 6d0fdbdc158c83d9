package backing

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
)

// Tiers is a memory of two tiers behind the LLC: the controller before them, and their
// channels. A machine with one tier has none of it.
type Tiers struct {
	slices  []*cache.Slice
	core    *timing.Clock
	wakeups timing.Wakeups

	controller *hybrid.Controller // nil: the machine has one tier
	clock      engine.Clock       // of the controller
	llcClock   engine.Clock
	written    func(*mem.Fetch) // a write-back has been accepted
	channels   []*tierChannel
	first      [hybrid.NumTiers]int // index of a tier's first channel
	ideal      bool                 // reconfiguration takes effect at once, and for nothing
	division   *hybrid.Hydrogen     // what divides it between CPU and GPU; nil: nothing that can change
}

// tierChannel is a channel of a tier, behind the controller.
type tierChannel struct {
	channel[hybrid.Access]
	tier int
	out  *mem.Ring[hybrid.Access] // of the controller
}

// tickChannel advances a channel to core cycle now. It takes at most one access per command
// clock.
func (x *Tiers) tickChannel(i int, now uint64) uint64 {
	c := x.channels[i]
	tick := c.clock.Ticks(now)
	for k := c.clock.Ticks(now - min(now, 1)); k < tick; {
		k++
		c.take(now, k)
	}
	next := c.run(tick)
	for {
		id, write, ok := c.dram.Pop()
		if !ok {
			break
		}
		if !write {
			x.controller.Arrived(id, x.clock.Ticks(now))
			x.wakeups.WakeController(now)
		}
	}
	return max(min(next, c.wait(tick, c.out.Len() > 0)), now+1)
}

// take moves an access from the controller on its way, and one whose latency is over into the
// scheduler's queue.
func (c *tierChannel) take(now, tick uint64) {
	if c.out.Len() > 0 && !c.delay.Full() {
		c.enter(now, c.out.Pop())
	}
	a := c.due(now)
	if a == nil || !c.dram.CanPush(a.Write) {
		return
	}
	at := dram.Loc{
		Rank: a.At.Rank, BankGroup: a.At.BankGroup, Bank: a.At.Bank, Row: a.At.Row, Col: uint32(a.At.Col),
	}
	if c.dram.Push(tick, at, a.Write, 1, a.Buffer, a.Tenant) {
		c.delay.Pop()
	}
}

// tickController advances the controller to core cycle now.
func (x *Tiers) tickController(now uint64) uint64 {
	t := x.clock.Ticks(now)
	next := t + 1 // where now lies between two clocks of the controller
	for k := x.clock.Ticks(now - min(now, 1)); k < t; {
		k++
		x.collect(k, now)
		next = x.controller.Tick(k)
	}
	blocked := x.deliver(now)
	for tier, first := range x.first {
		for fed := x.controller.Fed(tier); fed != 0; fed &= fed - 1 {
			x.wakeups.WakeTier(first+bits.TrailingZeros64(fed), now+1)
		}
	}
	at := x.clock.Core(next)
	if blocked {
		at = min(at, now+1)
	}
	if x.waiting() {
		at = min(at, x.clock.Core(t+1))
	}
	return max(at, now+1)
}

// collect takes at most one request from each slice, in turn, at clock t of the controller.
func (x *Tiers) collect(t, now uint64) {
	n := len(x.slices)
	turn, tick := int(t%uint64(n)), x.llcClock.Ticks(now)
	for k := range n {
		i := turn + k
		if i >= n {
			i -= n
		}
		s := x.slices[i]
		if !asks(s, tick) || !x.controller.CanAccept(s.Below.Head().Line) {
			continue
		}
		x.controller.Accept(s.Below.Pop(), t)
		if s.Stalled() {
			s.Retry(tick)
			x.wakeups.WakeSlice(i, now+1)
		}
	}
}

// waiting says that some slice has a request.
func (x *Tiers) waiting() bool {
	for _, s := range x.slices {
		if s.Below.Len() > 0 {
			return true
		}
	}
	return false
}

// deliver hands the slices the answers that are there; true when one has no room and the rest waits.
func (x *Tiers) deliver(now uint64) (blocked bool) {
	for x.controller.Done.Len() > 0 {
		f := x.controller.Done.Head()
		if f.Write() {
			x.written(f)
			x.controller.Done.Pop()
			continue
		}
		s := x.slices[f.Slice]
		if !s.CanFill() {
			return true
		}
		s.Fill(*f)
		x.wakeups.WakeSlice(int(f.Slice), now+1)
		x.controller.Done.Pop()
	}
	return false
}

// settle brings the counters of all channels up to core cycle now.
func (x *Tiers) settle(now uint64) {
	for _, c := range x.channels {
		c.settle(now)
	}
}

// MemorySplit is the division of a hybrid memory between CPU and GPU. A field that is nil stays as it is.
type MemorySplit struct {
	Ways     *int // of each set, for data of the CPU
	Channels *int // superchannels that only the CPU uses
	Tokens   *int // migrations of the GPU per period
}

// CanSplit says why the memory cannot be divided; nil when it can.
func (x *Tiers) CanSplit() error {
	switch {
	case x.controller == nil:
		return fmt.Errorf("the machine has one memory tier")
	case x.division == nil:
		return fmt.Errorf("the machine's memory.hybrid.policy has no division that can change")
	}
	return nil
}

// Divided is the current division of the memory; a field is nil if it cannot be set.
func (x *Tiers) Divided() (s MemorySplit) {
	if x.CanSplit() != nil {
		return s
	}
	now := x.division.Split()
	s.Ways, s.Channels = &now.Cap, &now.BW
	if x.division.Counts() {
		tokens := int(x.division.Tokens())
		s.Tokens = &tokens
	}
	return s
}

// Split changes the division of the memory, from this cycle on. No block moves now: a block in a way that it may no
// longer use leaves when it is hit, unless the sheet says otherwise (memory.hybrid.reconfigure).
func (x *Tiers) Split(s *MemorySplit) error {
	if err := x.CanSplit(); err != nil {
		return err
	}
	if s.Tokens != nil && !x.division.Counts() {
		return fmt.Errorf("tokens of this memory are not counted, or are a share of requests: they cannot be set")
	}
	want := x.division.Split()
	if s.Ways != nil {
		want.Cap = *s.Ways
	}
	if s.Channels != nil {
		want.BW = *s.Channels
	}
	changed := want != x.division.Split()
	if err := x.division.SetSplit(want); err != nil {
		return err
	}
	if s.Tokens != nil {
		x.division.SetTokens(x.clock.Ticks(x.core.Now), uint64(max(0, *s.Tokens)))
	}
	switch {
	case changed && x.ideal:
		x.controller.ReconfiguredAtOnce()
	case changed:
		x.controller.Reconfigured()
	}
	return nil
}
