package uvm

// evictRandom4K takes a page drawn from all that are valid (R_e, 3.1.4), behind the reserved ones
// in order of recency. A favoured tenant's pages are drawn when there are no others.
func evictRandom4K(r *Runtime, reserved int) []unit {
	for _, favoured := range []bool{false, true} {
		n := 0
		r.eachPage(reserved, favoured, func(page) bool { n++; return true })
		if n == 0 {
			continue
		}
		k := r.random[1].IntN(n)
		var drawn page
		r.eachPage(reserved, favoured, func(p page) bool { drawn = p; k--; return k >= 0 })
		return append(r.units, single(drawn))
	}
	return nil
}

// eachPage visits the pages that may leave, of the favoured tenant or of all others, after the reserved ones, until f
// returns false.
func (r *Runtime) eachPage(reserved int, favoured bool, f func(page) bool) {
	for p := r.list.after(-1); p >= 0; p = r.list.after(p) {
		if reserved > 0 {
			reserved--
			continue
		}
		c := &r.chunks[p.chunk()]
		if !c.held.Has(p.index()) && (int(c.tenant) == r.prefer.last) == favoured && !f(p) {
			return
		}
	}
}
