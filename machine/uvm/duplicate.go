package uvm

// duplicates are the pages of a chunk that host and device both have, as their allocation is mostly read: a page that
// comes for a read leaves a copy on the host. A copy that is evicted is dropped, and never written back. The side
// that writes first makes the other's copy void: a write of the device waits for the driver, one of the host has the
// device drop the page.
type duplicates struct {
	here Mask // of the resident: the host has the page, too
	own  Mask // of the absent: a write waits, so that the host keeps no copy
}

// ask notes an access to an absent page.
func (d *duplicates) ask(k int, write bool) {
	if write {
		d.own.Set(k)
	}
}

// arrive notes that a page has come.
func (c *chunk) arrive(k int) {
	if c.advice&ReadMostly != 0 && !c.twice.own.Has(k) {
		c.twice.here.Set(k)
		c.hints.acted |= ReadMostly
	}
	c.twice.own.Clear(k)
}

// ofHost are the pages of a chunk of which the host has a copy to read, or will have one.
func (c *chunk) ofHost() Mask {
	if c.advice&ReadMostly == 0 {
		return c.twice.here
	}
	coming := c.coming.Without(&c.twice.own)
	return c.twice.here.Or(&coming)
}

// Duplicated says that host and device both have a page.
func (r *Runtime) Duplicated(addr uint64) bool {
	p, ok := r.find(addr)
	return ok && r.chunks[p.chunk()].twice.here.Has(p.index())
}

// Collapse makes the device's copy of a page the only one, and says whether there were two.
func (r *Runtime) Collapse(addr uint64) bool {
	p, ok := r.find(addr)
	if !ok || !r.chunks[p.chunk()].twice.here.Has(p.index()) {
		return false
	}
	c, k := &r.chunks[p.chunk()], p.index()
	c.twice.here.Clear(k)
	c.twice.own.Clear(k)
	c.asked.Clear(k)
	return true
}
