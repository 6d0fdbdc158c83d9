package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// TestFarHalf: on a100 and h100 a line of the far half costs the pipeline of its slice and two links more than one of
// the near half, until the near half has a copy. An application with channels of its own asks a line's slice itself
// where the slice that would have the copy is another's, as on a100; h100's groups have slices in both halves.
func TestFarHalf(t *testing.T) {
	none := func(*interconnect.Fabric, uint64) {}
	const links, fill = 2, 2 // a link each way; a clock more at either slice
	for _, c := range []struct {
		sheet           string
		half, sm, group int  // slices of a half, an SM of the second, the channel group of slice 5
		both            bool // a group has slices in both halves
	}{{"a100", 40, 60, 2, false}, {"h100", 80, 70, 5, true}} {
		s, _, err := sheets.Load(c.sheet)
		if err != nil {
			t.Fatal(err)
		}
		further := uint64(s.LLC.CrossLatency) + links + fill
		near := askFor(t, c.sheet, mem.Read, 0, 5, none)
		if far := askFor(t, c.sheet, mem.Read, 0, c.half+5, none); far != near+further {
			t.Errorf("%s: the far half takes %d cycles, the near one %d, want %d more", c.sheet, far, near, further)
		}
		copied := askFor(t, c.sheet, mem.Read, 0, c.half+5, func(f *interconnect.Fabric, line uint64) {
			f.Slices[5].Prefill(line, 1, 0)
		})
		if copied != near {
			t.Errorf("%s: a copy in the near half takes %d cycles, want %d", c.sheet, copied, near)
		}
		if far := askFor(t, c.sheet, mem.Read, c.sm, 5, none); far != near+further {
			t.Errorf("%s: SM %d of the second half takes %d cycles, want %d", c.sheet, c.sm, far, near+further)
		}
		want := near
		if c.both {
			want += further
		}
		if own := askFor(t, c.sheet, mem.Read, c.sm, 5, none, c.group); own != want {
			t.Errorf("%s: SM %d reads what is its application's alone in %d cycles, want %d", c.sheet, c.sm, own, want)
		}
	}
}
