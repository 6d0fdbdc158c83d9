package uvm

import "slices"

// evictTree is TBN_e (4.1.2, Figure 9), the tree-based neighbourhood pre-eviction: the mirror of
// the prefetcher. The 64 KB block of the least recent page goes; then, from its lowest ancestor up
// to the root, a node of whose pages some, but less than half, are left loses these, too. The
// cascade does not stop when there is room. Contiguous blocks go as one transfer, at the place of
// the one that was chosen first. Cost: none beside the prefetcher's tree.
func evictTree(r *Runtime, reserved int) []unit {
	i, b := r.leastRecentBlock(reserved)
	if b < 0 {
		return nil
	}
	return r.cascade(i, b)
}

// counted is the pages of a chunk that its tree has; in the public simulator those on their way to the device, too, but
// not those that it has forgotten.
func (r *Runtime) counted(c *chunk) Mask {
	v := c.valid()
	if r.o.Public {
		v = v.Or(&c.coming)
		v = v.Without(&c.forgotten)
	}
	return v
}

// mayLeave says that a block goes with the one that was chosen: no access waits for a page of it, and in the public
// simulator all its pages are there.
func (r *Runtime) mayLeave(c *chunk, b int) bool {
	v := c.valid()
	return c.held.CountIn(b*PagesPerBlock, PagesPerBlock) == 0 &&
		(!r.o.Public || v.CountIn(b*PagesPerBlock, PagesPerBlock) == PagesPerBlock)
}

// cascade is a block of a chunk and the blocks that leave with it.
func (r *Runtime) cascade(i int32, b int) []unit {
	c := &r.chunks[i]
	left := r.counted(c)
	var chosen [BlocksPerChunk]int // in order
	n := 0
	var set uint32
	take := func(b int) {
		chosen[n], n, set = b, n+1, set|1<<b
		block := span(b*PagesPerBlock, PagesPerBlock)
		left = left.Without(&block)
	}
	take(b)
	for size := 2; size*PagesPerBlock <= c.pages; size *= 2 {
		from, to := b&^(size-1), b&^(size-1)+size
		if r.o.Public { // all nodes of the tree are looked at
			from, to = 0, c.pages/PagesPerBlock
		}
		for node := from; node < to; node += size {
			v := left.CountIn(node*PagesPerBlock, size*PagesPerBlock)
			if 2*v >= size*PagesPerBlock {
				continue
			}
			for k := node; k < node+size; k++ {
				if left.CountIn(k*PagesPerBlock, PagesPerBlock) > 0 && r.mayLeave(c, k) {
					take(k)
				}
			}
		}
	}
	if r.o.Public { // the transfers ascend
		slices.Sort(chosen[:n])
	}
	v := c.valid()
	out := r.units
	for _, b := range chosen[:n] {
		if set>>b&1 == 0 {
			continue // with one before
		}
		lo, hi := b, b+1
		for lo > 0 && set>>(lo-1)&1 != 0 {
			lo--
		}
		for hi < BlocksPerChunk && set>>hi&1 != 0 {
			hi++
		}
		for k := lo; k < hi; k++ {
			set &^= 1 << k
		}
		out = append(out, unit{i, v.In(lo*PagesPerBlock, (hi-lo)*PagesPerBlock)})
	}
	return out
}
