package sim_test

import (
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// The launches of an application alone have what its window has, each of them its own
// part, and shares of limits are shares.
func TestLaunchesAddUp(t *testing.T) {
	s := sim.Spec{
		Machine: "qv100", Seed: 1, Profile: true, Sharing: sim.Sharing{Mode: "alone"},
		Apps: []sim.App{app("rodinia-like/bfs", nil)},
	}
	r := run(t, s)
	x := &r.Tenants[0]
	var insts, warps, l1, llc, dram uint64
	last := uint64(0)
	stalls := map[string]bool{}
	for _, k := range x.Kernels {
		insts, warps = insts+k.ThreadInsts, warps+k.WarpInsts
		l1, llc, dram = l1+k.L1Accesses, llc+k.LLCAccesses, dram+k.DRAMBytes
		if k.Launch < last || k.Start < k.Launch || k.End <= k.Start || k.Overlapped {
			t.Errorf("%s: launched at %d behind %d, from %d to %d, overlapped %v", k.Name, k.Launch, last, k.Start,
				k.End, k.Overlapped)
		}
		last = k.End
		for what, share := range map[string]float64{
			"theoretical": k.Theoretical, "achieved": k.Achieved,
			k.Roof: k.RoofShare,
		} {
			if share <= 0 || share > 1 {
				t.Errorf("%s: %s is %g of all", k.Name, what, share)
			}
		}
		if k.ActiveLanes <= 0 || k.ActiveLanes > 32 || k.CTAsPerSM < 1 {
			t.Errorf("%s: %g lanes, %d CTAs fit", k.Name, k.ActiveLanes, k.CTAsPerSM)
		}
		stalls[k.TopStall] = true
	}
	if insts != x.ThreadInsts || warps != x.WarpInsts || len(x.Kernels) < 5 {
		t.Errorf("%d launches with %d and %d instructions; the window has %d and %d", len(x.Kernels), insts, warps,
			x.ThreadInsts, x.WarpInsts)
	}
	var all [3]uint64 // what lies between launches belongs to none: write-backs
	for _, c := range r.Tables {
		for _, v := range c.Values {
			switch c.Owner + "." + v.Name {
			case "sm.l1_accesses":
				all[0] += v.N
			case "llc.accesses":
				all[1] += v.N
			}
		}
	}
	all[2] = x.DRAMBytes
	if l1 != all[0] || llc != all[1] || dram > all[2] || dram == 0 {
		t.Errorf("launches: %d, %d sectors and %d bytes; the window has %v", l1, llc, dram, all)
	}
	if !stalls["memory"] || stalls[""] {
		t.Errorf("top stalls %v", stalls)
	}
	if got := x.Time; got.Copies == 0 || got.Cut != 0 || got.Kernels == 0 || got.Kernels > x.BusyCycles {
		t.Errorf("%+v of %d cycles, %d busy", got, x.Cycles, x.BusyCycles)
	}
	s.Profile = false
	for i, k := range run(t, s).Tenants[0].Kernels { // and without a profile the same
		if want := x.Kernels[i].TopStall; k.TopStall != want {
			t.Errorf("launch %d: without a profile, the top stall is %q; with one %q", i, k.TopStall, want)
		}
	}
}
