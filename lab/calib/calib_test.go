package calib

import (
	"bytes"
	"flag"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/sheets"
)

const dir = "../../apps/calib"

var update = flag.Bool("update", false, "write apps/calib/calibrate.txt anew")

// reference is the kernels of the set and the machine they are for.
func reference(t *testing.T) ([]*Spec, *sheets.Machine) {
	t.Helper()
	specs, err := ReadSpecs(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := sheets.Resolve("qv100", nil)
	if err != nil {
		t.Fatal(err)
	}
	return specs, m
}

// Every kernel leaves the same bytes under timing as in functional execution; clock
// readings aside. (ptx/emulate holds the functional results against the reference.)
func TestTimedEqualsFunctional(t *testing.T) {
	specs, err := ReadSpecs(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		timed, err := Run(dir, s, m, machine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		functional, err := RunFunctional(dir, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range s.Buffers {
			if !s.clocks(b.Name) && !bytes.Equal(timed.Data[i], functional[i]) {
				t.Errorf("%s: %s differs between timed and functional execution", s.Name, b.Name)
			}
		}
	}
}

// Idle skipping changes nothing: visiting every component in every cycle gives the
// same cycles and counters.
func TestSkippingChangesNothing(t *testing.T) {
	specs, err := ReadSpecs(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		switch s.Name {
		case "csr_gather", "hist_smem", "chase_dram_row", "reduce_tree", "dep_atomg", "barrier_w8", "vadd":
		default:
			continue
		}
		var out [2]*Outcome
		for i, every := range []bool{false, true} {
			if out[i], err = Run(dir, s, m, machine.Options{Every: every}); err != nil {
				t.Fatal(err)
			}
		}
		if out[0].Cycles != out[1].Cycles || !reflect.DeepEqual(out[0].Counts, out[1].Counts) {
			t.Errorf("%s: %d cycles %+v with skipping, %d cycles %+v without", s.Name, out[0].Cycles, out[0].Counts,
				out[1].Cycles, out[1].Counts)
		}
		for i, tab := range out[0].GPU.Tables {
			for c, n := range tab.Totals(0, nil) {
				if w := out[1].GPU.Tables[i].Totals(0, nil)[c]; n != w {
					t.Errorf("%s: %s.%s is %d with skipping, %d without", s.Name, tab.Owner, tab.Desc[c].Name, n, w)
				}
			}
		}
	}
}

// The model stays as close to the reference as it is: the mean error over the
// micro-benchmarks and the kernels, and the worst kernel.
func TestCalibration(t *testing.T) {
	rows, err := All(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 90 {
		t.Fatalf("%d rows, the set has more than 90", len(rows))
	}
	if testing.Verbose() {
		if err := Print(os.Stdout, rows, false); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, rows)
	for i := range rows {
		r := &rows[i]
		sameTraffic(t, r)
		// its reason stands in DEVIATIONS.md
		if r.Group == "micro" && math.Abs(r.Error()) > 0.05 && r.Name != "smem_stride_1" {
			t.Errorf("%s/%s: %.1f %% off, micro-benchmarks stay within 5 %%", r.Name, r.Config, 100*r.Error())
		}
	}
	for key, s := range Summarise(rows, func(r *Row) string { return r.Group + "/" + r.Config }) {
		mean, worst := 0.04, 0.09
		switch key {
		case "micro/base", "micro/cold":
			mean, worst = 0.01, 0.07
		case "macro/sm20": // vadd: DEVIATIONS.md
			worst = 0.22
		}
		if s.Mean > mean || s.Worst > worst {
			t.Errorf("%s: geometric mean error %.1f %%, worst %.1f %% (%s); the limits are %.1f and %.0f %%", key,
				100*s.Mean, 100*s.Worst, s.Name, 100*mean, 100*worst)
		}
	}
}

// kept holds the table in the tree, whose last line README.md shows, against what was measured.
func kept(t *testing.T, rows []Row) {
	t.Helper()
	const file = dir + "/calibrate.txt"
	if *update {
		var text bytes.Buffer
		if err := Print(&text, rows, true); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(strings.ReplaceAll(string(text), "\n  ", " "), "\ncalibrate: ")
	if last = "calibrate: " + strings.TrimSpace(last); last != LastLine(rows) {
		t.Errorf("apps/calib/calibrate.txt is older than the machine: it ends with\n%s, now\n%s: run go test "+
			"./lab/calib -run TestCalibration -update, then make docs", last, LastLine(rows))
	}
}

// sameTraffic holds what reaches each level against the reference: miss rates within
// a point, DRAM reads within 5 %. Hits and hits on sectors that are on their way add
// up the same then; how they divide depends on how far warps drift apart.
func sameTraffic(t *testing.T, r *Row) {
	t.Helper()
	c, n := r.Ref.Columns, r.Got.Counts
	rates := func(what string, hits, misses, all uint64) {
		of := what + "_accesses"
		if c[of] == 0 || all == 0 {
			return
		}
		got, want := float64(misses)/float64(all), c[what+"_misses"]/c[of]
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%s/%s: %s miss rate %.3f, the reference has %.3f", r.Name, r.Config, what, got, want)
		}
		got, want = float64(hits)/float64(all), c[what+"_hits"]/c[of]
		if math.Abs(got-want) > 0.08 {
			t.Errorf("%s/%s: %s hit rate %.3f, the reference has %.3f", r.Name, r.Config, what, got, want)
		}
	}
	rates("l1d", n["sm.l1_hits"], n["sm.l1_misses"], n["sm.l1_accesses"])
	rates("l2", n["llc.hits"], n["llc.misses"], n["llc.accesses"])
	if d := c["dram_reads"]; math.Abs(float64(n["dram.read_bursts"])-d) > 0.05*d {
		t.Errorf("%s/%s: %d DRAM reads, the reference has %.0f", r.Name, r.Config, n["dram.read_bursts"], d)
	}
}
