package sim

import (
	"testing"
	"time"
)

// Somebody who is seen idle for as long at every look, and has done something in between, is not told of; who has done
// nothing since the same cycle is, once. One that is off the SMs in the middle of its work is not.
func TestLull(t *testing.T) {
	start := time.Unix(0, 0)
	var busy, stuck, off lull
	told := 0
	for s := range 100 {
		now := start.Add(time.Duration(s) * time.Second)
		if busy.due(4001, uint64(5000*s), now) {
			t.Fatalf("told after %d s of one that goes on", s)
		}
		if off.due(4001, 5000, now) {
			t.Fatalf("told after %d s of one that is off the SMs", s)
		}
		if stuck.due(uint64(4001*(s+1)), 77, now) {
			if told++; now.Sub(start) < patienceFor {
				t.Errorf("told after %d s", s)
			}
			stuck.said = true
		}
	}
	if told != 1 {
		t.Errorf("told %d times of one that does nothing", told)
	}
}

// A study's run of so many cycles needs nobody's patience; one to the end, and one longer than the watchdog's limit,
// do.
func TestEndsAnyway(t *testing.T) {
	for _, c := range []struct {
		length Length
		cycle  uint64
		ends   bool
	}{
		{Length{MaxCycles: 2_000_000, Budget: true}, 50_000, true},
		{Length{MaxCycles: 2_000_000}, 50_000, false},
		{Length{}, 50_000, false},
		{Length{MaxCycles: 100_000_000, Budget: true}, 50_000, false},
		{Length{MaxCycles: 100_000_000, Budget: true}, 90_000_000, true},
	} {
		if got := endsAnyway(&c.length, c.cycle, 20_000_000); got != c.ends {
			t.Errorf("%+v at cycle %d: %v", c.length, c.cycle, got)
		}
	}
}
