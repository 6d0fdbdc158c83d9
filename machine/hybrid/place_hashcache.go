package hybrid

import "math/bits"

// HAShCache is Patil and Govindarajan, "HAShCache: Heterogeneity-Aware Shared DRAMCache for
// Integrated Heterogeneous Systems", ACM TACO 14(4), 2017, as Hydrogen compares with it: on
// blocks and a remap table of this memory instead of tags beside the data.
//
// Chaining, where sets have one way: the GPU's blocks may take the place of a set up to three
// further on in a group of eight, where the CPU keeps at least one. ByE: while a kernel runs,
// reads of the CPU pass the fast memory by unless a Bloom filter of dirty blocks holds them
// back, and bring nothing in. PrIS, the CPU's priority in the schedulers of the cache's
// channels, is theirs (dram/sched_pris.go). Hardware: the filter, 156 KB; an offset and a
// back pointer per set.
//
// Readings. Blocks have the owner that used them last. Ways that have never been filled count as the CPU's. With more
// ways there is no chaining, and victims are the least recently used. A kernel counts as running until the GPU has
// been silent for some time.
type HAShCache struct {
	table  *table
	moving *transfers
	gpu    []uint8 // by group of sets: those whose way holds data of the GPU
	filter bloom
	kernel uint64 // clock up to which a kernel is taken to run
	all    uint16
}

// NewHAShCache is for sets of a number of ways, and a filter of a number of counters (638 976 in the published
// simulator).
func NewHAShCache(ways, counters int) *HAShCache {
	return &HAShCache{filter: newBloom(counters), all: uint16(1<<ways - 1)}
}

// reads implements tableReader.
func (p *HAShCache) reads(t *table, m *transfers) {
	p.table, p.moving = t, m
	p.gpu = make([]uint8, (t.sets+chainGroup-1)/chainGroup)
}

// dirtied implements dirtWatcher.
func (p *HAShCache) dirtied(block uint32, dirty bool) { p.filter.set(block, dirty) }

// passes implements bypasser.
func (p *HAShCache) passes(now uint64, block uint32, class Class) bool {
	return now < p.kernel && class == CPU && !p.filter.has(block)
}

// see notes that the GPU is at work.
func (p *HAShCache) see(v *View) {
	if v.Class == GPU {
		p.kernel = v.Now + kernelSpan
	}
}

// Owners implements Policy: all ways are shared.
func (p *HAShCache) Owners(uint64) Owners { return Owners{Of: [numClasses]uint16{p.all, p.all}} }

// Hit implements Policy: the class that used a block last owns it.
func (p *HAShCache) Hit(v *View, _ int) (Action, int) {
	p.see(v)
	p.own(uint32(v.Set), v.Class)
	return Keep, 0
}

// Miss implements Policy.
func (p *HAShCache) Miss(v *View) Choice {
	p.see(v)
	set := uint32(v.Set)
	switch {
	case v.Write || v.Now < p.kernel && v.Class == CPU:
		return Choice{Way: Bypass}
	case p.table.chain == nil:
		return v.fill(p.all)
	}
	to, ok := set, true
	if v.Class == GPU {
		to, ok = p.chained(set)
	}
	switch {
	case !ok:
		return Choice{Way: Bypass}
	case p.moving.ways(to, 1) != 0:
		return Choice{Way: Wait}
	}
	p.unlink(to)
	if to != set {
		p.table.chain[set].to = uint8((to - set) & (chainGroup - 1))
	}
	p.own(to, v.Class)
	return Choice{Set: to}
}

// chained is the set whose way a block of the GPU takes; false when it may not have any.
func (p *HAShCache) chained(set uint32) (to uint32, ok bool) {
	full := bits.OnesCount8(p.gpu[set/chainGroup])+1 >= gpuMost
	if p.table.chain[set].to == 0 {
		mine := p.ownedByGPU(set)
		if mine == full {
			return set, true // no more for the GPU, or one more
		}
		if far, found := p.near(set, full); found {
			return far, true
		}
		return set, mine
	}
	far := p.table.chained(set)
	near, other := p.ownedByGPU(set), p.ownedByGPU(far)
	switch {
	case near && other:
		return set, true
	case near != other && near == full:
		return set, true
	case near != other:
		return far, true
	}
	return far, !full
}

// near is the nearest set further on that no chain begins or ends in, and whose way is the
// GPU's or not.
func (p *HAShCache) near(set uint32, gpu bool) (uint32, bool) {
	group := set &^ (chainGroup - 1)
	for d := uint32(1); d <= chainReach; d++ {
		x := group | (set+d)&(chainGroup-1)
		if home, _, ok := p.table.resident(place{x, 0}); p.table.chain[x].to == 0 && (!ok || home == x) &&
			p.ownedByGPU(x) == gpu {
			return x, true
		}
	}
	return 0, false
}

// unlink ends the chain to a set whose way gets another block.
func (p *HAShCache) unlink(set uint32) {
	if home, _, ok := p.table.resident(place{set, 0}); ok && home != set {
		p.table.chain[home].to = 0
	}
}

func (p *HAShCache) ownedByGPU(set uint32) bool {
	return p.gpu[set/chainGroup]>>(set%chainGroup)&1 != 0
}

func (p *HAShCache) own(set uint32, c Class) {
	group, bit := &p.gpu[set/chainGroup], set%chainGroup
	*group = *group&^(1<<bit) | uint8(c)<<bit
}
