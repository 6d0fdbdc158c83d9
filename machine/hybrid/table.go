package hybrid

// noBlock marks an empty way.
const noBlock = ^uint32(0)

// set is the remap table's entry for a set, a bit per way, and values derived from it.
type set struct {
	order  recency
	valid  uint16 // ways that hold data
	dirty  uint16 // data that differ from those of the slow tier; of a cache only
	owners Owners // as of the last reconfiguration the set has seen,
	seen   uint16 // which was the one with this number
}

// table is the contents of the remap table. As a cache, a way names its block by number. A
// flat set is a permutation: where each of its blocks is, and which is where.
type table struct {
	layout
	set []set

	block []uint32 // by way of all sets; of a cache

	// Of flat memory, by block or position of all sets.
	at      []uint8
	who     []uint8
	touched []uint64 // a bit per block: it holds data

	chain []link // by set, where they are chained
}

// link says which set of its group holds a second block of a set: 1, 2 or 3 sets further on,
// or 0 for none.
type link struct{ to uint8 }

func newTable(c *Config) table {
	t := table{layout: newLayout(c)}
	t.set = make([]set, t.sets)
	for i := range t.set {
		t.set[i].order = untouched(uint64(i), t.ways)
	}
	if c.Chained {
		t.chain = make([]link, t.sets)
	}
	if c.Mode == Cache {
		t.block = make([]uint32, t.sets*uint64(t.ways))
		for i := range t.block {
			t.block[i] = noBlock
		}
		return t
	}
	n := t.sets * uint64(t.spots)
	t.at, t.who, t.touched = make([]uint8, n), make([]uint8, n), make([]uint64, (n+63)/64)
	for i := range t.at {
		t.at[i] = uint8(i % t.spots)
	}
	copy(t.who, t.at)
	return t
}

// flat says that both tiers are memory.
func (t *table) flat() bool { return t.at != nil }

// slot is the number of a way among those of all sets.
func (t *table) slot(p place) uint32 { return p.set*uint32(t.ways) + uint32(p.pos) }

// number is the block's number over all sets.
func (t *table) number(set, index uint32) uint32 { return index*uint32(t.sets) + set }

// find is where a block is now.
func (t *table) find(set, index uint32) place {
	if t.flat() {
		return place{set, uint16(t.at[int(set)*t.spots+int(index)])}
	}
	n := t.number(set, index)
	first := int(set) * t.ways
	for w, b := range t.block[first : first+t.ways] {
		if b == n {
			return place{set, uint16(w)}
		}
	}
	if t.chain != nil && t.chain[set].to != 0 {
		if far := t.chained(set); t.block[far] == n {
			return place{far, 0}
		}
	}
	return t.home(set, index)
}

// chained is the set that holds a second block of a chained set.
func (t *table) chained(set uint32) uint32 {
	return set&^(chainGroup-1) | (set+uint32(t.chain[set].to))&(chainGroup-1)
}

// resident is the block in a position: its set and index; false when it holds nothing. The
// positions of the slow tier are asked for in flat memory only.
func (t *table) resident(p place) (set, index uint32, ok bool) {
	if t.flat() {
		index = uint32(t.who[int(p.set)*t.spots+int(p.pos)])
		return p.set, index, t.isTouched(p.set, index)
	}
	b := t.block[t.slot(p)]
	if b == noBlock {
		return 0, 0, false
	}
	return b % uint32(t.sets), b / uint32(t.sets), true
}

// install puts a block of a cache into a way.
func (t *table) install(p place, set, index uint32) {
	t.block[t.slot(p)] = t.number(set, index)
	t.set[p.set].valid |= 1 << p.pos
}

// remove empties a way of a cache.
func (t *table) remove(p place) {
	t.block[t.slot(p)] = noBlock
	s := &t.set[p.set]
	s.valid &^= 1 << p.pos
	s.dirty &^= 1 << p.pos
}

// exchange swaps the blocks in two positions of a flat set, or in two ways of any set.
func (t *table) exchange(a, b place) {
	s := &t.set[a.set]
	if t.flat() {
		first := int(a.set) * t.spots
		i, j := t.who[first+int(a.pos)], t.who[first+int(b.pos)]
		t.who[first+int(a.pos)], t.who[first+int(b.pos)] = j, i
		t.at[first+int(i)], t.at[first+int(j)] = uint8(b.pos), uint8(a.pos)
		t.revalid(a)
		t.revalid(b)
		return
	}
	i, j := t.slot(a), t.slot(b)
	t.block[i], t.block[j] = t.block[j], t.block[i]
	s.valid, s.dirty = swapBits(s.valid, a.pos, b.pos), swapBits(s.dirty, a.pos, b.pos)
}

// swapBits exchanges two bits of a mask.
func swapBits(mask, i, j uint16) uint16 {
	if mask>>i&1 != mask>>j&1 {
		mask ^= 1<<i | 1<<j
	}
	return mask
}

// revalid notes whether a flat way holds data.
func (t *table) revalid(p place) {
	if int(p.pos) >= t.ways {
		return
	}
	s := &t.set[p.set]
	s.valid &^= 1 << p.pos
	if t.isTouched(p.set, uint32(t.who[int(p.set)*t.spots+int(p.pos)])) {
		s.valid |= 1 << p.pos
	}
}

func (t *table) isTouched(set, index uint32) bool {
	i := uint64(set)*uint64(t.spots) + uint64(index)
	return t.touched[i>>6]>>(i&63)&1 != 0
}

// touch is the first access to a block of flat memory: it takes a way of those allowed that
// holds nothing, or else a position of the slow tier that does not. Nothing has to be
// copied; places that transfers use are left alone. It says whether the entry changed.
func (t *table) touch(m *transfers, set, index uint32, allowed uint16) (changed bool) {
	at := t.find(set, index)
	free := allowed &^ t.set[set].valid &^ m.ways(set, t.ways)
	fits := int(at.pos) < t.ways && free>>at.pos&1 != 0
	if way := t.set[set].order.least(free, t.ways); !fits && way >= 0 {
		t.exchange(at, place{set, uint16(way)})
		changed = true
	} else if !fits && int(at.pos) < t.ways {
		changed = t.leave(m, at)
	}
	i := uint64(set)*uint64(t.spots) + uint64(index)
	t.touched[i>>6] |= 1 << (i & 63)
	t.revalid(t.find(set, index))
	return changed
}

// leave puts the block in a way, if it holds no data, into a free position of the slow tier.
func (t *table) leave(m *transfers, at place) bool {
	for pos := t.ways; pos < t.spots; pos++ {
		p := place{at.set, uint16(pos)}
		if _, _, used := t.resident(p); !used && !m.uses(p) {
			t.exchange(at, p)
			return true
		}
	}
	return false
}
