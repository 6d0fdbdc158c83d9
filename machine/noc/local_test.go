package noc

import (
	"maps"
	"testing"
)

// arrivals runs a crossbar until it is empty and says when each packet arrived.
func arrivals(x *Crossbar, outs int) map[int32]uint64 {
	at := map[int32]uint64{}
	for now := uint64(0); now < 50; now++ {
		x.Tick(now)
		for out := range outs {
			for id, ok := x.Pop(out, 0); ok; id, ok = x.Pop(out, 0) {
				at[id] = now
			}
		}
	}
	return at
}

// TestLocal: what GPGPU-Sim's local crossbar does otherwise. A clock serves the outputs
// in ascending order, and an input whose packet has gone shows the next one at once.
func TestLocal(t *testing.T) {
	type push struct{ in, out, flits int }
	for _, c := range []struct {
		name   string
		pushes []push // packet i enters i-th
		want   map[int32]uint64
	}{
		{
			"several of one input in a clock",
			[]push{{0, 0, 1}, {0, 1, 1}, {0, 3, 1}},
			map[int32]uint64{0: 4, 1: 4, 2: 4},
		},
		{"only to outputs further on", []push{{0, 3, 1}, {0, 1, 1}, {0, 2, 1}}, map[int32]uint64{0: 4, 1: 5, 2: 5}},
		{"packets take turns, a flit each", []push{{0, 2, 2}, {1, 2, 2}}, map[int32]uint64{0: 6, 1: 7}},
		{
			"and hold up who is behind",
			[]push{{0, 2, 2}, {1, 2, 2}, {1, 3, 1}, {0, 0, 1}},
			map[int32]uint64{0: 6, 1: 7, 2: 7, 3: 7},
		},
	} {
		cfg := gpuConfig(4, 4)
		cfg.Local = true
		x := New(cfg)
		flits := 0
		for i, p := range c.pushes {
			if !x.Push(0, p.in, p.out, p.flits, int32(i), 0) {
				t.Fatal("full")
			}
			flits += p.flits
		}
		if got := arrivals(x, 4); !maps.Equal(got, c.want) {
			t.Errorf("%s: packets arrive at %v, want %v", c.name, got, c.want)
		}
		if n := x.Counters(0); n[CFlits] != uint64(flits) || n[CBlocked] > 10 || n[CQueueCycles] > 20 {
			t.Errorf("%s: counters %v", c.name, n)
		}
	}
}

// TestLocalFull: an output without room lets packets that have begun end, and no other
// begin.
func TestLocalFull(t *testing.T) {
	cfg := gpuConfig(3, 2)
	cfg.Local, cfg.OutQueue = true, 2
	x := New(cfg)
	for i := range 3 {
		x.Push(0, i, 0, 3, int32(i), 0)
	}
	for now := uint64(0); now < 30; now++ {
		x.Tick(now)
	}
	if n := x.Counters(0); n[CFlits] != 6 || x.Waiting() != 1 {
		t.Fatalf("%d flits passed and %d packets wait, want the 6 of two packets and 1", n[CFlits], x.Waiting())
	}
	for range 2 {
		if _, ok := x.Pop(0, 0); !ok {
			t.Fatal("two packets have arrived")
		}
	}
	for now := uint64(30); now < 40; now++ {
		x.Tick(now)
	}
	if id, ok := x.Pop(0, 0); !ok || id != 2 {
		t.Errorf("packet %d %v, want the third", id, ok)
	}
}
