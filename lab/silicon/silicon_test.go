package silicon

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// quick are rows that take little time, with the error in percent that each may have. They
// are where the sheets are at present: who makes one better lowers its number.
func quick() map[[2]string]float64 {
	return map[[2]string]float64{
		{"v100-pcie", "fadd_ffma_iadd3_latency [Jia]"}: 3,
		{"v100-pcie", "dfma_latency [gpu-benches]"}:    3,
		{"v100-pcie", "rate ffma"}:                     4,
		{"v100-pcie", "mma wmma"}:                      3,
		{"v100-pcie", "shared_latency [Jia]"}:          5,
		{"a100-40", "add.u32_dependent [Abdel]"}:       3,
		{"a100-40", "add.f32_issue [Abdel]"}:           4,
		{"a100-40", "rate imad"}:                       9,
		{"a100-40", "mma mma"}:                         7,
		{"a100-40", "shared_latency [Luo]"}:            5,
		{"a100-40", "A100-40 gpu-latency 20"}:          4,
		{"a100-40", "__syncthreads int 1x32"}:          2,
		{"a100-40", "__syncthreads int 1x1024"}:        5,
		{"a100-40", "__shfl_sync int 1x32"}:            5,
		{"a100-40", "atomicAdd_one_address int 1x32"}:  20,
		{"a100-40", "launch_overhead [Zhang]"}:         5,
		{"h100-pcie", "rate ffma"}:                     13,
		{"h100-pcie", "rate dfma"}:                     4,
		{"h100-pcie", "mma mma"}:                       7,
		{"h100-pcie", "H100-PCIe gpu-latency 20"}:      4,
	}
}

func TestQuickRows(t *testing.T) {
	set, err := Open(".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []*Row
	for _, r := range set.Rows {
		if _, ok := quick()[[2]string{r.Board, r.Name}]; ok {
			rows = append(rows, r)
		}
	}
	if len(rows) != len(quick()) {
		t.Fatalf("%d of %d quick rows are in rows.csv", len(rows), len(quick()))
	}
	results, err := set.Measure(context.Background(), rows, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		r := &results[i]
		most := quick()[[2]string{r.Board, r.Name}] / 100
		if r.Err != "" || math.Abs(r.Error()) > most {
			t.Errorf("%s %s: silicon %g, Heddle %g, may be %.0f %% off (%s)", r.Board, r.Name, r.Silicon, r.Heddle,
				100*most,
				r.Err)
		}
	}
}

// TestRefused: a row that its sheet refuses is a failed row that says why, and a miss; the others go on.
func TestRefused(t *testing.T) {
	set, err := Open(".")
	if err != nil {
		t.Fatal(err)
	}
	var rows []*Row
	for _, r := range set.Rows {
		if r.Board == "a100-40" && r.Name == "shared_latency [Luo]" {
			bad := *r
			bad.Set = map[string]string{"sm.shared_banks": "0"}
			none := *r
			none.Program = "none"
			rows = append(rows, r, &bad, &none)
		}
	}
	results, err := set.Measure(context.Background(), rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Err != "" || !strings.Contains(results[1].Err, "shared_banks") || !strings.Contains(results[2].Err,
		"none") {
		t.Errorf("errors are %q, %q and %q", results[0].Err, results[1].Err, results[2].Err)
	}
	scores := Scores(results)
	if len(scores) != 1 || scores[0].Rows != 1 || scores[0].Failed != 2 {
		t.Errorf("scores are %+v", scores)
	}
	if m := strings.Join(Missed(scores), "\n"); !strings.Contains(m, "2 of 3 rows failed") {
		t.Errorf("missed: %s", m)
	}
	var b bytes.Buffer
	if err := Page(&b, LastLine(scores), results, scores); err != nil || !strings.Contains(b.String(), "shared_banks") {
		t.Errorf("the page does not say why a row failed: %v", err)
	}
}

// TestPrograms runs the kernels that say what they compute against the host.
func TestPrograms(t *testing.T) {
	r, err := sim.Run(context.Background(), sim.Spec{
		Machine: "a100", Functional: true, Apps: []sim.App{{Name: "check", Path: "kernels/check.star"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Checks) < 10 {
		t.Errorf("%d checks", len(r.Checks))
	}
	for _, c := range r.Checks {
		if !c.OK {
			t.Errorf("%s: %s", c.What, c.Msg)
		}
	}
}

// TestBorrowedKernels: kernels of applications are theirs, byte for byte.
func TestBorrowedKernels(t *testing.T) {
	for own, app := range Borrowed() {
		a, err := os.ReadFile(filepath.Join("kernels", own+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join("..", "..", "apps", app, "kernel.ptx"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("kernels/%s.ptx is not apps/%s/kernel.ptx: copy it", own, app)
		}
	}
}

func TestScores(t *testing.T) {
	r := func(silicon, heddle float64) Result {
		return Result{
			Row: &Row{Group: "alu", Name: "x"}, Machine: "m", Heddle: heddle, NetSilicon: silicon,
			NetHeddle: heddle,
		}
	}
	soft := r(1, 50)
	soft.Soft = "why"
	s := Scores([]Result{r(10, 20), r(10, 5), soft})
	if len(s) != 1 || s[0].Rows != 2 || math.Abs(s[0].Typical-1) > 1e-9 || math.Abs(s[0].Bias-1) > 1e-9 {
		t.Errorf("twice and half are %+v, want 100 %% without a bias", s)
	}
	if m := Missed(s); len(m) != 1 {
		t.Errorf("missed: %q", m)
	}
	if l := logRatio(&Result{NetSilicon: 1, NetHeddle: 0}); l != -math.Log(100) {
		t.Errorf("nothing counts %g, want ln 100", l)
	}
}

func TestExpression(t *testing.T) {
	e, err := ParseExpression("(cycles_2 - cycles) / 8192 * mhz")
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Value(Figures{
		"cycles": 8192, "cycles_2": 3 * 8192, "mhz": 10,
	})
	if err != nil || v != 20 {
		t.Errorf("value is %g, %v", v, err)
	}
	if _, err := e.Value(Figures{}); err == nil || !strings.Contains(err.Error(), "cycles_2") {
		t.Errorf("a name that no run printed: %v", err)
	}
}

// TestDamagedRows: each damage is named with its line and what helps.
func TestDamagedRows(t *testing.T) {
	head := strings.Join(columns(), ",") + "\n"
	good := "alu,b,n,4,cycles,micro,what=dep,,dep_iadd,,,,,s\n"
	for _, c := range []struct{ text, want string }{
		{good, ":1: the first line names the columns"},
		{head, "no rows"},
		{head + good + "alu,b\n", ":3:"},
		{head + good + good, ":3: row \"n\" of board b is there already, in line 2"},
		{head + strings.Replace(good, "alu", "alw", 1), `:2: group "alw": the groups are`},
		{head + strings.Replace(good, ",4,", ",0,", 1), `:2: silicon "0": give a number above 0`},
		{head + strings.Replace(good, ",4,", ",x,", 1), `:2: silicon "x"`},
		{head + strings.Replace(good, "what=dep", "what", 1), `:2: args "what": write NAME=VALUE`},
		{head + strings.Replace(good, "dep_iadd", "4 /", 1), `:2: value "4 /"`},
		{head + strings.Replace(good, ",,,,s", ",,,soon,,s", 1), ":2:"},
		{head + strings.Replace(good, ",micro,", ",,", 1), ":2: a row needs"},
	} {
		_, err := readRows("rows.csv", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	if rows, err := readRows("rows.csv", strings.NewReader(head+good)); err != nil || len(rows) != 1 ||
		rows[0].Line != 2 {
		t.Errorf("a good row: %v", err)
	}
}

// TestBadBoards: a clock of zero and a board without a sheet are errors before anything runs.
func TestBadBoards(t *testing.T) {
	dir := t.TempDir()
	rows := strings.Join(columns(), ",") + "\nalu,b,n,4,cycles,micro,what=dep,,dep_iadd,,,,,s\n"
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("rows.csv", rows)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `rows.csv:2: board "b"`) {
		t.Errorf("no board: %v", err)
	}
	write("boards/b.yaml", "name: b\ndescription: b\nbase: a100\nbase_source: s\nsources:\n  s: \"s\"\n"+
		"clock:\n  core: [0, MHz, s]\n")
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "clock.core") ||
		!strings.Contains(err.Error(), "b.yaml") {
		t.Errorf("clock of zero: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("no folder: %v", err)
	}
}

func TestSelect(t *testing.T) {
	set, err := Open(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		machine string
		groups  []string
		want    string
	}{
		{"a10", nil, "a100"}, {"", []string{"sink"}, "sync"}, {"h100", []string{"uvm"}, "its groups are"},
	} {
		if _, err := set.Select(c.machine, c.groups, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.machine, c.groups, err)
		}
	}
	if rows, err := set.Select("", nil, false); err != nil || len(rows) < 250 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	all, err := set.Select("", nil, true)
	if err != nil || len(all) != len(set.Rows) {
		t.Errorf("%d of %d rows, %v", len(all), len(set.Rows), err)
	}
}

// TestPeaks reaches for the limits of a board: no kernel exceeds what the sheet allows, and arithmetic comes near.
func TestPeaks(t *testing.T) {
	s, err := OpenPeaks(".")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := sheets.Resolve("a100", nil)
	if err != nil {
		t.Fatal(err)
	}
	peaks, err := s.Peaks(t.Context(), m, Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range peaks {
		r := p.Result
		if r == nil {
			continue
		}
		share := r.Heddle / p.Value
		least := map[bool]float64{true: 0.9}[strings.Contains(p.Unit, "lanes")]
		if r.Err != "" || share > 1 || share < least || p.Name == "DRAM" && share < 0.8 {
			t.Errorf("%s: %.4g of %.4g %s reached; %s", p.Name, r.Heddle, p.Value, p.Unit, r.Err)
		}
	}
	for _, r := range s.Rows { // a row without a limit would never be shown
		m, _, err := sheets.Resolve(s.Boards[r.Board].Machine, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(m.Peaks(), func(p sheets.Peak) bool { return p.Name == r.Name }) {
			t.Errorf("peaks.csv:%d: machine %s has no peak %q", r.Line, m.Name, r.Name)
		}
	}
}
