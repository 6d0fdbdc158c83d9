package report_test

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// The lines say where an application's kernels are their accesses alone, and where the warm-up ends by work.
func TestWindowsOfAccesses(t *testing.T) {
	r := &sim.Result{
		Spec: sim.Spec{
			Apps:   []sim.App{{Name: "a", AccessesOnly: true}, {Name: "b"}},
			Length: sim.Length{Instructions: 900, WarmupInstructions: 300},
		},
		Tenants: []sim.Tenant{
			{Name: "a", Window: sim.Window{Of: sim.OfInstructions, Start: 500, End: 1500}},
			{Name: "b", Window: sim.Window{Of: sim.OfInstructions, Start: 500, End: 1500}},
		},
	}
	want := []string{
		"numbers are from a tenant's first launch to its instruction 900, and after every application had executed 300",
		"a (accesses_only): only accesses to memory, fences and barriers of its kernels take time and count as " +
			"instructions",
	}
	if got := report.Windows(r); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
