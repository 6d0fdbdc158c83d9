// Package uvm is the runtime of unified memory: which pages come to the device when one faults, which leave to make
// room, and which are used where they are, on the host. Ganguly, "Adaptive Memory Management for CPU-GPU
// Heterogeneous Systems" (University of Pittsburgh, 2021), chapters 2, 4 and 5. It is driven by events. It does not
// know frames, and only thrash.go knows time. A Runtime gets allocations and accesses, makes a Plan for a batch of
// faults, and gets the begin and the end of each planned action. The machine and `heddle probe uvm` use the same one.
//
// Every allocation is a row of chunks of 2 MB; the rest at its end is rounded up to 64 KB * 2^i and is a chunk of
// that size. A chunk is a full binary tree over basic blocks of 64 KB, which are 16 pages each. Prefetchers are in
// prefetch_*.go, evictions in evict_*.go and the rules of migration in migrate_*.go, one each.
package uvm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/mem"
)

// The units of memory, in bytes and pages. They are those of the runtime that the dissertation
// describes (2.2.2), and of x86 systems.
const (
	PageSize  = 4 << 10
	BlockSize = 64 << 10
	ChunkSize = 2 << 20

	PagesPerBlock  = BlockSize / PageSize
	PagesPerChunk  = ChunkSize / PageSize
	BlocksPerChunk = ChunkSize / BlockSize
)

// Options are the policies of a Runtime and their parameters.
type Options struct {
	Capacity     int64  // bytes of device memory for managed pages, a multiple of PageSize
	Prefetch     string // before the memory has been too small: PrefetcherNames
	PrefetchOver string // once the memory has been too small; empty: the same
	Evict        string // EvictionNames
	Migrate      string // MigrationNames
	Ts           int    // static threshold t_s, accesses of a block
	P            int    // multiplicative penalty p of adaptive migration
	Counters     string // which accesses of a block count (CountersNames); "": all
	Reserve      int    // percent of the valid pages that the least recent end protects, 0 to 99
	FreeBuffer   int    // percent of Capacity that evictions keep free, 0 to 99: they begin before memory is full
	CleanDropped bool   // pages of clean chunks are invalidated without being written back
	Smart        bool   // the runtime chooses Prefetch, Evict and Migrate by itself, for each allocation
	Together     bool   // it decides for all allocations of a tenant together, as its public simulator does
	HostStays    bool   // what a program prefers on the host never migrates; else it is a soft pin (advice.go)
	Public       bool   // the rules of that simulator where they differ from the text (public.go), in the machine, too
	Seed         uint64 // of random policies
}

// chunk is one tree and the state of its pages.
type chunk struct {
	base    uint64
	pages   int // PagesPerChunk, or fewer in the tree of an allocation's remainder
	tenant  mem.TenantID
	live    bool
	advice  Advice
	hints   *Hints  // of its allocation; nil without advice
	pattern Pattern // of its allocation
	earlier uint32  // blocks that have come in earlier kernels
	during  uint32  // and in this one
	written bool    // by host or device, ever
	stamp   uint64  // of the latest transfer or access
	arrived uint64  // stamp of the latest transfer
	heat    use
	block   [BlocksPerChunk]uint64 // stamps
	counter [BlocksPerChunk]uint32 // accesses and round trips, as counters.go lays them out

	resident Mask // on the device; accesses find them
	staged   Mask // of those: chosen for eviction, which has not begun
	coming   Mask // planned to come, and not there yet
	leaving  Mask // not resident: on their way to the host
	dirty    Mask // of the resident: written since they came
	held     Mask // of the resident: an access waits for them and has not yet used them

	fault, want Mask // of the batch being planned: pages that fault, and pages to come along
	gone        Mask // of the batch being planned: pages it evicts
	forgotten   Mask // of the resident: prefetchers and TBN_e treat them as absent (Options.Public)
	left        Mask // evicted before
	asked       Mask // absent: an access needs the page
	mapped      Mask // absent: the device may have translations to the host
	thrash      Mask // host and device take them from each other (thrash.go)
	pinned      Mask // of those, absent: they stay on the host for a while
	twice       duplicates
}

// valid are the resident pages that were not chosen for eviction.
func (c *chunk) valid() Mask { return c.resident.Without(&c.staged) }

// present is the pages that are, or will be, on the device.
func (c *chunk) present() Mask {
	v := c.valid()
	return v.Or(&c.coming)
}

// allocation is one managed allocation: the chunks first to first+chunks-1.
type allocation struct {
	base, end     uint64 // rounded
	first, chunks int32
	readOnly      bool
	segment       segment
	pattern       Pattern
}

// Totals count the actions of a Runtime.
type Totals struct {
	Faults    uint64 // pages that faulted
	Migrated  uint64 // pages that came
	Evicted   uint64 // pages that left, or were chosen to leave and not kept
	Written   uint64 // of those, pages written back
	Remote    uint64 // accesses to pages on the host
	Fallbacks uint64 // evictions of a unit that the policy itself would not have chosen
	Thrashed  uint64 // pages that came again after having been evicted
	Kept      uint64 // pages chosen for eviction and used before it began
	Returned  uint64 // pages the host took back
	Voided    uint64 // copies of pages that the host wrote
	Freed     uint64 // pages that were there, or on their way, when their allocation was freed
}

// Runtime is the state of unified memory.
type Runtime struct {
	o        Options
	capacity int // pages, with those of forgotten ones
	chunks   []chunk
	allocs   []allocation // by base
	prefetch [2]prefetcher
	evict    evictor
	flat     bool // the eviction uses the list of pages
	migrate  migration
	list     pageList
	stamp    uint64
	valid    int  // resident pages that are not staged
	staged   int  // pages chosen for eviction
	coming   int  // pages planned to come
	writing  int  // pages on their way to the host
	over     bool // a batch did not fit
	changed  bool // and from then on the prefetcher is PrefetchOver

	remoteOnly bool // registers count accesses of pages on the host alone

	forgotten int // pages there that do not count (Synchronized)
	arrives   arrivals
	cursor    uint64 // of the sequential prefetcher
	prefer    preference
	random    [2]*rand.Rand
	batch     []int32 // chunks of the batch being planned, by address
	order     []int32 // chunks, least recent first, while a batch is planned
	sorted    bool
	past      []Heat // of allocations that were freed
	watch     watched
	fell      bool       // the last choice was a fallback
	thrash    *thrashing // nil: pages that thrash are not looked for
	units     []unit
	plan      Plan
	Totals    Totals
}

// preference names the tenants that are preferred.
type preference struct {
	first int // whose faults of a batch come first; -1: none
	last  int // whose pages are evicted last; -1: none
}

// New makes a Runtime without allocations. Errors name the option.
func New(o Options) (*Runtime, error) {
	if o.Smart {
		if o.Prefetch+o.PrefetchOver+o.Evict+o.Migrate != "" {
			return nil, errors.New("the smart runtime chooses prefetcher, eviction and migration by itself: name none")
		}
		o.Prefetch, o.Evict, o.Migrate = "tbn", "tbn", "first-touch"
	}
	r := &Runtime{o: o, prefer: preference{first: -1, last: -1}, remoteOnly: o.Counters == "remote"}
	if o.Capacity < PageSize || o.Capacity%PageSize != 0 {
		return nil, fmt.Errorf("capacity %d: it has to be a multiple of %d bytes, one page or more", o.Capacity,
			PageSize)
	}
	if o.Capacity/PageSize > mostPages {
		return nil, fmt.Errorf("capacity %d: at most %d bytes", o.Capacity, int64(mostPages)*PageSize)
	}
	if o.Reserve < 0 || o.Reserve > 99 {
		return nil, fmt.Errorf("reserve of %d %%: use 0 to 99", o.Reserve)
	}
	if o.FreeBuffer < 0 || o.FreeBuffer > 99 {
		return nil, fmt.Errorf("free buffer of %d %%: use 0 to 99", o.FreeBuffer)
	}
	if err := CheckThreshold("ts", o.Ts); err != nil {
		return nil, err
	}
	if err := CheckThreshold("p", o.P); err != nil {
		return nil, err
	}
	if o.Counters != "" && !slices.Contains(CountersNames(), o.Counters) {
		return nil, fmt.Errorf("counters %q: use %s", o.Counters, strings.Join(CountersNames(), ", "))
	}
	r.capacity = int(o.Capacity / PageSize)
	if o.PrefetchOver == "" {
		r.o.PrefetchOver = o.Prefetch
	}
	var err error
	for i, name := range []string{r.o.Prefetch, r.o.PrefetchOver} {
		if r.prefetch[i], err = prefetcherByName(name); err != nil {
			return nil, err
		}
	}
	if r.evict, r.flat, err = evictorByName(o.Evict); err != nil {
		return nil, err
	}
	if o.Smart {
		r.evict.choose = evictSmart
	}
	if r.migrate, err = migrationByName(o.Migrate); err != nil {
		return nil, err
	}
	r.random = [2]*rand.Rand{rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 2))}
	r.list.init()
	return r, nil
}

// mostPages bounds the managed memory of a runtime: 256 GB.
const mostPages = 1 << 26

// Rounded is the bytes an allocation of n bytes occupies: whole chunks, and a remainder of
// 64 KB * 2^i.
func Rounded(n uint64) uint64 {
	whole, rest := n&^(ChunkSize-1), n&(ChunkSize-1)
	if rest == 0 {
		return whole
	}
	size := uint64(BlockSize)
	for size < rest {
		size *= 2
	}
	return whole + size
}

// Allocate makes n bytes of managed memory from base known, all of them on the host. The base is
// a multiple of ChunkSize; an allocation may not overlap another.
func (r *Runtime) Allocate(tenant mem.TenantID, base, n uint64, readOnly bool) error {
	if base%ChunkSize != 0 {
		return fmt.Errorf("base 0x%x is no multiple of 2 MB", base)
	}
	if n == 0 || n > mostPages*PageSize || base > ^uint64(0)-2*n-ChunkSize {
		return fmt.Errorf("%d bytes at 0x%x: use 1 to %d bytes within 64 bits", n, base, uint64(mostPages)*PageSize)
	}
	end := base + Rounded(n)
	i, _ := slices.BinarySearchFunc(r.allocs, base, func(a allocation, b uint64) int { return compare(a.base, b) })
	for _, k := range []int{i - 1, i} {
		if k >= 0 && k < len(r.allocs) && r.allocs[k].base < end && base < r.allocs[k].end {
			return fmt.Errorf("0x%x to 0x%x overlaps the allocation from 0x%x to 0x%x", base, end, r.allocs[k].base,
				r.allocs[k].end)
		}
	}
	a := allocation{base: base, end: end, chunks: int32((end - base + ChunkSize - 1) / ChunkSize), readOnly: readOnly}
	a.first = r.room(int(a.chunks))
	if len(r.chunks)*PagesPerChunk > mostPages {
		return fmt.Errorf("more than %d bytes of managed memory", uint64(mostPages)*PageSize)
	}
	for k := range a.chunks {
		at := base + uint64(k)*ChunkSize
		r.chunks[a.first+k] = chunk{
			base: at, pages: int(min(end-at, ChunkSize) / PageSize), tenant: tenant, live: true,
		}
	}
	if r.flat {
		r.list.grow(len(r.chunks) * PagesPerChunk)
	}
	r.watchChunks()
	if r.thrash != nil {
		r.thrash.grow(len(r.chunks))
	}
	r.allocs = slices.Insert(r.allocs, i, a)
	r.sorted = false
	return nil
}

// room finds n unused chunks in a row.
func (r *Runtime) room(n int) int32 {
	run := 0
	for i := range r.chunks {
		run++
		if r.chunks[i].live {
			run = 0
		}
		if run == n {
			return int32(i - n + 1)
		}
	}
	first := len(r.chunks) - run
	r.chunks = append(r.chunks, make([]chunk, n-run)...)
	return int32(first)
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// page is a page by number: its chunk and its place in that.
type page int32

func (p page) chunk() int32 { return int32(p) / PagesPerChunk }
func (p page) index() int   { return int(p) % PagesPerChunk }

func pageOf(chunk int32, index int) page { return page(chunk*PagesPerChunk + int32(index)) }

// address is where a page begins.
func (r *Runtime) address(p page) uint64 {
	return r.chunks[p.chunk()].base + uint64(p.index())*PageSize
}

// allocationOf is the allocation an address is in; nil if none is.
func (r *Runtime) allocationOf(addr uint64) *allocation {
	lo, hi := 0, len(r.allocs)
	for lo < hi {
		if mid := (lo + hi) / 2; r.allocs[mid].base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || addr >= r.allocs[lo-1].end {
		return nil
	}
	return &r.allocs[lo-1]
}

// find is the page of an address; false if it is in no allocation.
func (r *Runtime) find(addr uint64) (page, bool) {
	a := r.allocationOf(addr)
	if a == nil {
		return 0, false
	}
	n := (addr - a.base) / PageSize
	return page(a.first*PagesPerChunk) + page(n), true
}

// free is the number of pages for which there is room when all plans have been carried out. The public simulator
// counts pages that are on their way to the host twice: it evicts for what is still missing when they have left.
func (r *Runtime) free() int {
	n := r.capacity - r.valid - r.coming
	if r.o.Public {
		n += r.writing
	}
	return n
}

// empty is the number of pages for which there is room without an eviction. In the public simulator, pages that have
// been chosen for eviction make no room yet.
func (r *Runtime) empty() int {
	n := r.capacity - r.valid - r.coming
	if r.o.Public {
		n -= r.staged
	}
	return n
}

// crowded notes whether memory was too small for a batch.
func (r *Runtime) crowded(yes bool) { r.over, r.changed = r.over || yes, r.changed || yes }

// Oversubscribed says that a batch has not fit into memory at least once.
func (r *Runtime) Oversubscribed() bool { return r.over }

// Resident is the pages on the device.
func (r *Runtime) Resident() int { return r.valid + r.staged }

// Favour makes the pages of a tenant leave after all others'; -1 favours none.
func (r *Runtime) Favour(tenant int) { r.prefer.last, r.sorted = tenant, false }

// Prefer puts the consequences of a tenant's faults before all others of a batch.
func (r *Runtime) Prefer(tenant int) { r.prefer.first = tenant }
