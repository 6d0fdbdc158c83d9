// Package analyze computes the facts that a kernel's execution and occupancy need before it runs: control flow,
// reconvergence points, live registers, spin loops.
//
// A reader must know three types. Graph is the control-flow graph of one function
// with immediate post-dominators. Liveness is the register liveness over it.
// Access names the registers one instruction reads and writes.
package analyze

import "github.com/heddle-sim/heddle/ptx/parse"

// Block is a maximal straight run of instructions [First, Last].
type Block struct {
	First, Last int
	Succ, Pred  []int
}

// Graph is the control-flow graph of a function.
type Graph struct {
	Func    *parse.Func
	Blocks  []Block
	BlockOf []int // by instruction
	// IPDom is the immediate post-dominator of each block; len(Blocks) is the
	// virtual exit, where every ret and exit leads.
	IPDom   []int
	touches touches
}

// Jumps reports whether in ends a block, its targets (instruction indices) and
// whether control may also fall through.
func Jumps(f *parse.Func, in *parse.Instr) (ends bool, targets []int, falls bool) {
	falls = in.Pred != nil
	switch in.Op {
	case "ret", "exit", "trap":
		return true, nil, falls
	case "bra":
		if len(in.Args) == 1 && in.Args[0].Kind == parse.KLabel && in.Args[0].Label >= 0 {
			targets = append(targets, in.Args[0].Label)
		}
		return true, targets, falls
	case "brx":
		if len(in.Args) == 2 {
			for _, t := range f.Targets[in.Args[1].Name] {
				if t.Kind == parse.KLabel && t.Label >= 0 {
					targets = append(targets, t.Label)
				}
			}
		}
		return true, targets, falls
	}
	return false, nil, true
}

// Build makes the graph of f. A function without instructions has no blocks.
func Build(f *parse.Func) *Graph {
	g := &Graph{Func: f, touches: touchesOf(f)}
	n := len(f.Instrs)
	leader := make([]bool, n+1)
	leader[0] = true
	for i, in := range f.Instrs {
		ends, targets, _ := Jumps(f, in)
		if ends {
			leader[i+1] = true
		}
		for _, t := range targets {
			leader[t] = true
		}
	}
	g.BlockOf = make([]int, n)
	for i := range n {
		if leader[i] {
			g.Blocks = append(g.Blocks, Block{First: i})
		}
		b := len(g.Blocks) - 1
		g.Blocks[b].Last = i
		g.BlockOf[i] = b
	}
	for b := range g.Blocks {
		last := g.Blocks[b].Last
		_, targets, falls := Jumps(f, f.Instrs[last])
		if falls && last+1 < n {
			g.link(b, g.BlockOf[last+1])
		}
		for _, t := range targets {
			if t < n { // a label after the last instruction is the end of the function
				g.link(b, g.BlockOf[t])
			}
		}
	}
	g.postDominators()
	return g
}

func (g *Graph) link(from, to int) {
	for _, s := range g.Blocks[from].Succ {
		if s == to {
			return
		}
	}
	g.Blocks[from].Succ = append(g.Blocks[from].Succ, to)
	g.Blocks[to].Pred = append(g.Blocks[to].Pred, from)
}

// Ways a block can end the function.
const (
	stays   = iota
	aborts  // exit: the lanes vanish at once
	returns // ret, or the end of the body
)

// leaves says how block b can end the function. A trap does not count: it ends
// everything.
func (g *Graph) leaves(b int) int {
	f := g.Func
	last := g.Blocks[b].Last
	in := f.Instrs[last]
	_, targets, falls := Jumps(f, in)
	if falls && last+1 == len(f.Instrs) || in.Op == "ret" {
		return returns
	}
	for _, t := range targets {
		if t == len(f.Instrs) {
			return returns
		}
	}
	if in.Op == "exit" {
		return aborts
	}
	return stays
}

// postDominators finds the immediate post-dominators in two rounds. The first knows only returns: lanes that go to an
// exit, a trap or an endless loop never meet other lanes again, so such a path (compilers give every switch one, for
// the value that cannot occur) does not keep the others from reconverging. The second round does the blocks from
// which no return can be reached. What remains never ends.
func (g *Graph) postDominators() {
	n := len(g.Blocks)
	ip := make([]int, n+1)
	for i := range ip {
		ip[i] = -1
	}
	ip[n] = n
	for _, way := range []int{returns, aborts} {
		g.round(ip, way)
	}
	for b := range n {
		if ip[b] < 0 {
			ip[b] = n
		}
	}
	g.IPDom = ip[:n]
}

// round is the iterative algorithm of Cooper, Harvey and Kennedy on the reversed
// graph, over the blocks that have no result yet and can leave in the given way.
func (g *Graph) round(ip []int, way int) {
	n := len(g.Blocks)
	order := g.reverseOrder(ip, way)
	number := make([]int, n+1) // post-order number on the reversed graph
	for i, b := range order {
		number[b] = i
	}
	number[n] = len(order)
	for changed := true; changed; {
		changed = false
		for i := len(order) - 1; i >= 0; i-- {
			b := order[i]
			best := -1
			if g.leaves(b) == way {
				best = n
			}
			for _, s := range g.Blocks[b].Succ {
				switch {
				case ip[s] < 0:
				case best < 0:
					best = s
				default:
					best = meet(ip, number, best, s)
				}
			}
			if best != ip[b] {
				ip[b], changed = best, true
			}
		}
	}
}

// reverseOrder lists the blocks without a result that can leave in the given way, in
// post-order of the reversed graph.
func (g *Graph) reverseOrder(ip []int, way int) (order []int) {
	seen := make([]bool, len(g.Blocks))
	type frame struct{ b, next int }
	for root := range g.Blocks {
		if seen[root] || ip[root] >= 0 || g.leaves(root) != way {
			continue
		}
		seen[root] = true
		stack := []frame{{root, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if preds := g.Blocks[top.b].Pred; top.next < len(preds) {
				p := preds[top.next]
				top.next++
				if !seen[p] && ip[p] < 0 {
					seen[p] = true
					stack = append(stack, frame{p, 0})
				}
				continue
			}
			order = append(order, top.b)
			stack = stack[:len(stack)-1]
		}
	}
	return order
}

// meet finds the common ancestor of two blocks in the post-dominator tree.
func meet(ip, number []int, a, b int) int {
	for a != b {
		for number[a] < number[b] {
			a = ip[a]
		}
		for number[b] < number[a] {
			b = ip[b]
		}
	}
	return a
}

// Reconverge is the instruction where the lanes that diverge at branch i meet
// again, or -1 when they meet only at the end of the function.
func (g *Graph) Reconverge(i int) int {
	d := g.IPDom[g.BlockOf[i]]
	if d == len(g.Blocks) {
		return -1
	}
	return g.Blocks[d].First
}
