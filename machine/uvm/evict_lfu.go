package uvm

// byFrequency is the order of LFU by access counters (5.2.2): the chunk with the fewest accesses
// first, local and remote, of equals those never written, of these the least recent. Regular
// applications, which use all chunks alike, get LRU.
func byFrequency(a, b *chunk) int {
	if k := compare(a.accesses(), b.accesses()); k != 0 {
		return k
	}
	if a.written != b.written {
		if a.written {
			return 1
		}
		return -1
	}
	return byRecency(a, b)
}
