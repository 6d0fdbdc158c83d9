package emulate

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// Step implements isa.CTA. It is the hot path of every simulation: no allocation,
// no map, one indirect call per instruction.
//
// Operations on registers alone are executed a run at a time (compute): nothing can look at a register between two of
// them, and the rows of the warp are still in the processor's caches. The steps that follow only report the results.
//
//heddle:table
func (c *cta) Step(w int, now uint64, s *isa.Step) error {
	wp := &c.warps[w]
	pc := wp.pc
	s.Space, s.Bar, s.Expect, s.Arrive = isa.NoSpace, 0, 0, false
	if wp.done > 0 {
		c.report(wp, s)
		return nil
	}
	if pc < 0 {
		return c.fault(wp, 0, "warp %d was stepped after it had exited (a defect of the machine)", w)
	}
	o := &c.ops[pc]
	if wp.red.on {
		c.bars.collect(wp)
	}
	if o.run > 0 {
		n := int32(o.run)
		if left := wp.rpc - pc; left > 0 && left < n {
			n = left // there other lanes join
		}
		c.compute(wp, pc, n)
		c.report(wp, s)
		return nil
	}
	mask := wp.mask
	if wp.used > 1 && o.flags&fSync != 0 {
		mask = c.gather(wp, o)
	}
	s.Active = mask
	mask &= wp.guard(o)
	s.Mask = mask
	next := pc + 1
	switch o.shape {
	case shLoad:
		if mask != 0 {
			if err := c.load(wp, o.mem, mask, s); err != nil {
				return err
			}
			if wp.left != 0 {
				next = pc
			}
		}
	case shStore:
		if mask != 0 {
			if err := c.store(wp, o.mem, mask, s); err != nil {
				return err
			}
			if wp.left != 0 {
				next = pc
			}
		}
	case shBra:
		if mask == s.Active {
			next = o.target
		} else if mask != 0 {
			wp.pc = next
			wp.diverge([]side{{o.target, mask}, {next, s.Active &^ mask}}, o.reconv)
			next = wp.pc
		}
		if o.target <= pc && mask != 0 && wp.used > 1 {
			wp.pc = next
			wp.backward(o.flags&fSpin != 0)
			next = wp.pc
		}
	case shLdParam:
		if mask != 0 {
			c.loadParam(wp, o.mem, mask, s)
		}
	case shBar:
		if err := c.together(wp, o, mask, s.Active); err != nil {
			return err
		}
		c.barrier(wp, o, mask, s)
	case shExit, shRet:
		wp.pc = next
		if mask != 0 {
			if o.shape == shExit || wp.frame.depth == 0 {
				wp.exit(mask)
			} else {
				c.copyBack(wp, mask)
				wp.ret(mask)
			}
		}
		next = wp.pc
	default:
		if mask != 0 {
			n, err := c.rare(wp, o, mask, now, s)
			if err != nil {
				return err
			}
			next = n
		}
	}
	c.proceed(wp, next, s)
	return nil
}

// report takes a warp past an operation that has been executed, or past as many as have been
// by the same lanes where the caller takes several at once.
func (c *cta) report(wp *warp, s *isa.Step) {
	wp.done--
	s.Active, s.Mask = wp.mask, wp.mask
	if wp.mixed {
		s.Mask = wp.masks[wp.done&(longestRun-1)]
	}
	next := wp.pc + 1
	if s.Batch {
		s.Ahead = wp.alike(s.Mask)
	}
	if s.Ahead == 0 {
		c.proceed(wp, next, s)
		return
	}
	wp.done -= s.Ahead
	wp.pc, s.Next = next+int32(s.Ahead), next
}

// alike is how many of the operations that have been executed follow with the same mask. The instruction after the
// last one has a step of its own if other paths may join there.
func (wp *warp) alike(mask uint32) uint8 {
	n := wp.done
	if wp.used > 1 && n > 0 {
		n--
	}
	if wp.mixed {
		for i := range n {
			if wp.masks[(wp.done-1-i)&(longestRun-1)] != mask {
				return i
			}
		}
	}
	return n
}

// proceed takes a warp to its next instruction.
func (c *cta) proceed(wp *warp, next int32, s *isa.Step) {
	wp.pc = next
	if next == wp.rpc && next >= 0 {
		wp.arrive()
	}
	if wp.used > 1 && wp.pc >= 0 && c.ops[wp.pc].flags&fSync != 0 {
		c.settle(wp)
	}
	s.Next = wp.pc
}

// guard is the lanes whose guard predicate lets them execute o.
func (wp *warp) guard(o *op) uint32 {
	if o.guard < 0 {
		return ^uint32(0)
	}
	if o.flags&fNotGuard != 0 {
		return ^wp.p[o.guard]
	}
	return wp.p[o.guard]
}

// longestRun bounds the operations executed in one go; a power of two.
const longestRun = 16

// plain says that an operation uses nothing but registers and cannot fail.
func (o *op) plain() bool {
	switch o.shape {
	case shNop, shA32, shA32m, shA64, shWide, shNarrow, shShift, shCmp32, shCmp32m, shCmp64, shSet, shSel32, shSel64,
		shPred:
		return o.flags&fSync == 0
	}
	return false
}

// markRuns finds out for every operation how many plain ones begin with it.
func markRuns(ops []op) {
	n := uint8(0)
	for i := len(ops) - 1; i >= 0; i-- {
		if n = min(n+1, longestRun); !ops[i].plain() {
			n = 0
		}
		ops[i].run = n
	}
}

// compute executes n plain operations from pc on for the lanes of the current path and
// leaves their masks in wp.masks, the last one's first.
//
//heddle:table
func (c *cta) compute(wp *warp, pc, n int32) {
	wp.done, wp.mixed = uint8(n), false
	ops := c.ops[pc : pc+n]
	for i := range ops {
		o := &ops[i]
		mask := wp.mask
		if o.guard >= 0 {
			mask &= wp.guard(o)
			wp.mixed = true
		}
		wp.masks[(int(n)-1-i)&(longestRun-1)] = mask
		switch o.shape {
		case shA32:
			if mask == wp.live {
				o.f32(&wp.r32[o.d], c.row32(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c))
			} else if mask != 0 {
				o.f32(&c.t1, c.row32(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c))
				blend32(&wp.r32[o.d], &c.t1, mask)
			}
		case shA64:
			if mask == wp.live {
				o.f64(&wp.r64[o.d], c.row64(wp, o.a), c.row64(wp, o.b), c.row64(wp, o.c))
			} else if mask != 0 {
				o.f64(&c.w1, c.row64(wp, o.a), c.row64(wp, o.b), c.row64(wp, o.c))
				blend64(&wp.r64[o.d], &c.w1, mask)
			}
		case shWide:
			if mask == wp.live {
				o.fw(&wp.r64[o.d], c.row32(wp, o.a), c.row32(wp, o.b), c.row64(wp, o.c))
			} else if mask != 0 {
				o.fw(&c.w1, c.row32(wp, o.a), c.row32(wp, o.b), c.row64(wp, o.c))
				blend64(&wp.r64[o.d], &c.w1, mask)
			}
		case shCmp32:
			setPred(wp, o, o.cmp32(c.row32(wp, o.a), c.row32(wp, o.b)), mask)
		case shNarrow:
			if mask == wp.live {
				o.fn(&wp.r32[o.d], c.row64(wp, o.a), c.row64(wp, o.b))
			} else if mask != 0 {
				o.fn(&c.t1, c.row64(wp, o.a), c.row64(wp, o.b))
				blend32(&wp.r32[o.d], &c.t1, mask)
			}
		case shShift:
			if mask == wp.live {
				o.fs(&wp.r64[o.d], c.row64(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c))
			} else if mask != 0 {
				o.fs(&c.w1, c.row64(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c))
				blend64(&wp.r64[o.d], &c.w1, mask)
			}
		case shCmp64:
			setPred(wp, o, o.cmp64(c.row64(wp, o.a), c.row64(wp, o.b)), mask)
		case shNop:
		default:
			if mask != 0 {
				c.computeRare(wp, o, mask)
			}
		}
	}
}

// computeRare executes the plain shapes that are not worth a case in compute.
//
//heddle:table
func (c *cta) computeRare(wp *warp, o *op, mask uint32) {
	switch o.shape {
	case shA32m:
		c.modified(wp, o)
		blend32(&wp.r32[o.d], &c.t4, mask)
	case shCmp32m:
		a, b := c.sources(wp, o)
		setPred(wp, o, o.cmp32(a, b), mask)
	case shSet:
		c.set(wp, o, mask)
	case shSel32:
		k := pred(wp, o.c)
		if o.flags&fNotC != 0 {
			k = ^k
		}
		c.t1 = *c.row32(wp, o.b)
		blend32(&c.t1, c.row32(wp, o.a), k)
		blend32(&wp.r32[o.d], &c.t1, mask)
	case shSel64:
		k := pred(wp, o.c)
		if o.flags&fNotC != 0 {
			k = ^k
		}
		c.w1 = *c.row64(wp, o.b)
		blend64(&c.w1, c.row64(wp, o.a), k)
		blend64(&wp.r64[o.d], &c.w1, mask)
	case shPred:
		v := predLogic(o.n, pred(wp, o.a), pred(wp, o.b))
		wp.p[o.d] = wp.p[o.d]&^mask | v&mask
	}
}

// setPred writes a comparison to o.d and its complement to o.e. o.n combines it
// with predicate o.c.
func setPred(wp *warp, o *op, m, mask uint32) {
	q := ^m
	if o.n != combineNone {
		c := pred(wp, o.c)
		if o.flags&fNotC != 0 {
			c = ^c
		}
		switch o.n {
		case combineAnd:
			m, q = m&c, q&c
		case combineOr:
			m, q = m|c, q|c
		case combineXor:
			m, q = m^c, q^c
		}
	}
	if o.d >= 0 {
		wp.p[o.d] = wp.p[o.d]&^mask | m&mask
	}
	if o.e >= 0 {
		wp.p[o.e] = wp.p[o.e]&^mask | q&mask
	}
}

// BoolOp of setp.
const (
	combineNone = iota
	combineAnd
	combineOr
	combineXor
)

// rare executes the shapes beyond registers that are not worth a case in Step.
//
//heddle:table
func (c *cta) rare(wp *warp, o *op, mask uint32, now uint64, s *isa.Step) (next int32, err error) {
	next = wp.pc + 1
	switch o.shape {
	case shAtom:
		if err = c.atomic(wp, o.mem, o, mask, s); err == nil && wp.left != 0 {
			next = wp.pc
		}
	case shBrx:
		next, err = c.branchIndexed(wp, o, mask)
	case shCall:
		err = c.callFunction(wp, o, mask)
		next = wp.pc
	case shTrap:
		err = c.fault(wp, lowest(mask), "trap")
	case shClock32:
		fill(&c.t1, uint32(c.clock(o.n, now)))
		blend32(&wp.r32[o.d], &c.t1, mask)
	case shClock64:
		v := c.clock(o.n, now)
		for i := range c.w1 {
			c.w1[i] = v
		}
		blend64(&wp.r64[o.d], &c.w1, mask)
	case shSleep:
		s.Nanos = sleepTime(c.row32(wp, o.a), mask)
	case shMatrix:
		var more bool
		switch m := o.mem; {
		case m.tile != nil:
			more, err = wmmaStep(c, wp, m, mask, s)
		case m.tex != nil:
			more, err = texStep(c, wp, m, mask, s)
		default:
			err = c.loadMatrix(wp, m, mask, s)
		}
		if more {
			next = wp.pc
		}
	case shAsync:
		err = c.asyncCopy(wp, o, mask, s)
	case shX:
		err = o.fx(c, wp, o, mask)
	}
	return next, err
}

// longestSleep is what nanosleep sleeps at most, in ns: a millisecond by the ISA.
const longestSleep = 1_000_000

// sleepTime is how long a warp sleeps, in ns. The ISA allows 0 to twice what a lane asks for, and that lanes of a warp
// wake together: the warp sleeps as long as the longest asks for.
func sleepTime(ns *[isa.Lanes]uint32, mask uint32) uint32 {
	longest := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		longest = max(longest, ns[bits.TrailingZeros32(m)])
	}
	return min(longest, longestSleep)
}

// Which clock shClock32 and shClock64 read, and which half.
const (
	clockNanos = 1 << iota // %globaltimer; otherwise core cycles
	clockHigh
)

// clock is a clock's value at core cycle now.
func (c *cta) clock(which uint8, now uint64) uint64 {
	if which&clockNanos != 0 {
		now = c.place.Nanos(now)
	}
	if which&clockHigh != 0 {
		now >>= 32
	}
	return now
}

// Sub-operations of shPred.
const (
	predMov = iota
	predNot
	predAnd
	predOr
	predXor
)

func predLogic(n uint8, a, b uint32) uint32 {
	switch n {
	case predMov:
		return a
	case predNot:
		return ^a
	case predAnd:
		return a & b
	case predOr:
		return a | b
	}
	return a ^ b
}

// branchIndexed takes lane-dependent entries of a jump table. An index outside the
// table is undefined in PTX; here it is a fault.
func (c *cta) branchIndexed(wp *warp, o *op, mask uint32) (int32, error) {
	idx := c.row32(wp, o.a)
	var sides [isa.Lanes + 1]side
	n := 0
	if rest := wp.mask &^ mask; rest != 0 {
		sides[0] = side{wp.pc + 1, rest}
		n = 1
	}
	for m := mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		if int(idx[lane]) >= len(o.table) {
			return 0, c.fault(wp, lane, "branch index %d is outside the table of %d targets", idx[lane], len(o.table))
		}
		t := o.table[idx[lane]]
		k := 0
		for k < n && sides[k].pc != t {
			k++
		}
		if k == n {
			sides[n] = side{pc: t}
			n++
		}
		sides[k].mask |= 1 << lane
	}
	if n == 1 {
		return sides[0].pc, nil
	}
	wp.diverge(sides[:n], o.reconv)
	return wp.pc, nil
}
