package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// naive is a core as its documentation says: every instruction by itself, every cycle looked at, lists that are
// searched. What it tells is held against Core. It has no prefetcher, and no branch is mispredicted.
type naive struct {
	p       *sheets.CPU
	latency uint64
	pace    int64

	ops    []*naiveOp
	from   int   // first operation that has not retired
	done   int64 // instructions whose R is known
	r, d   map[int64]int64
	soFar  int64 // R of the instruction that is retiring, as far as its operations are known
	within int64 // that instruction
	next   int   // operation to be dispatched
	writer map[uint16]*naiveOp

	stores  []*naiveOp // in program order, all
	issued  int
	freed   int
	storeAt uint64
	blocked bool // the store was refused
	refused bool
	stalled []*naiveOp
	waiting []*naiveOp
	recent  map[uint64]*naiveOp

	l1, l2  naiveCache
	answers map[uint64][]uint64 // by cycle: lines
	fills   map[uint64][]uint64
	out     []mem.Req // leaving at Born
	writing int
	crowded bool
	sent    []string
}

type naiveOp struct {
	in         scalar.Inst
	inst       int64
	age        int
	addr       uint64
	needs      []*naiveOp // and when they are done it may start
	dispatched int64      // tick; -1: not yet
	finished   int64      // tick; -1: not yet
	issued     bool
	number     int // of a store, from 1
	forward    *naiveOp
	free       uint64 // of a store: the cycle in which it left
	inL1       bool
	mayGo      uint64
}

type naiveLine struct {
	line           uint64
	pending, dirty bool
	waits          []*naiveOp
	upper          []uint64 // of the L2: lines of the L1 that wait
}

// naiveCache is its lines by set, the last used one first.
type naiveCache struct {
	sets, ways, room, busy int
	set                    map[uint64][]*naiveLine
}

func (c *naiveCache) of(line uint64) uint64 { return line / 64 % uint64(c.sets) }

func (c *naiveCache) find(line uint64) *naiveLine {
	for _, l := range c.set[c.of(line)] {
		if l.line == line {
			return l
		}
	}
	return nil
}

func (c *naiveCache) use(l *naiveLine) {
	s := c.set[c.of(l.line)]
	i := slices.Index(s, l)
	s = slices.Delete(s, i, i+1)
	c.set[c.of(l.line)] = slices.Insert(s, 0, l)
}

// victim says whether there is a place, and what lies there.
func (c *naiveCache) victim(line uint64) (out *naiveLine, ok bool) {
	s := c.set[c.of(line)]
	if len(s) < c.ways {
		return nil, true
	}
	for i := len(s) - 1; i >= 0; i-- {
		if !s[i].pending {
			return s[i], true
		}
	}
	return nil, false
}

func (c *naiveCache) put(line uint64, out *naiveLine) *naiveLine {
	k := c.of(line)
	if out != nil {
		i := slices.Index(c.set[k], out)
		c.set[k] = slices.Delete(c.set[k], i, i+1)
	}
	l := &naiveLine{line: line}
	c.set[k] = slices.Insert(c.set[k], 0, l)
	return l
}

func newNaive(p *sheets.CPU, latency uint64, ops []scalar.Inst) *naive {
	n := &naive{
		p: p, latency: latency, pace: perCycle / int64(p.Width), r: map[int64]int64{}, d: map[int64]int64{},
		writer: map[uint16]*naiveOp{}, recent: map[uint64]*naiveOp{}, answers: map[uint64][]uint64{},
		fills: map[uint64][]uint64{},
	}
	n.l1 = naiveCache{p.L1.Sets, p.L1.Ways, p.L1.MSHRs, 0, map[uint64][]*naiveLine{}}
	n.l2 = naiveCache{p.L2.Sets, p.L2.Ways, p.L2.MSHRs, 0, map[uint64][]*naiveLine{}}
	f := frames()
	pages := newPages(&listed{}, f)
	inst, more := int64(0), false
	for _, in := range ops {
		for range in.Before {
			inst++
			n.add(scalar.Inst{}, inst, 0)
		}
		if !more {
			inst++
		}
		more = in.More
		addr := uint64(0)
		if in.Kind == scalar.Load || in.Kind == scalar.Store {
			addr = pages.physical(in.Addr)
		}
		n.add(in, inst, addr)
	}
	n.r[0], n.d[0] = 0, 2*perCycle-n.pace // the first is dispatched in cycle 2
	return n
}

func (n *naive) add(in scalar.Inst, inst int64, addr uint64) {
	n.ops = append(n.ops, &naiveOp{in: in, inst: inst, age: len(n.ops), addr: addr, dispatched: -1, finished: -1})
}

// cycle is cycle t.
func (n *naive) cycle(t uint64) {
	for _, line := range n.answers[t] {
		l := n.l2.find(line)
		l.pending = false
		n.l2.busy--
		for _, up := range l.upper {
			n.filled(up, t)
		}
		l.upper = nil
		n.refused, n.blocked = false, false
	}
	for _, line := range n.fills[t] {
		n.filled(line, t)
	}
	n.loads(t)
	n.leave(t)
	n.store(t)
	n.retire()
	n.dispatch()
	n.retire()
	for len(n.out) > 0 && n.out[0].Born <= t {
		r := n.out[0]
		n.out = n.out[1:]
		n.sent = append(n.sent, fmt.Sprint(r.Born, r.Op, r.Line))
		if r.Op == mem.Write {
			n.writing--
			if n.crowded {
				n.refused, n.blocked, n.crowded = false, false, false
			}
		} else {
			n.answers[r.Born+n.latency] = append(n.answers[r.Born+n.latency], r.Line)
		}
	}
}

func (n *naive) filled(line, t uint64) {
	l := n.l1.find(line)
	l.pending = false
	n.l1.busy--
	for _, o := range l.waits {
		if o.in.Kind == scalar.Store {
			l.dirty, o.inL1 = true, true
		} else {
			o.finished = int64(t) * perCycle
		}
	}
	l.waits = nil
	n.refused, n.blocked = false, false
}

// ready is the tick from which an operation has all it needs; false while that is not known.
func (o *naiveOp) ready() (tick int64, ok bool) {
	tick = o.dispatched
	for _, need := range o.needs {
		if need.finished < 0 {
			return 0, false
		}
		tick = max(tick, need.finished)
	}
	return tick, o.dispatched >= 0
}

// settle finishes operations that wait for others alone, until none does.
func (n *naive) settle() {
	for changed := true; changed; {
		changed = false
		for _, o := range n.ops[n.from:n.next] {
			if o.finished >= 0 || o.in.Kind == scalar.Load {
				continue
			}
			if tick, ok := o.ready(); ok {
				o.finished, changed = tick+perCycle, true
			}
		}
	}
}

func (n *naive) loads(t uint64) {
	n.settle()
	for _, o := range n.ops[n.from:n.next] {
		if o.in.Kind != scalar.Load || o.issued || slices.Contains(n.stalled, o) || slices.Contains(n.waiting, o) {
			continue
		}
		if tick, ok := o.ready(); ok && cycleOf(tick) <= t {
			n.waiting = append(n.waiting, o)
		}
	}
	byAge := func(a, b *naiveOp) int { return a.age - b.age }
	slices.SortFunc(n.waiting, byAge)
	ports := n.p.LoadPorts
	for ; ports > 0 && len(n.stalled) > 0 && !n.refused; ports-- {
		if !n.load(n.stalled[0], t) {
			n.refused = true
			break
		}
		n.stalled = n.stalled[1:]
	}
	for ; ports > 0 && len(n.waiting) > 0; ports-- {
		o := n.waiting[0]
		n.waiting = n.waiting[1:]
		if !n.load(o, t) {
			n.stalled = append(n.stalled, o)
			slices.SortFunc(n.stalled, byAge)
			n.refused = true
		}
	}
	n.settle()
}

func (n *naive) load(o *naiveOp, t uint64) bool {
	hit := int64(t+uint64(n.p.L1.Latency)) * perCycle
	if f := o.forward; f != nil && f.number > n.freed {
		o.issued, o.finished = true, hit
		return true
	}
	l := n.l1.find(o.addr &^ 63)
	switch {
	case l == nil:
		if l = n.miss(o.addr&^63, t); l == nil {
			return false
		}
		l.waits = append(l.waits, o)
	case l.pending:
		l.waits = append(l.waits, o)
	default:
		o.finished = hit
	}
	n.l1.use(l)
	o.issued = true
	return true
}

// miss asks the L2 for a line.
func (n *naive) miss(line, t uint64) *naiveLine {
	if n.l1.busy == n.l1.room {
		return nil
	}
	if n.writing+2 > n.p.WriteBacks {
		n.crowded = true
		return nil
	}
	out, ok := n.l1.victim(line)
	if !ok {
		return nil
	}
	if out != nil && out.dirty {
		n.intoL2(out.line, t)
		out.dirty = false
	}
	below := n.l2.find(line)
	var gone *naiveLine
	if below == nil {
		if gone, ok = n.l2.victim(line); !ok || n.l2.busy == n.l2.room {
			return nil
		}
	}
	l := n.l1.put(line, out)
	l.pending = true
	n.l1.busy++
	latency := uint64(n.p.L2.Latency)
	switch {
	case below == nil:
		n.pushOut(gone, t)
		below = n.l2.put(line, gone)
		below.pending = true
		n.l2.busy++
		n.out = append(n.out, mem.Req{Line: line, Born: t + latency})
		below.upper = append(below.upper, line)
	case below.pending:
		below.upper = append(below.upper, line)
		n.l2.use(below)
	default:
		n.l2.use(below)
		n.fills[t+latency] = append(n.fills[t+latency], line)
	}
	return l
}

func (n *naive) pushOut(l *naiveLine, t uint64) {
	if l != nil && l.dirty {
		n.write(l.line, t)
	}
}

func (n *naive) write(line, t uint64) {
	n.out = append(n.out, mem.Req{Line: line, Op: mem.Write, Born: t + uint64(n.p.L2.Latency)})
	n.writing++
}

func (n *naive) intoL2(line, t uint64) {
	l := n.l2.find(line)
	if l == nil {
		gone, ok := n.l2.victim(line)
		if !ok {
			n.write(line, t)
			return
		}
		n.pushOut(gone, t)
		l = n.l2.put(line, gone)
	}
	l.dirty = true
}

func (n *naive) leave(t uint64) {
	for n.freed < n.issued && n.stores[n.freed].inL1 {
		n.stores[n.freed].free = t
		n.freed++
	}
}

func (n *naive) store(t uint64) {
	if n.blocked || n.issued == len(n.stores) {
		return
	}
	o := n.stores[n.issued]
	if o.mayGo == 0 || o.mayGo > t || n.storeAt > t {
		return
	}
	l := n.l1.find(o.addr &^ 63)
	switch {
	case l == nil:
		if l = n.miss(o.addr&^63, t); l == nil {
			n.blocked = true
			return
		}
		l.waits = append(l.waits, o)
	case l.pending:
		l.waits = append(l.waits, o)
	default:
		l.dirty, o.inL1 = true, true
	}
	n.l1.use(l)
	n.issued++
	n.storeAt = t + 1
	n.leave(t)
}

func (n *naive) retire() {
	n.settle()
	for n.from < n.next {
		o := n.ops[n.from]
		if o.finished < 0 {
			return
		}
		if o.inst != n.within {
			n.within, n.soFar = o.inst, n.r[o.inst-1]+n.pace
		}
		n.soFar = max(n.soFar, o.finished)
		if o.in.Kind == scalar.Store {
			o.mayGo = cycleOf(n.soFar) + 1
		}
		n.r[o.inst] = n.soFar
		n.from++
		if n.from == len(n.ops) || n.ops[n.from].inst != o.inst {
			n.done = o.inst
		}
	}
}

func (n *naive) dispatch() {
	for n.next < len(n.ops) {
		o := n.ops[n.next]
		d, known := n.d[o.inst]
		if !known {
			d = n.d[o.inst-1] + n.pace
			if leaves := o.inst - int64(n.p.Window); leaves > 0 {
				if leaves > n.done {
					return
				}
				d = max(d, n.r[leaves]+perCycle)
			}
		}
		if o.in.Kind == scalar.Store {
			if len(n.stores)-n.freed == n.p.StoreBuffer {
				return
			}
			if k := len(n.stores) - n.p.StoreBuffer; k >= 0 {
				d = max(d, int64(n.stores[k].free+1)*perCycle)
			}
		}
		n.d[o.inst], o.dispatched = d, d
		n.wire(o)
		n.next++
		n.settle()
		n.retire()
	}
}

// wire finds out what an operation waits for.
func (n *naive) wire(o *naiveOp) {
	for _, reg := range o.in.Src {
		if reg == 0 {
			break
		}
		if w := n.writer[reg]; w != nil {
			o.needs = append(o.needs, w)
		}
	}
	for _, reg := range o.in.Dst {
		if reg != 0 {
			n.writer[reg] = o
		}
	}
	word, slot := wordOf(o.addr)
	switch o.in.Kind {
	case scalar.Store:
		n.stores = append(n.stores, o)
		o.number = len(n.stores)
		n.recent[slot] = o
	case scalar.Load:
		if s := n.recent[slot]; s != nil && s.addr>>3 == word && s.number > n.freed {
			o.forward = s
			o.needs = append(o.needs, s)
		}
	}
}

// count is the instructions that have retired by the end of cycle t.
func (n *naive) count(t uint64) (k int64) {
	for k = 0; k < n.done && n.r[k+1] <= int64(t)*perCycle; k++ {
	}
	return k
}

// TestNaive: of random programs on random cores every instruction retires in the same cycle, and every request
// leaves in the same, as in a simulation of the documentation.
func TestNaive(t *testing.T) {
	for seed := range uint64(80) {
		m := sheetOf(seed)
		m.CPU.Prefetch, m.CPU.Branch = sheets.CPUPrefetch{}, sheets.CPUBranch{}
		r := rand.New(rand.NewPCG(seed, 3))
		source := random(seed)
		ops := make([]scalar.Inst, 300+r.IntN(700))
		if _, err := source.Read(ops); err != nil {
			t.Fatal(err)
		}
		for i := range ops {
			ops[i].Before %= 12
		}
		ops[len(ops)-1].More = false
		latency := 10 + r.Uint64N(300)
		f := newFake(t, m, latency, &listed{insts: ops}, 0)
		f.keep = true
		n := newNaive(&m.CPU, latency, ops)
		for now := uint64(1); n.from < len(ops) && now < 100_000; now++ {
			n.cycle(now)
			f.run(now, whenDue)
			if want := n.count(now); f.row()[Executions] == 0 && f.row()[Insts] != uint64(want) {
				t.Fatalf("seed %d: %d instructions have retired by cycle %d, want %d", seed, f.row()[Insts], now, want)
			}
			if n.done == n.ops[len(n.ops)-1].inst {
				break
			}
		}
		for i, want := range n.sent {
			if i == len(f.sent) {
				t.Errorf("seed %d: %d requests, want %d", seed, i, len(n.sent))
				break
			}
			if q := &f.sent[i]; fmt.Sprint(q.Born, q.Op, q.Line) != want {
				t.Errorf("seed %d: request %d is %v, want %s", seed, i, *q, want)
				break
			}
		}
	}
}
