package record_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/lab/calib"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/trace/record"
)

const calibDir = "../../apps/calib"

// outcome runs a calibration kernel, or what instead makes of it.
func outcome(t *testing.T, s *calib.Spec, m *sheets.Machine,
	instead func(isa.Grid) (isa.Grid, error),
) *calib.Outcome {
	t.Helper()
	o, err := calib.RunInstead(calibDir, s, m, machine.Options{}, instead)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func itself(g isa.Grid) (isa.Grid, error) { return g, nil }

func sameOutcome(t *testing.T, what string, a, b *calib.Outcome) {
	t.Helper()
	if a.Cycles != b.Cycles || a.WarpInsts != b.WarpInsts || a.ThreadInsts != b.ThreadInsts {
		t.Errorf("%s: %d cycles, %d instructions executed; %d cycles, %d instructions replayed",
			what, a.Cycles, a.ThreadInsts, b.Cycles, b.ThreadInsts)
	}
	for i, tab := range a.GPU.Tables {
		x, y := tab.Totals(0, nil), b.GPU.Tables[i].Totals(0, nil)
		for c := range x {
			if x[c] != y[c] {
				t.Errorf("%s: %s.%s is %d executed, %d replayed", what, tab.Owner, tab.Desc[c].Name, x[c], y[c])
			}
		}
	}
}

// Every kernel of the timing reference set takes the same cycles and counts the same
// when it is replayed, from a timed recording and from a functional one, on the
// recording's machine, and on a machine that has other SMs.
func TestCalibrationKernels(t *testing.T) {
	specs, err := calib.ReadSpecs(calibDir)
	if err != nil || len(specs) < 50 {
		t.Fatalf("%d specs: %v", len(specs), err)
	}
	var machines []*sheets.Machine
	for _, name := range []string{"qv100", "ugpu"} {
		m, _, err := sheets.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		m.VM.Enabled = false // the set's runner maps no memory
		machines = append(machines, m)
	}
	for _, s := range specs {
		big := strings.HasSuffix(s.Name, "_big") // takes seconds
		if big && testing.Short() {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			dir := t.TempDir()
			var first *calib.Outcome
			timed := writeTo(t, filepath.Join(dir, "timed"), func(w *record.Writer) {
				first = outcome(t, s, machines[0], func(g isa.Grid) (isa.Grid, error) { return w.Grid(s.Kernel, g) })
			})
			functional := writeTo(t, filepath.Join(dir, "functional"), func(w *record.Writer) {
				g, err := calib.Grid(calibDir, s)
				if err == nil {
					g, err = w.Grid(s.Kernel, g)
				}
				if err == nil {
					_, err = emulate.Run(g, 0)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
			if timed.Digest(t) != functional.Digest(t) {
				t.Error("the timed and the functional recording differ")
			}
			replay := func(isa.Grid) (isa.Grid, error) { return functional.Grid(0), nil }
			sameOutcome(t, machines[0].Name, first, outcome(t, s, machines[0], replay))
			if !big {
				sameOutcome(t, machines[1].Name, outcome(t, s, machines[1], itself),
					outcome(t, s, machines[1], replay))
			}
		})
	}
}

// writeTo makes a recording with f and opens it.
func writeTo(t testing.TB, path string, f func(w *record.Writer)) *record.Recording {
	t.Helper()
	w, err := record.Create(path, "app")
	if err != nil {
		t.Fatal(err)
	}
	f(w)
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}
