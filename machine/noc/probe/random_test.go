package probe

import "testing"

// TestKnuth checks both generators against the values published with them.
func TestKnuth(t *testing.T) {
	g := newIntegers(310952)
	a := make([]int32, 1009)
	for range 2010 {
		g.fill(a)
	}
	if a[0] != 995235265 {
		t.Errorf("integers: %d, want 995235265", a[0])
	}
	f := newFractions(310952)
	u := make([]float64, 1009)
	for range 2010 {
		f.fill(u)
	}
	if want := 0.36410514377569680455; u[0] != want {
		t.Errorf("fractions: %.20f, want %.20f", u[0], want)
	}
}
