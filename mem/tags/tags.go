// Package tags is the tag array every cache of the machine uses: any number of
// sets, sectored lines, LRU or FIFO replacement, lines that wait for a fill
// (pending sectors) and can then not be evicted.
//
// A reader must know one type, Array; a line is named by its index into it, and
// the slices Valid, Dirty, Pending and Wait are indexed by that.
package tags

import (
	"fmt"
	"math/bits"
)

// None is the result of a failed lookup or allocation.
const None = int32(-1)

const empty = ^uint64(0)

// Array is a sectored tag array.
type Array struct {
	Sets, Ways int
	Tag        []uint64 // line address, by line index; ^0 when free
	Valid      []uint8  // sectors whose bytes may be read
	Dirty      []uint8  // sectors that differ from memory
	Pending    []uint8  // sectors on their way from below
	Wait       []int32  // head of the requester's chain of waiters; -1 none
	Tenant     []uint8

	shift uint // log2 of the line size
	mask  uint64
	pow2  bool
	index func(line uint64) uint32
	fifo  bool
	prev  []int32 // LRU list per set, most recent first
	next  []int32
	first []int32 // per set
	last  []int32
	table *table // index by address for wide sets; nil when a scan is cheaper
}

// New makes an empty array. index maps a line address to its set; nil is the
// linear index (line number modulo sets, which need not be a power of two).
func New(sets, ways, lineBytes int, repl string, index func(line uint64) uint32) (*Array, error) {
	if sets <= 0 || ways <= 0 || lineBytes <= 0 || lineBytes&(lineBytes-1) != 0 {
		return nil, fmt.Errorf("cache of %d sets, %d ways, %d-byte lines: sets and ways must be positive, the line a power of two", sets, ways, lineBytes)
	}
	if repl != "lru" && repl != "fifo" {
		return nil, fmt.Errorf("replacement %q: know lru and fifo", repl)
	}
	n := sets * ways
	a := &Array{
		Sets: sets, Ways: ways, shift: uint(bits.TrailingZeros(uint(lineBytes))), mask: uint64(sets - 1), pow2: sets&(sets-1) == 0,
		index: index, fifo: repl == "fifo",
		Tag: make([]uint64, n), Valid: make([]uint8, n), Dirty: make([]uint8, n), Pending: make([]uint8, n), Wait: make([]int32, n), Tenant: make([]uint8, n),
		prev: make([]int32, n), next: make([]int32, n), first: make([]int32, sets), last: make([]int32, sets),
	}
	if ways > 32 {
		a.table = newTable(n)
	}
	a.Reset()
	return a, nil
}

// Reset invalidates everything, pending lines included.
func (a *Array) Reset() {
	for i := range a.Tag {
		a.Tag[i], a.Wait[i] = empty, None
		w := i % a.Ways
		a.prev[i], a.next[i] = int32(i-1), int32(i+1)
		if w == 0 {
			a.prev[i] = None
		}
		if w == a.Ways-1 {
			a.next[i] = None
		}
	}
	for s := range a.Sets {
		a.first[s], a.last[s] = int32(s*a.Ways), int32((s+1)*a.Ways-1)
	}
	clear(a.Valid)
	clear(a.Dirty)
	clear(a.Pending)
	if a.table != nil {
		a.table.reset()
	}
}

// Set is the set line falls into.
func (a *Array) Set(line uint64) int {
	switch {
	case a.index != nil:
		return int(a.index(line))
	case a.pow2:
		return int(line >> a.shift & a.mask)
	}
	return int((line >> a.shift) % uint64(a.Sets))
}

// Find is the index of the line, or None. It does not touch the replacement order.
func (a *Array) Find(line uint64) int32 {
	if a.table != nil {
		return a.table.find(line)
	}
	base := a.Set(line) * a.Ways
	for i, t := range a.Tag[base : base+a.Ways] {
		if t == line {
			return int32(base + i)
		}
	}
	return None
}

// Use marks line index i as the most recently used of its set.
func (a *Array) Use(i int32) {
	if a.fifo {
		return
	}
	a.front(i)
}

func (a *Array) front(i int32) {
	p, n := a.prev[i], a.next[i]
	if p == None {
		return
	}
	s := int(i) / a.Ways
	a.next[p] = n
	if n == None {
		a.last[s] = p
	} else {
		a.prev[n] = p
	}
	f := a.first[s]
	a.prev[i], a.next[i] = None, f
	a.prev[f] = i
	a.first[s] = i
}

// Victim is the line that Alloc would replace: the least recently used one of the
// set that is not pending. None when every line of the set waits for a fill.
func (a *Array) Victim(line uint64) int32 {
	for i := a.last[a.Set(line)]; i != None; i = a.prev[i] {
		if a.Pending[i] == 0 && a.Wait[i] == None {
			return i
		}
	}
	return None
}

// Fill gives victim index i to line: the caller has dealt with what was in it.
func (a *Array) Fill(i int32, line uint64, tenant uint8) {
	if a.table != nil {
		if a.Tag[i] != empty {
			a.table.remove(a.Tag[i])
		}
		a.table.insert(line, i)
	}
	a.Tag[i], a.Tenant[i] = line, tenant
	a.Valid[i], a.Dirty[i], a.Pending[i] = 0, 0, 0
	a.front(i)
}

// Drop invalidates line index i.
func (a *Array) Drop(i int32) {
	if a.Tag[i] == empty {
		return
	}
	if a.table != nil {
		a.table.remove(a.Tag[i])
	}
	a.Tag[i] = empty
	a.Valid[i], a.Dirty[i], a.Pending[i] = 0, 0, 0
}

// Free says that line index i holds nothing.
func (a *Array) Free(i int32) bool { return a.Tag[i] == empty }

// DropTenant invalidates the lines of one application that wait for nothing.
func (a *Array) DropTenant(t uint8) {
	for i := range a.Tag {
		if a.Tag[i] != empty && a.Tenant[i] == t && a.Pending[i] == 0 {
			a.Drop(int32(i))
		}
	}
}
