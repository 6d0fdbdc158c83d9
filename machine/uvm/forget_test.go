package uvm

import "testing"

// serve carries a batch out, and has its faulting pages used.
func (r *Runtime) serve(t *testing.T, faults ...uint64) *Plan {
	t.Helper()
	p := r.Plan(faults)
	for i := range p.Out {
		r.Leave(&p.Out[i])
		r.Gone(&p.Out[i])
	}
	for i := range p.In {
		r.Arrive(&p.In[i])
	}
	for _, a := range faults {
		r.Used(a, false)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Clean pages that stay after a program has waited are not in the public simulator's order of eviction before they are
// used again: of three blocks the second goes, and the first only after it has been used.
func TestForgottenInOrder(t *testing.T) {
	for _, evict := range []string{"lru4k", "sl", "lru2m"} {
		for public, want := range map[bool]uint64{false: 0, true: 1} {
			r := runtimeOf(t, Options{
				Capacity: 2 * BlockSize, Prefetch: "sl", Evict: evict, Migrate: "first-touch", Public: public,
			}, BlockSize, BlockSize, BlockSize, BlockSize, BlockSize)
			block := func(n uint64) uint64 { return n * 8 * ChunkSize }
			r.serve(t, block(0))
			r.Synchronized(0)
			r.serve(t, block(1))
			if public { // the first takes no room
				r.serve(t, block(2))
			}
			if p := r.serve(t, block(3)); p.Out[0].Addr&^(BlockSize-1) != block(want) {
				t.Errorf("%s, public %v: 0x%x leaves, want block %d", evict, public, p.Out[0].Addr, want)
			}
			if _, err := r.Access(block(0), false); err != nil {
				t.Fatal(err)
			}
			for _, n := range []uint64{4, 1, 2} {
				r.serve(t, block(n))
			}
			if public && r.Where(block(0)) == Resident {
				t.Errorf("%s: the first block, which has been used, does not leave", evict)
			}
		}
	}
}

// Nor are they in its trees before they come again: two blocks of four and a third that faults do not bring the fourth.
func TestForgottenInTree(t *testing.T) {
	for public, want := range map[bool]int{false: 32, true: 16} {
		r := runtimeOf(t, Options{
			Capacity: ChunkSize, Prefetch: "tbn", Evict: "tbn", Migrate: "first-touch", Public: public,
		}, 4*BlockSize)
		r.serve(t, 0)
		r.serve(t, BlockSize)
		r.Synchronized(0)
		n := 0
		for _, x := range r.serve(t, 2*BlockSize).In {
			n += x.Pages
		}
		if n != want {
			t.Errorf("public %v: %d pages come, want %d", public, n, want)
		}
	}
}

// The prefetcher that memory which is too small has changed stays when a program waits; the rule of migration does not.
func TestPrefetcherStaysChanged(t *testing.T) {
	r := runtimeOf(t, Options{
		Capacity: 2 * BlockSize, Prefetch: "sl", PrefetchOver: "none", Evict: "lru4k", Migrate: "first-touch",
		Public: true,
	}, 4*BlockSize)
	r.serve(t, 0)
	r.serve(t, BlockSize)
	r.serve(t, 2*BlockSize)
	if !r.Oversubscribed() {
		t.Fatal("three blocks fit into two")
	}
	r.Synchronized(0)
	if p := r.serve(t, 3*BlockSize); r.Oversubscribed() || len(p.In) != 1 || p.In[0].Pages != 1 {
		t.Errorf("too small %v, %s come", r.Oversubscribed(), sizes(p))
	}
}

// The public simulator's random prefetcher draws from all pages of a tree: where it draws one that is there, none
// comes.
func TestDrawnFromAll(t *testing.T) {
	for public, most := range map[bool]int{false: 0, true: 25} {
		alone := 0
		for seed := range uint64(32) {
			r := runtimeOf(t, Options{
				Capacity: ChunkSize, Prefetch: "random", Evict: "lru4k", Migrate: "first-touch", Public: public,
				Seed: seed,
			}, BlockSize)
			c := &r.chunks[0]
			r.touch(0)
			c.want = span(0, 8)
			r.commit()
			n := 0
			for _, x := range r.Plan([]uint64{15 * PageSize}).In {
				n += x.Pages
			}
			if n == 1 {
				alone++
			}
		}
		if alone > most || public && alone == 0 {
			t.Errorf("public %v: in %d of 32 runs none comes along", public, alone)
		}
	}
}

// A block of which a page is absent does not leave under the public simulator's SL_e.
func TestPartOfBlockStays(t *testing.T) {
	for public, want := range map[bool]uint64{false: 0, true: BlockSize} {
		r := runtimeOf(t, Options{
			Capacity: BlockSize + 2*PageSize, Prefetch: "none", Evict: "sl", Migrate: "first-touch", Public: public,
		}, 3*BlockSize)
		r.serve(t, 0)
		for k := range uint64(PagesPerBlock) {
			r.serve(t, BlockSize+k*PageSize)
		}
		r.serve(t, 2*BlockSize)
		if p := r.serve(t, 2*BlockSize+PageSize); len(p.Out) != 1 || p.Out[0].Addr != want {
			t.Errorf("public %v: %+v leave, want those from 0x%x", public, p.Out, want)
		}
	}
}

// A batch may be larger than the public simulator's memory: its transfers wait for room. The text's gives up what comes
// along. Pages on their way to the host count twice: nothing more is chosen before they have left.
func TestQueuedBatch(t *testing.T) {
	for public, most := range map[bool]int{false: 512, true: 1024} {
		r := runtimeOf(t, Options{
			Capacity: ChunkSize, Prefetch: "zheng-512k", Evict: "lru2m", Migrate: "first-touch", Public: public,
		}, 4*ChunkSize)
		r.Expect(func() bool { return true })
		var faults []uint64
		for k := range uint64(8) {
			faults = append(faults, k*ChunkSize/4)
		}
		n := 0
		p := r.Plan(faults)
		for _, x := range p.In {
			n += x.Pages
		}
		if n > most || public && n < most || len(p.Deferred) > 0 || len(p.Out) > 0 {
			t.Errorf("public %v: %d pages come, %d put off, %d leave", public, n, len(p.Deferred), len(p.Out))
		}
	}
	r := runtimeOf(t, Options{
		Capacity: 2 * BlockSize, Prefetch: "sl", Evict: "sl", Migrate: "first-touch", Public: true,
	}, 8*BlockSize)
	r.serve(t, 0)
	r.serve(t, BlockSize)
	p := r.Plan([]uint64{2 * BlockSize})
	out := p.Out[0]
	r.Leave(&out)
	if r.Arrive(&p.In[0]); r.Crowded() {
		t.Error("more leaves beside what is on its way")
	}
	if more := r.Plan([]uint64{3 * BlockSize}); len(more.Out) != 0 || len(more.In) == 0 {
		t.Errorf("%d leave, %s come", len(more.Out), sizes(more))
	}
	if r.Gone(&out); !r.Crowded() {
		t.Error("nothing more leaves when that has left")
	}
}
