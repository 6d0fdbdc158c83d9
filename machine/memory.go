package machine

import (
	"math/bits"

	"heddle/engine"
	"heddle/internal/invariants"
	"heddle/machine/cache"
	"heddle/machine/dram"
	"heddle/mem"
	"heddle/mem/addrmap"
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
	busy  []cache.Fetch // by id: what the scheduler holds
	free  []int32
	stack *stack // it exchanges pages in; nil: none
	held  int32  // a completed fetch its slice has no room for; -1: none
}

type delayed struct {
	at uint64
	f  cache.Fetch
}

func (g *GPU) channelOf(slice int) int { return slice / g.Sheet.LLC.SlicesPerChannel }

// tickChannel advances channel c to core cycle now. Slices hand over at most one
// request per command clock.
func (g *GPU) tickChannel(c *channel, now uint64) uint64 {
	tick := c.clock.Ticks(now)
	for k := c.clock.Ticks(now - min(now, 1)); k < tick; {
		k++
		g.collect(c, now)
		g.schedule(c, now, k)
	}
	more := g.waiting(c)
	next := engine.Never
	if t := c.dram.Tick(tick); t != dram.Never {
		next = c.clock.Core(max(t, tick+1))
	}
	if g.fill(c, now) {
		next = min(next, now+1)
	}
	if c.delay.Len() > 0 {
		next = min(next, max(c.clock.Core(tick+1), c.delay.Head().at))
	}
	if more {
		next = min(next, c.clock.Core(tick+1))
	}
	if c.stack != nil && c.stack.dram.Pending() > 0 {
		g.agenda.wakeStack(c.stack.id, now)
	}
	return max(next, now+1)
}

// fill hands what DRAM has completed to the slices; true when one of them has no
// room and the rest has to wait.
func (g *GPU) fill(c *channel, now uint64) (blocked bool) {
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
		s := g.slice[f.Slice]
		if !s.CanFill() {
			return true
		}
		s.Fill(f)
		g.agenda.wakeSlice(int(f.Slice), now)
		c.free = append(c.free, c.held)
		c.held = -1
	}
}

// collect takes one request from the slices in turn.
func (g *GPU) collect(c *channel, now uint64) {
	n := g.Sheet.LLC.SlicesPerChannel
	if c.delay.Full() {
		return
	}
	turn := c.turn
	for range n {
		i := c.id*n + turn
		if turn++; turn == n {
			turn = 0
		}
		s := g.slice[i]
		if s.ToDRAM.Len() == 0 {
			continue
		}
		c.delay.Push(delayed{now + c.extra, s.ToDRAM.Pop()})
		c.turn = turn
		if s.Stalled() {
			s.Retry(g.llcClock.Ticks(now))
			g.agenda.wakeSlice(i, now)
		}
		return
	}
}

func (g *GPU) waiting(c *channel) bool {
	n := g.Sheet.LLC.SlicesPerChannel
	for _, s := range g.slice[c.id*n : (c.id+1)*n] {
		if s.ToDRAM.Len() > 0 {
			return true
		}
	}
	return false
}

// schedule moves the oldest request whose latency is over into the DRAM queue.
func (g *GPU) schedule(c *channel, now, tick uint64) {
	if c.delay.Len() == 0 || c.delay.Head().at > now {
		return
	}
	f := c.delay.Head().f
	write := f.Tag < 0
	if len(c.free) == 0 || !c.dram.CanPush(write) {
		return
	}
	first := bits.TrailingZeros8(f.Sectors)
	at := g.layouts.at(f.Line).Decode(f.Line + uint64(first*g.Sheet.LLC.Sector))
	loc := g.within(&at)
	id := c.free[len(c.free)-1]
	if !c.dram.Push(tick, loc, write, g.bursts[bits.OnesCount8(f.Sectors)], id, f.Tenant) {
		return
	}
	c.free = c.free[:len(c.free)-1]
	c.busy[id] = f
	c.delay.Pop()
	g.written(&f)
}

// within is where an access goes in its channel: the map counts columns in its
// blocks, DRAM in accesses.
func (g *GPU) within(a *addrmap.Loc) dram.Loc {
	return dram.Loc{Rank: a.Rank, BankGroup: a.BankGroup, Bank: a.Bank, Row: a.Row, Col: uint32(a.Col) * g.perBlock}
}

// checkIsolation panics, in builds with the invariants tag, when a request of an
// application with channels of its own reaches a slice of another's.
func (g *GPU) checkIsolation(h int32, slice int) {
	if !invariants.On {
		return
	}
	r := &g.slab.R[h]
	t := g.Tenants[r.Tenant]
	if r.SM < 0 && r.Op != mem.Walk {
		return // a page being moved leaves or enters by right
	}
	if g.tables != nil {
		g.tables.CheckAccess(r.Tenant, r.Line)
	}
	ch := g.layouts.channelOf(slice)
	if t.allowed != nil && t.allowed[ch>>6]>>(ch&63)&1 == 0 {
		panic("isolation: a request of " + t.Name + " entered a channel it does not own")
	}
}

// written is told that a write-back somebody waited for is in DRAM's queue.
func (g *GPU) written(f *cache.Fetch) {
	if f.Tag < -1 {
		g.copies.written(-2 - f.Tag)
		g.agenda.wakeDriver(g.Now())
	}
}
