package sim

import (
	"testing"
	"time"
)

// Somebody who is seen idle for as long at every look, and has done something in between, is not told of; who has done
// nothing since the same cycle is, once.
func TestLull(t *testing.T) {
	start := time.Unix(0, 0)
	var busy, stuck lull
	told := 0
	for s := range 100 {
		now := start.Add(time.Duration(s) * time.Second)
		if busy.due(4001, uint64(5000*s), now) {
			t.Fatalf("told after %d s of one that goes on", s)
		}
		if stuck.due(uint64(4001*(s+1)), 77, now) {
			if told++; now.Sub(start) < patienceFor {
				t.Errorf("told after %d s", s)
			}
			stuck.told = true
		}
	}
	if told != 1 {
		t.Errorf("told %d times of one that does nothing", told)
	}
}
