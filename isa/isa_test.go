package isa

import "testing"

// A register counts once; the others are counted by bank.
func TestReadsOf(t *testing.T) {
	r := ReadsOf([]int{4, 8, 5, 8, 12, 2})
	for k, want := range []uint{5, 4, 3, 2, 1} {
		if got := r.Most(uint(k)); got != want {
			t.Errorf("%d reads from one of %d banks, want %d", got, 1<<k, want)
		}
	}
}
