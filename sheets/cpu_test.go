package sheets

import (
	"strings"
	"testing"
)

// What of a CPU does not fit is refused with its path.
func TestCPU(t *testing.T) {
	if _, _, err := Load("hydrogen"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, value, want string }{
		{"cpu.clock", "0", "cpu.clock is 0 MHz"},
		{"cpu.width", "0", "cpu.width is 0; it must be at least 1"},
		{"cpu.window", "5000", "cpu.window is 5000; at most 4096"},
		{"cpu.cores", "300", "cpu.cores is 300; at most 256"},
		{"cpu.line", "48", "cpu.line is 48; a power of two"},
		{"cpu.line", "256", "it must be whole sectors (llc.sector: 64) of a line of the LLC (llc.line: 128)"},
		{"cpu.l1.ways", "0", "cpu.l1.ways is 0"},
		{"cpu.l2.latency", "3", "the L2 is behind the L1"},
		{"cpu.write_backs", "1", "cpu.write_backs is 1; from 2"},
		{"cpu.prefetch.kind", "magic", `cpu.prefetch.kind is "magic"`},
		{"cpu.prefetch.kind", "stride", "cpu.prefetch.degree is 0"},
		{"cpu.branch.mispredict", "16", "cpu.branch.history is 0 and cpu.branch.mispredict 16; a predictor has"},
		{"cpu.power.idle", "2", "it cannot be above"},
	} {
		_, _, err := Resolve("hydrogen", map[string]string{c.path: c.value})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %s", c.path, c.value, err, c.want)
		}
	}
	if _, _, err := Resolve("nuba", map[string]string{"cpu.cores": "2"}); err == nil ||
		!strings.Contains(err.Error(), "cores have no place in partitions") {
		t.Errorf("cores on a machine with partitions: %v", err)
	}
}
