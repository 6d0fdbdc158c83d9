package emulate

import (
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Stack memory that alloca takes at run time. It is local memory beyond what functions declare: each thread has a
// stack of its own from stackBase on. A function gives its stack memory back when it returns: a hidden row of its
// frame keeps where the stack was.

// stackBase is the local offset of the first byte.
const stackBase = uint64(maxStack)

// Sub-operations, in op.n.
const (
	stackTake = iota
	stackSave
	stackRestore
)

// stack decodes alloca.TYPE ptr, size{, align}, stacksave.TYPE d and stackrestore.TYPE a.
func (d moves) stack() {
	t := d.oneType()
	if t != parse.U32 && t != parse.U64 {
		d.unsupported("type ." + t.String())
	}
	d.o.shape, d.o.fx, d.o.e = shX, stack, int32(t.Bytes())
	switch d.in.Op {
	case "alloca":
		d.count(2, 3)
		d.o.n, d.o.c = stackTake, 8
		if len(d.in.Args) == 3 {
			a := d.arg(2)
			if a.Kind != parse.KInt || a.Bits == 0 || a.Bits&(a.Bits-1) != 0 || a.Bits > 1<<16 {
				d.fail("the alignment is a power of two up to %d", 1<<16)
			}
			d.o.c = int32(a.Bits)
		}
		d.o.d, d.o.a = d.dst(t), d.src(1, t)
		if d.fn.stackRow == 0 {
			d.fn.n32++
			d.fn.stackRow = d.fn.n32 // one more than the row
		}
		d.m.stack = true
	case "stacksave":
		d.count(1, 1)
		d.o.n, d.o.d = stackSave, d.dst(t)
	default:
		d.count(1, 1)
		d.o.n, d.o.a = stackRestore, d.src(0, t)
	}
}

// stack executes them.
func stack(c *cta, wp *warp, o *op, mask uint32) error {
	first := int(wp.index) * isa.Lanes
	get := func(i int) uint64 {
		if o.e == 8 {
			return c.row64(wp, o.a)[i]
		}
		return uint64(c.row32(wp, o.a)[i])
	}
	put := func(i int, v uint64) {
		if o.e == 8 {
			wp.r64[o.d][i] = v
		} else {
			wp.r32[o.d][i] = uint32(v)
		}
	}
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		sp := &c.stackAt[first+i]
		switch o.n {
		case stackSave:
			put(i, stackBase+uint64(*sp))
		case stackRestore:
			at := get(i) - stackBase
			if at > uint64(*sp) {
				return c.fault(wp, i, "0x%x is not where the stack was: it ends at 0x%x", get(i), stackBase+uint64(*sp))
			}
			*sp = uint32(at)
		default:
			n := get(i)
			at := uint64(roundUpTo(int64(*sp), int64(o.c)))
			if n > maxStack || at+n > maxStack {
				return c.fault(wp, i, "stack overflow: alloca of %d bytes with %d in use, a thread has %d", n, *sp,
					maxStack)
			}
			*sp = uint32(at + n)
			if int(*sp) > c.stack.stride {
				c.stack.resize(min(max(2*c.stack.stride, int(*sp)), maxStack), len(c.warps)*isa.Lanes)
			}
			put(i, stackBase+at)
		}
	}
	return nil
}

// enterStack notes where the stacks of lanes m are when function f begins.
func enterStack(c *cta, wp *warp, f *function, m uint32) {
	row := &wp.r32[f.stackRow-1]
	for ; m != 0; m &= m - 1 {
		row[lowest(m)] = c.stackAt[int(wp.index)*isa.Lanes+lowest(m)]
	}
}

// leaveStack gives back the stack memory that f has taken since.
func leaveStack(c *cta, wp *warp, f *function, m uint32) {
	row := &wp.r32[f.stackRow-1]
	for ; m != 0; m &= m - 1 {
		c.stackAt[int(wp.index)*isa.Lanes+lowest(m)] = row[lowest(m)]
	}
}

// locateLocal locates lanes in local memory: those whose address is in the same part of it as
// that of the lowest lane, variables or stack; the others are returned in rest.
func locateLocal(c *cta, wp *warp, m *memop, mask uint32, s *isa.Step) (base unsafe.Pointer, rest uint32, err error) {
	onStack := s.Addr[lowest(mask)] >= stackBase && c.stack.stride > 0
	if c.stack.stride > 0 {
		for l := mask; l != 0; l &= l - 1 {
			if i := lowest(l); s.Addr[i] >= stackBase != onStack {
				rest |= 1 << i
			}
		}
	}
	if onStack {
		base, _, err = c.locateThread(wp, m, &c.stack, stackBase, mask&^rest, s)
	} else {
		base, _, err = c.locateThread(wp, m, &c.local, 0, mask&^rest, s)
	}
	return base, rest, err
}
