package noc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestApart: whichever end of a crossbar moves first in a clock, between Part and Join,
// packets arrive when they do with Tick, and inputs fill up as they do.
func TestApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const in, out = 5, 3
		cfg := gpuConfig(in, out)
		cfg.Latency = rapid.IntRange(1, 3).Draw(t, "latency")
		cfg.OutQueue = rapid.IntRange(1, 4).Draw(t, "out queue")
		cfg.VCs = rapid.SampledFrom([]int{1, 2}).Draw(t, "vcs")
		cfg.VCStage = cfg.VCs > 1
		whole, parted := New(cfg), New(cfg)
		id := int32(0)
		for now := range uint64(60) {
			for range rapid.IntRange(0, 4).Draw(t, "pushes") {
				i, o, n := rapid.IntRange(0, in-1).Draw(t, "in"), rapid.IntRange(0, out-1).Draw(t,
					"to"), rapid.IntRange(1, 4).Draw(t, "flits")
				id++
				if a, b := whole.Push(now, i, o, n, id, 0), parted.Push(now, i, o, n, id, 0); a != b {
					t.Fatalf("clock %d: input %d takes packet %d: %v whole, %v parted", now, i, id, a, b)
				}
			}
			takes := rapid.SliceOfN(rapid.Bool(), out, out).Draw(t, "takes")
			pop := func(x *Crossbar) (ids [out]int32) {
				for o := range out {
					if takes[o] {
						ids[o], _ = x.Pop(o)
					}
				}
				return ids
			}
			next := whole.Tick(now)
			want := pop(whole)
			parted.Part()
			var got [out]int32
			var again uint64
			if rapid.Bool().Draw(t, "inputs first") {
				again = parted.Switch(now)
				parted.Arrive(now)
				got = pop(parted)
			} else {
				parted.Arrive(now)
				got = pop(parted)
				again = parted.Switch(now)
			}
			parted.Join()
			if got != want || min(again, parted.NextArrival()) != next {
				t.Fatalf("clock %d: packets %v, next %d; whole %v, %d", now, got, min(again, parted.NextArrival()),
					want, next)
			}
		}
		for i, n := range whole.Counters(0) {
			if m := parted.Counters(0)[i]; m != n {
				t.Errorf("counter %s: %d whole, %d parted", Desc[i].Name, n, m)
			}
		}
	})
}
