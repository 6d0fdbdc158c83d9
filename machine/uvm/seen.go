package uvm

// PageUse is the accesses of a page since the last call of Seen.
type PageUse struct {
	Addr uint64
	N    uint32
}

// watched is the accesses that are counted page by page.
type watched struct {
	on    bool
	seen  []uint32  // [page] accesses since they were asked for
	freed []PageUse // the same of pages that were freed since
}

// Watch counts the accesses page by page, for Seen, of all that is allocated from now on.
func (r *Runtime) Watch() { r.watch.on = true }

// watchChunks makes room for the counts of new chunks.
func (r *Runtime) watchChunks() {
	if n := len(r.chunks) * PagesPerChunk; r.watch.on && n > len(r.watch.seen) {
		r.watch.seen = append(r.watch.seen, make([]uint32, n-len(r.watch.seen))...)
	}
}

// Seen adds to a list the pages that were accessed since the last call; pages freed meanwhile come first.
func (r *Runtime) Seen(list []PageUse) []PageUse {
	list = append(list, r.watch.freed...)
	r.watch.freed = r.watch.freed[:0]
	for i := range r.allocs {
		list = r.drain(&r.allocs[i], list)
	}
	return list
}

// drain takes the counts of an allocation's pages.
func (r *Runtime) drain(a *allocation, list []PageUse) []PageUse {
	first := pageOf(a.first, 0)
	for p := first; p < first+page(a.chunks)*PagesPerChunk && int(p) < len(r.watch.seen); p++ {
		if n := r.watch.seen[p]; n > 0 {
			list = append(list, PageUse{r.address(p), n})
			r.watch.seen[p] = 0
		}
	}
	return list
}
