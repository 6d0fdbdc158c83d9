package noc

import (
	"maps"
	"testing"

	"pgregory.net/rapid"
)

func stagesConfig(in, out int) StagesConfig {
	return StagesConfig{
		Inputs: in, Outputs: out, Parts: 1, Radix: 8, VCs: 2, BufFlits: 18, FlitBytes: 16, Latency: 4, OutQueue: 16,
		Tenants: 1,
	}
}

// TestStagesLatency pins the pipeline: two switches of 4 clocks each, and the flits behind the
// head's; whatever the ports, the extra one included.
func TestStagesLatency(t *testing.T) {
	for _, c := range []struct {
		in, out, flits int
		want           uint64
	}{{0, 0, 1, 108}, {1, 63, 1, 108}, {63, 7, 9, 116}, {64, 20, 1, 108}, {9, 64, 9, 116}} {
		cfg := stagesConfig(64, 64)
		cfg.ExtraInputs, cfg.ExtraOutputs = 1, 1
		s := NewStages(cfg)
		if first, second := cfg.Switches(); first+second != 16 {
			t.Fatalf("%d + %d switches of 8 x 8, want 16 in all", first, second)
		}
		s.Push(100, c.in, c.out, c.flits, 7, 0)
		got := uint64(0)
		for now := uint64(100); now < Never; now = s.Tick(now) {
			s.outputs.arrive(now)
			if id, ok := s.Pop(c.out, now); ok && id == 7 {
				got = now
			}
			if now > 200 {
				break
			}
		}
		if got != c.want {
			t.Errorf("%d flits from %d to %d arrive at %d, want %d", c.flits, c.in, c.out, got, c.want)
		}
		if row := s.rows[0]; row[CFlits] != uint64(c.flits) || row[CPackets] != 1 || row[CBlocked] != 0 ||
			row[CQueueCycles] != uint64(c.flits-1) {
			t.Errorf("counters %v", *row)
		}
	}
}

// stagesDelivered runs a network until it is empty, taking what arrives, and says when each came.
func stagesDelivered(s *Stages) map[int32]uint64 {
	at := map[int32]uint64{}
	for now := uint64(0); now < 400; now++ {
		s.Tick(now)
		for out := range s.exit {
			if id, ok := s.Pop(out, now); ok {
				at[id] = now
			}
		}
	}
	return at
}

// TestStagesShareALink: packets of one switch for one other share the link between them, whole
// packets in turn; those for another go beside them.
func TestStagesShareALink(t *testing.T) {
	s := NewStages(stagesConfig(64, 64))
	s.Push(0, 0, 0, 9, 0, 0)  // over the link from switch 0 to switch 0
	s.Push(0, 1, 1, 9, 1, 0)  // the same one, 9 clocks later
	s.Push(0, 2, 8, 9, 2, 0)  // that to switch 1
	s.Push(0, 9, 2, 9, 3, 0)  // from switch 1
	s.Push(0, 10, 2, 1, 4, 0) // from switch 1, over the same link and to the same output, in turn
	want := map[int32]uint64{0: 16, 1: 25, 2: 16, 3: 16, 4: 17}
	if got := stagesDelivered(s); !maps.Equal(got, want) {
		t.Errorf("packets arrive at %v, want %v", got, want)
	}
}

// TestStagesChannels: a packet whose output is taken holds up who is behind it in its queue and
// not who is in the other one.
func TestStagesChannels(t *testing.T) {
	for vcs, want := range map[int]map[int32]uint64{
		1: {0: 16, 1: 25, 2: 26},
		2: {0: 16, 1: 25, 2: 8},
	} {
		cfg := stagesConfig(64, 64)
		cfg.VCs = vcs
		s := NewStages(cfg)
		s.Push(0, 0, 0, 9, 0, 0)
		s.Push(0, 1, 0, 9, 1, 0)
		s.Push(0, 1, 63, 1, 2, 0)
		if got := stagesDelivered(s); !maps.Equal(got, want) {
			t.Errorf("%d queues: packets arrive at %v, want %v", vcs, got, want)
		}
	}
}

// TestStagesParts: networks side by side are as one of their size each.
func TestStagesParts(t *testing.T) {
	cfg := stagesConfig(64, 64)
	cfg.Parts, cfg.ExtraInputs = 2, 1
	both := NewStages(cfg)
	small := NewStages(stagesConfig(32, 32))
	id := int32(0)
	for in := range 32 {
		out := in * 7 % 32
		id++
		small.Push(0, in, out, 1+in%9, id, 0)
		both.Push(0, in, out, 1+in%9, id, 0)
		both.Push(0, 32+in, 32+out, 1+in%9, 100+id, 0)
	}
	want := stagesDelivered(small)
	got := stagesDelivered(both)
	for id, at := range want {
		if got[id] != at || got[100+id] != at {
			t.Errorf("packet %d arrives at %d alone, at %d and %d in parts", id, at, got[id], got[100+id])
		}
	}
	if len(got) != 2*len(want) || len(want) != 32 {
		t.Errorf("%d packets of 64 arrived", len(got))
	}
}

// TestStagesSaturate: under uniform load of long packets every port carries most of what its
// link can, however few switches there are, and every packet arrives once, at its output.
func TestStagesSaturate(t *testing.T) {
	for _, ports := range []int{64, 32, 16} {
		saturate(t, ports)
	}
}

// saturate fills a network of so many ports and empties it.
func saturate(t *testing.T, ports int) {
	t.Helper()
	s := NewStages(stagesConfig(ports, ports))
	to := map[int32]int{}
	next, id := uint64(0x9E3779B97F4A7C15), int32(0)
	flits := 0
	const clocks = 4000
	for now := uint64(0); now < clocks; now++ {
		for in := range ports {
			next = next*6364136223846793005 + 1442695040888963407
			out := int(next >> 33 % uint64(ports))
			if s.Push(now, in, out, 9, id, 0) {
				to[id] = out
				id++
			}
		}
		s.Tick(now)
		for out := range ports {
			if p, ok := s.Pop(out, now); ok {
				if want, known := to[p]; !known || want != out {
					t.Fatalf("packet %d at output %d, want %d (%v)", p, out, want, known)
				}
				delete(to, p)
				flits += 9
			}
		}
	}
	if load := float64(flits) / float64(ports*clocks); load < 0.5 || load > 1 {
		t.Errorf("%d ports carry %.2f flits per clock", ports, load)
	}
	for now := uint64(clocks); len(to) > 0; now++ {
		s.Tick(now)
		for out := range ports {
			if p, ok := s.Pop(out, now); ok {
				delete(to, p)
			}
		}
		if now > 2*clocks {
			t.Fatalf("%d packets never arrive", len(to))
		}
	}
	if s.Waiting() != 0 {
		t.Errorf("%d packets wait in an empty network", s.Waiting())
	}
}

// TestStagesSkip: a network that is visited only when it asks to be does what one that is
// visited in every clock does, whatever the sizes and however slowly outputs are emptied.
func TestStagesSkip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := StagesConfig{
			Parts: rapid.IntRange(1, 2).Draw(t, "parts"), Radix: rapid.IntRange(1, 4).Draw(t, "radix"),
			VCs: rapid.IntRange(1, 3).Draw(t, "vcs"), BufFlits: rapid.IntRange(1, 12).Draw(t, "buffer"),
			Latency: rapid.IntRange(1, 4).Draw(t, "latency"), OutQueue: rapid.IntRange(1, 3).Draw(t, "out queue"),
			FlitBytes: 16, Tenants: 1, ExtraInputs: 1, ExtraOutputs: 1,
		}
		per := rapid.IntRange(1, 9).Draw(t, "ports")
		cfg.Inputs, cfg.Outputs = per*cfg.Parts, per*cfg.Parts
		every, due := NewStages(cfg), NewStages(cfg)
		next, again := uint64(0), false
		left := 0
		for now := range uint64(120) {
			for range rapid.IntRange(0, 3).Draw(t, "pushes") {
				if now > 60 {
					break
				}
				in := rapid.IntRange(0, per-1).Draw(t, "in")
				part := rapid.IntRange(0, cfg.Parts-1).Draw(t, "part")
				in, out := part*per+in, part*per+rapid.IntRange(0, per-1).Draw(t, "out")
				flits := rapid.IntRange(1, 9).Draw(t, "flits")
				a, b := every.Push(now, in, out, flits, int32(now), 0), due.Push(now, in, out, flits, int32(now), 0)
				if a != b {
					t.Fatalf("clock %d: pushed %v and %v", now, a, b)
				}
				if a {
					left++
					next = now
				}
			}
			every.Tick(now)
			if again || next <= now {
				next, again = due.Tick(now), false
			}
			for out := range cfg.Outputs {
				if now <= 60 && rapid.IntRange(0, 3).Draw(t, "take") > 0 {
					continue
				}
				a, ok := every.Pop(out, now)
				b, same := due.Pop(out, now)
				if a != b || ok != same {
					t.Fatalf("clock %d: output %d gives packet %d (%v) and %d (%v)", now, out, a, ok, b, same)
				}
				if ok {
					left--
					again = true
				}
			}
		}
		for now := uint64(120); left > 0 && now < 20_000; now++ {
			every.Tick(now)
			for out := range cfg.Outputs {
				if _, ok := every.Pop(out, now); ok {
					left--
				}
			}
		}
		if left != 0 {
			t.Fatalf("%d packets never arrive", left)
		}
	})
}
