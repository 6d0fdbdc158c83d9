package noc

import (
	"math/bits"
	"testing"

	"github.com/heddle-sim/heddle/mem"

	"pgregory.net/rapid"
)

func gpuConfig(in, out int) Config {
	return Config{
		Inputs: in, Outputs: out, VCs: 1, BufFlits: 8, Iterations: 1, FlitBytes: 32, Header: 8, Latency: 4,
		OutQueue: 8, Tenants: 2,
	}
}

// TestZeroLoadLatency pins the pipeline: a packet pushed at t is visible at
// t + flits - 1 + Latency, one clock later with a virtual-channel stage.
func TestZeroLoadLatency(t *testing.T) {
	for _, c := range []struct {
		vcs, flits int
		want       uint64
	}{{1, 1, 104}, {1, 5, 108}, {2, 1, 105}, {4, 5, 109}} {
		cfg := gpuConfig(4, 4)
		cfg.VCs, cfg.VCStage = c.vcs, c.vcs > 1
		x := New(cfg)
		if !x.Push(100, 1, 2, c.flits, 7, 0) {
			t.Fatal("full")
		}
		for now := uint64(100); ; now++ {
			next := x.Tick(now)
			if id, ok := x.Pop(2, 0); ok {
				if id != 7 || now != c.want {
					t.Errorf("%d vcs, %d flits: packet %d at %d, want 7 at %d", c.vcs, c.flits, id, now, c.want)
				}
				if next != Never {
					t.Errorf("work at %d after the only packet", next)
				}
				break
			}
			if now > c.want {
				t.Fatalf("%d vcs, %d flits: nothing by %d", c.vcs, c.flits, now)
			}
		}
	}
}

// TestHeadOfLine: with one queue per input a packet for a busy output blocks the
// one behind it; both outputs then take turns round robin.
func TestHeadOfLine(t *testing.T) {
	x := New(gpuConfig(2, 2))
	x.Push(0, 0, 0, 1, 1, 0)
	x.Push(0, 1, 0, 1, 2, 0)
	x.Push(0, 1, 1, 1, 3, 0) // waits behind packet 2 though output 1 is free
	at := map[int32]uint64{}
	for now := uint64(0); now < 10; now++ {
		x.Tick(now)
		for out := range 2 {
			if id, ok := x.Pop(out, 0); ok {
				at[id] = now
			}
		}
	}
	if at[1] != 4 || at[2] != 5 || at[3] != 6 {
		t.Errorf("packets at %v, want 1 at 4, 2 at 5, 3 at 6", at)
	}
	n := x.Counters(0)
	if n[CPackets] != 3 || n[CFlits] != 3 || n[CQueueCycles] != 0+1+2 || n[CBlocked] != 1 {
		t.Errorf("counters %v, want 3 packets, 3 flits, 3 queued, 1 blocked", n)
	}
}

// TestBackPressure: an output nobody empties takes OutQueue packets and stops its
// inputs; one Pop lets one more through.
// TestSortedInput: an input with a queue per output sends past a packet whose output is
// busy, one flit a clock; a full queue of one output leaves the others theirs.
func TestSortedInput(t *testing.T) {
	for _, vcs := range []int{1, 2} {
		cfg := gpuConfig(2, 4)
		cfg.OutputQueued, cfg.VCs, cfg.VCStage, cfg.OutQueue = 1, vcs, vcs > 1, 1
		stage := uint64(vcs - 1)
		x := New(cfg)
		// of the first output's queue there is one place, taken by the first packet
		for id, out := range []int{0, 0, 1, 2} {
			x.Push(0, 1, out, 1, int32(id), 0)
		}
		if x.CanPush(0, 1, 0, 7) || !x.CanPush(0, 1, 0, 6) || !x.CanPush(0, 1, 3, 8) || x.Push(0, 1, 0, 7, 9, 0) {
			t.Errorf("%d vcs: two flits are in one queue of 8, and none in the last", vcs)
		}
		at := map[int32]uint64{}
		for now := uint64(0); now < 20; now++ {
			x.Tick(now)
			for out := range 4 {
				if out == 0 && now < 12 {
					continue // not taken: the second packet waits
				}
				if id, ok := x.Pop(out, 0); ok {
					at[id] = now
				}
			}
		}
		first := uint64(cfg.Latency) + stage
		want := map[int32]uint64{0: 12, 1: 12 + 1 + first, 2: first + 1, 3: first + 2}
		if len(at) != 4 || at[0] != want[0] || at[1] != want[1] || at[2] != want[2] || at[3] != want[3] {
			t.Errorf("%d vcs: packets arrive at %v, want %v", vcs, at, want)
		}
	}
}

func TestBackPressure(t *testing.T) {
	cfg := gpuConfig(2, 1)
	cfg.OutQueue = 3
	x := New(cfg)
	for i := range int32(4) {
		x.Push(0, 0, 0, 1, i, 0)
		x.Push(0, 1, 0, 1, 10+i, 0)
	}
	now := uint64(0)
	for ; now < 50; now++ {
		x.Tick(now)
	}
	if x.Waiting() != 5 {
		t.Fatalf("%d packets wait, want 5 of 8 with an output queue of 3", x.Waiting())
	}
	if id, ok := x.Peek(0); !ok || id != 0 {
		t.Fatalf("first packet %d %v, want 0", id, ok)
	}
	x.Pop(0, 0)
	for ; now < 100; now++ {
		x.Tick(now)
	}
	if x.Waiting() != 4 {
		t.Errorf("%d packets wait after one Pop, want 4", x.Waiting())
	}
}

// TestConservation: whatever is sent arrives once, at its output, in order per
// input and output (with one virtual channel), and skipping to the returned clock
// changes nothing.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := gpuConfig(rapid.IntRange(1, 70).Draw(t, "inputs"), rapid.IntRange(1, 70).Draw(t, "outputs"))
		cfg.VCs = rapid.SampledFrom([]int{1, 1, 2, 4}).Draw(t, "vcs")
		cfg.VCStage = cfg.VCs > 1 || rapid.Bool().Draw(t, "stage")
		cfg.Local = !cfg.VCStage && rapid.Bool().Draw(t, "local")
		cfg.Iterations = rapid.IntRange(1, 3).Draw(t, "iterations")
		cfg.OutQueue = rapid.IntRange(1, 4).Draw(t, "outqueue")
		cfg.Latency = rapid.IntRange(1, 6).Draw(t, "latency")
		seed := rapid.Uint64().Draw(t, "seed")
		a := deliver(t, cfg, seed, false)
		b := deliver(t, cfg, seed, true)
		if len(a) != len(b) {
			t.Fatalf("%d packets ticking every clock, %d when skipping", len(a), len(b))
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("packet %d: %+v ticking every clock, %+v when skipping", i, a[i], b[i])
			}
		}
	})
}

type got struct {
	at  uint64
	out int
	id  int32
}

// deliver sends 300 packets and checks what arrives.
func deliver(t *rapid.T, cfg Config, seed uint64, skip bool) []got {
	x := New(cfg)
	rnd := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	const total = 300
	type sent struct{ in, out int }
	var packets []sent
	var list []got
	last := make(map[sent]int32)
	due := uint64(0)
	for now := uint64(0); len(list) < total; now++ {
		if now > 100000 {
			t.Fatalf("%d of %d packets after %d clocks", len(list), total, now)
		}
		pushed := false
		for range rnd(4) {
			if len(packets) == total {
				break
			}
			s := sent{rnd(cfg.Inputs), rnd(cfg.Outputs)}
			if x.Push(now, s.in, s.out, 1+rnd(5), int32(len(packets)), mem.TenantID(rnd(2))) {
				packets = append(packets, s)
				pushed = true
			}
		}
		if skip && !pushed && due > now {
			continue
		}
		due = x.Tick(now)
		stall := now*0x9E3779B97F4A7C15>>62 == 0 // a function of the clock: the same with and without skipping
		for w, m := range x.AvailableOutputs() {
			for ; m != 0 && !stall; m &= m - 1 {
				out := w<<6 | bits.TrailingZeros64(m)
				id, ok := x.Pop(out, 0)
				if !ok || packets[id].out != out {
					t.Fatalf("output %d: packet %d %v, bound for %d", out, id, ok, packets[id].out)
				}
				if before, seen := last[packets[id]]; cfg.VCs == 1 && seen && before > id {
					t.Fatalf("packet %d overtook %d", before, id)
				}
				last[packets[id]] = id
				list = append(list, got{now, out, id})
			}
		}
		if !x.outputs.avail.empty() {
			due = now // packets are left to pop
		}
	}
	if x.Waiting() != 0 {
		t.Fatalf("%d packets wait after all arrived", x.Waiting())
	}
	if n := x.Counters(0)[CPackets] + x.Counters(1)[CPackets]; n != total {
		t.Fatalf("%d packets counted, %d sent", n, total)
	}
	return list
}

// traffic keeps a crossbar loaded; it returns the packets delivered.
type traffic struct {
	x    *Crossbar
	seed uint64
	now  uint64
	load uint64 // of 1024 per input and clock
}

func (f *traffic) step() (delivered int) {
	ins, outs := uint64(f.x.cfg.Inputs), uint64(f.x.cfg.Outputs)
	for in := range ins {
		f.seed = f.seed*6364136223846793005 + 1442695040888963407
		if f.seed>>54 < f.load {
			f.x.Push(f.now, int(in), int(f.seed>>20%outs), 1, int32(in), 0)
		}
	}
	f.x.Tick(f.now)
	for w, m := range f.x.AvailableOutputs() {
		for ; m != 0; m &= m - 1 {
			f.x.Pop(w<<6|bits.TrailingZeros64(m), 0)
			delivered++
		}
	}
	f.now++
	return delivered
}

func TestNoAllocations(t *testing.T) {
	for _, vcs := range []int{1, 4} {
		cfg := gpuConfig(80, 64)
		cfg.VCs, cfg.VCStage = vcs, vcs > 1
		f := &traffic{x: New(cfg), load: 400}
		for range 2000 {
			f.step()
		}
		if n := testing.AllocsPerRun(1000, func() { f.step() }); n != 0 {
			t.Errorf("%d vcs: %g allocations per clock", vcs, n)
		}
	}
}

func benchCrossbar(b *testing.B, in, out, vcs int, load uint64) {
	cfg := gpuConfig(in, out)
	cfg.VCs, cfg.VCStage = vcs, vcs > 1
	f := &traffic{x: New(cfg), load: load}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n += f.step()
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
}

func BenchmarkRequests80x64(b *testing.B) { benchCrossbar(b, 80, 64, 1, 300) }
func BenchmarkReplies64x80(b *testing.B)  { benchCrossbar(b, 64, 80, 1, 300) }
func BenchmarkLight80x64(b *testing.B)    { benchCrossbar(b, 80, 64, 1, 30) }
func BenchmarkVCs8x8(b *testing.B)        { benchCrossbar(b, 8, 8, 4, 600) }
