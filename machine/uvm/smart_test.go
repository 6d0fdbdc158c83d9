package uvm

import "testing"

// Figure 28, as it is read: every transition, and that the others stay.
func TestFigure28(t *testing.T) {
	for _, c := range []struct {
		from                  Pattern
		linear, random, again bool
		to                    Pattern
	}{
		{Undecided, false, false, false, Undecided},
		{Undecided, false, false, true, Undecided},
		{Undecided, true, false, false, Streaming},
		{Undecided, true, false, true, Regular},
		{Undecided, false, true, false, Random},
		{Streaming, true, false, false, Streaming},
		{Streaming, true, false, true, Regular},
		{Streaming, false, true, false, Mixed},
		{Regular, true, false, false, Regular},
		{Regular, true, false, true, Regular},
		{Streaming, false, true, true, MixedAgain},
		{Regular, false, true, false, MixedAgain},
		{Regular, false, true, true, MixedAgain},
		{Undecided, false, true, true, RandomAgain},
		{Random, false, true, false, Random},
		{Random, false, true, true, RandomAgain},
		{Random, true, false, false, Mixed},
		{Random, true, false, true, MixedAgain},
		{RandomAgain, false, true, false, RandomAgain},
		{RandomAgain, true, false, false, MixedAgain},
		{Mixed, true, false, false, Mixed},
		{Mixed, true, false, true, MixedAgain},
		{Mixed, false, true, false, Mixed},
		{MixedAgain, true, false, false, MixedAgain},
	} {
		if got := c.from.Next(c.linear, c.random, c.again); got != c.to {
			t.Errorf("%v, linear %v, random %v, again %v: %v, want %v", c.from, c.linear, c.random, c.again, got, c.to)
		}
	}
}

// touch makes an access that completes before it returns, and says what it found.
func touch(t *testing.T, r *Runtime, addr uint64) Verdict {
	t.Helper()
	v, err := r.Access(addr, false)
	if err != nil {
		t.Fatal(err)
	}
	if v == Fault {
		p := r.Plan([]uint64{addr})
		for i := range p.Out {
			r.Leave(&p.Out[i])
			r.Gone(&p.Out[i])
		}
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(addr, false)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	return v
}

const base = 0x40000000

// smart is a runtime with 4 MB for an allocation of 8 MB.
func smart(t *testing.T) *Runtime {
	t.Helper()
	r, err := New(Options{Capacity: 4 << 20, Smart: true, Ts: 8, P: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Allocate(0, base, 8<<20, false); err != nil {
		t.Fatal(err)
	}
	return r
}

// An allocation that is swept once streams, one swept again is regular, one whose blocks come in any
// order is random, and from then on its pages stay on the host.
func TestPatterns(t *testing.T) {
	sweep := func(r *Runtime) {
		r.Kernel(0)
		for a := uint64(base); a < base+8<<20; a += BlockSize {
			touch(t, r, a)
		}
	}
	r := smart(t)
	sweep(r)
	if p := r.PatternOf(base); p != Streaming {
		t.Errorf("one sweep: %v", p)
	}
	sweep(r)
	if p := r.PatternOf(base); p != Regular {
		t.Errorf("two sweeps: %v", p)
	}
	r = smart(t)
	r.Kernel(0)
	k, remote := uint64(0), 0
	for range 200 {
		k = (k*5 + 77) % (8 << 20 / BlockSize)
		if touch(t, r, base+k*BlockSize) == Remote {
			remote++
		}
	}
	if p := r.PatternOf(base); !p.random() || remote == 0 {
		t.Errorf("random blocks: %v, %d remote accesses", p, remote)
	}
	for range 50 { // nothing more comes
		before := r.Totals.Migrated
		k = (k*5 + 77) % (8 << 20 / BlockSize)
		if touch(t, r, base+k*BlockSize); r.Totals.Migrated != before {
			t.Fatal("a page of a random allocation has come")
		}
	}
}

func TestSmartChoosesAlone(t *testing.T) {
	if _, err := New(Options{Capacity: 4 << 20, Smart: true, Evict: "tbn", Ts: 8, P: 8}); err == nil {
		t.Error("two policies for one thing")
	}
}

// A random allocation beside a linear one is treated as mixed (equation 5): its pages come by Adaptive's
// threshold. Decided together, the linear one is, too, and neither changes back.
func TestPatternsTogether(t *testing.T) {
	const second = base + 16<<20
	for _, together := range []bool{false, true} {
		r, err := New(Options{Capacity: 4 << 20, Smart: true, Together: together, Ts: 8, P: 8})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []uint64{base, second} {
			if err := r.Allocate(0, a, 8<<20, false); err != nil {
				t.Fatal(err)
			}
		}
		r.Kernel(0)
		k := uint64(0)
		for i := range uint64(8 << 20 / BlockSize) {
			k = (k*5 + 77) % (8 << 20 / BlockSize)
			touch(t, r, base+i*BlockSize)
			touch(t, r, second+k*BlockSize)
		}
		r.Kernel(0)
		if p, q := r.PatternOf(base), r.PatternOf(second); p != Streaming || q != Random {
			t.Fatalf("together %v: %v and %v, want streaming and random", together, p, q)
		}
		want := [2]Pattern{Streaming, Mixed}
		if together {
			want[0] = Mixed
		}
		for i, a := range []uint64{base, second} {
			if p := r.chunks[r.ChunkOf(a)].pattern; p != want[i] {
				t.Errorf("together %v: allocation %d is treated as %v, want %v", together, i, p, want[i])
			}
		}
	}
}

// One random allocation makes the public simulator use the static threshold for all of them, once memory has been too
// small: a page comes with the eighth access of its block, wherever it lies, none is pinned, and TBN_e evicts.
func TestPublicSmart(t *testing.T) {
	const second = base + 16<<20
	r, err := New(Options{Capacity: 4 << 20, Smart: true, Together: true, Public: true, Ts: 8, P: 8})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []uint64{base, second} {
		if err := r.Allocate(0, a, 8<<20, false); err != nil {
			t.Fatal(err)
		}
	}
	r.Kernel(0)
	k := uint64(0)
	for range uint64(8 << 20 / BlockSize) {
		k = (k*5 + 77) % (8 << 20 / BlockSize)
		touch(t, r, second+k*BlockSize)
	}
	r.Kernel(0)
	if p := r.PatternOf(second); !p.random() || !r.Oversubscribed() {
		t.Fatalf("%v, too small %v", p, r.Oversubscribed())
	}
	for _, a := range []uint64{base, second} {
		absent := a
		for r.Where(absent) == Resident {
			absent += BlockSize
		}
		clear(r.chunks[r.ChunkOf(absent)].counter[:])
		for n := 1; n <= 8; n++ {
			want := Remote
			if n == 8 {
				want = Fault
			}
			if v := touch(t, r, absent); v != want {
				t.Errorf("access %d of 0x%x finds %v, want %v", n, absent, v, want)
			}
		}
	}
	for i := range r.chunks {
		if c := &r.chunks[i]; c.live && !c.pattern.mixed() && !c.pattern.random() {
			t.Errorf("tree %d is treated as %v", i, c.pattern)
		}
	}
}
