package uvm

// Zheng et al., "Towards high performance paged memory for GPUs", HPCA 2016, as 3.1.4 describes
// its prefetchers.

// zhengPages is how many pages come in one go: 512 KB.
const zhengPages = 128

// prefetchLocality brings the 128 pages from each faulting one on, as far as its allocation goes;
// what is on the device among them is skipped, not replaced by more.
func prefetchLocality(r *Runtime) {
	for i := range len(r.batch) { // what is added is behind these
		c := r.batch[i]
		faults := r.chunks[c].fault
		for k := faults.Next(0); k < PagesPerChunk; k = faults.Next(k + 1) {
			first := pageOf(c, k)
			a := r.allocationOf(r.address(first))
			end := page(a.first*PagesPerChunk) + page((a.end-a.base)/PageSize)
			for p := first + 1; p < min(first+zhengPages, end); p++ {
				r.add(p)
			}
		}
	}
}

// prefetchSequential brings the 128 lowest pages that are not on the device from a cursor on,
// which begins at the lowest address and only moves up, wherever the faults are. It only fills
// memory: it stops where that is full.
func prefetchSequential(r *Runtime) {
	room := r.free()
	for _, c := range r.batch {
		room -= r.chunks[c].fault.Count()
	}
	room = min(room, zhengPages)
	for i := range r.allocs {
		a := &r.allocs[i]
		for at := max(a.base, r.cursor); at < a.end && room > 0; at += PageSize {
			if r.add(page(a.first*PagesPerChunk) + page((at-a.base)/PageSize)) {
				room--
			}
			r.cursor = at + PageSize
		}
	}
}
