package uvm

import (
	"fmt"
	"slices"
	"strings"
)

// unit is pages of one chunk that leave together.
type unit struct {
	chunk int32
	pages Mask
}

// evictor says what leaves memory next.
type evictor struct {
	name string
	// order sorts the chunks that choose looks at, the next one to leave first; nil for a policy
	// that looks at the list of pages.
	order func(a, b *chunk) int
	// choose takes the next candidate and the units that leave with it, in the order in which they are chosen,
	// and leaves out the first reserved pages of its order. It changes nothing; none if it finds none.
	choose func(r *Runtime, reserved int) []unit
	what   string
}

func evictors() []evictor {
	return []evictor{
		{"lru4k", nil, evictLRU4K, "least recent page"},
		{"random4k", nil, evictRandom4K, "random page"},
		{"sl", byRecency, evictSequentialLocal, "least recent 64 KB block"},
		{"tbn", byRecency, evictTree, "least recent 64 KB block and its tree-based neighbourhood"},
		{"lru2m", byRecency, evictFullChunk, "least recent full 2 MB"},
		{"lfu", byFrequency, evictFullChunk, "least used full 2 MB"},
		{"driver-today", byArrival, evictAnyChunk, "the 2 MB that received no page for the longest time"},
	}
}

// EvictionNames are the names of the evictions.
func EvictionNames() (names []string) {
	for _, e := range evictors() {
		names = append(names, e.name)
	}
	return names
}

func evictorByName(name string) (e evictor, flat bool, err error) {
	for _, e := range evictors() {
		if e.name == name {
			return e, e.order == nil, nil
		}
	}
	return e, false, fmt.Errorf("eviction %q: use %s", name, strings.Join(EvictionNames(), ", "))
}

// byRecency is the order of the latest transfer or access.
func byRecency(a, b *chunk) int { return compare(a.stamp, b.stamp) }

// beyondReserve visits the chunks of the policy's order whose valid pages v are not all among the first reserved ones,
// until take returns true. take also gets the number of pages of the chunk that are still reserved.
func (r *Runtime) beyondReserve(reserved int, take func(i int32, c *chunk, v *Mask, reserved int) bool) {
	for _, i := range r.order {
		c := &r.chunks[i]
		v := c.valid()
		if n := v.Count(); n <= reserved {
			reserved -= n
			continue
		}
		if take(i, c, &v, reserved) {
			return
		}
		reserved = 0
	}
}

// evictable is the pages of a chunk that may leave: those for which no access waits.
func (c *chunk) evictable() Mask {
	v := c.valid()
	return v.Without(&c.held)
}

// candidate is what the policy takes next; none if it finds none.
func (e *evictor) candidate(r *Runtime) []unit {
	if e.order != nil && !r.sorted {
		r.sortChunks()
	}
	r.units = r.units[:0]
	return e.choose(r, r.o.Reserve*r.valid/100)
}

// arrivals tell whether a transfer to the device is under way, or can begin; nil: none is.
type arrivals func() bool

// awaited says that the policy alone may make room for a batch, and that the batch may wait: a transfer arrives, and
// all pages that are planned to come, the batch included, fit into memory, unless batches queue.
func (a arrivals) awaited(r *Runtime, batch int) bool {
	return a != nil && (r.coming+batch <= r.capacity || r.queues()) && a()
}

// choose takes the policy's next candidate, to make room for a batch. If it has none, the batch must not wait for
// ever: unless a transfer arrives, the reserve is given up, and finally the chunk with most pages leaves, full or
// not. None if the batch can wait, or no page may leave.
func (r *Runtime) choose(batch int) []unit {
	if u := r.evict.candidate(r); len(u) > 0 {
		return u
	}
	if r.arrives.awaited(r, batch) {
		return nil
	}
	u := r.units[:0]
	if r.o.Reserve > 0 {
		u = r.evict.choose(r, 0)
	}
	if len(u) == 0 {
		u = r.mostPopulated()
	}
	if r.fell = len(u) > 0; r.fell {
		r.Totals.Fallbacks++
	}
	return u
}

// sortChunks puts the chunks into the policy's order: a favoured tenant's last, equals by
// address.
func (r *Runtime) sortChunks() {
	r.order = r.order[:0]
	for i := range r.chunks {
		if c := &r.chunks[i]; c.live && !c.resident.Empty() && c.stamp > 0 {
			r.order = append(r.order, int32(i))
		}
	}
	slices.SortFunc(r.order, func(i, j int32) int {
		a, b := &r.chunks[i], &r.chunks[j]
		if x, y := int(a.tenant) == r.prefer.last, int(b.tenant) == r.prefer.last; x != y {
			if x {
				return 1
			}
			return -1
		}
		if k := r.evict.order(a, b); k != 0 {
			return k
		}
		return compare(a.base, b.base)
	})
	r.sorted = true
}

// mostPopulated is the chunk with most pages that may leave, the least recent of equals. If there is only one, and
// pages of the batch fault in it, it is a block of that chunk.
func (r *Runtime) mostPopulated() []unit {
	best, most := int32(-1), 0
	var own bool
	for i := range r.chunks {
		c := &r.chunks[i]
		e := c.evictable()
		n, mine := e.Count(), !c.fault.Empty()
		switch {
		case !c.live || n == 0:
			continue
		case best < 0, own && !mine:
		case mine != own:
			continue
		case n < most, n == most && !before(c, &r.chunks[best]):
			continue
		}
		best, most, own = int32(i), n, mine
	}
	switch {
	case best < 0:
		return nil
	case own:
		return append(r.units[:0], unit{best, r.chunks[best].ownBlock()})
	}
	return append(r.units[:0], unit{best, r.chunks[best].evictable()})
}

// ownBlock is the least recent block with pages that may leave, in a chunk in which pages of the batch fault. A block
// into which pages of the batch come is taken only if there is no other.
func (c *chunk) ownBlock() Mask {
	e, batch := c.evictable(), c.fault.Or(&c.want)
	var with uint32 // blocks into which the batch comes
	for b := range BlocksPerChunk {
		if batch.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 {
			with |= 1 << b
		}
	}
	b := c.nextBlock(&e, with)
	if b < 0 {
		b = c.nextBlock(&e, 0)
	}
	return e.In(b*PagesPerBlock, PagesPerBlock)
}

// before says that a was used less recently than b, or lies lower.
func before(a, b *chunk) bool {
	return a.stamp < b.stamp || a.stamp == b.stamp && a.base < b.base
}
