package sim

import "testing"

// SMs that move were their old owner's until the new one may dispatch; what has not
// arrived when the run ends stays where it was.
func TestHeld(t *testing.T) {
	res := &Result{Cycles: 1000, Decisions: []Decision{{SMs: []SMMove{
		{From: "a", To: "b", Start: 200, End: 250},
		{From: "a", To: "b", Start: 200, End: 300},
		{From: "b", To: "a", Start: 900},
	}}}}
	a, b := &Tenant{Name: "a", SMs: 30}, &Tenant{Name: "b", SMs: 50}
	for _, c := range []struct {
		from, to, a, b uint64
	}{
		{0, 1000, 30*1000 + 250 + 300, 50*1000 - 250 - 300},
		{0, 200, 32 * 200, 48 * 200},
		{270, 500, 30*230 + 30, 50*230 - 30},
		{500, 1000, 30 * 500, 50 * 500},
	} {
		if x, y := held(res, a, c.from, c.to), held(res, b, c.from, c.to); x != c.a || y != c.b {
			t.Errorf("from %d to %d: %d and %d SM-cycles, want %d and %d", c.from, c.to, x, y, c.a, c.b)
		}
	}
}

// A window is covered by what lies in it, once.
func TestCovered(t *testing.T) {
	w := Window{Start: 100, End: 200}
	for want, in := range map[uint64][]interval{
		0:   {{0, 100}, {200, 300}},
		100: {{0, 300}, {150, 160}},
		30:  {{150, 160}, {90, 110}, {195, 400}, {105, 115}},
	} {
		if got := covered(in, w); got != want {
			t.Errorf("%v cover %d cycles, want %d", in, got, want)
		}
	}
}
