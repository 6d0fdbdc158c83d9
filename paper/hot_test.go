package paper

import (
	"math"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// A third of the memory is the small allocation and half of the next: their accesses, worked out by hand. Allocations
// of another program do not count.
func TestHotShare(t *testing.T) {
	r := &sim.Result{Tenants: []sim.Tenant{{Name: "a"}, {Name: "b"}, {Name: "none"}}}
	r.Managed = []sim.ManagedAllocation{
		{Tenant: "a", Bytes: 4 * 4096, Reads: 100},
		{Tenant: "a", Bytes: 4096, Reads: 300, Writes: 300},
		{Tenant: "b", Bytes: 4096, Reads: 9999},
		{Tenant: "a", Bytes: 4 * 4096, Reads: 200, Writes: 100},
	}
	if x := hotShare(r, 0); math.Abs(x-75) > 1e-9 { // 600 and 2 of 4 pages of 300, of 1000
		t.Errorf("hot share %g %%, want 75", x)
	}
	if x := readOnlyUse(r, 0); math.Abs(x-100*25./180) > 1e-9 { // 100 on 4 pages; 900 on 5
		t.Errorf("use of what is only read: %g %%, want 13.9", x)
	}
	if x := readOnlyUse(r, 1); !math.IsNaN(x) {
		t.Errorf("nothing is written: %g, want NaN", x)
	}
	if x := hotShare(r, 2); !math.IsNaN(x) {
		t.Errorf("a program without allocations: %g, want NaN", x)
	}
}
