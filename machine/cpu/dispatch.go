package cpu

import (
	"github.com/heddle-sim/heddle/isa/scalar"
)

// The number of cycles that dispatch may be ahead if nothing delays it, and the number from which it continues.
// Neither changes a result.
const (
	ahead  = 128
	resume = 64
)

// reserve is the places of the window that bends of dispatch may take before it is full.
const reserve = 16

// dispatch dispatches instructions as far as their times are known.
func (c *Core) dispatch(now uint64) {
	w := &c.window
	w.held, c.resumeAt = false, never
	for {
		in := c.program.next(w.dispatched)
		if c.program.passed {
			c.program.passed = false
			c.ends.Push(w.dispatched)
			continue
		}
		if in == nil {
			return
		}
		if !w.room(reserve) {
			if c.retire() == 0 {
				w.full, w.held = true, true
				return
			}
			continue
		}
		if w.full { // places came free now, whatever the instructions would have waited for
			w.full = false
			w.redirect(int64(now+1) * perCycle)
		}
		if c.branches.wrong != none {
			return
		}
		if in.Kind == scalar.Store && !c.stores.room() {
			w.advance(max(w.dispatched, c.program.target-1)) // those before it
			return
		}
		if !w.advance(c.program.target) {
			if c.retire() == 0 {
				w.full, w.held = !w.room(2), true
				return
			}
			continue
		}
		c.place(in)
		c.program.took()
		w.partial = c.program.within
		if w.tick > int64(now+ahead)*perCycle {
			c.resumeAt = cycleOf(w.tick) - resume
			return
		}
	}
}

// advance dispatches instructions up to one; false while the time of that is not known.
func (w *window) advance(to int64) bool {
	if to == w.dispatched {
		return true // one more operation of the same
	}
	if leaves := to - w.size; leaves > 0 && !w.known(leaves) {
		return false
	}
	r := &w.retired
	for r.reached < r.last {
		b := r.at(r.reached + 1)
		if b.index+w.size > to {
			break
		}
		if !w.room(2) {
			return false
		}
		r.reached++
		w.bendDispatch(b.index+w.size, b.offset+b.index*r.pace+perCycle)
	}
	w.reach(to, w.offset)
	return true
}

// reach notes that instructions up to one have been dispatched, the last at offset.
func (w *window) reach(index, offset int64) {
	w.dispatched, w.offset, w.tick = index, offset, offset+index*w.retired.pace
}

// bendDispatch notes that an instruction, at or behind the last one dispatched, is not
// dispatched before a tick.
func (w *window) bendDispatch(index, tick int64) {
	offset := tick - index*w.retired.pace
	if offset <= w.offset {
		return
	}
	w.reach(max(w.dispatched, index), offset)
	w.note(index, tick+perCycle)
}

// redirect notes that the next instruction is not dispatched before a tick.
func (w *window) redirect(tick int64) {
	next := w.dispatched + 1
	if offset := tick - next*w.retired.pace; offset > w.offset {
		w.reach(w.dispatched, offset)
		w.note(next, tick+perCycle)
	}
}

// place puts an operation of the instruction just dispatched into the window. An operation with a known time of
// completion needs no place.
func (c *Core) place(in *scalar.Inst) {
	w := &c.window
	if in.Kind == scalar.Store {
		if late := c.stores.freeFrom() - w.tick; late > 0 {
			c.row[StoreCycles] += uint64(late) / perCycle
			w.bendDispatch(w.dispatched, w.tick+late)
		}
	}
	if in.Kind == scalar.Plain && in.Src[0]|in.Dst[0] == 0 {
		w.note(w.dispatched, w.tick+perCycle)
		return
	}
	pos := (w.head + w.count) & w.mask
	o := &w.ops[pos]
	o.tick, o.index, o.first, o.store, o.waits, o.done = w.tick, w.dispatched, none, 0, 0, false
	o.kind, o.dst = in.Kind, in.Dst
	for k, reg := range in.Src {
		if reg == 0 {
			break
		}
		r := &w.registers[reg]
		w.needs(o, pos, k, r.ready, r.writer)
	}
	switch in.Kind {
	case scalar.Load:
		o.addr = c.pages.physical(in.Addr)
		c.stores.before(w, o, pos)
	case scalar.Store:
		o.addr = c.pages.physical(in.Addr)
		c.stores.dispatch(o, pos)
	case scalar.Branch:
		if in.Conditional && c.branches.predict(in, c.row) {
			c.branches.wrong = pos
		}
	}
	if o.waits == 0 && in.Kind != scalar.Load && in.Kind != scalar.Store {
		c.finished(o, pos)
		return
	}
	w.count++
	for _, reg := range in.Dst {
		if reg == 0 {
			break
		}
		w.registers[reg] = register{unknown, pos}
	}
	if w.sites != nil {
		w.sites[pos] = in.Site
	}
	if o.waits == 0 {
		c.start(o, pos)
	}
}

// finished takes an operation on registers whose operands are there at known times; it gives its place back.
func (c *Core) finished(o *op, pos int32) {
	index, done := o.index, o.tick+perCycle
	for _, reg := range o.dst {
		if reg == 0 {
			break
		}
		c.window.registers[reg].ready = done
	}
	c.window.note(index, done)
	c.resolve(pos, done)
}

// resolve continues dispatch after a wrongly predicted branch, if dispatch waits for this branch.
func (c *Core) resolve(pos int32, tick int64) {
	if pos == c.branches.wrong {
		c.branches.wrong = none
		c.window.redirect(tick + c.branches.penalty)
	}
}

// needs makes an operation wait for a value.
func (w *window) needs(o *op, pos int32, input int, ready int64, writer int32) {
	if ready != unknown {
		o.tick = max(o.tick, ready)
		return
	}
	from := &w.ops[writer]
	o.next[input] = from.first
	from.first = edge(pos, input)
	o.waits++
}

// start is called when the time is known from which an operation has all operands.
func (c *Core) start(o *op, pos int32) {
	if o.kind == scalar.Load {
		c.window.at(pos, cycleOf(o.tick))
		return
	}
	c.complete(o, pos, o.tick+perCycle)
}

// complete notes the completion of an operation, and starts the operations that wait for it.
func (c *Core) complete(o *op, pos int32, tick int64) {
	w := &c.window
	o.tick, o.done = tick, true
	for _, reg := range o.dst {
		if reg == 0 {
			break
		}
		if r := &w.registers[reg]; r.writer == pos && r.ready == unknown {
			r.ready = tick
		}
	}
	switch o.kind {
	case scalar.Store:
		c.stores.data(o, tick)
	case scalar.Branch:
		c.resolve(pos, tick)
	}
	for e := o.first; e != none; {
		waiter := &w.ops[e>>3]
		at := e >> 3
		e = waiter.next[e&7]
		waiter.tick = max(waiter.tick, tick)
		if waiter.waits--; waiter.waits == 0 {
			c.start(waiter, at)
		}
	}
}

// retire goes on through the window as far as times of completion are known, and returns how many
// operations that are.
func (c *Core) retire() (n int32) {
	w := &c.window
	r := &w.retired
	for ; n < w.count; n++ {
		o := &w.ops[(w.head+n)&w.mask]
		if !o.done {
			break
		}
		late := o.tick - o.index*r.pace - r.offset
		if late > 0 {
			r.hold(o.index, o.tick)
		}
		switch o.kind {
		case scalar.Load:
			c.waited += max(0, late)
		case scalar.Store:
			c.stores.retire(cycleOf(r.newest(o.index)))
		}
	}
	if n > 0 {
		w.head = (w.head + n) & w.mask
		w.count -= n
		w.bound = max(w.bound, r.offset)
	}
	return n
}
