package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// TestSlicesDoNotShareAWalkersQueue: page walks and copies that pile up before one LLC
// slice leave room for those to the others, which may be another application's.
func TestSlicesDoNotShareAWalkersQueue(t *testing.T) {
	g := newRig(t, "ugpu", Options{}, nil, tenant("a", upTo(80))).g
	read := func(line uint64) bool {
		return g.fabric.InjectMMU(mem.Req{Line: line, Sectors: 1, Op: mem.Walk}, 0)
	}
	n := 0
	for ; read(0); n++ {
		if n > 1000 {
			t.Fatal("the queue is never full")
		}
	}
	for line := uint64(1); line < 8; line++ { // Figure 8: other channels
		if a := line << 12; g.fabric.Layouts.At(a).Slice(a) == g.fabric.Layouts.At(0).Slice(0) || !read(a) {
			t.Errorf("after %d reads of slice %d none of slice %d", n, g.fabric.Layouts.At(0).Slice(0),
				g.fabric.Layouts.At(a).Slice(a))
		}
	}
}
