package probe

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/machine/uvm"
)

// reference is unified memory a second time, by the page and without any cleverness: a map of
// pages, sorted anew for every choice.
type reference struct {
	o      uvm.Options
	tree   []treeRange
	page   map[int]*refPage // by number: address / 4096
	stamp  map[string]int   // of "block N" and "tree BASE"
	moved  map[int]int      // by tree base: stamp of the latest transfer
	wrote  map[int]bool     // by tree base
	count  map[int]int      // accesses by block
	trips  map[int]int      // by block
	now    int
	over   bool
	cursor int
	pick   func(from []int) int // a page for random policies
	res    Result
}

type treeRange struct{ base, pages, alloc, end int } // page numbers; end of the allocation

type refPage struct {
	stamp int
	dirty bool
}

func (m *reference) alloc(base, bytes int) {
	first := base / 4096
	var sizes []int
	for ; bytes >= 2<<20; bytes -= 2 << 20 {
		sizes = append(sizes, 512)
	}
	if bytes > 0 {
		s := 16
		for s*4096 < bytes {
			s *= 2
		}
		sizes = append(sizes, s)
	}
	end := first
	for _, s := range sizes {
		end += s
	}
	for _, s := range sizes {
		m.tree = append(m.tree, treeRange{first, s, base / 4096, end})
		first += s
	}
	sort.Slice(m.tree, func(i, j int) bool { return m.tree[i].base < m.tree[j].base })
}

func (m *reference) treeOf(p int) treeRange {
	for _, t := range m.tree {
		if p >= t.base && p < t.base+t.pages {
			return t
		}
	}
	panic("no tree")
}

func blockName(p int) string        { return fmt.Sprint("block ", p/16) }
func treeName(t treeRange) string   { return fmt.Sprint("tree ", t.base) }
func (m *reference) has(p int) bool { return m.page[p] != nil }

func (m *reference) valid(from, n int) (list []int) {
	for p := from; p < from+n; p++ {
		if m.has(p) {
			list = append(list, p)
		}
	}
	return list
}

func (m *reference) access(i, addr int, write bool) {
	p := addr / 4096
	m.count[p/16]++
	if m.has(p) {
		m.use(p, write)
		return
	}
	limit := 0
	switch {
	case m.o.Migrate == "always", m.o.Migrate == "oversub" && m.over:
		limit = m.o.Ts
	case m.o.Migrate == "adaptive" && m.over:
		limit = m.o.Ts * (m.trips[p/16] + 1) * m.o.P
	case m.o.Migrate == "adaptive":
		limit = m.o.Ts*len(m.page)/int(m.o.Capacity/4096) + 1
	}
	if !write && m.count[p/16] < limit {
		m.res.Events = append(m.res.Events, Event{Access: i, Kind: "remote", Page: hex(uint64(p * 4096))})
		m.res.Totals.Remote++
		return
	}
	e := Event{Access: i, Kind: "fault", Page: hex(uint64(p * 4096)), Migrate: []Move{}, Evict: []Eviction{}}
	m.fault(&e, p)
	m.use(p, write)
	m.res.Events = append(m.res.Events, e)
}

func (m *reference) use(p int, write bool) {
	m.now++
	t := m.treeOf(p)
	m.page[p].stamp = m.now
	m.stamp[blockName(p)], m.stamp[treeName(t)] = m.now, m.now
	if write {
		m.page[p].dirty = true
		m.wrote[t.base] = true
	}
}

func (m *reference) fault(e *Event, p int) {
	capacity := int(m.o.Capacity / 4096)
	runs := m.runs(m.come(p), p)
	total := 1
	for _, r := range runs {
		total += len(r)
	}
	fits := total <= capacity-len(m.page)
	for total > capacity {
		total -= len(runs[len(runs)-1])
		runs = runs[:len(runs)-1]
	}
	var bumped []int // blocks
	for capacity-len(m.page) < total {
		for _, unit := range m.victims(p, runs) {
			bumped = m.leave(e, unit, bumped)
		}
	}
	m.bump(bumped)
	m.over = m.over || !fits
	for _, r := range append([][]int{{p}}, runs...) {
		m.now++
		for _, q := range r {
			m.page[q] = &refPage{stamp: m.now}
			t := m.treeOf(q)
			m.stamp[blockName(q)], m.stamp[treeName(t)], m.moved[t.base] = m.now, m.now, m.now
		}
		e.Migrate = append(e.Migrate, Move{hex(uint64(r[0] * 4096)), int64(len(r) * 4096)})
		m.res.Totals.Migrated += uint64(len(r) * 4096)
		m.res.Totals.DMAToDevice++
	}
	m.res.Totals.Faults++
}

// victim is pages with what is said of all units of a choice.
type victim struct {
	pages []int
	write bool
}

// bump counts a round trip of each block, chunk by chunk in the order of their first eviction; a
// count of 31 halves all.
func (m *reference) bump(blocks []int) {
	done := map[int]bool{}
	for _, first := range blocks {
		var chunk []int
		for _, b := range blocks {
			if b/32 == first/32 && !done[b] {
				chunk, done[b] = append(chunk, b), true
			}
		}
		sort.Ints(chunk)
		for _, b := range chunk {
			if m.trips[b]++; m.trips[b] == 31 {
				for k := range m.trips {
					m.trips[k] /= 2
				}
			}
		}
	}
}

func (m *reference) leave(e *Event, v victim, bumped []int) []int {
	for _, q := range v.pages {
		delete(m.page, q)
		bumped = append(bumped, q/16)
	}
	n := len(v.pages) * 4096
	e.Evict = append(e.Evict, Eviction{hex(uint64(v.pages[0] * 4096)), int64(n), v.write})
	m.res.Totals.Evicted += uint64(n)
	if v.write {
		m.res.Totals.WrittenBack += uint64(n)
		m.res.Totals.DMAToHost++
	}
	return bumped
}

// come is the pages that come beside p, in ascending order.
func (m *reference) come(p int) (list []int) {
	name := m.o.Prefetch
	if m.over && m.o.PrefetchOver != "" {
		name = m.o.PrefetchOver
	}
	t := m.treeOf(p)
	set := map[int]bool{}
	fill := func(from, n int) {
		for q := from; q < from+n; q++ {
			if !m.has(q) && q != p {
				set[q] = true
			}
		}
	}
	count := func(from, n int) (k int) {
		for q := from; q < from+n; q++ {
			if m.has(q) || set[q] || q == p {
				k++
			}
		}
		return k
	}
	block := p / 16 * 16
	switch name {
	case "sl":
		fill(block, 16)
	case "tbn":
		fill(block, 16)
		for n := 32; n <= t.pages; n *= 2 {
			if from := t.base + (p-t.base)/n*n; count(from, n)*2 > n {
				fill(from, n)
			}
		}
	case "driver-today":
		fill(block, 16)
		best := 16
		for n := 32; n <= t.pages; n *= 2 {
			if count(t.base+(p-t.base)/n*n, n)*100 > n*51 {
				best = n
			}
		}
		fill(t.base+(p-t.base)/best*best, best)
	case "zheng-512k":
		fill(p, min(128, t.end-p))
	case "zheng-sequential":
		room := min(128, int(m.o.Capacity/4096)-len(m.page)-1)
		for _, t := range m.tree {
			for q := max(t.base, m.cursor); q < t.base+t.pages && room > 0; q++ {
				if !m.has(q) && q != p {
					set[q] = true
					room--
				}
				m.cursor = q + 1
			}
		}
	case "random":
		var absent []int
		for q := t.base; q < t.base+t.pages; q++ {
			if !m.has(q) && q != p {
				absent = append(absent, q)
			}
		}
		if len(absent) > 0 {
			set[m.pick(absent)] = true
		}
	}
	for q := range set {
		list = append(list, q)
	}
	sort.Ints(list)
	return list
}

// runs cuts pages at gaps; the page that faults is such a gap.
func (m *reference) runs(list []int, _ int) (runs [][]int) {
	for i, q := range list {
		if i > 0 && list[i-1] == q-1 {
			runs[len(runs)-1] = append(runs[len(runs)-1], q)
		} else {
			runs = append(runs, []int{q})
		}
	}
	return runs
}

// victims is what goes next for a fault on p.
func (m *reference) victims(p int, runs [][]int) []victim {
	reserved := m.o.Reserve * len(m.page) / 100
	if v := m.candidate(p, reserved); v != nil {
		return v
	}
	m.res.Totals.Fallbacks++
	if reserved > 0 {
		if v := m.candidate(p, 0); v != nil {
			return v
		}
	}
	own := m.treeOf(p)
	var best treeRange
	for _, t := range m.tree {
		a, b := len(m.valid(t.base, t.pages)), len(m.valid(best.base, best.pages))
		if t != own && a > 0 && (a > b || a == b && m.stamp[treeName(t)] < m.stamp[treeName(best)]) {
			best = t
		}
	}
	if best.pages == 0 {
		return m.ownBlock(own, p, runs)
	}
	return []victim{{m.valid(best.base, best.pages), m.dirty(best)}}
}

// ownBlock is the least recent block of the only tree with pages, outside the batch if possible.
func (m *reference) ownBlock(own treeRange, p int, runs [][]int) []victim {
	batch := map[int]bool{p / 16: true}
	for _, r := range runs {
		for _, q := range r {
			batch[q/16] = true
		}
	}
	for _, within := range []bool{false, true} {
		best := -1
		for b := own.base / 16; b < (own.base+own.pages)/16; b++ {
			if len(m.valid(b*16, 16)) > 0 && (within || !batch[b]) &&
				(best < 0 || m.stamp[blockName(b*16)] < m.stamp[blockName(best*16)]) {
				best = b
			}
		}
		if best >= 0 {
			return []victim{{m.valid(best*16, 16), m.dirty(own)}}
		}
	}
	panic("nothing is valid")
}

func (m *reference) dirty(t treeRange) bool {
	if !m.o.CleanDropped {
		return true
	}
	for _, p := range m.valid(t.base, t.pages) {
		if m.page[p].dirty {
			return true
		}
	}
	return false
}

// order is all pages, least recent first, in the order of the policy.
func (m *reference) order() (list []int) {
	for p := range m.page {
		list = append(list, p)
	}
	accesses := func(t treeRange) (n int) {
		for b := t.base / 16; b < (t.base+t.pages)/16; b++ {
			n += m.count[b]
		}
		return n
	}
	key := func(p int) []int {
		t := m.treeOf(p)
		switch m.o.Evict {
		case "lru4k", "random4k":
			return []int{m.page[p].stamp, p}
		case "lfu":
			w := 0
			if m.wrote[t.base] {
				w = 1
			}
			return []int{accesses(t), w, m.stamp[treeName(t)], t.base, p}
		case "driver-today":
			return []int{m.moved[t.base], t.base, p}
		}
		return []int{m.stamp[treeName(t)], t.base, m.stamp[blockName(p)], p}
	}
	keys := map[int][]int{}
	for _, p := range list {
		keys[p] = key(p)
	}
	sort.Slice(list, func(i, j int) bool { return slices.Compare(keys[list[i]], keys[list[j]]) < 0 })
	return list
}

func (m *reference) candidate(fault, reserved int) []victim {
	order := m.order()[reserved:]
	if m.o.Evict == "random4k" && len(order) > 0 {
		p := m.pick(order)
		return []victim{{[]int{p}, m.dirty(m.treeOf(p))}}
	}
	for _, p := range order {
		t := m.treeOf(p)
		whole := m.valid(t.base, t.pages)
		w := m.dirty(t)
		switch m.o.Evict {
		case "lru4k":
			return []victim{{[]int{p}, w}}
		case "sl":
			return []victim{{m.valid(p/16*16, 16), w}}
		case "tbn":
			return m.cascade(t, p, w)
		case "driver-today":
			if t != m.treeOf(fault) {
				return []victim{{whole, w}}
			}
		default:
			if len(whole) == t.pages {
				return []victim{{whole, w}}
			}
		}
	}
	return nil
}

func (m *reference) cascade(t treeRange, p int, w bool) (out []victim) {
	blocks := []int{p / 16}
	left := map[int]int{}
	for b := t.base / 16; b < (t.base+t.pages)/16; b++ {
		left[b] = len(m.valid(b*16, 16))
	}
	left[p/16] = 0
	for n := 2; n <= t.pages/16; n *= 2 {
		from := (p - t.base) / 16 / n * n
		sum := 0
		for k := range n {
			sum += left[t.base/16+from+k]
		}
		if sum == 0 || sum*2 >= n*16 {
			continue
		}
		for k := range n {
			if b := t.base/16 + from + k; left[b] > 0 {
				left[b] = 0
				blocks = append(blocks, b)
			}
		}
	}
	done := map[int]bool{}
	for _, b := range blocks {
		if done[b] {
			continue
		}
		group := []int{b}
		for again := true; again; {
			again = false
			for _, o := range blocks {
				if !slices.Contains(group, o) && (slices.Contains(group, o-1) || slices.Contains(group, o+1)) {
					group, again = append(group, o), true
				}
			}
		}
		sort.Ints(group)
		v := victim{write: w}
		for _, g := range group {
			done[g] = true
			v.pages = append(v.pages, m.valid(g*16, 16)...)
		}
		out = append(out, v)
	}
	return out
}

// The runtime does what the reference does, page by page, whatever the trace and the policies.
func TestReference(t *testing.T) {
	pages := rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(61, 1200))
	rapid.Check(t, func(t *rapid.T) {
		o := uvm.Options{
			Capacity:     4096 * int64(pages.Draw(t, "capacity")),
			Prefetch:     rapid.SampledFrom(uvm.PrefetcherNames()).Draw(t, "prefetch"),
			PrefetchOver: rapid.SampledFrom(append(uvm.PrefetcherNames(), "")).Draw(t, "over"),
			Evict:        rapid.SampledFrom(uvm.EvictionNames()).Draw(t, "evict"),
			Migrate:      rapid.SampledFrom(uvm.MigrationNames()).Draw(t, "migrate"),
			Ts:           rapid.IntRange(1, 4).Draw(t, "ts"), P: rapid.IntRange(1, 3).Draw(t, "p"),
			Reserve:      rapid.SampledFrom([]int{0, 0, 10, 20}).Draw(t, "reserve"),
			CleanDropped: rapid.Bool().Draw(t, "clean"), Seed: rapid.Uint64().Draw(t, "seed"),
		}
		m := &reference{
			o: o, page: map[int]*refPage{}, stamp: map[string]int{}, moved: map[int]int{}, wrote: map[int]bool{},
			count: map[int]int{}, trips: map[int]int{},
		}
		m.res.Events = []Event{}
		trace, accesses := drawTrace(t, m)
		got, err := Run(o, "t", strings.NewReader(trace))
		if err != nil {
			t.Fatal(err)
		}
		m.follow(got)
		for i, a := range accesses {
			m.access(i, a.addr, a.write)
		}
		got.Totals.Thrashed = 0
		if g, w := describe(got), describe(&m.res); g != w {
			t.Fatalf("%+v\n%s\ngot\n%s\nwant\n%s", o, trace, g, w)
		}
	})
}

type refAccess struct {
	addr  int
	write bool
}

func drawTrace(t *rapid.T, m *reference) (string, []refAccess) {
	var b strings.Builder
	var list []refAccess
	at := 2 << 20
	for range rapid.IntRange(1, 3).Draw(t, "allocations") {
		n := rapid.OneOf(rapid.IntRange(1, 1<<20), rapid.IntRange(1<<20, 5<<20)).Draw(t, "bytes")
		fmt.Fprintf(&b, "alloc a 0x%x %d\n", at, n)
		m.alloc(at, n)
		at += (n + 2<<20 - 1) >> 21 << 21
	}
	p := m.tree[0].base
	for range rapid.IntRange(0, 120).Draw(t, "accesses") {
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0:
			tree := rapid.SampledFrom(m.tree).Draw(t, "tree")
			p = tree.base + rapid.IntRange(0, tree.pages-1).Draw(t, "page")
		case 1: // another block of the tree
			tree := m.treeOf(p)
			p = tree.base + (p-tree.base+16*rapid.IntRange(1, 5).Draw(t, "blocks"))%tree.pages
		case 2:
			tree := m.treeOf(p)
			p = tree.base + (p-tree.base+1)%tree.pages
		}
		a := refAccess{p*4096 + rapid.IntRange(0, 4095).Draw(t, "byte"), rapid.IntRange(0, 3).Draw(t, "rw") == 0}
		list = append(list, a)
		op := "R"
		if a.write {
			op = "W"
		}
		fmt.Fprintf(&b, "%s 0x%x\n", op, a.addr)
	}
	return b.String(), list
}

// follow makes the reference draw what the runtime drew, where that could be drawn.
func (m *reference) follow(got *Result) {
	m.pick = func(from []int) int {
		i := len(m.res.Events)
		if i >= len(got.Events) {
			return from[0]
		}
		e := &got.Events[i]
		for _, v := range e.Evict { // the first of the runtime's choices that is still there
			if p := pageNumber(v.Page); slices.Contains(from, p) && m.has(p) {
				return p
			}
		}
		for _, c := range e.Migrate {
			if p := pageNumber(c.Page); slices.Contains(from, p) && !m.has(p) {
				return p
			}
		}
		return from[0]
	}
}

func pageNumber(page string) (p int) {
	if _, err := fmt.Sscanf(page, "0x%x", &p); err != nil {
		panic(err)
	}
	return p / 4096
}

func describe(r *Result) string {
	var b strings.Builder
	for _, e := range r.Events {
		fmt.Fprintf(&b, "%+v\n", e)
	}
	fmt.Fprintf(&b, "%+v", r.Totals)
	return b.String()
}
