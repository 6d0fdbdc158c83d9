package lab

import (
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// twoKernels is a run of 600 cycles of a program whose first kernel has 1000 instructions in 100 cycles and whose
// second as many in 1000, on a machine that is so many times slower.
func twoKernels(slower float64) *sim.Result {
	done := math.Round(10*min(600/slower, 100) + max(0, 600/slower-100))
	t := sim.Tenant{
		Name: "gpu", Window: sim.Window{End: 600}, Cycles: 600, ThreadInsts: uint64(done), IPC: done / 600,
	}
	if first := uint64(100 * slower); first <= 600 {
		t.Kernels = []sim.Kernel{{End: first, ThreadInsts: 1000}}
	}
	return &sim.Result{Spec: sim.Spec{Length: sim.Length{Budget: true}}, Tenants: []sim.Tenant{t}}
}

// A slowdown of instructions per cycle in windows of a fixed time is not that of the machine where the slower run is
// still in its first kernel; a warning gives that for the part of the program that both executed. Where it has been
// executed twice, or the run is not for a fixed time, there is none.
func TestUnequalWindows(t *testing.T) {
	for _, c := range []struct {
		slower float64
		change func(r, alone *sim.Result)
		want   string // of the warning; "": none
	}{
		{1, nil, ""},
		{4, nil, "it got further alone. For the work that both runs did the slowdown is 4.000"},
		{1, func(r, _ *sim.Result) { // ends with its first kernel, and waits for a turn
			r.Tenants[0].Kernels[0].End, r.Tenants[0].ThreadInsts, r.Tenants[0].IPC = 300, 1000, 1000./600
		}, "it got further alone. For the work that both runs did the slowdown is 6.000"},
		{4, func(r, a *sim.Result) { r.Tenants[0].Runs, a.Tenants[0].Runs = 2, 3 }, ""},
		{4, func(r, _ *sim.Result) { r.Spec.Length.Budget = false }, ""},
		{4, func(r, _ *sim.Result) { r.Spec.Length.Warmup = 1 }, ""},
		{0.5, nil, "it got further here. For the work that both runs did the slowdown is 0.500"},
	} {
		r, alone := twoKernels(c.slower), twoKernels(1)
		if c.change != nil {
			c.change(r, alone)
		}
		if err := Against(r, []*sim.Result{alone}); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(r.Warnings, "\n")
		if (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
			t.Errorf("%g times slower, slowdown %.3f: warns %q", c.slower, r.Tenants[0].Slowdown, said)
		}
	}
}
