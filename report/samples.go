package report

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/heddle-sim/heddle/sim"
)

// governing lists the policies that took samples in a run, in the order in which they did.
func governing(r *sim.Result) (names []string) {
	for i := range r.Decisions {
		if n := r.Decisions[i].Policy; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Samples writes the samples of one policy as a JSON array in time order.
func Samples(w io.Writer, r *sim.Result, policy string) error {
	samples := []any{}
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.Policy == policy {
			samples = append(samples, d.Sample)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(samples)
}
