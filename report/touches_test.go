package report

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// The classes of NUBA's Figure 3, cut off where the machine ends.
func TestSharingClasses(t *testing.T) {
	for sms, want := range map[int][]string{
		1: {"1 SM"}, 2: {"1 SM", "2 SMs"}, 16: {"1 SM", "2 to 10 SMs", "11 to 16 SMs"},
		64: {"1 SM", "2 to 10 SMs", "11 to 25 SMs", "26 to 64 SMs"},
		26: {"1 SM", "2 to 10 SMs", "11 to 25 SMs", "26 SMs"},
	} {
		if names, most := SharingClasses(sms); !slices.Equal(names, want) || most[len(most)-1] != sms {
			t.Errorf("%d SMs: %v, %v", sms, names, most)
		}
	}
}

// Every page is in one class.
func TestBySharing(t *testing.T) {
	pages := make([]uint64, 64)
	for i := range pages {
		pages[i] = 1
	}
	if got, all := BySharing(pages); all != 64 || !slices.Equal(got, []uint64{1, 9, 15, 39}) {
		t.Errorf("a page for every number of SMs: %v of %d", got, all)
	}
}

func TestTouchesLine(t *testing.T) {
	r := &sim.Result{Touches: &sim.Touches{BySMs: []uint64{30, 10}, Homes: [][]uint64{{20, 5}, {10, 15}}}}
	const pages = "pages touched: 40: by 1 SM 75.0 %, by 2 SMs 25.0 %"
	for want, homes := range map[string][][]uint64{
		pages + "; 70.0 % of the pages that a partition touches are its own": r.Touches.Homes, pages: nil,
	} {
		r.Touches.Homes = homes
		if got := Touches(r); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Touches(&sim.Result{}); got != nil {
		t.Errorf("nobody asked: %q", got)
	}
}
