package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// A frame that gets another page is not hit under its old content: neither in an L1, which
// keeps its lines while CTAs of the application stay, nor in an LLC slice.
func TestFramesForgetTheirOldPage(t *testing.T) {
	const n = 2048
	r := newRig(t, "ugpu", Options{}, nil, tenant("a", upTo(1)))
	r.count(0, 1, 64, 100_000) // stays on the SM, so that the ends of others flush nothing
	// L1 misses, and what the LLC had to fetch.
	misses := func(in, out *mem.Region) (l1, fetched uint64) {
		l1, fetched = r.counted(0, "sm.l1_misses"), r.counted(0, "dram.read_bursts")
		k := r.launch(0, "scale", n/128, 128, out.Base, in.Base, n)
		for !k.Done {
			r.step(1000)
		}
		r.step(5000)
		return r.counted(0, "sm.l1_misses") - l1, r.counted(0, "dram.read_bursts") - fetched
	}
	misses(r.alloc(0, 4*n, mem.Device), r.alloc(0, 4*n, mem.Device)) // page walks miss once
	in, out := r.alloc(0, 4*n, mem.Device), r.alloc(0, 4*n, mem.Device)
	l1, fetched := misses(in, out)
	if again, none := misses(in, out); again >= l1 || none > 0 {
		t.Fatalf("%d L1 misses and %d fetches the second time, %d and %d the first", again, none, l1, fetched)
	}
	for _, reg := range []*mem.Region{in, out} {
		r.g.Unmap(0, reg)
	}
	in, out = r.alloc(0, 4*n, mem.Device), r.alloc(0, 4*n, mem.Device)
	if l1b, now := misses(in, out); l1b != l1 || now != fetched {
		t.Errorf("%d L1 misses and %d fetches in new pages on old frames, %d and %d in the old pages", l1b, now, l1,
			fetched)
	}
}
