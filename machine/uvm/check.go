package uvm

import "fmt"

// Check recomputes all that a Runtime keeps track of: pages that are there and on their way, pages that came and
// left, and that there are never more pages than memory holds. For tests.
func (r *Runtime) Check() error {
	var valid, staged, coming, listed int
	for i := range r.chunks {
		c := &r.chunks[i]
		v := c.valid()
		valid, staged, coming = valid+v.Count(), staged+c.staged.Count(), coming+c.coming.Count()
		both := c.resident.And(&c.coming)
		away := c.resident.And(&c.leaving)
		beyond := c.resident.Or(&c.coming)
		beyond = beyond.In(c.pages, PagesPerChunk-c.pages)
		stray := c.staged.Without(&c.resident)
		dirty := c.dirty.Without(&c.resident)
		memory := c.forgotten.Without(&c.resident)
		twice := c.twice.here.Without(&c.resident)
		changed := c.twice.here.And(&c.dirty)
		there := c.resident.Or(&c.coming)
		there = there.And(&c.pinned)
		if !both.Empty() || !away.Empty() || !beyond.Empty() || !stray.Empty() || !dirty.Empty() ||
			!there.Empty() || !memory.Empty() || !twice.Empty() || !changed.Empty() ||
			!c.fault.Empty() || !c.want.Empty() || !c.gone.Empty() {
			return fmt.Errorf("chunk 0x%x: states of pages contradict each other: %+v", c.base, c)
		}
	}
	for p := r.list.after(-1); p >= 0; p = r.list.after(p) {
		listed++
	}
	switch t := &r.Totals; {
	case valid != r.valid || staged != r.staged || coming != r.coming:
		return fmt.Errorf("%d valid, %d staged and %d coming pages, %d, %d and %d by counting", r.valid, r.staged,
			r.coming, valid, staged, coming)
	case r.flat && listed != valid && (!r.o.Public || listed > valid):
		return fmt.Errorf("%d pages in order of recency, %d are valid", listed, valid)
	case uint64(valid+coming) != t.Migrated-t.Evicted-t.Returned-t.Voided-t.Freed:
		return fmt.Errorf("%d pages are there or coming, %d have come, %d left, %d went back, %d were void and %d "+
			"were freed", valid+coming, t.Migrated, t.Evicted, t.Returned, t.Voided, t.Freed)
	}
	return nil
}
