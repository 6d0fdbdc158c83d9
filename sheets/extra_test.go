package sheets

import "testing"

// What lies between the LLC and the DRAM of a board takes its time at any core clock.
func TestTimeBeforeDRAM(t *testing.T) {
	for _, c := range []struct {
		machine, core string
		want          int
	}{
		{"v100", "1380", 164},
		{"a100", "1410", 266},
		{"h100", "1755", 275},
		{"h100", "1100", 172},
		{"qv100", "1100", 100},
	} {
		m, _, err := Resolve(c.machine, map[string]string{"clock.core": c.core})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.DRAM.Before(m.Clock.Core); got != c.want {
			t.Errorf("%s at %s MHz: %d cycles, want %d", c.machine, c.core, got, c.want)
		}
	}
	if _, _, err := Resolve("v100", map[string]string{"dram.extra_ns": "-1"}); err == nil {
		t.Error("a time below 0 passes")
	}
}
