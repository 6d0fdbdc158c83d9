package sm

import (
	"math"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
)

// An SM that changes hands while CTAs run on it is switched (UGPU, section 3.3): it is frozen,
// accesses that have been translated drain, and the context of every CTA (registers, shared memory,
// per-warp state) is stored to the owner's memory line by line through the SM's own load/store
// unit, TLB and crossbar port. Another SM loads it back the same way before the CTA goes on;
// accesses that had not passed the TLB, those that wait for a fault among them, are made there, as
// hardware with restartable faults replays them.

// Context is a CTA that was taken off an SM, or is being taken off.
type Context struct {
	K     *Kernel
	Addr  uint64 // virtual address of its image in the owner's memory
	Lines int    // of the image
	exec  isa.CTA
	live  int
	bar   [16]barrier // slots by warp number within the CTA
	warps []savedWarp
	ops   []savedOp
	block int // where it is being restored
	left  int // lines not yet in the LD/ST queue
	owed  int // lines not yet answered
	store bool
}

// Loaded says that the CTA is back on an SM and that its image is no longer needed.
func (c *Context) Loaded() bool { return !c.store && c.owed == 0 }

// contexts are the contexts on their way between the SM and memory, which go line by line
// through its load/store unit.
type contexts struct {
	unsent int        // lines not yet in the LD/ST queue
	moving []*Context // those under way; nil: a free entry
	count  int        // of them
}

// begin queues the lines of a context for the load/store unit.
func (x *contexts) begin(c *Context) {
	c.left, c.owed = c.Lines, c.Lines
	x.count++
	x.unsent += c.Lines
	for i := range x.moving {
		if x.moving[i] == nil {
			x.moving[i] = c
			return
		}
	}
	x.moving = append(x.moving, c)
}

// answered notes the answer to one line of transfer i. With the last one the context has moved, and is returned.
func (x *contexts) answered(i int) *Context {
	c := x.moving[i]
	if c.owed--; c.owed > 0 {
		return nil
	}
	x.moving[i] = nil
	x.count--
	return c
}

// savedWarp is a warp of a context; pc -1: it had exited.
type savedWarp struct {
	place
	late   []kept
	copies asyncCopies
	state  warpState
	local  int32 // its piece of LocalMemory
}

// ContextBytes is the size of the image of a CTA: registers, shared memory, and contextWarp bytes per
// warp for SIMT stack, barriers and PC; or that part of it which is moved (sm.ctx_share).
func (c *Config) ContextBytes(g *isa.Geometry) int {
	all := g.Warps*(c.RegsPerWarp(g.Regs)*4+c.contextWarp) + g.SharedBytes
	return int(math.Ceil(float64(all) * c.contextShare))
}

// Hold stops accesses before the TLB until Release; accesses that have been translated complete (UGPU, section 4.4).
func (s *SM) Hold() { s.lsu.translation.hold = true }

// Release ends Hold.
func (s *SM) Release(now uint64) {
	s.lsu.translation.hold = false
	s.wakeAt(now + 1)
}

// Drained says that no access with a physical address is in flight: none between TLB and L1, and no request without
// an answer.
func (s *SM) Drained() bool {
	l := &s.lsu
	return l.link.inflight == 0 && l.link.out.Len() == 0 && l.l1.queue.Len() == 0 && l.replay.Len() == 0 &&
		(l.queue.Len() == 0 || l.queue.Head().state&translated == 0)
}

// savedOp is a memory instruction some of whose accesses have not been translated.
type savedOp struct {
	op   memOp // warp is the number within the CTA
	left []access
}

// Freeze stops issue and translation. Accesses beyond the TLB complete, and so do the instructions before the operand
// collectors, which might otherwise wait for a result that never comes.
func (s *SM) Freeze(now uint64) {
	s.pipe.frozen, s.lsu.translation.frozen = true, true
	s.pipe.startAll(now)
	s.pipe.collect.takeAll(func(acc []access) { s.lsu.push(acc, now) })
	s.pipe.lookIdle(now + 1)
	s.report()
}

// Quiet says that a frozen SM can be saved: every warp stands between two instructions, and no request is outstanding
// but accesses before the TLB.
func (s *SM) Quiet() bool {
	if !s.Drained() || s.contexts.count > 0 {
		return false
	}
	var waits [64]int32
	s.lsu.untranslated(func(a *access) {
		if o := &s.lsu.ops.list[a.op]; !o.seen { // count an instruction once
			o.seen = true
			waits[o.warp]++
		}
	})
	s.lsu.untranslated(func(a *access) { s.lsu.ops.list[a.op].seen = false })
	for i := range s.pipe.ctas.blocks {
		for m := s.pipe.ctas.blocks[i].resident(); m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			w := &s.pipe.warps.slot[k]
			if w.state != free && (w.loads != waits[k] || w.stores > 0 || w.state == finishing && w.loads == 0) {
				return false
			}
		}
	}
	return true
}

// untranslated visits the accesses that have not passed the TLB: queued before it,
// or waiting for its miss.
func (l *loadStore) untranslated(visit func(a *access)) {
	for i := range l.queue.Len() {
		visit(l.queue.At(i))
	}
	for i := range l.restored.Len() {
		visit(l.restored.At(i))
	}
	l.translation.each(visit)
}

// takeBack removes the untranslated accesses from the SM and hands them to the
// contexts of their CTAs.
func (s *SM) takeBack(of map[int16]*Context) {
	l := &s.lsu
	at := map[int32]*savedOp{}
	var order []int32
	l.untranslated(func(a *access) {
		if at[a.op] == nil {
			at[a.op] = &savedOp{op: l.ops.list[a.op]}
			order = append(order, a.op)
		}
		at[a.op].left = append(at[a.op].left, *a)
	})
	for _, op := range order {
		w := &s.pipe.warps.slot[l.ops.list[op].warp]
		x := at[op]
		x.op.warp = w.in
		c := of[w.cta]
		c.ops = append(c.ops, *x)
		l.ops.put(op)
	}
	l.queue.Clear()
	l.restored.Clear()
	l.translation.forget()
	s.pipe.collect.queued, s.pipe.collect.throttled, s.pipe.collect.moreToSend = 0, 0, false
}

// Save takes every CTA off the quiet SM and begins to store their contexts; place
// gives each image its virtual address. The SM is empty at once but Busy until
// the last line is acknowledged.
func (s *SM) Save(now uint64, place func(k *Kernel, bytes int) uint64) (out []*Context) {
	of := map[int16]*Context{}
	for i := range s.pipe.ctas.blocks {
		if s.pipe.ctas.blocks[i].k != nil {
			of[int16(i)] = &Context{}
		}
	}
	s.takeBack(of)
	for i := range s.pipe.ctas.blocks {
		if s.pipe.ctas.blocks[i].k != nil {
			out = append(out, s.saveBlock(i, of[int16(i)].ops, now, place))
		}
	}
	s.pipe.frozen, s.lsu.translation.frozen = false, false
	s.wakeAt(now + 1)
	return out
}

// saveBlock takes a CTA at rest off the SM, with the accesses it has still to make, and
// begins to store its context.
func (s *SM) saveBlock(i int, ops []savedOp, now uint64, place func(k *Kernel, bytes int) uint64) *Context {
	b := &s.pipe.ctas.blocks[i]
	n := s.cfg.ContextBytes(&b.k.Geo)
	c := &Context{
		ops: ops, K: b.k, exec: b.exec, live: b.live, bar: b.bar, store: true,
		Addr: place(b.k, n), Lines: (n + 1<<s.cfg.l1.lineShift - 1) >> s.cfg.l1.lineShift,
	}
	c.warps = make([]savedWarp, b.k.Geo.Warps)
	for j := range c.warps {
		c.warps[j].pc, c.warps[j].local = -1, none
	}
	for j := range c.bar {
		c.bar[j].slots = 0
	}
	for m := b.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		in := s.pipe.warps.slot[w].in
		if s.pipe.unload(c, b, w); b.k.Local != nil {
			c.warps[in].local = b.k.Local.leave(s.lsu.slot(w))
		}
	}
	b.k.Away++
	s.pipe.ctas.vacate(b, now)
	s.pipe.holdBackAnew(now)
	s.contexts.begin(c)
	s.wakeAt(now + 1)
	return c
}

// unload moves the state of warp slot w of block b into its context.
func (p *pipeline) unload(c *Context, b *block, w int) {
	ws := &p.warps
	wp := &ws.slot[w]
	ws.wake[w] = engine.Never
	ws.ready &^= 1 << w
	ws.stale &^= 1 << w
	if wp.state == free {
		return
	}
	for j := range b.bar {
		if b.bar[j].slots>>w&1 != 0 {
			c.bar[j].slots |= 1 << wp.in
		}
	}
	if wp.state != finishing {
		wp.progress.Running--
	}
	c.warps[wp.in] = savedWarp{wp.place, slices.Clone(wp.late), wp.copies, wp.state, none}
	wp.state = free
}

// Restore makes a stored context resident again and begins to load it; Fits must
// hold for its kernel. Its warps run when the last line has arrived.
func (s *SM) Restore(c *Context, now uint64) error {
	i, err := s.occupy(c.K, now)
	if err != nil {
		return err
	}
	b := &s.pipe.ctas.blocks[i]
	b.exec, b.live, c.block, c.store = c.exec, c.live, i, false
	c.K.Away--
	in := 0
	for m := b.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		s.pipe.begin(w, i, in, c.K, c.exec, now)
		s.pipe.warps.stop(w, restoring)
		s.pipe.warps.launched(w, now<<16|uint64(in))
		if c.K.Local != nil {
			c.K.Local.come(s.lsu.slot(w), c.warps[in].local)
		}
		in++
	}
	s.contexts.begin(c)
	s.wakeAt(now + 1)
	return nil
}

// resume continues the warps of a context where they were.
func (s *SM) resume(c *Context, now uint64) {
	p := &s.pipe
	b := &p.ctas.blocks[c.block]
	b.bar = c.bar
	slot := make([]int, len(c.warps))
	for m := b.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		slot[p.warps.slot[w].in] = w
	}
	for j := range b.bar {
		var at uint64
		for m := c.bar[j].slots; m != 0; m &= m - 1 {
			at |= 1 << slot[bits.TrailingZeros64(m)]
		}
		b.bar[j].slots = at
	}
	s.reissue(c, slot, now)
	for in, v := range c.warps {
		w := slot[in]
		wp := &p.warps.slot[w]
		wp.place, wp.late, wp.copies = v.place, append(wp.late[:0], v.late...), v.copies
		switch {
		case v.state == free || v.state == finishing:
			wp.state = v.state
			wp.progress.Running--
		case v.state == atBarrier || v.state == inAtomic || v.state == fenced && wp.loads > 0 ||
			v.state == copying && s.lsu.ops.missing(w, &wp.copies):
			wp.state = v.state
		default: // running, or at a fence or a wait whose operations are done
			p.warps.resume(w, Fetch, now)
		}
	}
}

// reissue makes the accesses that a context had not made on its old SM.
func (s *SM) reissue(c *Context, slot []int, now uint64) {
	p, l := &s.pipe, &s.lsu
	for _, x := range c.ops {
		op := l.ops.get()
		w := slot[x.op.warp]
		wp := &p.warps.slot[w]
		o := &l.ops.list[op]
		*o = x.op
		o.warp, o.at, o.queued, o.left = int16(w), now, int32(len(x.left)), int32(len(x.left))
		p.collect.enqueue()
		wp.loads++
		wp.setReady(o.reg, o.ndst, notReady)
		for _, a := range x.left {
			a.op, a.at = op, now
			l.restored.Push(a)
		}
	}
	c.ops = nil
}

// feed puts lines of contexts into the LD/ST queue while it is short, and accesses
// of restored CTAs.
func (s *SM) feed(now uint64) {
	l := &s.lsu
	for l.restored.Len() > 0 && l.queue.Len() < contextDepth {
		l.queue.Push(l.restored.Pop())
	}
	for i, c := range s.contexts.moving {
		for c != nil && c.left > 0 {
			if l.queue.Len() >= contextDepth {
				return
			}
			kind := isa.Load
			if c.store {
				kind = isa.Store
			}
			op := l.ops.get()
			l.ops.list[op] = memOp{
				left: 1, queued: 1, warp: noWarp, reg: uint32(i), tenant: c.K.Tenant,
				space: isa.Global, kind: kind, bypass: true,
			}
			s.pipe.collect.enqueue()
			c.left--
			s.contexts.unsent--
			all := uint8(1<<s.cfg.l1.sectors - 1)
			line := c.Addr + uint64(c.left)<<s.cfg.l1.lineShift
			l.queue.Push(access{line: line, at: now, op: op, sectors: all, full: all})
		}
	}
}

// contextDepth bounds the lines of contexts in the LD/ST queue: enough to keep
// its one-line-per-cycle port busy.
const contextDepth = 4

// noWarp marks a memory operation of the context engine; its reg is the transfer.
const noWarp = -1

// moved notes the answer to one line of transfer i. With the last one of a load, its CTA continues.
func (s *SM) moved(i int, now uint64) {
	if c := s.contexts.answered(i); c != nil && !c.store {
		s.resume(c, now)
	}
}

// Busy says that contexts are being stored or loaded.
func (s *SM) Busy() bool { return s.contexts.count > 0 }
