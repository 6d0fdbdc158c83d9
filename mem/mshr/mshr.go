// Package mshr is the miss status holding registers of a cache: the lines that are on their way from below, and the
// requests that wait for them. Every cache of the machine uses it, beside mem/tags, whose line indices name the
// lines. A reader must know one type: File, the registers of one cache. Its limits are those of GPGPU-Sim: entries
// are counted in sectors, and so are the requests merged into each.
package mshr

import "math/bits"

// none ends a chain, and is the register of a line that no request waits for.
const none = int32(-1)

// begin is how many registers and waiters there is room for at first: short runs need no more.
const begin = 32

// Sectors is the most a line can have.
const Sectors = 8

// register is a line that requests wait for.
type register struct {
	waiters int32           // their chain, the youngest first; of a free register the next free one
	merged  [Sectors]uint16 // requests that wait for each sector
}

// waiter is a request that waits for sectors of a line.
type waiter struct {
	token   int32
	next    int32 // of its line, or the next free one
	sectors uint8 // those it still waits for
}

// File is the registers of one cache. It allocates the memory it needs as it grows: the caller checks the limits, by
// Room and Mergeable, before it acts.
type File struct {
	of        []int32 // by line index: its register; none: no request waits
	registers []register
	waiters   []waiter
	// The first free register and waiter.
	freeRegister, freeWaiter int32

	pending int // sectors on their way
	entries int // most of them
	merge   int // most requests that wait for a sector
}

// New makes the registers of a cache: as many sectors of its lines may be on their way as
// it has entries, and merge requests may wait for each.
func New(lines, entries, merge int) File {
	f := File{
		registers: make([]register, 0, begin), waiters: make([]waiter, 0, begin),
		freeRegister: none, freeWaiter: none, entries: entries, merge: min(merge, 1<<16-1),
	}
	f.Lines(lines)
	return f
}

// Lines sets the number of lines of the cache, at least n.
func (f *File) Lines(n int) {
	old := len(f.of)
	if n <= old {
		return
	}
	f.of = append(f.of, make([]int32, n-old)...)
	for i := old; i < n; i++ {
		f.of[i] = none
	}
}

// Room says that a number of further sectors can be asked for.
func (f *File) Room(sectors uint8) bool { return f.pending+bits.OnesCount8(sectors) <= f.entries }

// Pending is the number of sectors on their way.
func (f *File) Pending() int { return f.pending }

// Ask notes that sectors of some line are on their way from below.
func (f *File) Ask(sectors uint8) { f.pending += bits.OnesCount8(sectors) }

// Mergeable says that one more request can wait for each of the sectors of a line.
func (f *File) Mergeable(line int32, sectors uint8) bool {
	n := f.of[line]
	if n == none {
		return true
	}
	r := &f.registers[n]
	for m := sectors; m != 0; m &= m - 1 {
		if int(r.merged[bits.TrailingZeros8(m)&(Sectors-1)]) >= f.merge {
			return false
		}
	}
	return true
}

// Wait makes a request, named by its token, wait for sectors of a line.
func (f *File) Wait(line, token int32, sectors uint8) {
	n := f.of[line]
	if n == none {
		n = f.register()
		f.of[line] = n
	}
	r := &f.registers[n]
	w := f.waiter()
	f.waiters[w] = waiter{token: token, next: r.waiters, sectors: sectors}
	r.waiters = w
	for m := sectors; m != 0; m &= m - 1 {
		r.merged[bits.TrailingZeros8(m)&(Sectors-1)]++
	}
}

// register takes a free one.
func (f *File) register() int32 {
	n := f.freeRegister
	if n == none {
		f.registers = append(f.registers, register{waiters: none})
		return int32(len(f.registers) - 1)
	}
	r := &f.registers[n] // no request waits for a sector any more
	f.freeRegister, r.waiters = r.waiters, none
	return n
}

// waiter takes a free one.
func (f *File) waiter() int32 {
	n := f.freeWaiter
	if n == none {
		f.waiters = append(f.waiters, waiter{})
		return int32(len(f.waiters) - 1)
	}
	f.freeWaiter = f.waiters[n].next
	return n
}

// Waiting is the sum, over the requests that wait for sectors of a line, of how many of
// them each waits for.
func (f *File) Waiting(line int32, sectors uint8) (sum int) {
	if n := f.of[line]; n != none {
		r := &f.registers[n]
		for m := sectors; m != 0; m &= m - 1 {
			sum += int(r.merged[bits.TrailingZeros8(m)&(Sectors-1)])
		}
	}
	return sum
}

// Arrival is a walk along the requests that wait for a line, some sectors of which have
// arrived; see File.Arrive.
type Arrival struct {
	line, register int32
	before, waiter int32 // in the chain; before is none at its begin
	sectors        uint8
}

// Arrive notes that sectors of a line have come. Next then walks through the requests that waited, and must be called
// while there are More.
func (f *File) Arrive(line int32, sectors uint8) Arrival {
	f.pending -= bits.OnesCount8(sectors)
	n := f.of[line]
	if n == none {
		return Arrival{waiter: none}
	}
	r := &f.registers[n]
	for m := sectors; m != 0; m &= m - 1 {
		r.merged[bits.TrailingZeros8(m)&(Sectors-1)] = 0
	}
	return Arrival{line: line, register: n, before: none, waiter: r.waiters, sectors: sectors}
}

// More says that Next has another request.
func (a *Arrival) More() bool { return a.waiter != none }

// Next is the next request that waited, the youngest first: its token, which of the
// sectors that have come it waited for, and whether it waits for nothing more.
func (f *File) Next(a *Arrival) (token int32, came uint8, done bool) {
	n := a.waiter
	w := &f.waiters[n]
	a.waiter = w.next
	came = w.sectors & a.sectors
	if w.sectors &^= a.sectors; w.sectors != 0 {
		a.before = n
		return w.token, came, false
	}
	f.unlink(a, n)
	return w.token, came, true
}

// unlink frees a waiter, and the register of its line with the last.
func (f *File) unlink(a *Arrival, n int32) {
	w, r := &f.waiters[n], &f.registers[a.register]
	if a.before != none {
		f.waiters[a.before].next = w.next
	} else if r.waiters = w.next; r.waiters == none {
		f.of[a.line] = none
		r.waiters, f.freeRegister = f.freeRegister, a.register
	}
	w.next, f.freeWaiter = f.freeWaiter, n
}
