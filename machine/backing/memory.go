package backing

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// sliceChannel is a channel behind LLC slices, which take turns at it.
type sliceChannel struct {
	channel[mem.Fetch]
	id    int
	turn  int
	busy  []mem.Fetch // by id: requests in the scheduler
	free  []int32
	stack *stack // it exchanges pages in; nil: none
	held  int32  // a completed fetch its slice has no room for; -1: none
}

// Memory is all memory behind the interconnect: LLC slices, and behind them DRAM channels and HBM stacks, or two
// tiers.
type Memory struct {
	fabric  *interconnect.Fabric
	layouts *interconnect.Layouts
	clock   *timing.Clock
	wakeups timing.Wakeups
	// OnMigrated and OnWritten are called for jobs of the copy engine: a stack has copied a line, a write-back is in
	// DRAM's queue.
	OnMigrated func(job int32, now uint64)
	OnWritten  func(job int32)

	Slices   []*cache.Slice
	channels []*sliceChannel
	stacks   []*stack // whose channels exchange pages; empty on machines without
	llcClock engine.Clock
	sector   int // bytes
	Tiers    Tiers
	bursts   [9]int // of DRAM, by sectors
	perBlock uint32 // DRAM accesses in a block of the address map
}

// Tick advances a component, by its number in the wheel (timing.Wakeups), to core cycle now, and returns the cycle of
// its next work.
func (m *Memory) Tick(i int, now uint64) uint64 {
	w := &m.wakeups
	switch {
	case i < w.Stack:
		return m.tickChannel(m.channels[i], now)
	case i < w.Slice:
		return m.tickStack(m.stacks[i-w.Stack], now)
	case i < w.Reply:
		return m.tickSlice(i-w.Slice, now)
	case i < w.Controller:
		return m.Tiers.tickChannel(i-w.Tier, now)
	}
	return m.Tiers.tickController(now)
}

// Settle brings the counters of channels up to a cycle that has not run yet; requests of that cycle are not included.
func (m *Memory) Settle(now uint64) {
	for _, c := range m.channels {
		c.settle(now)
	}
	m.Tiers.settle(now)
}

// Slice is the LLC slice of a line.
func (m *Memory) Slice(line uint64) *cache.Slice { return m.Slices[m.layouts.Slice(line)] }

// Drop removes a line from the LLC.
func (m *Memory) Drop(line uint64) { m.Slice(line).Drop(line) }

// Clean makes the LLC write a line back, for a job of the copy engine (OnWritten). wrote says that the line was
// dirty; ok is false if the slice has no room for the write-back.
func (m *Memory) Clean(line uint64, job int32, now uint64) (wrote, ok bool) {
	k := m.layouts.Slice(line)
	if wrote, ok = m.Slices[k].Clean(line, mem.ForCopyEngine, job); wrote {
		m.wakeBelow(k, now+1)
	}
	return wrote, ok
}

// WritesBack says whether write-backs to the n bytes from start on wait between the LLC and DRAM, in a channel group.
func (m *Memory) WritesBack(group int, start, bytes uint64) bool {
	within := func(f *mem.Fetch) bool { return f.Write() && f.Line-start < bytes }
	per := m.layouts.PerChannel
	for k := group; k < len(m.channels); k += m.layouts.Whole.Groups() {
		for _, s := range m.Slices[k*per : (k+1)*per] {
			for i := range s.Below.Len() {
				if within(s.Below.At(i)) {
					return true
				}
			}
		}
		d := &m.channels[k].delay
		for i := range d.Len() {
			if within(&d.At(i).of) {
				return true
			}
		}
	}
	return false
}

// Quiet says that no request or write-back of a slice is on its way to DRAM or waits for it, in the slice or its
// channel.
func (m *Memory) Quiet(slice int) bool {
	c := m.channels[m.layouts.ChannelOf(slice)]
	return m.Slices[slice].Empty() && c.delay.Len() == 0 && len(c.free) == len(c.busy)
}

// Migrate makes an HBM stack copy a line from one of its channels to another; false if the stack has no room. When
// the line is copied the stack calls OnMigrated.
func (m *Memory) Migrate(from, to uint64, job int32, tenant mem.TenantID, now uint64) bool {
	src, dst := m.layouts.Whole.Decode(from), m.layouts.Whole.Decode(to)
	per := m.layouts.Whole.Groups() // channels of a stack, one of each group
	s := m.stacks[int(src.Channel)/per]
	if !s.dram.CanPush() {
		return false
	}
	s.dram.Push(s.clock.Ticks(now)+1, dram.Migration{
		Src: int(src.Channel) % per, Dst: int(dst.Channel) % per, From: m.within(&src), To: m.within(&dst),
		Lines: 1, ID: job, Tenant: tenant,
	})
	m.wakeups.WakeStack(s.id, now+1)
	return true
}

// tickChannel advances channel c to core cycle now. Slices hand over at most one
// request per command clock.
func (m *Memory) tickChannel(c *sliceChannel, now uint64) uint64 {
	tick := c.clock.Ticks(now)
	for k := c.clock.Ticks(now - min(now, 1)); k < tick; {
		k++
		m.collect(c, now)
		m.schedule(c, now, k)
	}
	more := m.waiting(c)
	next := c.run(tick)
	if m.fill(c, now) {
		next = min(next, now+1)
	}
	next = min(next, c.wait(tick, more))
	if c.stack != nil && c.stack.dram.Pending() > 0 {
		m.wakeups.WakeStack(c.stack.id, now)
	}
	return max(next, now+1)
}

// fill hands completed fetches to the slices; true if one of them has no room and the rest has to wait.
func (m *Memory) fill(c *sliceChannel, now uint64) (blocked bool) {
	for {
		if c.held < 0 {
			id, write, ok := c.dram.Pop()
			if !ok {
				return false
			}
			if write {
				c.free = append(c.free, id)
				continue
			}
			c.held = id
		}
		f := c.busy[c.held]
		s := m.Slices[f.Slice]
		if !s.CanFill() {
			return true
		}
		s.Fill(f)
		m.wakeups.WakeSlice(int(f.Slice), now)
		c.free = append(c.free, c.held)
		c.held = -1
	}
}

// collect takes one request from the slices in turn.
func (m *Memory) collect(c *sliceChannel, now uint64) {
	n := m.layouts.PerChannel
	if c.delay.Full() {
		return
	}
	turn := c.turn
	for range n {
		i := c.id*n + turn
		if turn++; turn == n {
			turn = 0
		}
		s := m.Slices[i]
		if !asks(s, m.llcClock.Ticks(now)) {
			continue
		}
		c.enter(now, s.Below.Pop())
		s.Taken++
		c.turn = turn
		if s.Stalled() {
			s.Retry(m.llcClock.Ticks(now))
			m.wakeups.WakeSlice(i, now)
		}
		return
	}
}

// asks says that a slice has a request that may be taken at a cycle of the LLC's clock.
func asks(s *cache.Slice, tick uint64) bool {
	if s.Below.Len() == 0 {
		return false
	}
	at := s.Below.Head().At
	return at == 0 || at <= tick
}

func (m *Memory) waiting(c *sliceChannel) bool {
	n := m.layouts.PerChannel
	for _, s := range m.Slices[c.id*n : (c.id+1)*n] {
		if s.Below.Len() > 0 {
			return true
		}
	}
	return false
}

// schedule moves the oldest request whose latency is over into the DRAM queue.
func (m *Memory) schedule(c *sliceChannel, now, tick uint64) {
	f := c.due(now)
	if f == nil {
		return
	}
	write := f.Write()
	if len(c.free) == 0 || !c.dram.CanPush(write) {
		return
	}
	first := bits.TrailingZeros8(f.Sectors)
	at := m.layouts.At(f.Line).Decode(f.Line + uint64(first*m.sector))
	loc := m.within(&at)
	id := c.free[len(c.free)-1]
	if !c.dram.Push(tick, loc, write, m.bursts[bits.OnesCount8(f.Sectors)], id, f.Tenant) {
		return
	}
	c.free = c.free[:len(c.free)-1]
	c.busy[id] = *f
	c.delay.Pop()
	m.written(&c.busy[id])
}

// within is the place of an access in its channel: the map counts columns in its blocks, DRAM in
// accesses.
func (m *Memory) within(a *addrmap.Loc) dram.Loc {
	return dram.Loc{Rank: a.Rank, BankGroup: a.BankGroup, Bank: a.Bank, Row: a.Row, Col: uint32(a.Col) * m.perBlock}
}

// written is called when a write-back that a part waited for is in DRAM's queue.
func (m *Memory) written(f *mem.Fetch) {
	if f.Owner == mem.ForCopyEngine {
		m.OnWritten(f.Token)
	}
}

func (m *Memory) tickSlice(i int, now uint64) uint64 {
	s, t := m.Slices[i], m.llcClock.Ticks(now)
	next := t + 1 // if now lies between two clocks of the slice
	for k := m.llcClock.Ticks(now - min(now, 1)); k < t; {
		k++
		next = m.clockSlice(s, k, now)
	}
	if s.Below.Len() > 0 {
		m.wakeBelow(i, now)
	}
	m.fabric.Served(i, now)
	return m.llcClock.Core(next)
}

// wakeBelow wakes the part that takes the requests of a slice: its channel, or the controller of a memory of two
// tiers.
func (m *Memory) wakeBelow(slice int, at uint64) {
	if m.Tiers.controller != nil {
		m.wakeups.WakeController(at)
		return
	}
	m.wakeups.WakeChannel(m.layouts.ChannelOf(slice), at)
}

// clockSlice is clock t of a slice: tags, and an answer that leaves, one each for near and far.
// It returns the next clock with work.
func (m *Memory) clockSlice(s *cache.Slice, t, now uint64) uint64 {
	next := s.Tick(t)
	if q := s.Far(); q.Len() > 0 {
		next = min(next, m.leave(s, q, t, now, true))
	}
	if s.Reply.Len() == 0 {
		return next
	}
	return min(next, m.leave(s, &s.Reply, t, now, false))
}

// leave sends the first answer of a slice's queue, and returns the next clock with work.
func (m *Memory) leave(s *cache.Slice, q *mem.Queue[cache.Answer], t, now uint64, far bool) uint64 {
	a := q.Head()
	if a.At > t {
		return a.At
	}
	if !m.fabric.Answer(s.ID, a.H, far, now) {
		return t + 1
	}
	q.Pop()
	if s.Stalled() {
		s.Retry(t)
	}
	return t + 1
}

// stack is an HBM stack: the channels among which lines migrate.
type stack struct {
	id      int
	dram    *dram.Stack
	clock   engine.Clock
	channel []int
}

// tickStack advances the migrations of a stack after its channels.
func (m *Memory) tickStack(s *stack, now uint64) uint64 {
	t := s.dram.Tick(s.clock.Ticks(now))
	for {
		id, ok := s.dram.Pop()
		if !ok {
			break
		}
		m.OnMigrated(id, now)
	}
	if t == dram.Never {
		return engine.Never
	}
	next := max(s.clock.Core(t), now+1)
	for _, c := range s.channel {
		at := next
		if m.channels[c].dram.Completed() > 0 {
			at = now + 1
		}
		m.wakeups.WakeChannel(c, at)
	}
	return next
}
