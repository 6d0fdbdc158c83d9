package sm

import (
	"math/bits"

	"heddle/engine"
	"heddle/isa"
)

// An SM that changes hands while CTAs run on it is switched (UGPU, section 3.3):
// it is frozen, what has been translated drains, and the context of every CTA
// (registers, shared and local memory, per-warp state) is stored to the owner's
// memory line by line through the SM's own load/store unit, TLB and crossbar
// port. Another SM loads it back the same way before the CTA goes on; accesses
// that had not passed the TLB, those that wait for a fault among them, are made
// there, as hardware with restartable faults replays them.

// Context is a CTA that was taken off an SM, or is on its way.
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

// Loaded says that the CTA is back on an SM and its image no longer needed.
func (c *Context) Loaded() bool { return !c.store && c.owed == 0 }

// savedWarp is a warp of a context; pc -1: it had exited.
type savedWarp struct {
	pc    int32
	state warpState
}

// ContextBytes is the size of the image of a CTA: registers, shared and local
// memory, and ctxWarp bytes per warp for SIMT stack, barriers and PC.
func (c *Config) ContextBytes(g *isa.Geometry) int {
	return g.Warps*(c.RegsPerWarp(g.Regs)*4+c.ctxWarp) + g.SharedBytes + g.LocalBytes*g.Threads
}

// Hold keeps accesses that are not yet translated before the TLB until Release:
// what has been translated drains (UGPU, section 4.4).
func (s *SM) Hold() { s.held = true }

// Release ends Hold.
func (s *SM) Release(now uint64) {
	s.held = false
	s.wakeAt(now + 1)
}

// Settled says that nothing with a physical address is on its way: no access
// between TLB and L1, no request without an answer.
func (s *SM) Settled() bool {
	return s.inflight == 0 && s.Out.Len() == 0 && s.l1q.Len() == 0 && s.replay.Len() == 0 && (s.ldq.Len() == 0 || !s.ldq.Head().phys)
}

// savedOp is a memory instruction some of whose accesses have not been translated.
type savedOp struct {
	op   memOp // warp is the number within the CTA
	left []access
}

// Freeze stops issue and translation; what is beyond the TLB completes, and so do
// the instructions before the collectors, which else might wait for what is not.
func (s *SM) Freeze(now uint64) {
	s.frozen = true
	s.collectAll(now)
}

// Quiet says that a frozen SM can be saved: every warp stands between two
// instructions, and nothing is outstanding but accesses before the TLB.
func (s *SM) Quiet() bool {
	if !s.Settled() || s.transfers > 0 {
		return false
	}
	var waits [64]int32
	s.untranslated(func(a *access) {
		if o := &s.ops[a.op]; !o.seen { // count an instruction once
			o.seen = true
			waits[o.warp]++
		}
	})
	s.untranslated(func(a *access) { s.ops[a.op].seen = false })
	for i := range s.blocks {
		for m := s.blocks[i].resident(); m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			w := &s.warps[k]
			if w.state != free && (w.loads != waits[k] || w.stores > 0 || w.state == finishing && w.loads == 0) {
				return false
			}
		}
	}
	return true
}

// untranslated visits the accesses that have not passed the TLB: queued before it,
// or waiting for its miss.
func (s *SM) untranslated(visit func(a *access)) {
	for i := range s.ldq.Len() {
		visit(s.ldq.At(i))
	}
	for i := range s.again.Len() {
		visit(s.again.At(i))
	}
	for i := range s.pending {
		if m := &s.pending[i]; m.sent {
			for n := m.first; n >= 0; n = s.parked[n].next {
				visit(&s.parked[n].access)
			}
		}
	}
}

// takeBack removes the untranslated accesses from the SM and hands them to the
// contexts of their CTAs.
func (s *SM) takeBack(of map[int16]*Context) {
	at := map[int32]*savedOp{}
	var order []int32
	s.untranslated(func(a *access) {
		if at[a.op] == nil {
			at[a.op] = &savedOp{op: s.ops[a.op]}
			order = append(order, a.op)
		}
		at[a.op].left = append(at[a.op].left, *a)
	})
	for _, op := range order {
		w := &s.warps[s.ops[op].warp]
		x := at[op]
		x.op.warp = w.in
		c := of[w.cta]
		c.ops = append(c.ops, *x)
		s.freeOps = append(s.freeOps, op)
	}
	s.ldq.Clear()
	s.ldInsts, s.noMem = 0, 0
	for s.again.Len() > 0 {
		s.again.Pop()
	}
	for i := range s.pending {
		m := &s.pending[i]
		for n := m.first; m.sent && n >= 0; n = s.parked[n].next {
			s.freePark = append(s.freePark, n)
		}
		m.sent = false // the answer, when it comes, finds nobody
	}
	s.refused, s.missing = nil, false
}

// resident is the warp slots of a resident CTA, none for a free entry.
func (b *block) resident() uint64 {
	if b.k == nil {
		return 0
	}
	return b.slots
}

// Save takes every CTA off the quiet SM and begins to store their contexts; place
// gives each image its virtual address. The SM is empty at once but Busy until
// the last line is acknowledged.
func (s *SM) Save(now uint64, place func(k *Kernel, bytes int) uint64) (out []*Context) {
	of := map[int16]*Context{}
	for i := range s.blocks {
		if s.blocks[i].k != nil {
			of[int16(i)] = &Context{}
		}
	}
	s.takeBack(of)
	for i := range s.blocks {
		if s.blocks[i].k != nil {
			out = append(out, s.saveBlock(i, of[int16(i)].ops, now, place))
		}
	}
	s.frozen = false
	s.wakeAt(now + 1)
	return out
}

// saveBlock takes a CTA at rest off the SM, with the accesses it has still to make, and
// begins to store its context.
func (s *SM) saveBlock(i int, ops []savedOp, now uint64, place func(k *Kernel, bytes int) uint64) *Context {
	b := &s.blocks[i]
	n := s.cfg.ContextBytes(&b.k.Geo)
	c := &Context{ops: ops, K: b.k, exec: b.exec, live: b.live, bar: b.bar, Addr: place(b.k, n), Lines: (n + 1<<s.cfg.lineShift - 1) >> s.cfg.lineShift, store: true}
	c.warps = make([]savedWarp, b.k.Geo.Warps)
	for j := range c.warps {
		c.warps[j].pc = -1
	}
	for j := range c.bar {
		c.bar[j].slots = 0
	}
	for m := b.slots; m != 0; m &= m - 1 {
		s.unload(c, b, bits.TrailingZeros64(m))
	}
	b.k.Away++
	s.vacate(b, now)
	s.transfer(c, now)
	return c
}

// unload moves the state of warp slot w of block b into its context.
func (s *SM) unload(c *Context, b *block, w int) {
	wp := &s.warps[w]
	s.wake[w] = engine.Never
	s.ready &^= 1 << w
	s.stale &^= 1 << w
	if wp.state == free {
		return
	}
	for j := range b.bar {
		if b.bar[j].slots>>w&1 != 0 {
			c.bar[j].slots |= 1 << wp.in
		}
	}
	if wp.state != finishing {
		wp.k.lane[s.lane].Running--
	}
	c.warps[wp.in] = savedWarp{wp.pc, wp.state}
	wp.state = free
}

// Restore makes a stored context resident again and begins to load it; Fits must
// hold for its kernel. Its warps run when the last line has arrived.
func (s *SM) Restore(c *Context, now uint64) error {
	i, err := s.occupy(c.K, now)
	if err != nil {
		return err
	}
	b := &s.blocks[i]
	b.exec, b.live, c.block, c.store = c.exec, c.live, i, false
	c.K.Away--
	in := 0
	for m := b.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		s.begin(w, i, in, c.K, c.exec, now)
		s.wake[w], s.warps[w].state = engine.Never, restoring
		s.launched(w, now<<16|uint64(in))
		in++
	}
	s.transfer(c, now)
	return nil
}

// restored lets the warps of a context go on where they were.
func (s *SM) restored(c *Context, now uint64) {
	b := &s.blocks[c.block]
	b.bar = c.bar
	slot := make([]int, len(c.warps))
	for m := b.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		slot[s.warps[w].in] = w
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
		wp := &s.warps[w]
		wp.pc = v.pc
		switch {
		case v.state == barred || v.state == free || v.state == finishing || v.state == atomic || v.state == fenced && wp.loads > 0:
			wp.state = v.state
			if v.state == free || v.state == finishing {
				wp.k.lane[s.lane].Running--
			}
		default: // running, or at a fence whose operations are done
			s.resume(w, Fetch, now)
		}
	}
}

// reissue makes the accesses a context had not made where it was.
func (s *SM) reissue(c *Context, slot []int, now uint64) {
	for _, x := range c.ops {
		op := s.newOp()
		w := slot[x.op.warp]
		wp := &s.warps[w]
		o := &s.ops[op]
		*o = x.op
		o.warp, o.at, o.queued, o.left = int16(w), now, int32(len(x.left)), int32(len(x.left))
		s.enqueue()
		wp.loads++
		for _, r := range wp.regs(o.reg, o.ndst) {
			wp.ready[r] = notReady
		}
		for _, a := range x.left {
			a.op, a.at = op, now
			s.again.Push(a)
		}
	}
	c.ops = nil
}

// transfer queues the lines of a context for the load/store unit.
func (s *SM) transfer(c *Context, now uint64) {
	c.left, c.owed = c.Lines, c.Lines
	s.transfers++
	s.unsent += c.Lines
	s.wakeAt(now + 1)
	for i := range s.moving {
		if s.moving[i] == nil {
			s.moving[i] = c
			return
		}
	}
	s.moving = append(s.moving, c)
}

// feed puts lines of contexts into the LD/ST queue while it is short, and accesses
// of restored CTAs.
func (s *SM) feed(now uint64) {
	for s.again.Len() > 0 && s.ldq.Len() < contextDepth {
		s.ldq.Push(s.again.Pop())
	}
	for i, c := range s.moving {
		for c != nil && c.left > 0 {
			if s.ldq.Len() >= contextDepth {
				return
			}
			kind := isa.Load
			if c.store {
				kind = isa.Store
			}
			op := s.newOp()
			s.ops[op] = memOp{left: 1, queued: 1, warp: noWarp, reg: uint32(i), tenant: c.K.Tenant, space: isa.Global, kind: kind, bypass: true}
			s.enqueue()
			c.left--
			s.unsent--
			all := uint8(1<<s.cfg.sectors - 1)
			s.ldq.Push(access{line: c.Addr + uint64(c.left)<<s.cfg.lineShift, at: now, op: op, sectors: all, full: all})
		}
	}
}

// contextDepth bounds the lines of contexts in the LD/ST queue: enough to keep
// its one-line-per-cycle port busy.
const contextDepth = 4

// noWarp marks a memory operation of the context engine; its reg is the transfer.
const noWarp = -1

// moved books the answer to one line of transfer i; with the last one a load's
// CTA goes on.
func (s *SM) moved(i int, now uint64) {
	c := s.moving[i]
	if c.owed--; c.owed > 0 {
		return
	}
	s.moving[i] = nil
	s.transfers--
	if !c.store {
		s.restored(c, now)
	}
}

// Busy says that contexts are being stored or loaded.
func (s *SM) Busy() bool { return s.transfers > 0 }

// EachCTA visits the resident CTAs: kernel and the cycle it became resident here.
func (s *SM) EachCTA(visit func(k *Kernel, since uint64)) {
	for i := range s.blocks {
		if b := &s.blocks[i]; b.k != nil {
			visit(b.k, b.start)
		}
	}
}
