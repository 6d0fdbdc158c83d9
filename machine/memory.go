package machine

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

// channel is a DRAM channel with what connects it to its LLC slices: a turn
// among them and a fixed latency (GPGPU-Sim's -dram_latency) before the
// scheduler. It runs in the command clock.
type channel struct {
	id    int
	dram  *dram.Channel
	clock engine.Clock
	turn  int
	extra uint64
	delay mem.Ring[delayed]
	busy  []mem.Fetch // by id: what the scheduler holds
	free  []int32
	stack *stack // it exchanges pages in; nil: none
	held  int32  // a completed fetch its slice has no room for; -1: none
}

// memory is what lies behind the fabric: LLC slices, and the DRAM channels and HBM stacks
// behind them.
type memory struct {
	fabric  *interconnect.Fabric
	layouts *interconnect.Layouts
	clock   *timing.Clock
	wakeups timing.Wakeups
	// Told of what is done for the copy engine's jobs: a line a stack has copied, a write-back that is in DRAM's queue.
	onMigrated func(job int32, now uint64)
	onWritten  func(job int32)

	slices   []*cache.Slice
	channels []*channel
	stacks   []*stack // whose channels exchange pages; empty on machines without
	llcClock engine.Clock
	sector   int // bytes
	tiers    Tiers
	bursts   [9]int // of DRAM, by sectors
	perBlock uint32 // DRAM accesses in a block of the address map
}

type delayed struct {
	at uint64
	f  mem.Fetch
}

// tickChannel advances channel c to core cycle now. Slices hand over at most one
// request per command clock.
func (m *memory) tickChannel(c *channel, now uint64) uint64 {
	tick := c.clock.Ticks(now)
	for k := c.clock.Ticks(now - min(now, 1)); k < tick; {
		k++
		m.collect(c, now)
		m.schedule(c, now, k)
	}
	more := m.waiting(c)
	next := engine.Never
	if t := c.dram.Tick(tick); t != dram.Never {
		next = c.clock.Core(max(t, tick+1))
	}
	if m.fill(c, now) {
		next = min(next, now+1)
	}
	if c.delay.Len() > 0 {
		next = min(next, max(c.clock.Core(tick+1), c.delay.Head().at))
	}
	if more {
		next = min(next, c.clock.Core(tick+1))
	}
	if c.stack != nil && c.stack.dram.Pending() > 0 {
		m.wakeups.WakeStack(c.stack.id, now)
	}
	return max(next, now+1)
}

// fill hands what DRAM has completed to the slices; true when one of them has no
// room and the rest has to wait.
func (m *memory) fill(c *channel, now uint64) (blocked bool) {
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
		s := m.slices[f.Slice]
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
func (m *memory) collect(c *channel, now uint64) {
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
		s := m.slices[i]
		if !m.asks(s, now) {
			continue
		}
		c.delay.Push(delayed{now + c.extra, s.Below.Pop()})
		s.Taken++
		c.turn = turn
		if s.Stalled() {
			s.Retry(m.llcClock.Ticks(now))
			m.wakeups.WakeSlice(i, now)
		}
		return
	}
}

// asks says that a slice has a request that may be taken.
func (m *memory) asks(s *cache.Slice, now uint64) bool {
	if s.Below.Len() == 0 {
		return false
	}
	at := s.Below.Head().At
	return at == 0 || at <= m.llcClock.Ticks(now)
}

func (m *memory) waiting(c *channel) bool {
	n := m.layouts.PerChannel
	for _, s := range m.slices[c.id*n : (c.id+1)*n] {
		if s.Below.Len() > 0 {
			return true
		}
	}
	return false
}

// schedule moves the oldest request whose latency is over into the DRAM queue.
func (m *memory) schedule(c *channel, now, tick uint64) {
	if c.delay.Len() == 0 || c.delay.Head().at > now {
		return
	}
	f := c.delay.Head().f
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
	c.busy[id] = f
	c.delay.Pop()
	m.written(&f)
}

// within is where an access goes in its channel: the map counts columns in its
// blocks, DRAM in accesses.
func (m *memory) within(a *addrmap.Loc) dram.Loc {
	return dram.Loc{Rank: a.Rank, BankGroup: a.BankGroup, Bank: a.Bank, Row: a.Row, Col: uint32(a.Col) * m.perBlock}
}

// written is told that a write-back somebody waited for is in DRAM's queue.
func (m *memory) written(f *mem.Fetch) {
	if f.Owner == mem.ForCopyEngine {
		m.onWritten(f.Token)
	}
}

func (m *memory) tickSlice(i int, now uint64) uint64 {
	s, t := m.slices[i], m.llcClock.Ticks(now)
	next := t + 1 // where now lies between two clocks of the slice
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

// wakeBelow makes what takes the requests of a slice run: its channel, or the controller of a
// memory of two tiers.
func (m *memory) wakeBelow(slice int, at uint64) {
	if m.tiers.controller != nil {
		m.wakeups.WakeController(at)
		return
	}
	m.wakeups.WakeChannel(m.layouts.ChannelOf(slice), at)
}

// clockSlice is clock t of a slice: tags, and an answer that leaves, one each for near and far.
// It returns the next clock with work.
func (m *memory) clockSlice(s *cache.Slice, t, now uint64) uint64 {
	next := s.Tick(t)
	if q := s.Far(); q.Len() > 0 {
		next = min(next, m.leave(s, q, t, now, true))
	}
	if s.Reply.Len() == 0 {
		return next
	}
	return min(next, m.leave(s, &s.Reply, t, now, false))
}

// leave lets the first answer of a queue of a slice go, and returns the next clock with work.
func (m *memory) leave(s *cache.Slice, q *mem.Queue[cache.Answer], t, now uint64, far bool) uint64 {
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
func (m *memory) tickStack(s *stack, now uint64) uint64 {
	t := s.dram.Tick(s.clock.Ticks(now))
	for {
		id, ok := s.dram.Pop()
		if !ok {
			break
		}
		m.onMigrated(id, now)
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
