package uvm

// evictLRU4K takes the least recent page of a flat list (2.2.3, at a granularity of 4 KB). A
// favoured tenant's pages go when there are no others.
func evictLRU4K(r *Runtime, reserved int) []unit {
	spared := page(-1)
	for p := r.list.after(-1); p >= 0; p = r.list.after(p) {
		if reserved > 0 {
			reserved--
			continue
		}
		c := &r.chunks[p.chunk()]
		switch {
		case c.held.Has(p.index()):
		case int(c.tenant) == r.prefer.last:
			if spared < 0 {
				spared = p
			}
		default:
			return append(r.units, single(p))
		}
	}
	if spared >= 0 {
		return append(r.units, single(spared))
	}
	return nil
}

// single is one page.
func single(p page) (u unit) {
	u.chunk = p.chunk()
	u.pages.Set(p.index())
	return u
}
