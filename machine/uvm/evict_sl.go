package uvm

// evictSequentialLocal is SL_e (4.1.1): the 64 KB block of the least recent page, whole. The
// order is hierarchical (4.1.3): chunks of 2 MB by their latest stamp, then the blocks in one.
func evictSequentialLocal(r *Runtime, reserved int) []unit {
	i, b := r.leastRecentBlock(reserved)
	if b < 0 {
		return nil
	}
	v := r.chunks[i].valid()
	return append(r.units, unit{i, v.In(b*PagesPerBlock, PagesPerBlock)})
}

// leastRecentBlock is the block of the first page behind the reserved ones, among the blocks that no access waits
// for; -1 if there is none.
func (r *Runtime) leastRecentBlock(reserved int) (in int32, block int) {
	block = -1
	r.beyondReserve(reserved, func(i int32, c *chunk, v *Mask, reserved int) bool {
		in, block = i, r.leastRecentIn(c, v, reserved)
		return block >= 0
	})
	return in, block
}

// leastRecentIn is leastRecentBlock within a chunk, of which v is the valid pages, more than are reserved. The public
// simulator takes no block of which a page is absent.
func (r *Runtime) leastRecentIn(c *chunk, v *Mask, reserved int) int {
	var seen uint32 // blocks
	for b := c.nextBlock(v, seen); b >= 0; b = c.nextBlock(v, seen) {
		seen |= 1 << b
		n := v.CountIn(b*PagesPerBlock, PagesPerBlock)
		switch {
		case c.block[b] == 0: // not in the order (Synchronized)
		case n <= reserved:
			reserved -= n
		case c.held.CountIn(b*PagesPerBlock, PagesPerBlock) == 0 && (n == PagesPerBlock || !r.o.Public):
			return b
		default:
			reserved = 0
		}
	}
	return -1
}

// nextBlock is the least recent block with pages of v that has not been seen; -1: none.
func (c *chunk) nextBlock(v *Mask, seen uint32) int {
	best := -1
	for b := range BlocksPerChunk {
		if seen>>b&1 == 0 && v.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 &&
			(best < 0 || c.block[b] < c.block[best]) {
			best = b
		}
	}
	return best
}
