package uvm

// prefetchRandom is R_p (3.1.4): with every page that faults comes one other page, drawn from
// those of the same 2 MB that are not on the device. The public simulator draws from all pages of the 2 MB, so that
// none comes along where the one it draws is there.
func prefetchRandom(t *Tree) (come Mask) {
	taken := t.Present.Or(&t.Fault)
	for p := t.Fault.Next(0); p < t.Pages; p = t.Fault.Next(p + 1) {
		if t.Public {
			if q := t.Random.IntN(t.Pages); !taken.Has(q) {
				come.Set(q)
				taken.Set(q)
			}
			continue
		}
		absent := t.Pages - taken.Count()
		if absent == 0 {
			return come
		}
		k := t.Random.IntN(absent)
		for q := range t.Pages {
			if taken.Has(q) {
				continue
			}
			if k == 0 {
				come.Set(q)
				taken.Set(q)
				break
			}
			k--
		}
	}
	return come
}
