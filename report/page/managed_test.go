package page

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// What became of managed allocations is a row each.
func TestManagedAllocations(t *testing.T) {
	r := still()
	r.Managed = []sim.ManagedAllocation{
		{Tenant: "a", Bytes: 2 << 20, Reads: 5120, Writes: 512, Remote: 1408, Migrated: 600, Again: 88, Left: 90},
	}
	text, err := Render([]Run{fromDisk(t, "managed", r)})
	want := "<td>2.1</td><td>10</td><td>1</td><td>25.0 %</td><td>600</td><td>88</td><td>90</td>"
	if err != nil || !bytes.Contains(text, []byte(want)) {
		t.Errorf("the page does not say %q, %v", want, err)
	}
	r.Managed = nil
	text, err = Render([]Run{fromDisk(t, "none", r)})
	if err != nil || bytes.Contains(text, []byte("Managed allocations")) {
		t.Errorf("without any: %v", err)
	}
}
