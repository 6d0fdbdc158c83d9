package engine

import "math/bits"

// Never is the cycle of a component that waits to be woken.
const Never = ^uint64(0)

// span is the number of cycles the wheel covers; a multiple of 64.
const span = 1024

// Wheel remembers at which cycle each component next has work. A component is visited then and at no other time, so
// idle hardware costs nothing. Within a cycle components run in index order, so an index is also a stage.
type Wheel struct {
	words int
	slots []uint64 // [cycle mod span][component bitset]; bits may be stale, due decides
	used  [span / 64]uint64
	due   []uint64 // per component: its next cycle, Never when asleep
	far   []uint64 // bitset of components due beyond the span
	now   uint64
	cur   int    // component being visited, -1 outside a cycle
	scan  uint64 // half-span in which far was last searched
	every bool
}

// NewWheel makes a wheel for n components, all asleep. If every is set, each component is visited in each cycle,
// whether it asked or not: results must be the same, and a test checks that.
func NewWheel(n int, every bool) *Wheel {
	w := &Wheel{words: (n + 63) / 64, due: make([]uint64, n), cur: -1, every: every}
	w.slots = make([]uint64, span*w.words)
	w.far = make([]uint64, w.words)
	for i := range w.due {
		w.due[i] = Never
	}
	return w
}

// Now is the current cycle.
func (w *Wheel) Now() uint64 { return w.now }

// Due is the next cycle in which component i runs; Never while it sleeps.
func (w *Wheel) Due(i int) uint64 { return w.due[i] }

// Take is Due, and puts the component to sleep: its caller runs it.
func (w *Wheel) Take(i int) uint64 {
	at := w.due[i]
	w.due[i] = Never
	return at
}

// Wake makes component i run at cycle at, or earlier if it was already due earlier. A component whose turn in the
// current cycle has passed runs in the next one.
func (w *Wheel) Wake(i int, at uint64) {
	if at < w.due[i] { // small enough to be inlined: most calls ask for what is planned
		w.wake(i, at)
	}
}

func (w *Wheel) wake(i int, at uint64) {
	if at <= w.now {
		at = w.now
		if i <= w.cur {
			at++
		}
		if at >= w.due[i] {
			return
		}
	}
	w.due[i] = at
	if at-w.now >= span {
		w.far[i>>6] |= 1 << (i & 63)
		return
	}
	s := int(at % span)
	w.slots[s*w.words+i>>6] |= 1 << (i & 63)
	w.used[s>>6] |= 1 << (s & 63)
}

// Next is the first cycle from now on at which a component is due; Never if none.
func (w *Wheel) Next() uint64 {
	if w.every {
		return w.now
	}
	s := int(w.now % span)
	for k := 0; k <= span/64; k++ {
		word := w.used[(s>>6+k)%(span/64)]
		if k == 0 {
			word &= ^uint64(0) << (s & 63)
		} else if k == span/64 {
			word &= 1<<(s&63) - 1
		}
		for ; word != 0; word &= word - 1 {
			slot := (s&^63+k*64)%span + bits.TrailingZeros64(word)
			at := w.now + uint64((slot-s+span)%span)
			if w.live(slot, at) {
				return at
			}
		}
	}
	best := Never
	for k, word := range w.far {
		for ; word != 0; word &= word - 1 {
			best = min(best, w.due[k<<6+bits.TrailingZeros64(word)])
		}
	}
	return best
}

// live says whether a component is due in a slot; stale bits before it are dropped.
func (w *Wheel) live(slot int, at uint64) bool {
	row := w.slots[slot*w.words : (slot+1)*w.words]
	for k, word := range row {
		for ; word != 0; word &= word - 1 {
			b := bits.TrailingZeros64(word)
			if w.due[k<<6+b] == at {
				return true
			}
			row[k] &^= 1 << b
		}
	}
	w.used[slot>>6] &^= 1 << (slot & 63)
	return false
}

// Skip moves time to cycle now without visiting anything; nothing may be due before.
func (w *Wheel) Skip(now uint64) { w.advance(now) }

// Run visits, in index order, every component due at cycle now; visit returns
// the component's next cycle.
func (w *Wheel) Run(now uint64, visit func(i int) uint64) {
	w.advance(now)
	s := int(now % span)
	row := w.slots[s*w.words : (s+1)*w.words]
	for k := range row {
		if w.every {
			row[k] = w.all(k)
		}
		for row[k] != 0 {
			b := bits.TrailingZeros64(row[k])
			row[k] &^= 1 << b
			i := k<<6 + b
			if w.due[i] != now && !w.every {
				continue
			}
			w.due[i] = Never
			w.cur = i
			if at := visit(i); at != Never {
				w.Wake(i, at)
			}
			if w.every { // bits set for this very cycle by others do not revisit
				row[k] &= ^uint64(0) << b << 1
			}
		}
	}
	w.used[s>>6] &^= 1 << (s & 63)
	w.cur = -1
	w.now = now + 1
}

func (w *Wheel) all(k int) uint64 {
	n := len(w.due) - k<<6
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// advance moves the wheel to cycle now and brings far components into its span.
func (w *Wheel) advance(now uint64) {
	w.now = now
	if now/(span/2) == w.scan { // twice per span is often enough: nothing far can be due before
		return
	}
	w.scan = now / (span / 2)
	for k, word := range w.far {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			at := w.due[i]
			if at != Never && at-now >= span {
				continue
			}
			w.far[k] &^= 1 << (i & 63)
			if at != Never {
				s := int(at % span)
				w.slots[s*w.words+i>>6] |= 1 << (i & 63)
				w.used[s>>6] |= 1 << (s & 63)
			}
		}
	}
}
