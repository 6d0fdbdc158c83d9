package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// aimed is a sample under another sharing mode whose first application has a target.
func aimed(name string, reached, slowdown float64) *sim.Result {
	r := with(name, 1, 1, 1)
	first := r.Tenants[0].Name
	r.Targets = []sim.Target{{Tenant: first, IPC: 100, OfAlone: 0.8, Reached: reached, Met: reached >= 100}}
	r.Tenants[1].Slowdown = slowdown
	return r
}

// A comparison of runs with targets says which met them, and which of those leaves the others most; not the one that
// leaves more and misses.
func TestHeld(t *testing.T) {
	for _, c := range []struct {
		what string
		runs []*sim.Result
		want []string
		not  string
	}{
		{
			"one misses",
			[]*sim.Result{aimed("A", 103, 5), aimed("B", 93.2, 4), aimed("C", 111, 12.5)},
			[]string{
				"103.0 % (met)          0.200",
				"93.2 % (NOT met)          0.250",
				"111.0 % (met)          0.080",
				"of the modes that meet all targets, A leaves most to cp\n",
			},
			"",
		},
		{
			"all miss",
			[]*sim.Result{aimed("A", 99, 5), aimed("B", 93, 4)},
			[]string{"no sharing mode meets all targets\n"},
			"",
		},
		{"no targets", []*sim.Result{with("A", 1, 1, 1), with("B", 1, 1, 1)}, nil, "target"},
		{"one run", []*sim.Result{aimed("A", 99, 5)}, nil, "what they leave"},
	} {
		var b bytes.Buffer
		if err := Comparison(&b, c.runs, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: lacks %q:\n%s", c.what, want, b.String())
			}
		}
		if c.not != "" && strings.Contains(b.String(), c.not) {
			t.Errorf("%s: has %q:\n%s", c.what, c.not, b.String())
		}
	}
}
