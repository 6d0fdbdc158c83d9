package uvm

// prefetchSequentialLocal is SL_p (3.1.4): the 64 KB block of every page that faults.
func prefetchSequentialLocal(t *Tree) (come Mask) {
	for p := t.Fault.Next(0); p < t.Pages; p = t.Fault.Next(p + 1) {
		block := span(p&^(PagesPerBlock-1), PagesPerBlock)
		come = come.Or(&block)
	}
	return come
}
