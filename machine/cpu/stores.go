package cpu

import "math/bits"

// storeBuffer holds stores from their dispatch until they are in the L1. They go there
// after they have retired, one a cycle and in program order, and ask for their lines without
// waiting for each other; their places come free in program order.
type storeBuffer struct {
	entries []store // a ring, by number
	mask    uint32
	size    uint32
	// Numbers of stores: how many have been dispatched, have retired, have gone to the L1 and
	// have left. The first store is number 1 and lies at entry 0.
	dispatched, retired, issued, freed uint32

	next    uint64 // cycle from which the L1 takes one more
	stalled bool   // the next has been refused by the L1, and no resource has become free since

	recent [recentStores]recentStore // by a hash of their word
}

const recentStores = 256

// recentStore is the last store to a word.
type recentStore struct {
	word   uint64
	number uint32
}

type store struct {
	addr  uint64
	data  int64  // tick from which a load can have it
	at    uint64 // cycle from which it may go to the L1
	free  uint64 // cycle in which it left
	pos   int32  // in the window, until it has retired
	ready bool   // it is in the L1
}

func newStoreBuffer(size int) storeBuffer {
	n := 1 << bits.Len(uint(size-1))
	return storeBuffer{entries: make([]store, n), mask: uint32(n - 1), size: uint32(size)}
}

func (b *storeBuffer) entry(number uint32) *store { return &b.entries[(number-1)&b.mask] }

// room says that another can be dispatched.
func (b *storeBuffer) room() bool { return b.dispatched-b.freed < b.size }

// freeFrom is the tick from which there is room for one more, when there is.
func (b *storeBuffer) freeFrom() int64 {
	if b.dispatched < b.size {
		return 0
	}
	return int64(b.entry(b.dispatched-b.size+1).free+1) * perCycle
}

func wordOf(addr uint64) (word uint64, slot uint64) {
	word = addr >> 3
	return word, word * 0x9E3779B97F4A7C15 >> 56
}

// dispatch takes a store.
func (b *storeBuffer) dispatch(o *op, pos int32) {
	b.dispatched++
	o.store = b.dispatched
	*b.entry(b.dispatched) = store{addr: o.addr, data: unknown, pos: pos}
	word, slot := wordOf(o.addr)
	b.recent[slot] = recentStore{word, b.dispatched}
}

// before makes a load wait for the data of the earlier store to the same word. If another word has taken the place in
// recent, the load goes to the L1. This is rare, and the load finds its line there.
func (b *storeBuffer) before(w *window, o *op, pos int32) {
	word, slot := wordOf(o.addr)
	r := &b.recent[slot]
	if r.word != word || !b.holds(r.number) {
		return
	}
	o.store = r.number
	e := b.entry(r.number)
	w.needs(o, pos, inputs-1, e.data, e.pos)
}

// holds says that a store has not left yet.
func (b *storeBuffer) holds(number uint32) bool {
	return number != 0 && b.dispatched-number < b.dispatched-b.freed
}

// data notes from when on loads can have a store's data.
func (b *storeBuffer) data(o *op, tick int64) { b.entry(o.store).data = tick }

// retire notes in which cycle the next one retires: in the one behind it may go to the L1.
func (b *storeBuffer) retire(cycle uint64) {
	b.retired++
	b.entry(b.retired).at = cycle + 1
}

// due is the cycle in which the next one goes to the L1.
func (b *storeBuffer) due() uint64 {
	if b.stalled || b.issued == b.retired {
		return never
	}
	return max(b.next, b.entry(b.issued+1).at)
}

// leave frees the places of stores that are in the L1.
func (b *storeBuffer) leave(now uint64) {
	for b.freed != b.issued {
		e := b.entry(b.freed + 1)
		if !e.ready {
			return
		}
		e.free = now
		b.freed++
	}
}
