package stride

import "testing"

// Cores are lent as far as there are any.
func TestCoresAreLent(t *testing.T) {
	c := NewCores(3)
	if a, b, d := c.borrow(2), c.borrow(2), c.borrow(1); a != 2 || b != 1 || d != 0 {
		t.Errorf("%d, %d and %d of 3 cores lent, want 2, 1 and 0", a, b, d)
	}
	c.Give(-1) // a simulation begins
	c.Give(2)
	if n := c.borrow(5); n != 1 {
		t.Errorf("%d cores lent, want 1", n)
	}
	if n := (*Cores)(nil).borrow(1); n != 0 {
		t.Errorf("%d cores lent of none", n)
	}
}
