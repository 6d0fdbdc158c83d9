package uvm

import "testing"

// Where the policy has no candidate, what goes instead is marked, once for each choice: LRU 2 MB takes
// only full trees, and on demand none ever is.
func TestFallbacksAreMarked(t *testing.T) {
	r, err := New(Options{
		Capacity: 2 * PageSize, Prefetch: "none", Evict: "lru2m", Migrate: "first-touch", Ts: 8, P: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Allocate(0, base, ChunkSize, false); err != nil {
		t.Fatal(err)
	}
	marked := 0
	for k := range uint64(5) {
		addr := base + k*PageSize
		if v, err := r.Access(addr, false); v != Fault || err != nil {
			t.Fatalf("page %d: %v, %v", k, v, err)
		}
		p := r.Plan([]uint64{addr})
		for i := range p.Out {
			if p.Out[i].Fallback {
				marked++
			}
			r.Leave(&p.Out[i])
			r.Gone(&p.Out[i])
		}
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(addr, false)
	}
	if uint64(marked) != r.Totals.Fallbacks || marked == 0 {
		t.Errorf("%d marked, %d counted", marked, r.Totals.Fallbacks)
	}
}
