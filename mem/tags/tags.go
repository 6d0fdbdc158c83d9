// Package tags is the tag array every cache of the machine uses: any number of
// sets, sectored lines, LRU or FIFO replacement, lines that wait for a fill
// (pending sectors) and can then not be evicted.
//
// A reader must know two types: Array, and Line, its state of one cache line, which
// is named by its index into the array.
package tags

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/mem"
)

// None is the result of a failed lookup or allocation.
const None = int32(-1)

const empty = ^uint64(0)

// scanned is the number of ways up to which comparing all is cheaper than a table.
const scanned = 32

// Line is an array's record of a line beside its address, in 8 bytes: the arrays of all SMs and slices are larger
// than the caches of the computer that simulates them.
type Line struct {
	prev, next uint16 // ways in the LRU list of the set, most recent first
	Valid      uint8  // sectors whose bytes may be read
	Dirty      uint8  // sectors that differ from memory
	Pending    uint8  // sectors on their way from below: Await and Arrive change it
	Tenant     mem.TenantID
}

// noWay ends a list of ways.
const noWay = ^uint16(0)

// Array is a sectored tag array.
type Array struct {
	table table    // index by address for wide sets; without slots when a scan is cheaper
	Line  []Line   // by line index
	Tag   []uint64 // line address, by line index; ^0 when free

	Sets, Ways int

	shift uint // log2 of the line size
	mask  uint64
	pow2  bool
	index func(line uint64) uint32
	fifo  bool

	perWay uint64 // 2^64 / Ways, rounded up
	ends   []ends // of the LRU lists, per set
	used   bool   // since Reset
}

// ends are the most and the least recently used line of a set, and how many of its lines are pending.
type ends struct{ first, last, pending uint16 }

// New makes an empty array. index maps a line address to its set; nil is the
// linear index (line number modulo sets, which need not be a power of two).
func New(sets, ways, lineBytes int, repl string, index func(line uint64) uint32) (*Array, error) {
	if sets <= 0 || ways <= 0 || lineBytes <= 0 || lineBytes&(lineBytes-1) != 0 {
		return nil, fmt.Errorf("cache of %d sets, %d ways, %d-byte lines: sets and ways must be positive, the line a "+
			"power of two", sets, ways, lineBytes)
	}
	if ways >= int(noWay) {
		return nil, fmt.Errorf("cache of %d ways: at most %d", ways, noWay-1)
	}
	if repl != "lru" && repl != "fifo" {
		return nil, fmt.Errorf("replacement %q: know lru and fifo", repl)
	}
	n := sets * ways
	a := &Array{
		Sets: sets, Ways: ways, shift: uint(bits.TrailingZeros(uint(lineBytes))), mask: uint64(sets - 1),
		pow2:  sets&(sets-1) == 0,
		index: index, fifo: repl == "fifo", perWay: ^uint64(0)/uint64(ways) + 1,
		Tag: make([]uint64, n), Line: make([]Line, n), ends: make([]ends, sets),
	}
	if ways > scanned {
		if n > indexMask || lineBytes < 32 {
			return nil, fmt.Errorf("cache of %d sets, %d ways, %d-byte lines: above %d ways at most %d lines of 32 "+
				"bytes or more", sets, ways, lineBytes, scanned, indexMask)
		}
		a.table = newTable(n, a.shift)
	}
	a.used = true
	a.Reset()
	return a, nil
}

// Reset invalidates everything, pending lines included. For an unused array it costs no time.
func (a *Array) Reset() {
	if !a.used {
		return
	}
	a.used = false
	for i := range a.Tag {
		a.Tag[i] = empty
	}
	for s := range a.ends {
		set := a.Line[s*a.Ways : (s+1)*a.Ways]
		for w := range set {
			set[w] = Line{prev: uint16(w - 1), next: uint16(w + 1)} // way -1 is noWay
		}
		set[a.Ways-1].next = noWay
		a.ends[s] = ends{0, uint16(a.Ways - 1), 0}
	}
	if a.table.slot != nil {
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
	if a.table.slot != nil {
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
	l := &a.Line[i]
	if l.prev == noWay {
		return
	}
	s := a.setOf(i)
	set, e := a.Line[s*a.Ways:], &a.ends[s]
	set[l.prev].next = l.next
	if l.next == noWay {
		e.last = l.prev
	} else {
		set[l.next].prev = l.prev
	}
	way := uint16(i - int32(s*a.Ways))
	set[e.first].prev = way
	l.prev, l.next = noWay, e.first
	e.first = way
}

// Victim is the line that Alloc would replace: the least recently used one of the
// set that is not pending. None when every line of the set waits for a fill.
func (a *Array) Victim(line uint64) int32 {
	s := a.Set(line)
	if int(a.ends[s].pending) == a.Ways { // uncoalesced code comes here again and again
		return None
	}
	base := s * a.Ways
	for w := a.ends[s].last; w != noWay; w = a.Line[base+int(w)].prev {
		if i := base + int(w); a.Line[i].Pending == 0 {
			return int32(i)
		}
	}
	return None
}

// setOf is the set of line index i.
func (a *Array) setOf(i int32) int {
	s, _ := bits.Mul64(uint64(i), a.perWay) // i / Ways
	return int(s)
}

// Await notes that sectors of line index i, at least one, are on their way from below.
func (a *Array) Await(i int32, sectors uint8) {
	l := &a.Line[i]
	if l.Pending == 0 {
		a.ends[a.setOf(i)].pending++
	}
	l.Pending |= sectors
}

// Arrive notes that sectors of line index i have come; some of them were on their way.
func (a *Array) Arrive(i int32, sectors uint8) {
	l := &a.Line[i]
	l.Valid |= sectors
	if l.Pending == 0 {
		return
	}
	if l.Pending &^= sectors; l.Pending == 0 {
		a.ends[a.setOf(i)].pending--
	}
}

// Fill gives victim index i to line: the caller has saved the victim's data.
func (a *Array) Fill(i int32, line uint64, tenant mem.TenantID) {
	if a.table.slot != nil {
		if a.Tag[i] != empty {
			a.table.remove(a.Tag[i])
		}
		a.table.insert(line, i)
	}
	a.Tag[i] = line
	a.used = true
	l := &a.Line[i]
	l.Tenant, l.Valid, l.Dirty = tenant, 0, 0
	a.front(i)
}

// Drop invalidates line index i.
func (a *Array) Drop(i int32) {
	if a.Tag[i] == empty {
		return
	}
	if a.table.slot != nil {
		a.table.remove(a.Tag[i])
	}
	a.Tag[i] = empty
	l := &a.Line[i]
	l.Valid, l.Dirty = 0, 0
	if l.Pending != 0 {
		l.Pending = 0
		a.ends[a.setOf(i)].pending--
	}
}

// Release invalidates line index i and makes it the next victim of its set.
func (a *Array) Release(i int32) {
	a.Drop(i)
	l := &a.Line[i]
	if l.next == noWay {
		return
	}
	s := a.setOf(i)
	set, e := a.Line[s*a.Ways:], &a.ends[s]
	set[l.next].prev = l.prev
	if l.prev == noWay {
		e.first = l.next
	} else {
		set[l.prev].next = l.next
	}
	way := uint16(i - int32(s*a.Ways))
	set[e.last].next = way
	l.prev, l.next = e.last, noWay
	e.last = way
}

// Held is the number of sectors whose bytes may be read.
func (a *Array) Held() (sectors int) {
	for i := range a.Tag {
		if a.Tag[i] != empty {
			sectors += bits.OnesCount8(a.Line[i].Valid)
		}
	}
	return sectors
}

// Free says that line index i is empty.
func (a *Array) Free(i int32) bool { return a.Tag[i] == empty }

// DropPages invalidates the lines of pages of 1<<bits bytes, given in order, except lines that wait for data.
func (a *Array) DropPages(pages []uint64, bits uint) {
	lines := 1 << (bits - a.shift)
	if len(pages)*lines > len(a.Tag) {
		for i, tag := range a.Tag {
			if tag == empty || a.Line[i].Pending != 0 {
				continue
			}
			if _, found := slices.BinarySearch(pages, tag>>bits); found {
				a.Drop(int32(i))
			}
		}
		return
	}
	for _, p := range pages {
		for n := range lines {
			if i := a.Find(p<<bits + uint64(n)<<a.shift); i != None && a.Line[i].Pending == 0 {
				a.Drop(i)
			}
		}
	}
}

// DropTenant invalidates the lines of one application, except lines that wait for data.
func (a *Array) DropTenant(t mem.TenantID) {
	for i := range a.Tag {
		if a.Tag[i] != empty && a.Line[i].Tenant == t && a.Line[i].Pending == 0 {
			a.Drop(int32(i))
		}
	}
}
