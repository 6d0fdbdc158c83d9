package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/sheets"
)

// chase is loads of which each needs the one before it, over so many lines of 64 bytes apart from
// each other.
type chase struct{ n, lines, step uint64 }

func (c *chase) Read(buf []scalar.Inst) (int, error) {
	for i := range buf {
		buf[i] = scalar.Inst{
			Kind: scalar.Load, Addr: c.n % c.lines * c.step, Src: [scalar.Operands]uint16{1},
			Dst: [scalar.Results]uint16{1},
		}
		c.n++
	}
	return len(buf), nil
}

func (c *chase) Rewind() error { c.n = 0; return nil }

func (c *chase) Bytes() uint64 { return c.lines * c.step }

// latency is the CPU cycles of a load of a chase through so many bytes by steps, on the hydrogen machine with so many
// sets in each slice of the LLC.
func latency(t *testing.T, sets int, bytes, step uint64, every bool) (cycles float64) {
	m, _, err := sheets.Load("hydrogen")
	if err != nil {
		t.Fatal(err)
	}
	m.LLC.Sets = sets
	g, err := New(m, []*sharing.Tenant{{Name: "chase", Cores: []int{3}}}, Options{Every: every})
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes / step
	laps := max(1, 10_000/lines)
	var ends []uint64
	for range 2 { // the caches are warm the second time
		var programs []cpu.Program
		if len(ends) == 0 {
			programs = []cpu.Program{{Source: &chase{lines: lines, step: step}, Insts: laps * lines}}
		}
		x, err := g.CPUs.Execute(0, programs)
		if err != nil {
			t.Fatal(err)
		}
		for !x.Done {
			if _, err := g.Run(g.Now() + 1000); err != nil {
				t.Fatal(err)
			}
		}
		ends = append(ends, x.End)
	}
	if n := g.CPUs.Instructions(0); n < 2*laps*lines || n > 2*laps*lines+uint64(m.CPU.Width) {
		t.Errorf("%d instructions after two executions of %d", n, laps*lines)
	}
	return float64(ends[1]-ends[0]) * m.CPU.Clock / m.Clock.Core / float64(laps*lines)
}

// TestLoadLatency: a load is answered after 4 cycles of the CPU's clock in the L1, 14 in the L2, some 38
// in the LLC and more than 100 in memory; the same visiting everything in every cycle.
func TestLoadLatency(t *testing.T) {
	for _, c := range []struct {
		sets        int
		bytes, step uint64
		low, high   float64
	}{
		{512, 16 << 10, 64, 3.99, 4.01},
		{512, 512 << 10, 64, 13.99, 14.01},
		{512, 2 << 20, 128, 34, 42},
		{64, 4 << 20, 128, 100, 350}, // an LLC of 2 MB
	} {
		got := latency(t, c.sets, c.bytes, c.step, false)
		t.Logf("%d KB: %.2f cycles", c.bytes>>10, got)
		if got < c.low || got > c.high {
			t.Errorf("%d KB: %.2f cycles, want %g to %g", c.bytes>>10, got, c.low, c.high)
		}
		if c.bytes <= 512<<10 {
			if every := latency(t, c.sets, c.bytes, c.step, true); every != got {
				t.Errorf("%d KB: visiting every cycle %.6f cycles, else %.6f", c.bytes>>10, every, got)
			}
		}
	}
}
