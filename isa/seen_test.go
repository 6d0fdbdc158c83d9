package isa

import "testing"

// What waits has been through all of its states and lines after some time; what counts has not, however long it does.
func TestSeen(t *testing.T) {
	var s Seen
	last := 0
	for i := range 10_000 {
		if s.State(Mix(uint64(i%100), 7)) || s.Line(int32(i%300)) {
			last = i
		}
	}
	if last < 100 || last > 1000 {
		t.Errorf("something new at step %d of a loop of 300 lines and 100 states", last)
	}
	old := 0
	for i := range 3_000_000 { // several times what is remembered
		if !s.State(Mix(uint64(i), 9)) {
			old++
		}
	}
	if old > 3_000_000/4 {
		t.Errorf("%d of 3000000 new states were taken for old ones", old)
	}
	s.State(1 << 40)
	if !s.Line(17) || s.Line(17) || s.Line(16) || !s.Line(8) {
		t.Error("lines are not told apart by groups of eight")
	}
}
