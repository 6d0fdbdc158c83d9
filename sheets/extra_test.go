package sheets

import "testing"

// What lies between the LLC and the DRAM takes its time at any clock, on the way there and on the way back.
func TestTimeAroundDRAM(t *testing.T) {
	for _, c := range []struct {
		machine     string
		set         map[string]string
		there, back int // core cycles, command clocks
	}{
		{"v100", map[string]string{"clock.dram": "877"}, 0, 105},
		{"a100", nil, 0, 158},
		{"h100", nil, 0, 147},
		{"h100", map[string]string{"clock.dram": "796.5"}, 0, 89},
		{"qv100", map[string]string{"clock.core": "1100"}, 100, 1},
		{"a100", map[string]string{"clock.core": "1000", "dram.extra_ns": "156.7"}, 157, 158},
	} {
		m, _, err := Resolve(c.machine, c.set)
		if err != nil {
			t.Fatal(err)
		}
		there, back := m.DRAM.Before(m.Clock.Core), m.DRAM.Back(m.Clock.DRAM)
		if there != c.there || back != c.back {
			t.Errorf("%s with %v: %d and %d clocks, want %d and %d", c.machine, c.set, there, back, c.there, c.back)
		}
	}
	for _, name := range []string{"dram.extra_ns", "dram.return_ns"} {
		if _, _, err := Resolve("v100", map[string]string{name: "-1"}); err == nil {
			t.Errorf("%s below 0 passes", name)
		}
	}
}
