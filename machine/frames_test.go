package machine

import (
	"testing"

	"heddle/mem"
)

// A frame that gets another page is not hit under its old content in an L1, which keeps its
// lines while CTAs of the application stay.
func TestFramesForgetTheirOldPage(t *testing.T) {
	const n = 2048
	r := newRig(t, "ugpu", Options{}, nil, &Tenant{Name: "a", SMs: upTo(1)})
	r.count(0, 1, 64, 100_000) // stays on the SM, so that the ends of others flush nothing
	misses := func(in, out *mem.Region) uint64 {
		before := r.g.Totals(0)
		k := r.launch(0, "scale", n/128, 128, out.Base, in.Base, n)
		for !k.Done {
			r.step(1000)
		}
		r.step(5000)
		after := r.g.Totals(0)
		d := after.Minus(&before)
		return d.L1Misses
	}
	in, out := r.alloc(0, 4*n, mem.Device), r.alloc(0, 4*n, mem.Device)
	want := misses(in, out)
	if again := misses(in, out); again >= want {
		t.Fatalf("%d L1 misses the second time, %d the first", again, want)
	}
	for _, reg := range []*mem.Region{in, out} {
		if err := r.g.Unmap(0, reg); err != nil {
			t.Fatal(err)
		}
	}
	in, out = r.alloc(0, 4*n, mem.Device), r.alloc(0, 4*n, mem.Device)
	if got := misses(in, out); got != want {
		t.Errorf("%d L1 misses in new pages on old frames, %d in the old pages", got, want)
	}
}
