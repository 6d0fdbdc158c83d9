package emulate

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// warp is the state of one warp. The fields of the current path are kept here; the other paths are nodes (see
// paths.go). The fields that every step needs come first: a GPU holds thousands of warps, and each has left the
// computer's caches before its next turn.
type warp struct {
	pc    int32
	rpc   int32  // reconvergence point of the current path, -1: none
	mask  uint32 // lanes of the current path
	live  uint32 // lanes that have not exited
	used  int32  // nodes in use
	done  uint8  // operations from pc on that have been executed
	mixed bool   // not all of them for all lanes of the path: see masks
	red   barWait

	r32 []v32 // rows of the current frame
	r64 []v64
	p   []uint32

	masks [longestRun]uint32 // lanes of the operations executed together, the last one's first

	all32 []v32 // rows of all frames
	all64 []v64
	allp  []uint32

	index int32 // warp number in the CTA
	cur   int32 // current node
	frame frame
	back  int32  // backward branches taken while divergent, since the last yield
	spins int32  // those of loops that wait for memory
	seq   int64  // sequence number of the youngest path
	old   int64  // sequence number of the oldest
	carry uint32 // the carry flag of each lane
	left  uint32 // lanes that still have to execute the current generic access
	nodes []node
	step  int32 // steps done of an instruction that takes several
}

// cta is a resident thread block; it implements isa.CTA.
type cta struct {
	g      *grid
	ops    []op
	k32    []v32 // constant rows
	k64    []v64
	index  int
	id     [3]uint32
	place  isa.Place
	warps  []warp
	shared []byte
	local  perThread
	args   perThread // .param variables of functions and call sites
	cache  []*mem.Region
	bars   barriers

	// scratch rows; a CTA executes one warp at a time
	t1, t2, t3, t4 v32
	w1             v64
	off            [32]uint64

	stack   perThread     // what alloca takes
	stackAt []uint32      // by thread: bytes of it in use; nil where nothing does alloca
	tile    [maxTile]byte // of wmma
}

// perThread is memory of which every thread of the CTA has stride bytes.
type perThread struct {
	data   []byte
	stride int
}

// resize gives every thread stride bytes, keeping the contents.
func (p *perThread) resize(stride, threads int) {
	bigger := make([]byte, stride*threads)
	for t := range threads {
		copy(bigger[t*stride:], p.data[t*p.stride:(t+1)*p.stride])
	}
	p.data, p.stride = bigger, stride
}

// row32 is a 32-bit operand: a register or a constant.
func (c *cta) row32(wp *warp, i int32) *v32 {
	if i >= 0 {
		return &wp.r32[i]
	}
	return &c.k32[^i]
}

func (c *cta) row64(wp *warp, i int32) *v64 {
	if i >= 0 {
		return &wp.r64[i]
	}
	return &c.k64[^i]
}

// pred is a predicate operand.
func pred(wp *warp, i int32) uint32 {
	if i >= 0 {
		return wp.p[i]
	}
	if i == truePred {
		return ^uint32(0)
	}
	return 0
}

// PC implements isa.CTA.
func (c *cta) PC(w int) int32 { return c.warps[w].pc }

// Release implements isa.CTA.
func (c *cta) Release() { c.g.recycle(c) }

// start prepares the state for CTA number index.
func (c *cta) start(index int, at isa.Place) {
	g := c.g
	c.index, c.place = index, at
	d := g.launch.Grid
	n := uint32(index)
	c.id = [3]uint32{n % d[0], n / d[0] % d[1], n / d[0] / d[1]}
	clear(c.shared)
	clear(c.local.data)
	clear(c.args.data)
	clear(c.stack.data)
	clear(c.stackAt)
	clear(c.cache)
	c.bars = barriers{}
	f := &g.prog.funcs[0]
	threads := g.geo.Threads
	for w := range c.warps {
		wp := &c.warps[w]
		lanes := min(threads-w*isa.Lanes, isa.Lanes)
		live := uint32(1)<<lanes - 1
		if lanes == isa.Lanes {
			live = ^uint32(0)
		}
		nodes := append(wp.nodes[:0], node{pc: f.start, rpc: -1, mask: live, parent: -1, used: true})
		*wp = warp{
			pc: f.start, rpc: -1, mask: live, live: live, all32: wp.all32, all64: wp.all64, allp: wp.allp,
			index: int32(w), used: 1, nodes: nodes,
		}
		clear(wp.allp)
		wp.window()
		c.enter(wp, f, live)
	}
}

// window points the row slices at the current frame.
func (wp *warp) window() {
	wp.r32, wp.r64, wp.p = wp.all32[wp.frame.r32:], wp.all64[wp.frame.r64:], wp.allp[wp.frame.p:]
}

// enter prepares the rows of function f for lanes m of a warp whose window is set.
func (c *cta) enter(wp *warp, f *function, m uint32) {
	for _, r := range f.zero32 {
		if m == wp.live {
			wp.r32[r] = v32{}
		} else {
			c.t1 = v32{}
			blend32(&wp.r32[r], &c.t1, m)
		}
	}
	for _, r := range f.zero64 {
		c.w1 = v64{}
		blend64(&wp.r64[r], &c.w1, m)
	}
	for _, r := range f.inRegs {
		loadRow(c, wp, m, wp.frame, r.in, r.row, wp.frame.args+r.off, r.size)
	}
	for _, r := range f.common {
		loadRow(c, wp, m, wp.frame, r.in, r.row, r.off, r.size)
	}
	if f.stackRow > 0 {
		enterStack(c, wp, f, m)
	}
	for _, s := range f.special {
		c.special(wp, s.what, &c.t1)
		blend32(&wp.r32[s.row], &c.t1, m)
	}
}

func fill(d *v32, v uint32) {
	for i := range d {
		d[i] = v
	}
}

// special computes a special register for all lanes.
//
//heddle:table
func (c *cta) special(wp *warp, what special, d *v32) {
	b := c.g.launch.Block
	n := c.g.launch.Grid
	first := uint32(wp.index) * isa.Lanes
	switch what {
	case spTidX:
		for i := range d {
			d[i] = (first + uint32(i)) % b[0]
		}
	case spTidY:
		for i := range d {
			d[i] = (first + uint32(i)) / b[0] % b[1]
		}
	case spTidZ:
		for i := range d {
			d[i] = (first + uint32(i)) / b[0] / b[1]
		}
	case spNtidX, spNtidY, spNtidZ:
		fill(d, b[what-spNtidX])
	case spCtaidX, spCtaidY, spCtaidZ:
		fill(d, c.id[what-spCtaidX])
	case spNctaidX, spNctaidY, spNctaidZ:
		fill(d, n[what-spNctaidX])
	case spLane:
		for i := range d {
			d[i] = uint32(i)
		}
	case spWarp:
		fill(d, uint32(c.place.WarpSlot)+uint32(wp.index))
	case spNwarp:
		fill(d, hardwareWarps)
	case spSM:
		fill(d, uint32(c.place.SM))
	case spNSM:
		fill(d, hardwareSMs)
	case spGrid, spZero:
		fill(d, 0)
	case spWorkHigh:
		fill(d, uint32(c.g.launch.Workspace>>32))
	case spWorkLow:
		fill(d, uint32(c.g.launch.Workspace))
	case spLaneEq:
		for i := range d {
			d[i] = 1 << i
		}
	case spLaneLt:
		for i := range d {
			d[i] = 1<<i - 1
		}
	case spLaneLe:
		for i := range d {
			d[i] = 2<<i - 1
		}
	case spLaneGt:
		for i := range d {
			d[i] = ^uint32(2<<i - 1)
		}
	case spLaneGe:
		for i := range d {
			d[i] = ^uint32(1<<i - 1)
		}
	case spDynShared:
		fill(d, uint32(c.g.launch.SharedDynamic))
	case spTotalShared:
		fill(d, uint32(len(c.shared)))
	}
}

// The contract between machine and emulator does not carry the size of the
// machine, so %nsmid and %nwarpid are those of the calibration machine (QV100).
const (
	hardwareSMs   = 80
	hardwareWarps = 64
)

// thread gives the coordinates of lane in warp wp.
func (c *cta) thread(wp *warp, lane int) [3]uint32 {
	b := c.g.launch.Block
	t := uint32(wp.index)*isa.Lanes + uint32(lane)
	return [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]}
}

// fault makes the error of lane at the current instruction.
func (c *cta) fault(wp *warp, lane int, format string, args ...any) error {
	code := c.g.prog.code
	pc := max(wp.pc, 0)
	return &isa.Fault{
		Kernel: code.Kernel, File: c.g.prog.funcs[c.g.prog.funcOf(pc)].file, Line: int(code.Instr[pc].Line),
		Block: c.id, Thread: c.thread(wp, lane), Msg: fmt.Sprintf(format, args...) + ": " + code.Text[pc],
	}
}

func lowest(m uint32) int  { return bits.TrailingZeros32(m) }
func highest(m uint32) int { return 31 - bits.LeadingZeros32(m) }
