package vm

import (
	"testing"

	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// Colored frames: each pool hands out all frames of its colors, in order and once, knows them
// again, and has as many free as it should.
func TestFramesHaveColors(t *testing.T) {
	s, _, err := sheets.Resolve("hydrogen", map[string]string{"vm.page": "4096"})
	if err != nil {
		t.Fatal(err)
	}
	s.DRAM.Capacity = 4096 * 50 // six rounds of eight colors, and two frames of nobody
	m, err := addrmap.New(s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFrames(s, m)
	if err != nil {
		t.Fatal(err)
	}
	owner := []uint8{0, 0, 1, 0, 0, 1, 0, 1}
	if err := f.Color(owner, 2); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for pool, want := range []int{30, 18} {
		last := -1
		for n := range want {
			if f.Free(pool) != want-n {
				t.Fatalf("pool %d: %d free, want %d", pool, f.Free(pool), want-n)
			}
			ppn, ok := f.Alloc(pool)
			if !ok || int(ppn) <= last || owner[ppn%8] != uint8(pool) || f.Pool(ppn) != pool || ppn >= 48 {
				t.Fatalf("pool %d: frame %d of color %d after %d, %v", pool, ppn, ppn%8, last, ok)
			}
			last = int(ppn)
			seen[ppn] = true
		}
		if ppn, ok := f.Alloc(pool); ok {
			t.Errorf("pool %d: frame %d beyond its last", pool, ppn)
		}
	}
	if len(seen) != 48 {
		t.Errorf("%d frames were handed out", len(seen))
	}
	f.Release(2)
	if ppn, ok := f.Alloc(1); !ok || ppn != 2 || f.Free(0) != 0 {
		t.Errorf("frame 2 was given back, and %d comes, %v", ppn, ok)
	}
	if err := f.Color([]uint8{0, 0}, 2); err == nil {
		t.Error("a pool without a color is accepted")
	}
}
