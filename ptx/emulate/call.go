package emulate

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/isa"
)

const (
	maxDepth = 4096      // activations of a thread
	maxStack = 512 << 10 // bytes of local memory of a thread, as on the hardware
	// defaultStack is the stack per thread in the geometry of a recursive kernel: CUDA's default size. A deeper
	// recursion runs on (up to maxStack) with offsets beyond it.
	defaultStack = 1024
)

// callFunction starts a call by lanes mask of the current path.
func (c *cta) callFunction(wp *warp, o *op, mask uint32) error {
	call := o.call
	if call.callee >= 0 {
		return c.activate(wp, call, []side{{call.callee, mask}}, mask)
	}
	var sides [isa.Lanes]side // by function index in pc
	n := 0
	if call.short {
		for i, v := range c.row32(wp, o.a) {
			c.w1[i] = functionBase + uint64(v)
		}
	} else {
		c.w1 = *c.row64(wp, o.a)
	}
	for m := mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		i, ok := c.g.prog.functionAt(c.w1[lane])
		if !ok {
			return c.fault(wp, lane,
				"call through 0x%x, which is not the address of a function that takes these parameters", c.w1[lane])
		}
		f := &c.g.prog.funcs[i]
		if len(f.params) != len(call.params) || len(f.results) != len(call.results) {
			return c.fault(wp, lane, "call of %s with %d parameters and %d results, it has %d and %d", f.name,
				len(call.params), len(call.results), len(f.params), len(f.results))
		}
		k := 0
		for k < n && sides[k].pc != i {
			k++
		}
		if k == n {
			sides[n] = side{pc: i}
			n++
		}
		sides[k].mask |= 1 << lane
	}
	return c.activate(wp, call, sides[:n], mask)
}

// activate turns the current path into a node that waits at the return address and
// starts one path per callee.
func (c *cta) activate(wp *warp, call *callop, sides []side, mask uint32) error {
	caller := &c.g.prog.funcs[call.caller]
	f := wp.frame
	f.r32 += caller.n32
	f.r64 += caller.n64
	f.p += caller.np
	f.local += caller.local
	f.args += caller.args
	f.depth++
	if f.depth > maxDepth {
		return c.fault(wp, lowest(mask), "more than %d nested calls", maxDepth)
	}
	from := wp.frame
	for _, r := range caller.common {
		storeRow(c, wp, mask, from, r.in, r.row, r.off, r.size)
	}
	at := wp.pc
	me := wp.cur
	parent := &wp.nodes[me]
	parent.pc, parent.pending = at+1, mask
	for _, s := range sides {
		callee := &c.g.prog.funcs[s.pc]
		if err := c.grow(wp, callee, f, lowest(mask)); err != nil {
			return err
		}
		for i, p := range callee.params {
			if a := call.params[i]; a.in == inMemory {
				c.args.copyArgs(wp, s.mask, from.args+a.at, f.args+p.off, min(p.size, a.size))
			} else {
				storeRow(c, wp, s.mask, from, a.in, a.at, f.args+p.off, min(p.size, a.size))
			}
		}
		n := wp.add(node{pc: callee.start, rpc: -1, mask: s.mask, parent: me, frame: f})
		wp.load(n)
		c.enter(wp, callee, s.mask)
	}
	wp.nodes[me].callPC = at
	wp.pick()
	return nil
}

// copyBack moves the results of the current function to its caller's variables.
func (c *cta) copyBack(wp *warp, mask uint32) {
	i := wp.cur
	for wp.nodes[i].frame.depth == wp.frame.depth {
		i = wp.nodes[i].parent
	}
	n := &wp.nodes[i]
	if n.callPC < 0 {
		return
	}
	call := c.ops[n.callPC].call
	f := &c.g.prog.funcs[c.g.prog.funcOf(wp.pc-1)]
	if f.stackRow > 0 {
		leaveStack(c, wp, f, mask)
	}
	for _, r := range f.outRegs {
		storeRow(c, wp, mask, wp.frame, r.in, r.row, wp.frame.args+r.off, r.size)
	}
	for k, r := range f.results {
		from, a := wp.frame.args+r.off, call.results[k]
		if a.in == inMemory {
			c.args.copyArgs(wp, mask, from, n.frame.args+a.at, min(r.size, a.size))
		} else {
			loadRow(c, wp, mask, n.frame, a.in, a.at, from, min(r.size, a.size))
		}
	}
	for _, r := range f.common {
		storeRow(c, wp, mask, wp.frame, r.in, r.row, r.off, r.size)
	}
	for _, r := range c.g.prog.funcs[call.caller].common {
		loadRow(c, wp, mask, n.frame, r.in, r.row, r.off, r.size)
	}
}

// storeRow writes a row of frame fr, or of the constants, to argument memory.
func storeRow(c *cta, wp *warp, mask uint32, fr frame, in rowKind, row, to, size int32) {
	first := int(wp.index) * isa.Lanes
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var v uint64
		switch {
		case in == inPred:
			v = uint64(pred(wp, min(row, noPred)) >> i & 1) // a constant
			if row >= 0 {
				v = uint64(wp.allp[fr.p+row] >> i & 1)
			}
		case in == inRow64 && row < 0:
			v = c.k64[^row][i]
		case in == inRow64:
			v = wp.all64[fr.r64+row][i]
		case row < 0:
			v = uint64(c.k32[^row][i])
		default:
			v = uint64(wp.all32[fr.r32+row][i])
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		copy(c.args.data[(first+i)*c.args.stride+int(to):], b[:size])
	}
}

// loadRow reads argument memory into a row of frame fr.
func loadRow(c *cta, wp *warp, mask uint32, fr frame, in rowKind, row, from, size int32) {
	first := int(wp.index) * isa.Lanes
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		var b [8]byte
		copy(b[:size], c.args.data[(first+i)*c.args.stride+int(from):])
		v := binary.LittleEndian.Uint64(b[:])
		switch in {
		case inPred:
			wp.allp[fr.p+row] = wp.allp[fr.p+row]&^(1<<i) | uint32(v&1)<<i
		case inRow64:
			wp.all64[fr.r64+row][i] = v
		default:
			wp.all32[fr.r32+row][i] = uint32(v)
		}
	}
}

// copyArgs copies bytes of the lanes of a warp within their threads' memory.
func (p *perThread) copyArgs(wp *warp, mask uint32, from, to, size int32) {
	first := int(wp.index) * isa.Lanes
	for m := mask; m != 0; m &= m - 1 {
		t := p.data[(first+lowest(m))*p.stride:]
		copy(t[to:to+size], t[from:from+size])
	}
}

// grow makes room for an activation of f at frame fr. Only recursion and calls through registers grow beyond the
// memory that the launch reserved.
func (c *cta) grow(wp *warp, f *function, fr frame, lane int) error {
	for len(wp.all32) < int(fr.r32+f.n32) {
		wp.all32 = append(wp.all32, v32{})
	}
	for len(wp.all64) < int(fr.r64+f.n64) {
		wp.all64 = append(wp.all64, v64{})
	}
	for len(wp.allp) < int(fr.p+f.np) {
		wp.allp = append(wp.allp, 0)
	}
	wp.window()
	local, args := int(fr.local+f.local), int(fr.args+f.args)
	if max(local, args) > maxStack {
		return c.fault(wp, lane,
			"stack overflow: the call of %s needs %d bytes of local memory per thread, the limit is %d", f.name,
			max(local, args), maxStack)
	}
	threads := len(c.warps) * isa.Lanes
	if local > c.local.stride {
		c.local.resize(min(max(2*c.local.stride, local), maxStack), threads)
	}
	if args > c.args.stride {
		c.args.resize(min(max(2*c.args.stride, args), maxStack), threads)
	}
	return nil
}
