package sim

import (
	"testing"

	"github.com/heddle-sim/heddle/control"
)

// TestSettings: what policies can set and how the machine gets it are two tables with the same rows, in one order.
func TestSettings(t *testing.T) {
	list := settings()
	if len(list) != len(control.Settings()) {
		t.Fatalf("%d settings reach the machine, policies have %d", len(list), len(control.Settings()))
	}
	for i, s := range control.Settings() {
		if list[i].name != s.Name {
			t.Errorf("setting %d is %s for the machine and %s for policies", i, list[i].name, s.Name)
		}
	}
}
