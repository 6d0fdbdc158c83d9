package sm

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
)

// Operand collectors that arithmetic shares with memory instructions
// (sm.collectors_shared, as on Volta's sub-cores in GPGPU-Sim).
//
// From issue to its unit an instruction passes three places of its scheduler, one a
// cycle: a latch of its class, a collector, and a latch before the unit. The load/store
// unit takes the oldest instruction before it, and memory instructions that find it busy
// pile up behind: one in either latch and the others in the collectors. Of the
// collectors the first one that can goes on, so that a younger instruction may pass an
// older one that lies in a later collector. Of the first latches of a class the oldest is
// served, and while it finds no collector none of the class does, on the whole SM.
//
// Arithmetic itself holds a collector for one cycle, which costs nothing here: it is
// placed only while memory instructions leave it none.

// collecting is an arithmetic instruction that waits for a collector.
type collecting struct {
	in    *isa.Instr
	warp  int16
	sched uint8
}

// memPath is the way of a scheduler's memory instructions to the load/store unit, without
// the latch: places hold indices of collectors.placed, or none.
type memPath struct {
	mask       uint64 // the scheduler's warp slots
	room       uint64 // cycle at which there was room for one more memory instruction again
	collectors []int16
	spare      int   // free ones
	arithmetic int   // of those, given to arithmetic in this cycle
	atUnit     int16 // right before the load/store unit
}

// latched is a memory instruction in its scheduler's latch.
type latched struct {
	place int16
	sched uint8
}

// memInstr is a memory instruction between issue and the load/store unit.
type memInstr struct {
	seq uint64   // order of issue
	acc []access // its parts
}

// collectors is the way of instructions from issue to their units. Where collectors are
// not shared, it is no more than a count of memory instructions.
type collectors struct {
	due         uint64 // next cycle with work
	throttled   uint64 // warps for whose memory instructions there is no room
	atUnit      uint64 // schedulers with one right before the load/store unit,
	inCollector uint64 // and in a collector
	waits       int    // instructions in waiting
	queued      int    // memory instructions in the load/store queue, where collectors are not shared
	cfg         *collectConfig

	waiting    [isa.NumUnits][]collecting // before the collectors, oldest first
	full       [isa.NumUnits]uint64       // warps of schedulers with one there
	path       []memPath                  // by scheduler
	placed     []memInstr                 // memory instructions at the places of paths
	freePlaces []int16
	latches    []latched // the oldest first
	seq        uint64    // of the last memory instruction issued
}

// asking is the order in which classes ask for collectors.
var asking = [...]isa.Unit{isa.SP, isa.SFU, isa.LDST, isa.TENSOR, isa.DP, isa.INT}

// build clears the places of memory instructions.
func (c *collectors) build(cfg *Config, sched []scheduler) {
	c.cfg, c.due = &cfg.collect, engine.Never
	c.path = make([]memPath, len(sched))
	for i := range sched {
		c.path[i].mask = sched[i].mask
	}
	for u := range c.waiting {
		c.waiting[u] = make([]collecting, 0, len(sched))
	}
	if !c.cfg.shared {
		return
	}
	per := c.cfg.each + 2
	c.placed, c.latches = make([]memInstr, len(sched)*per), make([]latched, 0, len(sched))
	c.freePlaces = make([]int16, len(c.placed))
	all := make([]int16, len(sched)*c.cfg.each)
	for i := range c.placed {
		c.freePlaces[i] = int16(i)
	}
	for i := range c.path {
		c.path[i].collectors, all = all[:c.cfg.each:c.cfg.each], all[c.cfg.each:]
		c.path[i].clear()
	}
}

func (l *memPath) clear() {
	l.spare, l.atUnit = len(l.collectors), none
	for i := range l.collectors {
		l.collectors[i] = none
	}
}

// none marks a free place of a path.
const none = -1

// places is how many there are: an instruction is in each of them for a cycle at least.
const places = 3

// enqueue counts a memory instruction before the load/store unit where collectors are
// not shared.
func (c *collectors) enqueue() {
	if c.cfg.shared {
		return
	}
	if c.queued++; c.queued >= c.cfg.memQueue {
		c.throttled = ^uint64(0)
	}
}

// dequeue notes that the load/store unit has sent all parts of one on.
func (c *collectors) dequeue(now uint64) {
	if c.cfg.shared {
		return
	}
	if c.queued--; c.throttled == 0 || c.queued >= c.cfg.memQueue {
		return
	}
	c.throttled = 0
	for i := range c.path {
		c.path[i].room = now
	}
}

// place puts an issued memory instruction, whose parts are acc, into the latch of
// scheduler i.
func (c *collectors) place(i uint8, acc []access, now uint64) {
	n := len(c.freePlaces) - 1
	p := c.freePlaces[n]
	c.freePlaces = c.freePlaces[:n]
	m := &c.placed[p]
	c.seq++
	m.seq, m.acc = c.seq, append(m.acc[:0], acc...)
	c.latches = append(c.latches, latched{p, i})
	c.throttled |= c.path[i].mask
	c.due = min(c.due, now+1)
}

// crowded says that an instruction of class u of a scheduler may have to wait for a
// collector.
func (c *collectors) crowded(sched int, u isa.Unit) bool {
	if !c.cfg.shared {
		return false
	}
	l := &c.path[sched]
	return l.spare == 0 || l.spare == 1 && c.throttled&l.mask != 0 || len(c.waiting[u]) > 0
}

// await puts an issued arithmetic instruction before the collectors.
func (p *pipeline) await(w int, wp *warp, in *isa.Instr, sched int, now uint64) {
	c := &p.collect
	c.waiting[in.Unit] = append(c.waiting[in.Unit], collecting{in, int16(w), uint8(sched)})
	c.full[in.Unit] |= c.path[sched].mask
	c.waits++
	c.due = min(c.due, now+1)
	wp.loads++
	wp.setReady(in.Reg, in.NDst, notReady)
}

// collectStage moves what has collected its operands to the units and gives collectors
// to what waits for them. It has nothing to do before collectors.due.
func (p *pipeline) collectStage(now uint64) {
	c := &p.collect
	c.due = engine.Never
	for m := c.inCollector &^ c.atUnit; m != 0; m &= m - 1 {
		c.sendOn(bits.TrailingZeros64(m))
		c.due = now + 1
	}
	if c.waits == 0 {
		c.collectMemory(now)
		return
	}
	for _, u := range asking {
		if u == isa.LDST {
			c.collectMemory(now)
		} else if len(c.waiting[u]) > 0 {
			p.collectOperands(u, now)
		}
	}
	for i := range c.path {
		c.path[i].arithmetic = 0
	}
}

// sendOn moves a memory instruction of scheduler i from its collector before the
// load/store unit.
func (c *collectors) sendOn(i int) {
	l := &c.path[i]
	k := 0
	for l.collectors[k] == none {
		k++
	}
	l.atUnit, l.collectors[k] = l.collectors[k], none
	c.atUnit |= 1 << i
	if l.spare++; l.spare == len(l.collectors) {
		c.inCollector &^= 1 << i
	}
}

// collectMemory gives memory instructions collectors, the oldest first.
func (c *collectors) collectMemory(now uint64) {
	n := 0
	for ; n < len(c.latches); n++ {
		i := c.latches[n].sched
		l := &c.path[i]
		if l.spare == l.arithmetic {
			break
		}
		k := 0
		for l.collectors[k] != none {
			k++
		}
		l.collectors[k] = c.latches[n].place
		l.spare--
		c.inCollector |= 1 << i
		c.throttled &^= l.mask
		l.room = now
		c.due = now + 1
	}
	c.latches = c.latches[:copy(c.latches, c.latches[n:])]
}

// collectOperands gives collectors to arithmetic of class u.
func (p *pipeline) collectOperands(u isa.Unit, now uint64) {
	c := &p.collect
	q := c.waiting[u]
	n := 0
	for ; n < len(q); n++ {
		l := &c.path[q[n].sched]
		if l.spare == l.arithmetic {
			break
		}
		l.arithmetic++
		c.full[u] &^= l.mask
		p.collected(&q[n], now)
		c.due = now + 1 // the collector is free again
	}
	c.waits -= n
	c.waiting[u] = q[:copy(q, q[n:])]
}

// takeMemory is the parts of the oldest memory instruction before the load/store unit,
// which gets it, as it has nothing else to do in the next cycle.
func (c *collectors) takeMemory(now uint64) []access {
	first := bits.TrailingZeros64(c.atUnit)
	for m := c.atUnit & (c.atUnit - 1); m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.placed[c.path[i].atUnit].seq < c.placed[c.path[first].atUnit].seq {
			first = i
		}
	}
	c.atUnit &^= 1 << first
	c.due = now
	return c.take(c.path[first].atUnit)
}

// take frees a place and returns the parts of what was in it, which are good until the
// next memory instruction is issued.
func (c *collectors) take(p int16) []access {
	c.freePlaces = append(c.freePlaces, p)
	return c.placed[p].acc
}

// startAll starts all arithmetic that waits.
func (p *pipeline) startAll(now uint64) {
	c := &p.collect
	for u, q := range c.waiting {
		for i := range q {
			p.collected(&q[i], now)
		}
		c.waiting[u], c.full[u] = q[:0], 0
	}
	c.waits = 0
}

// takeAll gives the load/store unit all memory instructions it will get, by their parts.
func (c *collectors) takeAll(push func(acc []access)) {
	if !c.cfg.shared {
		return
	}
	var all []int16
	for i := range c.path {
		l := &c.path[i]
		if c.atUnit>>i&1 != 0 {
			all = append(all, l.atUnit)
		}
		for _, p := range l.collectors {
			if p != none {
				all = append(all, p)
			}
		}
		l.clear()
	}
	for _, l := range c.latches {
		all = append(all, l.place)
	}
	slices.SortFunc(all, func(a, b int16) int { return cmp.Compare(c.placed[a].seq, c.placed[b].seq) })
	for _, p := range all {
		push(c.take(p))
	}
	c.latches, c.inCollector, c.atUnit, c.throttled = c.latches[:0], 0, 0, 0
}

// collected starts an instruction that has got its collector: the cycle after issue
// where none waits.
func (p *pipeline) collected(x *collecting, now uint64) {
	w := int(x.warp)
	wp := &p.warps.slot[w]
	p.execute(wp, x.in, p.units.soonest(x.in.Unit, int(x.sched)), now-1)
	wp.loads--
	switch wp.state {
	case running:
		if p.warps.wake[w] == engine.Never {
			p.warps.plan(w, wp, now, now)
		}
	case fenced:
		p.warps.unfence(w, now)
	case finishing:
		p.retire(w, now)
	}
}
