package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
)

// An SM that leaves an application while its channel groups are handed over stops its
// accesses with the others'; whoever gets it can use it.
func TestHeldSMGoesElsewhere(t *testing.T) {
	for _, to := range []int{-1, 2} {
		r := newRig(t, "ugpu", Options{}, small, &sharing.Tenant{Name: "a", SMs: upTo(6), Groups: upTo(3)},
			&sharing.Tenant{Name: "b", SMs: between(6, 12), Groups: between(3, 6)},
			&sharing.Tenant{Name: "c", SMs: between(12, 16), Groups: between(6, 8)})
		_, checkA := r.scale(0, 5*128, mem.Device) // leaves an SM without a CTA
		r.step(1000)
		want := shares([]int{5, 6, 4}, []int{2, 4, 2})
		if to >= 0 {
			want[to].SMs++
		}
		p, err := r.g.Sharing.Repartition(plain(want, 0))
		if err != nil {
			t.Fatal(err)
		}
		r.standStill()
		if len(p.SMs) != 1 || p.SMs[0].From != 0 || p.SMs[0].To != to || p.SMs[0].End >= p.Groups[0].Handed {
			t.Fatalf("the SM is not handed over before the groups are: %+v %+v", p.SMs[0], p.Groups[0])
		}
		if to < 0 {
			want[2].SMs++
			if _, err := r.g.Sharing.Repartition(plain(want, 0)); err != nil {
				t.Fatal(err)
			}
			r.standStill()
		}
		_, checkC := r.scale(2, 60_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatalf("to %d: %v", to, err)
		}
		checkA()
		checkC()
	}
}
