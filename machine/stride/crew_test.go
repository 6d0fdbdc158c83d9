package stride

import (
	"strings"
	"sync/atomic"
	"testing"
)

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

// A worker that panics ends the simulation, not the process: the panic comes to the goroutine that runs the machine,
// when no other worker is at work, and the cores are given back.
func TestPanicComesToTheCaller(t *testing.T) {
	cores := NewCores(3)
	var l Strides
	l.crew.cores = cores
	for w := range 4 {
		l.crew.workers = append(l.crew.workers, nil)
		if w > 0 {
			l.crew.helpers = append(l.crew.helpers, func() { l.crew.work(w); l.crew.busy.Done() })
		}
	}
	var turns atomic.Int32
	l.crew.memory = func() {
		if turns.Add(1) == 3 {
			panic("a defect")
		}
	}
	l.crew.list = []int32{besideSMs, besideSMs, besideSMs, besideSMs, besideSMs, besideSMs}
	defer func() {
		if p, _ := recover().(string); !strings.Contains(p, "a defect") || !strings.Contains(p, "crew_test.go") {
			t.Errorf("recovered %q, want the defect and its place", p)
		}
		if n := cores.borrow(9); n != 3 {
			t.Errorf("%d cores given back, want 3", n)
		}
	}()
	l.crew.each(true)
	t.Error("no panic")
}
