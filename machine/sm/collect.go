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
// Where arithmetic waits in collectors, too (sm.collect_all), it does as memory instructions
// do for a unit that takes one every other cycle or every eighth. A collector reads operands
// from the scheduler's register banks: sm.reg_ports a cycle from each, so that an instruction
// takes as many turns as it reads registers from one bank (isa.Reads), one without goes on at
// once. That banks are also written, and read for two collectors in turn, is not modelled.
// Only what has to wait is placed: what finds a collector free and its unit ready has its
// time when it is issued.
//
// Where it does not, arithmetic holds a collector for one cycle, which costs nothing here: it
// is placed only while memory instructions leave it none.

// collecting is an arithmetic instruction that waits for a collector.
type collecting struct {
	in    *isa.Instr
	warp  int16
	sched uint8
}

// held is the instruction in a collector. Collectors are numbered through all schedulers: a set of them is
// a mask with a bit for each.
type held struct {
	in    *isa.Instr // nil for a memory instruction
	place int16      // of collectors.placed, of a memory instruction
	warp  int16
	sched uint8 // whose collector it is
}

// memPath is the way of a scheduler's instructions to their units, without the latches.
type memPath struct {
	mask           uint64 // the scheduler's warp slots
	room           uint64 // cycle at which there was room for one more memory instruction again
	collectors     uint64 // the scheduler's
	collected      uint64 // of those, with a memory instruction that has its operands and waits for the dispatch latch
	freeCollectors int    // free ones
	arithmetic     int    // given to arithmetic in this cycle; other schedulers: held by any (sm.collect_all)
	dispatchLatch  int16  // right before the load/store unit, if a bit of collectors.dispatchLatch says so
}

// latched is a memory instruction in its scheduler's latch.
type latched struct {
	place int16
	sched uint8
}

// memInstr is a memory instruction between issue and the load/store unit.
type memInstr struct {
	seq   uint64   // order of issue
	acc   []access // its parts
	reads isa.Reads
}

// collectors is the way of instructions from issue to their units. Where collectors are
// not shared, it is no more than a count of memory instructions.
type collectors struct {
	due           uint64 // next cycle with work
	throttled     uint64 // warps for whose memory instructions there is no room
	dispatchLatch uint64 // schedulers with one right before the load/store unit
	busy          uint64 // schedulers whose arithmetic waits, or is in a collector
	waitingCount  int    // instructions in waiting
	askingClasses uint8  // classes with some there, and that of memory where latches has some, by their place in asking
	queued        int    // memory instructions in the load/store queue, where collectors are not shared
	moreToSend    bool   // contexts and restored CTAs have more accesses for that queue
	cfg           *collectConfig

	waiting    [8][]collecting // by class, before the collectors, oldest first
	full       [8]uint64       // warps of schedulers with one there
	path       []memPath       // by scheduler
	held       []held          // by collector, those of the first scheduler first
	free       uint64          // collectors that hold nothing
	visits     ring            // collectors what is in which may go on, by turn
	placed     []memInstr      // memory instructions at the places of paths
	freePlaces []int16
	latches    []latched // the oldest first
	seq        uint64    // of the last memory instruction issued
}

// asking is the order in which classes ask for collectors, asks the place of each in it as a bit.
var (
	asking = [8]isa.Unit{isa.SP, isa.SFU, isa.LDST, isa.TENSOR, isa.DP, isa.INT}
	asks   = [isa.NumUnits]uint8{isa.SP: 1, isa.SFU: 2, isa.LDST: 4, isa.TENSOR: 8, isa.DP: 16, isa.INT: 32}
)

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
	c.held = make([]held, len(sched)*c.cfg.each)
	for i := range c.placed {
		c.freePlaces[i] = int16(i)
	}
	for k := range c.held {
		i := k / c.cfg.each
		c.held[k].sched = uint8(i)
		c.path[i].collectors |= bit(k)
	}
	c.clear()
}

// clear empties all collectors.
func (c *collectors) clear() {
	c.visits = ring{}
	for i := range c.path {
		l := &c.path[i]
		l.freeCollectors, l.collected = c.cfg.each, 0
		c.free |= l.collectors
	}
}

// places is their number: an instruction is in each of them for at least a cycle.
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

// letPass sets whether contexts go before memory instructions that have not been issued. Programs whose accesses do
// not coalesce would keep the load/store queue full for ever. If collectors are shared, an instruction leaves them
// only for an empty queue, so that contexts always find room.
func (c *collectors) letPass(on bool, now uint64) {
	if c.cfg.shared || c.moreToSend == on {
		return
	}
	c.moreToSend = on
	if on {
		c.throttled = ^uint64(0)
	} else if c.queued < c.cfg.memQueue {
		c.admit(now)
	}
}

// admit ends a throttle.
func (c *collectors) admit(now uint64) {
	c.throttled = 0
	for i := range c.path {
		c.path[i].room = now
	}
}

// dequeue notes that the load/store unit has sent on all parts of an instruction.
func (c *collectors) dequeue(now uint64) {
	if c.cfg.shared {
		return
	}
	if c.queued--; c.throttled != 0 && c.queued < c.cfg.memQueue && !c.moreToSend {
		c.admit(now)
	}
}

// place puts an issued memory instruction with the parts acc into the latch of scheduler i.
func (c *collectors) place(i uint8, acc []access, reads isa.Reads, now uint64) {
	n := len(c.freePlaces) - 1
	p := c.freePlaces[n]
	c.freePlaces = c.freePlaces[:n]
	m := &c.placed[p]
	c.seq++
	m.seq, m.acc, m.reads = c.seq, append(m.acc[:0], acc...), reads
	c.latches = append(c.latches, latched{p, i})
	c.askingClasses |= asks[isa.LDST]
	c.throttled |= c.path[i].mask
	c.due = min(c.due, now+1)
}

// crowded says that an instruction of class u of a scheduler, for unit to, may have to wait.
func (c *collectors) crowded(sched int, u isa.Unit, to *unit, now uint64) bool {
	if !c.cfg.shared {
		return false
	}
	l := &c.path[sched]
	if l.freeCollectors == 0 || l.freeCollectors == 1 && c.throttled&l.mask != 0 || len(c.waiting[u]) > 0 {
		return true
	}
	return c.cfg.all && (c.busy&bit(sched) != 0 || to.taken > now+1+c.cfg.pass)
}

// await makes an issued arithmetic instruction wait for a collector.
func (p *pipeline) await(w int, wp *warp, in *isa.Instr, sched int, now uint64) {
	c := &p.collect
	c.waiting[in.Unit] = append(c.waiting[in.Unit], collecting{in, int16(w), uint8(sched)})
	c.full[in.Unit] |= c.path[sched].mask
	c.busy |= bit(sched)
	c.waitingCount++
	c.askingClasses |= asks[in.Unit]
	c.due = min(c.due, now+1)
	wp.loads++
	wp.setReady(in.Reg, in.NDst, notReady)
}

// collectStage moves instructions that have collected their operands to the units, and gives collectors to
// instructions that wait for one. It has nothing to do before collectors.due.
func (p *pipeline) collectStage(now uint64) {
	c := &p.collect
	c.due = engine.Never
	turn := now * c.cfg.ports
	for end := turn + c.cfg.ports; turn < end; turn++ {
		for m := c.visits.take(turn); m != 0; m &= m - 1 {
			p.sendOn(bits.TrailingZeros64(m), now)
		}
		for m := c.askingClasses; m != 0; m &= m - 1 {
			if u := asking[bits.TrailingZeros8(m)&7]; u == isa.LDST {
				c.collectMemory(turn, now)
			} else {
				p.collectOperands(u, turn, now)
			}
		}
	}
	if !c.cfg.all {
		for i := range c.path {
			c.path[i].arithmetic = 0
		}
	}
	if c.visits.used == 0 {
		return
	}
	left := c.visits.wait(turn)
	if left >= c.cfg.ports { // a division would cost more than the rest of this function
		c.due = min(c.due, now+1+left/c.cfg.ports)
		return
	}
	c.due = now + 1
}

// visit plans a look at a collector in a later turn, or earlier if the ring does not reach that far. An instruction
// that waits for a unit is then looked at again. Operands are there within 48 turns.
func (c *collectors) visit(k int, turn, now uint64) {
	c.visits.put(k, min(turn, now*c.cfg.ports+ringSize-1))
}

// sendOn moves the instruction in collector k to its unit, if the unit takes it.
func (p *pipeline) sendOn(k int, now uint64) {
	c := &p.collect
	h := &c.held[k]
	i := int(h.sched)
	l := &c.path[i]
	if in := h.in; in == nil {
		if c.dispatchLatch&bit(i) != 0 {
			l.collected |= bit(k)
			return
		}
		l.dispatchLatch = h.place
		c.dispatchLatch |= bit(i)
	} else {
		u := p.units.soonest(in.Unit, i)
		if u.taken > now {
			c.visit(k, p.units.taken(in.Unit, i, u)*c.cfg.ports, now)
			return
		}
		p.collected(int(h.warp), in, u, now-c.cfg.pass-1)
		if l.arithmetic--; l.arithmetic == 0 {
			c.rest(i)
		}
	}
	c.free |= bit(k)
	l.freeCollectors++
}

// rest notes that no arithmetic of scheduler i waits, if none does.
func (c *collectors) rest(i int) {
	for m := c.askingClasses &^ asks[isa.LDST]; m != 0; m &= m - 1 {
		if c.full[asking[bits.TrailingZeros8(m)&7]]&c.path[i].mask != 0 {
			return
		}
	}
	c.busy &^= bit(i)
}

// hold puts an instruction into the first free collector of scheduler i (nil for a memory instruction). It has its
// operands from a turn on.
func (c *collectors) hold(i uint8, in *isa.Instr, warp, place int16, ready, now uint64) {
	l := &c.path[i]
	k := bits.TrailingZeros64(c.free & l.collectors)
	c.free &^= bit(k)
	l.freeCollectors--
	h := &c.held[k]
	h.in, h.warp, h.place = in, warp, place
	c.visit(k, ready, now)
}

// collectMemory gives memory instructions collectors, the oldest first.
func (c *collectors) collectMemory(turn, now uint64) {
	n := 0
	for ; n < len(c.latches); n++ {
		i := c.latches[n].sched
		l := &c.path[i]
		if l.freeCollectors == 0 || !c.cfg.all && l.freeCollectors == l.arithmetic {
			break
		}
		at := c.latches[n].place
		c.hold(i, nil, 0, at, c.cfg.readBy(turn, c.placed[at].reads), now)
		c.throttled &^= l.mask
		l.room = now
	}
	if n == 0 {
		return
	}
	if c.latches = c.latches[:copy(c.latches, c.latches[n:])]; len(c.latches) == 0 {
		c.askingClasses &^= asks[isa.LDST]
	}
}

// readBy is the turn from which an instruction has its operands if it got a collector in a turn.
func (cfg *collectConfig) readBy(turn uint64, r isa.Reads) uint64 {
	if !cfg.all {
		return turn + 1
	}
	return turn + 1 + uint64(r.Most(cfg.banks))
}

// collectOperands gives collectors to arithmetic of class u.
func (p *pipeline) collectOperands(u isa.Unit, turn, now uint64) {
	c := &p.collect
	q := c.waiting[u]
	n := 0
	for ; n < len(q); n++ {
		x := &q[n]
		l := &c.path[x.sched]
		if l.freeCollectors == 0 || !c.cfg.all && l.freeCollectors == l.arithmetic {
			break
		}
		l.arithmetic++
		c.full[u] &^= l.mask
		if c.cfg.all {
			c.hold(x.sched, x.in, x.warp, 0, c.cfg.readBy(turn, x.in.Reads), now)
			continue
		}
		p.collected(int(x.warp), x.in, p.units.soonest(u, int(x.sched)), now-1)
		c.due = now + 1 // the collector is free again
	}
	switch c.waitingCount -= n; n {
	case 0:
	case len(q):
		c.waiting[u] = q[:0]
		c.askingClasses &^= asks[u]
	default:
		c.waiting[u] = q[:copy(q, q[n:])]
	}
}

// takeMemory returns the parts of the oldest memory instruction before the load/store unit. The unit gets it, because
// it has no other work in the next cycle.
func (c *collectors) takeMemory(now uint64) []access {
	first := bits.TrailingZeros64(c.dispatchLatch)
	for m := c.dispatchLatch & (c.dispatchLatch - 1); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if c.placed[c.path[i].dispatchLatch].seq < c.placed[c.path[first].dispatchLatch].seq {
			first = i
		}
	}
	c.dispatchLatch &^= bit(first)
	l := &c.path[first]
	if l.collected != 0 {
		c.visits.putAll(l.collected, now*c.cfg.ports)
		l.collected, c.due = 0, now
	}
	return c.take(l.dispatchLatch)
}

// take frees a place and returns the parts of the instruction in it, which stay valid until the next memory
// instruction is issued.
func (c *collectors) take(p int16) []access {
	c.freePlaces = append(c.freePlaces, p)
	return c.placed[p].acc
}

// startAll starts all arithmetic that waits.
func (p *pipeline) startAll(now uint64) {
	c := &p.collect
	for k := range c.held {
		if h := &c.held[k]; c.free&bit(k) == 0 && h.in != nil {
			p.collected(int(h.warp), h.in, p.units.soonest(h.in.Unit, int(h.sched)), now-1-c.cfg.pass)
			c.free |= bit(k)
		}
	}
	for i := range c.path {
		c.path[i].arithmetic = 0
	}
	for u, q := range c.waiting {
		for _, x := range q {
			p.collected(int(x.warp), x.in, p.units.soonest(x.in.Unit, int(x.sched)), now-1-c.cfg.pass)
		}
		c.waiting[u], c.full[u] = q[:0], 0
	}
	c.waitingCount, c.busy = 0, 0
	c.askingClasses &= asks[isa.LDST]
}

// takeAll gives the load/store unit all waiting memory instructions, by their parts, and leaves collectors empty.
// Arithmetic must have been started before.
func (c *collectors) takeAll(push func(acc []access)) {
	if !c.cfg.shared {
		return
	}
	var all []int16
	for i := range c.path {
		if c.dispatchLatch&bit(i) != 0 {
			all = append(all, c.path[i].dispatchLatch)
		}
	}
	for k := range c.held {
		if c.free&bit(k) == 0 {
			all = append(all, c.held[k].place)
		}
	}
	for _, l := range c.latches {
		all = append(all, l.place)
	}
	slices.SortFunc(all, func(a, b int16) int { return cmp.Compare(c.placed[a].seq, c.placed[b].seq) })
	for _, p := range all {
		push(c.take(p))
	}
	c.latches, c.dispatchLatch, c.throttled, c.askingClasses = c.latches[:0], 0, 0, 0
	c.clear()
}

// collected starts an instruction of warp w that has its operands on unit u, as if it had been issued in cycle at to
// a unit that is free.
func (p *pipeline) collected(w int, in *isa.Instr, u *unit, at uint64) {
	now := at + 1 + p.cfg.collect.pass
	wp := &p.warps.slot[w&63]
	p.execute(wp, in, u, at)
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
