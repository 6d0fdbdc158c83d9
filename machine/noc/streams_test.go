package noc

import (
	"testing"

	"pgregory.net/rapid"
)

// TestStreams: a crossbar that is ticked only in the clocks it names, and in those with a push, a pop or somebody who
// looks, gives the same packets in the same clocks, has the same room and counts the same as one that is ticked in
// every clock.
func TestStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const in, out = 5, 3
		cfg := gpuConfig(in, out)
		cfg.Latency = rapid.IntRange(1, 3).Draw(t, "latency")
		cfg.OutQueue = rapid.IntRange(1, 4).Draw(t, "out queue")
		cfg.VCs = rapid.SampledFrom([]int{1, 2}).Draw(t, "vcs")
		cfg.VCStage = cfg.VCs > 1
		cfg.OutputQueued = rapid.IntRange(0, 1).Draw(t, "sorted")
		each := New(cfg)
		cfg.Streams = true
		lazy := New(cfg)
		id, due := int32(0), uint64(0)
		for now := range uint64(200) {
			for range rapid.SampledFrom([]int{0, 0, 0, 0, 1, 3}).Draw(t, "pushes") {
				i, o, n := rapid.IntRange(0, in-1).Draw(t, "in"), rapid.IntRange(0, out-1).Draw(t, "to"),
					rapid.IntRange(1, 8).Draw(t, "flits")
				id++
				if a, b := each.CanPush(now, i, o, n), lazy.CanPush(now, i, o, n); a != b {
					t.Fatalf("clock %d: input %d has room for %d flits: %v, %v", now, i, n, a, b)
				}
				if a, b := each.Push(now, i, o, n, id, 0), lazy.Push(now, i, o, n, id, 0); a != b {
					t.Fatalf("clock %d: input %d takes packet %d: %v, %v", now, i, id, a, b)
				} else if a {
					due = now
				}
			}
			each.Tick(now)
			if due <= now {
				due = lazy.Tick(now)
			}
			for o := range out {
				if !rapid.Bool().Draw(t, "takes") {
					continue
				}
				a, ok := each.Pop(o, 0)
				b, also := lazy.Pop(o, 0)
				if a != b || ok != also {
					t.Fatalf("clock %d: output %d gives %d %v, %d %v", now, o, a, ok, b, also)
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "look") > 0 {
				continue
			}
			if a, b := each.Room(now+1), lazy.Room(now+1); a != b {
				t.Fatalf("clock %d: room for %d flits, %d", now, a, b)
			}
			for i, n := range each.Counters(0) {
				if m := lazy.Counters(0)[i]; m != n {
					t.Fatalf("clock %d: counter %s: %d, %d", now, Desc[i].Name, n, m)
				}
			}
		}
	})
}
