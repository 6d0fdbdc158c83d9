package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/champsim"
)

// Loads of a program, one in each instruction and waiting for the one before, either each from a line of its own or
// all from a few lines: in which layout they are recorded makes no difference to what hits in the L1, which is known.
func TestCPUFormats(t *testing.T) {
	const insts = 6000
	file := filepath.Join(t.TempDir(), "loads.champsimtrace")
	for _, c := range []struct {
		name  string
		lines uint64
		step  uint64
		mpki  float64
	}{
		{"each from a line of its own", insts, 4, 1000},
		{"from 60 lines in turn", 60, 4, 10},
		{"from lines of its own, far apart", insts, 64, 1000},
	} {
		for _, format := range []champsim.Format{champsim.ChampSimFormat, champsim.CloudSuiteFormat} {
			var b []byte
			for i := range uint64(insts) {
				r := champsim.Record{IP: 0x400000 + i*c.step, Writes: [2]uint8{1}, Reads: [4]uint8{1}}
				r.Loads[0] = 0x7f1234560000 + i%c.lines*64
				if format == champsim.CloudSuiteFormat {
					r.CloudSuite = &champsim.CloudSuite{}
				}
				b = r.Append(b)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s := sim.Spec{
				Machine: "hydrogen", Seed: 1, Apps: []sim.App{{Name: "p", CPU: &sim.CPU{Trace: file}}},
				Set: map[string]string{"cpu.prefetch.kind": "none"},
			}
			if c.step > 15 && format == champsim.ChampSimFormat { // nothing in it tells
				if err := s.Apps[0].CPU.Check(); err == nil || !strings.Contains(err.Error(), "say format:") {
					t.Errorf("%s: %v", c.name, err)
				}
				s.Apps[0].CPU.Format = format
			}
			got := run(t, s).Tenants[0].CPU
			if got.Insts != insts || got.L1MPKI != c.mpki {
				t.Errorf("%s, %s: %d instructions, %g misses per 1000, want %g", format, c.name, got.Insts, got.L1MPKI,
					c.mpki)
			}
		}
	}
	for _, c := range []struct {
		cpu  sim.CPU
		want string
	}{
		{sim.CPU{Trace: file, Format: "sparc"}, `cpu.format is "sparc": champsim (64 bytes a record), cloudsuite (96)`},
		{sim.CPU{Model: "mcf", Format: "champsim"}, "cpu.format is for traces"},
		{sim.CPU{Trace: file, Format: "champsim"}, "the trace has records of 96 bytes: say format: cloudsuite"},
	} {
		if err := c.cpu.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.cpu, err, c.want)
		}
	}
}
