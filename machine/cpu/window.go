package cpu

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// none ends a chain of operations.
const none = int32(-1)

// span is the number of cycles ahead an operation can be planned for; what is due later is looked at
// again then. A power of two.
const span = 512

// inputs is the most an operation waits for: its operands, and a store before a load.
const inputs = scalar.Operands + 1

// op is an operation in the window: 64 bytes, a line of the computer's cache.
type op struct {
	tick  int64 // at which it is complete, if it is done; else from which those operands are there whose time is known
	index int64 // of its instruction
	addr  uint64
	link  int32         // the next older one in a chain
	first int32         // the first that waits for it: an input, edge(position, number)
	next  [inputs]int32 // per input: the next that waits for the same
	store uint32        // of a store its number; of a load that of the store before it to the same word, from 1
	dst   [scalar.Results]uint16
	kind  scalar.Kind
	waits uint8 // inputs whose time is not known
	done  bool  // its tick of completion is known
}

// turn is the kind of what is no operation: a bend of the line of dispatch.
const turn = ^scalar.Kind(0)

// register is the value of a register.
type register struct {
	ready  int64 // tick from which it is there
	writer int32 // position of its last writer, while that is unknown
}

// edge names an input of an operation.
func edge(pos int32, input int) int32 { return pos<<3 | int32(input) }

// window has the operations that have been dispatched and not retired. Instructions that wait for nothing have only a
// line of their times.
type window struct {
	ops   []op     // a ring, in program order
	sites []uint64 // by position, where its instruction stands in the program; nil: no predictor asks
	mask  int32
	head  int32 // position of the oldest
	count int32

	dispatched int64 // instructions
	offset     int64 // the last was dispatched at tick offset + its index*pace,
	tick       int64 // which is this one
	bound      int64 // a lower bound of the line's offset of retirement behind all operations
	full       bool  // the ring was, when dispatch was tried last
	partial    bool  // more operations of the last instruction follow
	held       bool  // nothing can be dispatched before something retires
	size       int64 // instructions it holds

	registers [scalar.Registers]register

	retired retirement
	plan    plan
}

func newWindow(cfg *Config) window {
	n := int32(1) << bits.Len(uint(2*cfg.window+64)) // a window has about one operation in two instructions
	w := window{ops: make([]op, n), mask: n - 1, size: cfg.window, retired: newRetirement(cfg.perInstr)}
	w.plan = newPlan()
	if cfg.prefetch.Kind == "stride" {
		w.sites = make([]uint64, n)
	}
	return w
}

// age orders positions: how many operations are older.
func (w *window) age(pos int32) int32 { return (pos - w.head) & w.mask }

// room says that there is room for a number of further operations.
func (w *window) room(n int32) bool { return w.count+n <= w.mask }

// known says that the time at which an instruction retires is known.
func (w *window) known(index int64) bool {
	return w.count == 0 || index < w.ops[w.head].index
}

// allKnown is the last instruction whose time of retirement is known.
func (w *window) allKnown() int64 {
	last := w.dispatched
	if w.partial {
		last--
	}
	if w.count > 0 {
		last = min(last, w.ops[w.head].index-1)
	}
	return last
}

// note says that an instruction, not older than those in the window, is complete at a tick.
func (w *window) note(index, tick int64) {
	offset := tick - index*w.retired.pace
	if offset <= w.bound {
		return
	}
	w.bound = offset
	if w.count == 0 {
		w.retired.hold(index, tick)
		return
	}
	w.ops[(w.head+w.count)&w.mask] = op{tick: tick, index: index, first: none, kind: turn, done: true}
	w.count++
}

// site is where an operation's instruction stands in the program; 0 if no predictor asks.
func (w *window) site(pos int32) uint64 {
	if w.sites == nil {
		return 0
	}
	return w.sites[pos]
}

// list is operations in program order, chained by their links.
type list struct{ head, tail int32 }

// insert puts an operation into its place.
func (w *window) insert(l *list, pos int32) {
	o := &w.ops[pos]
	switch {
	case l.head == none:
		o.link = none
		l.head, l.tail = pos, pos
	case w.age(pos) > w.age(l.tail):
		o.link = none
		w.ops[l.tail].link = pos
		l.tail = pos
	case w.age(pos) < w.age(l.head):
		o.link = l.head
		l.head = pos
	default:
		at := l.head
		for w.age(w.ops[at].link) < w.age(pos) {
			at = w.ops[at].link
		}
		o.link = w.ops[at].link
		w.ops[at].link = pos
	}
}

// pop takes the oldest, of which there is one.
func (w *window) pop(l *list) int32 {
	pos := l.head
	if l.head = w.ops[pos].link; l.head == none {
		l.tail = none
	}
	return pos
}

// plan has the loads by the cycle in which they reach the L1.
type plan struct {
	due     [span]list
	used    [span / 64]uint64 // cycles in which loads are due
	planned int               // loads in due
	now     uint64            // loads due in this cycle or before have been taken
	waiting list              // due, and for a port
	stalled list              // for a miss register, or room for a line that the L2 evicts
	refused bool              // nothing has changed since the oldest of them was refused
}

func newPlan() plan {
	p := plan{waiting: list{none, none}, stalled: list{none, none}}
	for i := range p.due {
		p.due[i] = list{none, none}
	}
	return p
}

// at plans a load for a cycle, or the next there is.
func (w *window) at(pos int32, cycle uint64) {
	p := &w.plan
	cycle = min(max(cycle, p.now+1), p.now+span-1)
	s := cycle & (span - 1)
	w.insert(&p.due[s], pos)
	p.used[s>>6] |= 1 << (s & 63)
	p.planned++
}

// next is the next cycle in which a load is due.
func (p *plan) next() uint64 {
	if p.planned == 0 {
		return never
	}
	s := (p.now + 1) & (span - 1)
	word := p.used[s>>6] &^ (1<<(s&63) - 1)
	for k := uint64(0); ; k++ {
		if word != 0 {
			at := (s&^63 + k*64 + uint64(bits.TrailingZeros64(word))) & (span - 1)
			return p.now + 1 + (at-s)&(span-1)
		}
		if k == span/64 {
			return never
		}
		word = p.used[(s>>6+k+1)&(span/64-1)]
	}
}

// take moves the loads of a cycle, the next or one before it, to those that wait for a port.
func (w *window) take(cycle uint64) {
	p := &w.plan
	p.now = cycle
	s := cycle & (span - 1)
	if p.used[s>>6]>>(s&63)&1 == 0 {
		return
	}
	p.used[s>>6] &^= 1 << (s & 63)
	l := p.due[s]
	p.due[s] = list{none, none}
	for l.head != none {
		pos := w.pop(&l)
		p.planned--
		if at := cycleOf(w.ops[pos].tick); at > cycle {
			w.at(pos, at) // it was too far ahead
		} else {
			w.insert(&p.waiting, pos)
		}
	}
}
