package emulate

// Divergence. The lanes of a warp form a tree of nodes. A leaf is a path that can run: lanes at one
// PC. An inner node is a reconvergence point: it holds the lanes that will meet at its PC and
// counts those still on the way (pending). A branch that splits a path turns it into an inner node
// at the branch's immediate post-dominator with one leaf per side; a leaf that reaches its rpc
// hands its lanes to its parent, and the parent becomes a leaf when no child is pending. Run depth
// first, this is exactly the SIMT stack.
//
// A tree allows what a stack does not: paths may run in any order. That gives independent thread
// scheduling where a program needs it:
//   - A path that takes many backward branches while other lanes of its warp wait
//     lets them go first (spinLimit branches in loops whose exit depends on memory
//     other threads write, loopLimit in any loop). Lanes waiting at a
//     reconvergence point are split off and run on past it, so the holder of an
//     intra-warp spin lock can release it; they meet the others again at the next
//     outer reconvergence point.
//   - A path that reaches an instruction which synchronises lanes (shfl.sync,
//     bar.warp.sync, bar.sync ...) is parked while other named lanes of the warp
//     can still arrive, and all arrived paths execute it together.
//
// A call is an inner node at the return address whose children run in a new frame; ret takes lanes
// out of the frame's nodes and so completes it.

const (
	spinLimit = 32
	loopLimit = 1 << 16
)

// node is a path or a reconvergence point.
type node struct {
	pc, rpc int32
	mask    uint32 // live lanes
	pending uint32 // inner nodes: lanes still on the way; 0 for a leaf
	parent  int32
	seq     int64 // the youngest leaf runs first
	callPC  int32 // inner nodes of a call: the call instruction, else -1
	frame   frame
	used    bool
	parked  bool
}

// frame is the place of a function activation in the warp's rows, in local memory
// and in argument memory.
type frame struct {
	r32, r64, p int32
	local, args int32
	depth       int32
}

// add makes a node and returns its index.
func (wp *warp) add(n node) int32 {
	wp.seq++
	n.seq, n.used, n.callPC = wp.seq, true, -1
	wp.used++
	for i := range wp.nodes {
		if !wp.nodes[i].used {
			wp.nodes[i] = n
			return int32(i)
		}
	}
	wp.nodes = append(wp.nodes, n)
	return int32(len(wp.nodes) - 1)
}

func (wp *warp) free(i int32) {
	wp.nodes[i].used = false
	wp.used--
}

// save stores the current path in its node.
func (wp *warp) save() { wp.nodes[wp.cur].pc = wp.pc }

// load makes leaf i current.
func (wp *warp) load(i int32) {
	n := &wp.nodes[i]
	n.parked = false
	wp.cur, wp.pc, wp.rpc, wp.mask = i, n.pc, n.rpc, n.mask
	if n.frame != wp.frame {
		wp.frame = n.frame
		wp.window()
	}
}

// pick makes the youngest leaf that is not parked current; when all are parked it
// takes the youngest of them. The warp is finished when there is none.
func (wp *warp) pick() {
	best, parked := int32(-1), int32(-1)
	for i := range wp.nodes {
		n := &wp.nodes[i]
		switch {
		case !n.used || n.pending != 0:
		case n.parked:
			if parked < 0 || n.seq > wp.nodes[parked].seq {
				parked = int32(i)
			}
		case best < 0 || n.seq > wp.nodes[best].seq:
			best = int32(i)
		}
	}
	if best < 0 {
		best = parked
	}
	if best < 0 {
		wp.pc, wp.mask = -1, 0
		return
	}
	wp.load(best)
	if wp.rpc >= 0 && wp.pc == wp.rpc { // moved there by gather
		wp.arrive()
	}
}

// side is one outcome of a branch.
type side struct {
	pc   int32
	mask uint32
}

// diverge splits the current path at a branch whose sides meet at reconv. As in
// GPGPU-Sim, the side with the highest lane runs last.
func (wp *warp) diverge(sides []side, reconv int32) {
	cur := wp.nodes[wp.cur]
	parent, rpc := wp.cur, reconv
	if reconv < 0 || reconv == wp.rpc { // the sides meet where the path itself was going
		parent, rpc = cur.parent, wp.rpc
		wp.free(wp.cur)
	} else {
		n := &wp.nodes[wp.cur]
		n.pc, n.pending = reconv, n.mask
	}
	for i := range sides { // the last one added runs first
		if sides[i].mask>>highest(cur.mask)&1 != 0 {
			wp.branchTo(sides[i], rpc, parent, cur.frame)
		}
	}
	for i := range sides {
		if sides[i].mask>>highest(cur.mask)&1 == 0 {
			wp.branchTo(sides[i], rpc, parent, cur.frame)
		}
	}
	wp.complete(parent)
}

func (wp *warp) branchTo(s side, rpc, parent int32, f frame) {
	if s.pc == rpc && parent >= 0 && rpc >= 0 {
		wp.nodes[parent].pending &^= s.mask
		return
	}
	wp.add(node{pc: s.pc, rpc: rpc, mask: s.mask, parent: parent, frame: f})
}

// complete turns finished reconvergence points from i upwards into leaves or
// removes them, then chooses the next path.
func (wp *warp) complete(i int32) {
	for i >= 0 && wp.nodes[i].pending == 0 {
		n := &wp.nodes[i]
		up := n.parent
		if n.mask == 0 {
			wp.free(i)
			i = up
			continue
		}
		wp.seq++
		n.seq, n.callPC = wp.seq, -1
		if n.rpc < 0 || n.pc != n.rpc {
			break
		}
		wp.nodes[up].pending &^= n.mask
		wp.free(i)
		i = up
	}
	if wp.used == 1 {
		wp.back, wp.spins = 0, 0
	}
	wp.pick()
}

// arrive is called when the current path stands at its reconvergence point.
func (wp *warp) arrive() {
	n := &wp.nodes[wp.cur]
	up := n.parent
	wp.nodes[up].pending &^= n.mask
	wp.free(wp.cur)
	wp.complete(up)
}

// exit ends lanes m of the current path.
func (wp *warp) exit(m uint32) {
	wp.live &^= m
	for i := wp.cur; i >= 0; i = wp.nodes[i].parent {
		wp.nodes[i].mask &^= m
		wp.nodes[i].pending &^= m
	}
	wp.leave()
}

// ret takes lanes m out of the current frame.
func (wp *warp) ret(m uint32) {
	depth := wp.frame.depth
	i := wp.cur
	for ; wp.nodes[i].frame.depth == depth; i = wp.nodes[i].parent {
		wp.nodes[i].mask &^= m
		wp.nodes[i].pending &^= m
	}
	wp.nodes[i].pending &^= m
	wp.leave()
}

// leave continues after lanes have left the current path.
func (wp *warp) leave() {
	n := &wp.nodes[wp.cur]
	wp.mask = n.mask
	if n.mask == 0 {
		up := n.parent
		wp.free(wp.cur)
		wp.complete(up)
	}
}

// yield lets the other lanes of the warp run: those waiting at reconvergence
// points above the current path are split off, and the current path becomes the
// one to run last.
func (wp *warp) yield() {
	wp.save()
	wp.back, wp.spins = 0, 0
	for i := wp.nodes[wp.cur].parent; i >= 0; i = wp.nodes[i].parent {
		n := wp.nodes[i]
		wait := n.mask &^ n.pending
		if wait == 0 {
			continue
		}
		wp.nodes[i].mask = n.pending
		if n.rpc >= 0 && n.pc == n.rpc {
			wp.nodes[n.parent].pending &^= wait
			continue
		}
		wp.add(node{pc: n.pc, rpc: n.rpc, mask: wait, parent: n.parent, frame: n.frame})
	}
	wp.old--
	wp.nodes[wp.cur].seq = wp.old
	wp.pick()
}

// backward counts a taken backward branch; spin says that the loop waits for memory.
func (wp *warp) backward(spin bool) {
	wp.back++
	if spin {
		wp.spins++
	}
	if wp.back >= loopLimit || wp.spins >= spinLimit {
		wp.yield()
	}
}

// needs is the set of lanes that must execute the synchronising op at the current
// PC together: the whole warp for a CTA barrier, else those of its member mask.
func (c *cta) needs(wp *warp, o *op) uint32 {
	if o.shape == shBar {
		return wp.live
	}
	return c.row32(wp, o.e)[lowest(wp.mask)] & wp.live
}

// joins reports whether path n, parked, executes the current path's synchronising
// op with it. Barriers of the same number meet even at different PCs.
func (c *cta) joins(wp *warp, n *node, o *op) bool {
	if !n.used || n.pending != 0 || !n.parked {
		return false
	}
	if o.shape == shBar && n.pc != wp.pc {
		other := &c.ops[n.pc]
		return other.shape == shBar && o.guard == noPred && other.guard == noPred && o.a < 0 && other.a == o.a &&
			o.n <= barArrive && other.n == o.n
	}
	return n.pc == wp.pc && n.frame == wp.frame
}

// settle is called when the warp is divergent and the next op synchronises lanes: paths are parked
// until every lane it names has arrived or no other path can run.
func (c *cta) settle(wp *warp) {
	for wp.pc >= 0 {
		o := &c.ops[wp.pc]
		if o.flags&fSync == 0 {
			return
		}
		have := wp.mask
		for i := range wp.nodes {
			if c.joins(wp, &wp.nodes[i], o) {
				have |= wp.nodes[i].mask
			}
		}
		if c.needs(wp, o)&^have == 0 || !wp.runnable() {
			return
		}
		wp.save()
		wp.nodes[wp.cur].parked = true
		wp.pick()
	}
}

// runnable reports whether a path other than the current one is not parked.
func (wp *warp) runnable() bool {
	for i := range wp.nodes {
		n := &wp.nodes[i]
		if int32(i) != wp.cur && n.used && n.pending == 0 && !n.parked {
			return true
		}
	}
	return false
}

// gather joins the parked paths that execute the same synchronising op to the
// current path's step and moves them past it. It returns the lanes of all of them.
func (c *cta) gather(wp *warp, o *op) uint32 {
	m := wp.mask
	for i := range wp.nodes {
		n := &wp.nodes[i]
		if int32(i) == wp.cur || !c.joins(wp, n, o) {
			continue
		}
		m |= n.mask
		n.parked = false
		cur := &wp.nodes[wp.cur]
		if n.pc == wp.pc && n.parent == cur.parent && n.rpc == cur.rpc { // the same path from here on
			cur.mask |= n.mask
			wp.mask = cur.mask
			wp.free(int32(i))
			continue
		}
		n.pc++
	}
	return m
}
