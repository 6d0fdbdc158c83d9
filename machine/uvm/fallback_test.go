package uvm

import (
	"slices"
	"testing"
)

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

// LRU 2 MB finds no full tree while the last transfer of one is on its way. It waits for that as long as it is under
// way or can begin, and then takes the tree; where nothing arrives it takes the fullest tree at once.
func TestFallbackWaitsForArrival(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		r, err := New(Options{
			Capacity: 2*BlockSize - PageSize, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch", Ts: 8, P: 8,
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range uint64(2) {
			if err := r.Allocate(0, base+k*ChunkSize, BlockSize, false); err != nil {
				t.Fatal(err)
			}
		}
		under := arrives
		r.Expect(func() bool { return under })
		first := slices.Clone(r.Plan([]uint64{base}).In)
		r.Arrive(&first[0]) // the page that faulted; 60 KB are on their way
		r.Used(base, false)
		p := r.Plan([]uint64{base + ChunkSize})
		if n := len(p.Out); arrives && n > 0 || !arrives && n != 1 {
			t.Fatalf("arrives %v: %d evictions at once", arrives, n)
		}
		if !arrives {
			continue
		}
		if !r.Crowded() || len(r.Shrink().Out) > 0 || r.Totals.Fallbacks > 0 {
			t.Errorf("crowded %v, %d fallbacks", r.Crowded(), r.Totals.Fallbacks)
		}
		r.Arrive(&first[1])
		under = false
		if p = r.Shrink(); len(p.Out) != 1 || p.Out[0].Pages != PagesPerBlock || p.Out[0].Fallback || r.Crowded() {
			t.Errorf("%+v, crowded %v", p.Out, r.Crowded())
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

// What is planned to come never exceeds memory because of waiting: a batch for which there is no room even then makes
// some at once.
func TestNoWaitBeyondMemory(t *testing.T) {
	r, err := New(Options{
		Capacity: 2 * PageSize, Prefetch: "none", Evict: "lru2m", Migrate: "first-touch", Ts: 8, P: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Allocate(0, base, ChunkSize, false); err != nil {
		t.Fatal(err)
	}
	r.Expect(func() bool { return true })
	r.Plan([]uint64{base, base + PageSize})
	if p := r.Plan([]uint64{base + 2*PageSize}); len(p.In) != 0 || len(p.Deferred) != 1 || r.Crowded() {
		t.Errorf("%+v, crowded %v", p, r.Crowded())
	}
}

// With a buffer of half of the memory, evictions begin when half of it is taken, and keep half free.
func TestFreeBuffer(t *testing.T) {
	for buffer, want := range map[int]int{0: 0, 50: 4} {
		r, err := New(Options{
			Capacity: 8 * PageSize, Prefetch: "none", Evict: "lru4k", Migrate: "first-touch", Ts: 8, P: 8,
			FreeBuffer: buffer,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Allocate(0, base, ChunkSize, false); err != nil {
			t.Fatal(err)
		}
		for k := range uint64(8) {
			touch(t, r, base+k*PageSize)
		}
		if n := int(r.Totals.Evicted); n != want || r.Resident() != 8-want || r.Oversubscribed() != (want > 0) {
			t.Errorf("buffer of %d %%: %d evicted, %d there, too small %v", buffer, n, r.Resident(), r.Oversubscribed())
		}
	}
	if _, err := New(Options{Capacity: PageSize, FreeBuffer: 100}); err == nil {
		t.Error("a buffer of all memory")
	}
}
