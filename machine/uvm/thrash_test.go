package uvm

import "testing"

// tracker is one chunk, with a cycle for a microsecond.
func tracker() *thrashing {
	t := newThrashing(1)
	t.grow(1)
	return t
}

// ask fails the test when a fault is not treated as it should be.
func (t *thrashing) ask(tt *testing.T, now uint64, want Wait, end uint64) {
	tt.Helper()
	if w, until := t.fault(now, 0); w != want || until != end {
		tt.Errorf("a fault at %d us: %d until %d us, want %d until %d", now, w, until, want, end)
	}
}

// thrashed has a page thrash: it moves three times more, each at most 500 us after the last, and is the host's.
func thrashed(tt *testing.T, t *thrashing, now uint64) {
	tt.Helper()
	for i, at := range []uint64{0, 100, 600, 1100} {
		if got := t.move(now+at, 0, i%2 == 1); got != (i == 3) {
			tt.Fatalf("it thrashes after %d moves: %v", i+1, got)
		}
	}
}

// A page that the two take from each other three times at most 500 us apart has the device wait for 500 us,
// and then comes; a time longer than that between two moves begins anew, and a page that the host took longer
// ago is not waited for.
func TestThrottle(tt *testing.T) {
	t := tracker()
	for _, at := range []uint64{0, 500, 1000, 1501, 2001, 2501} { // two, one too late, two
		if t.move(at, 0, at%1000 != 0) {
			tt.Errorf("it thrashes at %d us", at)
		}
	}
	t.ask(tt, 2600, Served, 0)
	if !t.move(3001, 0, true) {
		tt.Error("three events, and it does not thrash")
	}
	t.ask(tt, 3100, Throttled, 3600)
	t.ask(tt, 3599, Throttled, 3600)
	t.ask(tt, 3600, Served, 0)
	t.move(3610, 0, false) // no event, as it comes late, and it goes on thrashing
	t.move(3700, 0, true)
	t.ask(tt, 3701, Throttled, 4201)
	t.ask(tt, 4245, Served, 0)
	t.move(4250, 0, false)
	t.ask(tt, 4260, Served, 0) // the device has it
	t.move(4300, 0, true)
	t.ask(tt, 4801, Served, 0)
	t.ask(tt, 4800, Throttled, 5300)
}

// What has waited ten times is pinned for 150 ms, and then as good as new.
func TestPin(tt *testing.T) {
	t := tracker()
	thrashed(tt, t, 0)
	now := uint64(1200)
	for range 10 {
		t.ask(tt, now, Throttled, now+500)
		t.ask(tt, now+500, Served, 0)
		t.move(now+510, 0, false)
		t.move(now+600, 0, true)
		now += 700
	}
	t.ask(tt, now, Pinned, now+150_000)
	t.ask(tt, now+100_000, Pinned, now+150_000)
	if p := t.expired(now + 149_999); p >= 0 {
		tt.Errorf("the pin of page %d ends early", p)
	}
	if p := t.expired(now + 150_000); p != 0 {
		tt.Errorf("page %d, want 0", p)
	}
	if p := t.expired(now + 150_000); p >= 0 {
		tt.Errorf("the pin of page %d ends twice", p)
	}
	t.ask(tt, now+150_001, Served, 0)
}

// After a second without an event a chunk is forgotten, four times at most; a page that does not thrash says
// nothing of its chunk.
func TestThrashResets(tt *testing.T) {
	t := tracker()
	t.move(0, 0, true)
	t.move(10, 0, false)
	if t.quiet(2_000_000, 0) {
		tt.Error("nothing thrashes, and it is forgotten")
	}
	t.forget(0)
	now := uint64(0)
	for i := range 6 {
		thrashed(tt, t, now)
		if t.quiet(now+1100+1_000_000, 0) {
			tt.Errorf("forgotten after a second")
		}
		now += 1100 + 1_000_001
		if got := t.quiet(now, 0); got != (i < 4) {
			tt.Errorf("reset %d: %v", i+1, got)
		}
		t.forget(0)
	}
}

// In a runtime: pages that thrash do not come along, an eviction forgets them, a pinned one is used on the host.
func TestThrashInRuntime(t *testing.T) {
	r, err := New(Options{
		Capacity: ChunkSize, Prefetch: "driver-today", Evict: "driver-today", Migrate: "first-touch", Ts: 8, P: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Throttle(1)
	if err := r.Allocate(0, base, ChunkSize, false); err != nil {
		t.Fatal(err)
	}
	now := uint64(0)
	comes := func() (pages int) {
		now += 10
		if v, err := r.Access(base, false); v != Fault || err != nil {
			t.Fatalf("%v, %v", v, err)
		}
		p := r.Plan([]uint64{base})
		for i := range p.In {
			r.Arrive(&p.In[i])
			for k := range p.In[i].Pages {
				r.Taken(now, []uint64{p.In[i].Addr + uint64(k)*PageSize}, false)
			}
			pages += p.In[i].Pages
		}
		r.Used(base, false)
		return pages
	}
	goes := func() {
		now += 10
		p, _ := r.Withdraw(base, PageSize, true)
		for i := range p.Out {
			list := r.Append(nil, &p.Out[i])
			r.Leave(&p.Out[i])
			r.Gone(&p.Out[i])
			r.Taken(now, list, true)
		}
	}
	if n := comes(); n != PagesPerBlock {
		t.Errorf("%d pages come", n)
	}
	goes()
	comes()
	goes() // the third time that it moves within the lapse
	wait := func(want Wait) {
		t.Helper()
		if w, until := r.Waits(now, base); w != want {
			t.Fatalf("at %d us: %d until %d, want %d", now, w, until, want)
		} else if w == Throttled {
			now = until
		}
	}
	for range 10 {
		wait(Throttled)
		wait(Served)
		if n := comes(); n != 1 {
			t.Errorf("%d pages come, which one thrashes", n)
		}
		goes()
	}
	wait(Pinned)
	if v, err := r.Access(base, true); v != Remote || err != nil || r.Asked(base) {
		t.Errorf("a write to a pinned page: %v, %v", v, err)
	}
	// A neighbour brings its block, but for the page that is pinned.
	if p := r.Plan([]uint64{base + PageSize}); len(p.In) != 0 {
		t.Errorf("pages that are there come: %v", p.In)
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	r.Unpin(now + 150_000)
	wait(Served)
	if v, err := r.Access(base, false); v != Fault || err != nil {
		t.Errorf("after its time: %v, %v", v, err)
	}
	// An eviction forgets what thrashes.
	comes()
	goes()
	comes()
	goes()
	comes()
	c := &r.chunks[0]
	if !c.thrash.Has(0) {
		t.Fatal("it does not thrash")
	}
	r.stageAll()
	if !c.thrash.Empty() || r.thrash.pages[0] != (thrashedPage{}) {
		t.Errorf("%+v after an eviction", r.thrash.pages[0])
	}
}

// stageAll evicts what is there.
func (r *Runtime) stageAll() {
	r.SetCapacity(0)
	p := r.Shrink()
	for i := range p.Out {
		r.Leave(&p.Out[i])
		r.Gone(&p.Out[i])
	}
}
