package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// none marks an empty entry; no page key reaches it.
const none = ^uint64(0)

// pageKey joins tenant and virtual page number.
func pageKey(tenant mem.TenantID, vpn uint64) uint64 { return vpn<<8 | uint64(tenant) }

// TLB is a translation buffer with LRU replacement, tagged by tenant and virtual
// page. Up to scanWays ways are compared one by one; more ways (fully associative
// buffers) are found through a small hash index.
type TLB struct {
	key, ppn []uint64 // [set*ways + way]
	sets     uint64
	ways     int
	stamp    []uint64 // last use, of a buffer that scans
	clock    uint64
	index    *pageIndex // of a buffer with one wide set
	prev     []int32    // its recency list: entry len(key) is the sentinel,
	next     []int32    // next of it the most recent
}

const scanWays = 16

// NewTLB makes an empty buffer. ways 0 is fully associative; otherwise entries
// must be a multiple of ways.
func NewTLB(entries, ways int) (*TLB, error) {
	if ways == 0 {
		ways = entries
	}
	if entries < 1 || ways < 1 || entries%ways != 0 {
		return nil, fmt.Errorf("TLB of %d entries, %d ways: entries must be a positive multiple of ways", entries, ways)
	}
	if ways > scanWays && entries != ways {
		return nil, fmt.Errorf("TLB of %d entries, %d ways: above %d ways only a fully associative one is supported",
			entries, ways, scanWays)
	}
	t := &TLB{key: make([]uint64, entries), ppn: make([]uint64, entries), sets: uint64(entries / ways), ways: ways}
	if ways <= scanWays {
		t.stamp = make([]uint64, entries)
	} else {
		t.index = newPageIndex(entries)
		t.prev, t.next = make([]int32, entries+1), make([]int32, entries+1)
	}
	t.Flush()
	return t, nil
}

// Flush empties the buffer.
func (t *TLB) Flush() {
	for i := range t.key {
		t.key[i] = none
	}
	if t.index == nil {
		clear(t.stamp)
		return
	}
	t.index.reset()
	n := int32(len(t.key))
	for i := range n + 1 {
		t.prev[i], t.next[i] = (i+n)%(n+1), (i+1)%(n+1)
	}
}

// Lookup translates a page and marks it most recently used.
func (t *TLB) Lookup(tenant mem.TenantID, vpn uint64) (ppn uint64, ok bool) {
	k := pageKey(tenant, vpn)
	if t.index != nil {
		n := len(t.key)
		e := t.next[n]
		if t.key[e] != k { // not the page used last
			if e = t.index.find(k); e < 0 {
				return 0, false
			}
			t.unlink(e)
			t.link(e, int32(n))
		}
		return t.ppn[e], true
	}
	base := t.set(vpn)
	for i, x := range t.key[base : base+t.ways] {
		if x == k {
			t.clock++
			t.stamp[base+i] = t.clock
			return t.ppn[base+i], true
		}
	}
	return 0, false
}

// set is the first entry of the page's set.
func (t *TLB) set(vpn uint64) int {
	if t.sets&(t.sets-1) == 0 {
		return int(vpn&(t.sets-1)) * t.ways
	}
	return int(vpn%t.sets) * t.ways
}

// Insert adds or changes a translation, replacing the least recently used one of
// its set.
func (t *TLB) Insert(tenant mem.TenantID, vpn, ppn uint64) {
	k := pageKey(tenant, vpn)
	if t.index != nil {
		t.insertIndexed(k, ppn)
		return
	}
	base := t.set(vpn)
	victim := base
	for i := base; i < base+t.ways; i++ {
		if t.key[i] == k {
			victim = i
			break
		}
		if t.stamp[i] < t.stamp[victim] { // an empty entry has stamp 0
			victim = i
		}
	}
	t.clock++
	t.key[victim], t.ppn[victim], t.stamp[victim] = k, ppn, t.clock
}

func (t *TLB) insertIndexed(k, ppn uint64) {
	n := int32(len(t.key))
	e := t.index.find(k)
	if e < 0 {
		e = t.prev[n]
		if t.key[e] != none {
			t.index.remove(t.key[e])
		}
		t.key[e] = k
		t.index.add(k, e)
	}
	t.ppn[e] = ppn
	t.unlink(e)
	t.link(e, n)
}

func (t *TLB) unlink(e int32) {
	p, n := t.prev[e], t.next[e]
	t.next[p], t.prev[n] = n, p
}

// link puts e behind entry at.
func (t *TLB) link(e, at int32) {
	n := t.next[at]
	t.prev[e], t.next[e] = at, n
	t.next[at], t.prev[n] = e, e
}

// drop empties entry e, which becomes the first to be reused.
func (t *TLB) drop(e int) {
	if t.index != nil {
		t.index.remove(t.key[e])
		t.unlink(int32(e))
		t.link(int32(e), t.prev[len(t.key)])
	} else {
		t.stamp[e] = 0
	}
	t.key[e] = none
}

// InvalidatePage removes one translation and says whether it was there.
func (t *TLB) InvalidatePage(tenant mem.TenantID, vpn uint64) bool {
	k := pageKey(tenant, vpn)
	if t.index != nil {
		e := t.index.find(k)
		if e >= 0 {
			t.drop(int(e))
		}
		return e >= 0
	}
	base := t.set(vpn)
	for e := base; e < base+t.ways; e++ {
		if t.key[e] == k {
			t.drop(e)
			return true
		}
	}
	return false
}

// InvalidateTenant removes all translations of a tenant and returns their number.
func (t *TLB) InvalidateTenant(tenant mem.TenantID) int {
	n := 0
	for e, k := range t.key {
		if k != none && mem.TenantID(k) == tenant {
			t.drop(e)
			n++
		}
	}
	return n
}

// Entries is the capacity.
func (t *TLB) Entries() int { return len(t.key) }

// pageIndex finds a small number by page key: open addressing over flat arrays,
// a quarter full at most, so a probe is nearly always one compare.
type pageIndex struct {
	key   []uint64
	val   []int32
	mask  int
	shift uint
}

func newPageIndex(entries int) *pageIndex {
	size, bits := 4, uint(2)
	for size < 4*entries {
		size, bits = 2*size, bits+1
	}
	x := &pageIndex{key: make([]uint64, size), val: make([]int32, size), mask: size - 1, shift: 64 - bits}
	x.reset()
	return x
}

func (x *pageIndex) reset() {
	for i := range x.key {
		x.key[i] = none
	}
}

// slot spreads keys by the golden ratio (Fibonacci hashing).
func (x *pageIndex) slot(k uint64) int { return int(k * golden >> (x.shift & 63)) }

func (x *pageIndex) find(k uint64) int32 {
	for i := x.slot(k); ; i = (i + 1) & x.mask {
		switch x.key[i] {
		case k:
			return x.val[i]
		case none:
			return -1
		}
	}
}

// add inserts a key that is not there.
func (x *pageIndex) add(k uint64, v int32) {
	i := x.slot(k)
	for x.key[i] != none {
		i = (i + 1) & x.mask
	}
	x.key[i], x.val[i] = k, v
}

// remove deletes a key that is there and closes the gap.
func (x *pageIndex) remove(k uint64) {
	i := x.slot(k)
	for x.key[i] != k {
		i = (i + 1) & x.mask
	}
	for j := i; ; {
		j = (j + 1) & x.mask
		if x.key[j] == none {
			break
		}
		// An entry may fill the gap unless its home lies after it.
		if (j-x.slot(x.key[j]))&x.mask >= (j-i)&x.mask {
			x.key[i], x.val[i] = x.key[j], x.val[j]
			i = j
		}
	}
	x.key[i] = none
}
