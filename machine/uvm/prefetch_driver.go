package uvm

// prefetchDriver is what a driver of today does (NVIDIA open-gpu-kernel-modules 595.45.04,
// nvidia-uvm, described in words): of each 2 MB it has a bitmap of the pages that are on the
// device or fault, in which the 64 KB of every fault count as a whole, unless pages of them
// thrash. Of each fault, the largest region among the powers of two around it of which more than
// 51 % is set comes whole. What one fault brings does not count for the next.
func prefetchDriver(t *Tree) (come Mask) {
	set := t.Present.Or(&t.Fault)
	for p := t.Fault.Next(0); p < t.Pages; p = t.Fault.Next(p + 1) {
		if from := p &^ (PagesPerBlock - 1); t.Thrash.CountIn(from, PagesPerBlock) == 0 {
			block := span(from, PagesPerBlock)
			set = set.Or(&block)
		}
	}
	for p := t.Fault.Next(0); p < t.Pages; p = t.Fault.Next(p + 1) {
		for size := t.Pages; size >= 1; size /= 2 {
			from := p &^ (size - 1)
			if set.CountIn(from, size)*100 > size*driverThreshold {
				region := span(from, size)
				come = come.Or(&region)
				break
			}
		}
	}
	return come
}

// driverThreshold is uvm_perf_prefetch_threshold: percent of a region.
const driverThreshold = 51
