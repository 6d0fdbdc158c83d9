package sheets_test

import (
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

// TestPeaks compares limits with what the whitepapers of the boards state.
func TestPeaks(t *testing.T) {
	for machine, want := range map[string]map[string]float64{
		"a100":     {"f32 FMA": 64, "f64 FMA": 32, "tensor f16": 1024, "tensor tf32": 512, "L1": 128, "DRAM": 1555.2},
		"v100":     {"f32 FMA": 64, "tensor f16": 512, "special functions": 16},
		"fermi":    {"issue": 2, "DRAM": 177.408},
		"hydrogen": {"fast memory": 819.2},
	} {
		m, _, err := sheets.Resolve(machine, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, p := range m.Peaks() {
			got[p.Name] = p.Value
		}
		for name, v := range want {
			if d := got[name]/v - 1; d > 1e-3 || d < -1e-3 {
				t.Errorf("%s: %s is %g, want %g", machine, name, got[name], v)
			}
		}
	}
}
