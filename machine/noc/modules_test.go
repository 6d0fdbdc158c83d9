package noc

import (
	"testing"

	"pgregory.net/rapid"
)

// moduleConfig is 4 modules of 8 ports each way and 8 gates, on a ring of so many bytes per clock.
func moduleConfig(rate uint64, queue int) (StagesConfig, *Ring) {
	cfg := stagesConfig(32, 32)
	cfg.Parts, cfg.Gates = 4, 8
	return cfg, NewRing(RingConfig{Nodes: 4, Rate: rate * 1000, Latency: 32, Queue: queue, Classes: 2, Tenants: 1})
}

// TestModuleLatency: a packet for another module passes the stages of its own, the links of the
// ring, and the stages of the other; one for its own module the stages alone.
func TestModuleLatency(t *testing.T) {
	for _, c := range []struct {
		out  int
		want uint64
	}{
		{7, 100 + 8 + 8},                     // 9 flits, two switches of 4 clocks
		{8, 100 + 16 + 1 + 32 + 8 + 8},       // the same, a clock into the ring, a link of 32, the same again
		{16, 100 + 16 + 1 + 32 + 32 + 8 + 8}, // two links: the packet goes on in the clock it arrives
		{31, 100 + 16 + 1 + 32 + 8 + 8},      // one link the other way round
	} {
		cfg, ring := moduleConfig(256, 16)
		m := NewModules(cfg, ring, 0)
		m.Push(100, 0, c.out, 9, 5, 0)
		got := uint64(0)
		for now := uint64(100); now < 300 && got == 0; {
			next := m.Tick(now)
			if m.avail.has(c.out) {
				if id, ok := m.Pop(c.out, now); ok && id == 5 {
					got = now
				}
			}
			if next == Never && got == 0 {
				t.Fatalf("to %d: nothing to do at %d", c.out, now)
			}
			now = next
		}
		if got != c.want {
			t.Errorf("to %d: arrives at %d, want %d", c.out, got, c.want)
		}
	}
}

// TestRingBandwidth: neighbours that send all they can fill the link between them, and no more;
// requests and answers get half each.
func TestRingBandwidth(t *testing.T) {
	const rate, clocks, bytes = 40, 4000, 136
	r := NewRing(RingConfig{Nodes: 4, Rate: rate * 1000, Latency: 8, Queue: 8, Classes: 2, Tenants: 1})
	var carried [2]int
	for now := uint64(0); now < clocks; now++ {
		for class := range 2 {
			for r.Inject(now, class, 0, 1, bytes, 1, 0) {
			}
		}
		r.Tick(now)
		for class := range 2 {
			for _, ok := r.Peek(class, 1); ok; _, ok = r.Peek(class, 1) {
				r.Pop(class, 1)
				carried[class] += bytes
			}
		}
	}
	if sum := carried[0] + carried[1]; sum > rate*clocks || sum < rate*(clocks-100) {
		t.Errorf("%d bytes in %d clocks of %d bytes", sum, clocks, rate)
	}
	if d := carried[0] - carried[1]; d > 2*bytes || d < -2*bytes {
		t.Errorf("classes carry %v bytes", carried)
	}
}

// TestModulesConserve: whatever the sizes, and with answers nobody takes for a while, every
// packet arrives once, at its output, and no circle of full queues comes about.
func TestModulesConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 5).Draw(t, "modules")
		cfg := StagesConfig{
			Parts: nodes, Radix: rapid.IntRange(1, 4).Draw(t, "radix"), VCs: rapid.IntRange(1, 2).Draw(t, "vcs"),
			BufFlits: rapid.IntRange(1, 9).Draw(t, "buffer"), Latency: 2, OutQueue: rapid.IntRange(1, 2).Draw(t, "out"),
			FlitBytes: 16, Tenants: 1, ExtraInputs: 1, ExtraOutputs: 1, Gates: rapid.IntRange(1, 5).Draw(t, "gates"),
		}
		per := rapid.IntRange(1, 5).Draw(t, "ports")
		cfg.Inputs, cfg.Outputs = per*nodes, per*nodes
		ring := NewRing(RingConfig{
			Nodes: nodes, Rate: rapid.Uint64Range(10_000, 90_000).Draw(t, "rate"), Latency: 3,
			Queue: rapid.IntRange(1, 3).Draw(t, "queue"), Classes: 2, Tenants: 1,
		})
		m := NewModules(cfg, ring, 1)
		to := map[int32]int{}
		id := int32(0)
		for now := uint64(0); now < 20_000 && (now < 150 || len(to) > 0); now++ {
			for range 3 {
				if now >= 100 {
					break
				}
				in, out := rapid.IntRange(0, per*nodes).Draw(t, "in"), rapid.IntRange(0, per*nodes).Draw(t, "to")
				if m.Push(now, in, out, rapid.IntRange(1, 9).Draw(t, "flits"), id, 0) {
					to[id] = out
					id++
				}
			}
			m.Tick(now)
			if now < 60 {
				continue
			}
			for out := range per*nodes + 1 {
				if !m.avail.has(out) {
					continue
				}
				p, ok := m.Pop(out, now)
				if want, known := to[p]; !ok || !known || want != out {
					t.Fatalf("packet %d (%v) at output %d, want %d (%v)", p, ok, out, want, known)
				}
				delete(to, p)
			}
		}
		if len(to) > 0 {
			t.Fatalf("%d packets never arrive", len(to))
		}
	})
}
