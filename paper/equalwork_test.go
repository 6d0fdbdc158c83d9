package paper

import (
	"math"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// twoKernels is a run of a program whose first kernel has 1000 instructions in 100 cycles and whose second has as many
// in 1000, on a machine that is so many times slower: what a window of a run of 600 cycles sees of it.
func twoKernels(slower float64, start, end uint64) *sim.Result {
	at := func(cycle uint64) uint64 {
		c := float64(cycle) / slower
		return uint64(math.Round(10*min(c, 100) + max(0, c-100)))
	}
	t := sim.Tenant{
		Name: "gpu", Window: sim.Window{Start: start, End: end}, Cycles: end - start, ThreadInsts: at(end) - at(start),
	}
	if first := uint64(100 * slower); first <= end {
		t.Kernels = []sim.Kernel{{End: first, ThreadInsts: 1000}}
	}
	return &sim.Result{Tenants: []sim.Tenant{t}, Outside: &sim.Outside{ThreadInsts: at(start)}}
}

// A machine that is twice as slow is twice as slow, whatever part of the program its window sees: by instructions
// per cycle of its window it would have 0.95 of the speed, and where the window of the other begins behind the end
// of its own there is no common part.
func TestEqualWork(t *testing.T) {
	base := twoKernels(1, 50, 600)
	for _, c := range []struct{ slower, want float64 }{{1, 1}, {2, 0.5}, {4, 0.25}, {10, 0.1}, {20, 0.05}} {
		x := twoKernels(c.slower, 50, 600)
		if got := speedOf(x, base, gpuSide); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g times slower: speed %g, want %g", c.slower, got, c.want)
		}
		if got := speedOf(base, x, gpuSide); math.Abs(got*c.want-1) > 1e-9 {
			t.Errorf("%g times slower: the other is %g times as fast, want %g", c.slower, got, 1/c.want)
		}
	}
	if x := twoKernels(2, 50, 600); float64(x.Tenants[0].ThreadInsts)/float64(base.Tenants[0].ThreadInsts) != 0.95 {
		t.Error("the example is not one of unequal work")
	}
}
