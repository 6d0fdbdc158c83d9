package main

import (
	"testing"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// What somebody before the terminal was told at the start is not told again with the result; its other warnings are.
func TestEarlyWarningsOnce(t *testing.T) {
	var shelf sheets.Shelf
	m, _, err := shelf.Resolve("ugpu", nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := sim.Spec{
		Apps:    []sim.App{{Name: "a", Path: "../../apps/micro/triad"}, {Name: "b", Path: "../../apps/micro/triad"}},
		Machine: "ugpu", Sharing: sim.Sharing{Name: "ugpu", Mode: "ugpu", Epoch: 50_000},
		Length: sim.Length{MaxCycles: 3000, Budget: true},
	}
	file := &runfile.File{Machine: m, Specs: []sim.Spec{spec}}
	if told := (&runFlags{}).early(file, false); told != nil {
		t.Errorf("nobody is there, and is told %q", told)
	}
	early := (&runFlags{}).early(file, true)
	r, err := sim.Run(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(early) != 1 || len(r.Warnings) != 1 || early[0] != r.Warnings[0] {
		t.Fatalf("early %q, in the result %q: one sentence, and the same", early, r.Warnings)
	}
	r.Warnings = append(r.Warnings, "another")
	shown := without([]lab.Outcome{{Result: r}, {}}, early)
	if w := shown[0].Result.Warnings; len(w) != 1 || w[0] != "another" || len(r.Warnings) != 2 {
		t.Errorf("shown are %q of %q", w, r.Warnings)
	}
}
