package uvm

// evictSmart is what the smart runtime evicts (6.2.3): the least recent chunk decides. If its allocation is regular
// or mixed, the pages leave that TBN_e takes; otherwise the whole chunk leaves, if it is full. In the public
// simulator TBN_e decides for random allocations, too.
func evictSmart(r *Runtime, reserved int) (found []unit) {
	r.beyondReserve(reserved, func(i int32, c *chunk, v *Mask, reserved int) bool {
		if c.pattern == Regular || c.pattern.mixed() || r.o.Public && c.pattern.random() {
			if b := r.leastRecentIn(c, v, reserved); b >= 0 {
				found = r.cascade(i, b)
			}
		} else if held := v.And(&c.held); held.Empty() && v.Count() == c.pages {
			found = append(r.units, unit{i, *v})
		}
		return found != nil
	})
	return found
}

// migrateSmart is the rule of migration of an allocation: Adaptive for a mixed one, else at first
// touch; a random one is pinned on the host once memory has been too small. The public simulator has the static
// threshold for both, once memory has been too small.
func migrateSmart(c *chunk, o *Occupancy, public bool) (limit uint64, pinned bool) {
	switch {
	case public && (c.pattern.mixed() || c.pattern.random()):
		return migrateOversub(o), false
	case c.pattern.mixed():
		return migrateAdaptive(o), false
	case c.pattern.random() && o.Over:
		return 0, true
	}
	return 0, false
}
