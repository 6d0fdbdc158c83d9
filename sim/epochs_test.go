package sim_test

import (
	"math"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// TestEpochsBecomeLonger: epochs that became one are those of a run that had longer ones
// from the beginning, and nothing else of the run changes.
func TestEpochsBecomeLonger(t *testing.T) {
	s := shared
	s.Length = sim.Length{MaxCycles: 19_500, Budget: true}
	s.Epoch, s.MostEpochs = 1000, 4
	got := run(t, s)
	s.Epoch, s.MostEpochs = 8000, 0
	want := run(t, s)
	if len(got.Epochs) != 3 || len(want.Epochs) != 3 {
		t.Fatalf("%d and %d epochs, want 3", len(got.Epochs), len(want.Epochs))
	}
	if got.Cycles != want.Cycles || got.Tenants[0].ThreadInsts != want.Tenants[0].ThreadInsts {
		t.Errorf("looking more often changes the run")
	}
	for i := range want.Epochs {
		a, b := &got.Epochs[i], &want.Epochs[i]
		if a.Cycle != b.Cycle {
			t.Errorf("epoch %d ends at %d, want %d", i, a.Cycle, b.Cycle)
		}
		for k := range b.Tenants {
			x, y := &a.Tenants[k], &b.Tenants[k]
			if math.Abs(x.IPC-y.IPC) > 1e-9*y.IPC || math.Abs(x.BandwidthGBs-y.BandwidthGBs) > 1e-9*y.BandwidthGBs {
				t.Errorf("epoch %d, application %d: IPC %g, %g GB/s; want %g, %g", i, k,
					x.IPC, x.BandwidthGBs, y.IPC, y.BandwidthGBs)
			}
			for n, c := range sim.Columns() {
				if x.Counts[n] != y.Counts[n] {
					t.Errorf("epoch %d, application %d: %d %s, want %d", i, k, x.Counts[n], c.Name, y.Counts[n])
				}
			}
		}
	}
}
