package uvm

// evictFullChunk takes the first 2 MB of its order that is fully populated and for which no access waits (2.2.3):
// under `lru2m` the least recent. The tree of an allocation's remainder is a chunk of its own size.
func evictFullChunk(r *Runtime, reserved int) []unit {
	return r.firstChunk(reserved, func(c *chunk, pages *Mask) bool { return pages.Count() == c.pages })
}

// evictAnyChunk takes the first 2 MB of its order, populated or not, in which no page of the batch
// faults.
func evictAnyChunk(r *Runtime, reserved int) []unit {
	return r.firstChunk(reserved, func(c *chunk, _ *Mask) bool { return c.fault.Empty() })
}

// firstChunk is the chunk of the first page behind the reserved ones, among those that fit and for which no access
// waits.
func (r *Runtime) firstChunk(reserved int, fits func(c *chunk, pages *Mask) bool) (found []unit) {
	r.beyondReserve(reserved, func(i int32, c *chunk, v *Mask, _ int) bool {
		if held := v.And(&c.held); held.Empty() && fits(c, v) {
			found = append(r.units, unit{i, *v})
		}
		return found != nil
	})
	return found
}
