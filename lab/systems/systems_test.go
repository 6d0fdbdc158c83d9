package systems

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// TestCells runs every system on every machine: what is said to work runs for 20,000 cycles, under the settings
// that are named, and what is refused gives its sentence.
func TestCells(t *testing.T) {
	table, err := Table(sheets.Names())
	if err != nil {
		t.Fatal(err)
	}
	app, err := filepath.Abs(filepath.Join("..", "..", "apps", "micro", "triad"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		for _, c := range row {
			t.Run(c.Machine+"/"+c.System.Name, func(t *testing.T) {
				t.Parallel()
				set := map[string]string{}
				for _, x := range c.Set {
					path, value, _ := strings.Cut(x, "=")
					set[path] = value
				}
				m, _, err := sheets.Resolve(c.Machine, set)
				if err != nil {
					t.Fatal(err)
				}
				spec := c.System.Spec(m, app)
				spec.Set = maps.Clone(set)
				r, err := sim.Run(t.Context(), spec, nil)
				switch {
				case c.Refused != nil && (err == nil || err.Error() != c.Refused.Error()):
					t.Errorf("the table says %q, the run %v", c.Refused, err)
				case c.Refused == nil && err != nil:
					t.Errorf("the table says that it works: %v", err)
				case c.Refused == nil && r.Cycles != 20_000:
					t.Errorf("it ran for %d cycles, want 20000", r.Cycles)
				}
			})
		}
	}
}
