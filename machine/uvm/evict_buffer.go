package uvm

// freeBuffer is percent of memory that evictions keep free, so that they begin before it is full: memory-threshold
// pre-eviction (Options.FreeBuffer).
type freeBuffer int

// pages is the buffer in pages of a runtime's memory, rounded up.
func (b freeBuffer) pages(r *Runtime) int { return ((r.capacity-r.forgotten)*int(b) + 99) / 100 }

// keep chooses pages to evict until a batch of a number of pages leaves the buffer free, as far as the policy has
// candidates.
func (b freeBuffer) keep(r *Runtime, batch int) {
	for b > 0 && batch+b.pages(r) > r.free() {
		u := r.evict.candidate(r)
		if len(u) == 0 {
			return
		}
		r.stage(u)
	}
}
