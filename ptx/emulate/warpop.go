package emulate

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// Operations between the lanes of a warp. The mask of each is the set of lanes that
// execute it together; paths.go brings the lanes of a .sync form together first.

// Modes of shfl, in op.n.
const (
	shflUp = iota
	shflDown
	shflBfly
	shflIdx
)

// shuffle executes shfl: o.a value, o.b lane, o.c clamp and segment mask, o.d result,
// o.target the row of the predicate result (or noPred). A lane that does not take part gives 0: the ISA leaves its
// value open, and programs that pass their own checks on boards count on 0 (reduce7 of NVIDIA's samples adds it). One
// that is named in the mask of the .sync form, but is elsewhere, gives its register.
func shuffle(c *cta, wp *warp, o *op, mask uint32) error {
	src := *c.row32(wp, o.a)
	part := mask
	if o.flags&fSync != 0 && mask != 0 {
		part |= c.row32(wp, o.e)[lowest(mask)]
	}
	for out := ^part; out != 0; out &= out - 1 {
		src[lowest(out)] = 0
	}
	b, k := c.row32(wp, o.b), c.row32(wp, o.c)
	d := &c.t1
	var ok uint32
	for i := range d {
		bv, cv := int(b[i]&31), int(k[i]&31)
		seg := int(k[i] >> 8 & 31)
		maxLane := i&seg | cv&^seg
		minLane := i & seg
		var j int
		var in bool
		switch o.n {
		case shflUp:
			j = i - bv
			in = j >= maxLane
		case shflDown:
			j = i + bv
			in = j <= maxLane
		case shflBfly:
			j = i ^ bv
			in = j <= maxLane
		case shflIdx:
			j = minLane | bv&^seg
			in = j <= maxLane
		}
		if !in {
			j = i
		} else {
			ok |= 1 << i
		}
		d[i] = src[j&31]
	}
	blend32(&wp.r32[o.d], d, mask)
	if o.target >= 0 {
		wp.p[o.target] = wp.p[o.target]&^mask | ok&mask
	}
	return nil
}

// Modes of vote, in op.n.
const (
	voteAll = iota
	voteAny
	voteUni
	voteBallot
)

// vote executes vote: o.c the predicate, o.d the result row (a predicate except for
// ballot), o.e the member mask for .sync forms.
func vote(c *cta, wp *warp, o *op, mask uint32) error {
	v := pred(wp, o.c)
	if o.flags&fNotC != 0 {
		v = ^v
	}
	if o.flags&fSync == 0 {
		wp.voteGroup(o, v, mask, mask)
		return nil
	}
	for rest := mask; rest != 0; {
		members := c.row32(wp, o.e)[lowest(rest)] & mask
		if members == 0 {
			members = rest
		}
		group := members & rest
		if group == 0 {
			group = 1 << lowest(rest)
		}
		wp.voteGroup(o, v, members, group)
		rest &^= group
	}
	return nil
}

// voteGroup votes among members and gives the result to lanes out.
func (wp *warp) voteGroup(o *op, v, members, out uint32) {
	yes := v & members
	var r bool
	switch o.n {
	case voteBallot:
		d := &wp.r32[o.d]
		for m := out; m != 0; m &= m - 1 {
			d[lowest(m)] = yes
		}
		return
	case voteAll:
		r = yes == members
	case voteAny:
		r = yes != 0
	case voteUni:
		r = yes == 0 || yes == members
	}
	if r {
		wp.p[o.d] |= out
	} else {
		wp.p[o.d] &^= out
	}
}

// activeMask executes activemask.
func activeMask(_ *cta, wp *warp, o *op, mask uint32) error {
	d := &wp.r32[o.d]
	for m := mask; m != 0; m &= m - 1 {
		d[lowest(m)] = mask
	}
	return nil
}

// Modes of match, in op.n.
const (
	matchAny = iota
	matchAll
)

// match executes match.any and match.all: o.a the value (64-bit rows when o.b is 1),
// o.d the result, o.target the predicate of match.all, o.e the member mask.
func match(c *cta, wp *warp, o *op, mask uint32) error {
	value := func(i int) uint64 {
		if o.b == 1 {
			return c.row64(wp, o.a)[i]
		}
		return uint64(c.row32(wp, o.a)[i])
	}
	var out v32
	var all uint32
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		members := c.row32(wp, o.e)[i] & mask
		var same uint32
		for k := members; k != 0; k &= k - 1 {
			if j := lowest(k); value(j) == value(i) {
				same |= 1 << j
			}
		}
		switch {
		case o.n == matchAny:
			out[i] = same
		case same == members:
			out[i] = members
			all |= 1 << i
		}
	}
	blend32(&wp.r32[o.d], &out, mask)
	if o.target >= 0 {
		wp.p[o.target] = wp.p[o.target]&^mask | all
	}
	return nil
}

// Modes of redux, in op.n.
const (
	reduxAdd = iota
	reduxMinU
	reduxMinS
	reduxMaxU
	reduxMaxS
	reduxAnd
	reduxOr
	reduxXor
)

// redux executes redux.sync: o.a the value, o.d the result, o.e the member mask.
func redux(c *cta, wp *warp, o *op, mask uint32) error {
	a := *c.row32(wp, o.a)
	for rest := mask; rest != 0; {
		members := c.row32(wp, o.e)[lowest(rest)] & mask
		if members == 0 {
			members = 1 << lowest(rest)
		}
		r := a[lowest(members)]
		for m := members & (members - 1); m != 0; m &= m - 1 {
			v := a[lowest(m)]
			switch o.n {
			case reduxAdd:
				r += v
			case reduxMinU:
				r = min(r, v)
			case reduxMinS:
				r = uint32(min(int32(r), int32(v)))
			case reduxMaxU:
				r = max(r, v)
			case reduxMaxS:
				r = uint32(max(int32(r), int32(v)))
			case reduxAnd:
				r &= v
			case reduxOr:
				r |= v
			case reduxXor:
				r ^= v
			}
		}
		group := members & rest
		if group == 0 {
			group = 1 << lowest(rest)
		}
		for m := group; m != 0; m &= m - 1 {
			wp.r32[o.d][lowest(m)] = r
		}
		rest &^= group
	}
	return nil
}

// elect executes elect.sync: the lowest member is elected; o.d the row that gets its
// number (or noRow), o.target the predicate, o.e the member mask.
func elect(c *cta, wp *warp, o *op, mask uint32) error {
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		leader := bits.TrailingZeros32(c.row32(wp, o.e)[i] & mask)
		if o.d >= 0 && leader < isa.Lanes {
			wp.r32[o.d][i] = uint32(leader)
		}
		if leader == i {
			wp.p[o.target] |= 1 << i
		} else {
			wp.p[o.target] &^= 1 << i
		}
	}
	return nil
}

// nothing is for ops whose whole effect is to synchronise (bar.warp.sync).
func nothing(*cta, *warp, *op, uint32) error { return nil }

// frameAddress gives the address of a .local variable (o.b is 0) or a .param variable:
// o.a is its offset in the frame; o.n is 32 or 64, or for a generic address 1 (64-bit) or 2
// (32-bit).
func frameAddress(c *cta, wp *warp, o *op, mask uint32) error {
	v, window := uint64(wp.frame.local+o.a), localWindow
	if o.b != 0 {
		v, window = argBase+uint64(wp.frame.args+o.a), paramWindow
	}
	if o.n == 1 {
		v += window
	}
	if o.n == 2 {
		v = uint64(fold(window, v))
	}
	if o.n == 32 || o.n == 2 {
		fill(&c.t1, uint32(v))
		blend32(&wp.r32[o.d], &c.t1, mask)
		return nil
	}
	for i := range c.w1 {
		c.w1[i] = v
	}
	blend64(&wp.r64[o.d], &c.w1, mask)
	return nil
}

// isSpace executes isspacep: o.a the generic address, o.b the space, o.d the predicate.
func isSpace(c *cta, wp *warp, o *op, mask uint32) error {
	var a v64
	if o.n == 32 { // of a 32-bit module
		for i, v := range c.row32(wp, o.a) {
			a[i] = unfold(v)
		}
	} else {
		a = *c.row64(wp, o.a)
	}
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		space := window(a[i])
		if space == isa.Global && o.b == int32(isa.Const) {
			if r := c.g.space.Find(a[i]); r != nil && r.ReadOnly {
				space = isa.Const
			}
		}
		if space == isa.Space(o.b) {
			wp.p[o.d] |= 1 << i
		} else {
			wp.p[o.d] &^= 1 << i
		}
	}
	return nil
}

// bfi64 executes bfi.b64: 64-bit o.a and o.b, 32-bit o.c and o.e.
func bfi64(c *cta, wp *warp, o *op, mask uint32) error {
	a, b, pos, n := c.row64(wp, o.a), c.row64(wp, o.b), c.row32(wp, o.c), c.row32(wp, o.e)
	for i := range c.w1 {
		c.w1[i] = bfi(a[i], b[i], pos[i], n[i], 64)
	}
	blend64(&wp.r64[o.d], &c.w1, mask)
	return nil
}

// bfi32 executes bfi.b32.
func bfi32(c *cta, wp *warp, o *op, mask uint32) error {
	a, b, pos, n := c.row32(wp, o.a), c.row32(wp, o.b), c.row32(wp, o.c), c.row32(wp, o.e)
	for i := range c.t1 {
		c.t1[i] = uint32(bfi(uint64(a[i]), uint64(b[i]), pos[i], n[i], 32))
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
	return nil
}

// assertFail executes a call of __assertfail.
func assertFail(c *cta, wp *warp, _ *op, mask uint32) error {
	return c.fault(wp, lowest(mask), "device assertion failed (__assertfail)")
}
