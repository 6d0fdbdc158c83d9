package paper

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// logTable is a study's book with a table of the given rows of its logs, and the figure that holds them against runs.
func logTable(t *testing.T, has func(row string) bool) (*Book, *Reproduced) {
	t.Helper()
	s, err := Load("uvm")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("uvm/logs.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for i, line := range strings.SplitAfter(string(text), "\n") {
		if i < 3 || has(line) {
			kept = append(kept, line)
		}
	}
	file := filepath.Join(t.TempDir(), "some.tsv")
	if err := os.WriteFile(file, []byte(strings.Join(kept, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadLogs(file); err != nil {
		t.Fatal(err)
	}
	scale, err := s.Scale("quick")
	if err != nil {
		t.Fatal(err)
	}
	store, err := lab.OpenStore(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(s, scale, nil, "../apps", &lab.Runner{Run: sim.Run, Jobs: 2, Store: store, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.Select("logs")
	if err != nil || len(figures) != 1 {
		t.Fatalf("%d figures, %v", len(figures), err)
	}
	done, err := b.Do(context.Background(), figures)
	if err != nil || len(done[0].Problems) > 0 {
		t.Fatal(err, done[0].Problems)
	}
	return b, done[0]
}

// The rows of the public simulator's logs that are simulated in seconds: 2dconv's, in all five numbers.
// `heddle reproduce uvm/logs` has all rows.
func TestQuickLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds")
	}
	b, r := logTable(t, func(row string) bool { return strings.Contains(row, "/2DCONV_") })
	if len(r.Rows) != 4 {
		t.Fatalf("%d rows, want the four of 2dconv", len(r.Rows))
	}
	for _, row := range r.Rows {
		if got := row[len(row)-2:]; got[0] != "yes" || got[1] != "" {
			t.Errorf("%v", row)
		}
	}
	if m := r.Measures["within all five mean"]; m.Value != 100 || m.N != 4 {
		t.Errorf("%+v", m)
	}
	if n := len(b.have); n != 4 {
		t.Errorf("%d runs for four logs of four configurations", n)
	}
}

// The log of ra at 125 % agrees in the pages that come, leave and come again, though more of them fault here: a page
// that leaves while its walk is under way does not come again for it.
func TestRandomLog(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds")
	}
	_, r := logTable(t, func(row string) bool { return strings.Contains(row, "/ra_125_DEFAULT") })
	if len(r.Rows) != 1 || r.Rows[0][len(r.Rows[0])-2] != "not pages_faulted, kernel_plus_fault_cycles" {
		t.Errorf("%v", r.Rows)
	}
}

// Every row of the table names a program and policies that there are here, and many rows are of the same run.
func TestLogsAreOfRuns(t *testing.T) {
	s, err := Load("uvm")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, row := range s.Logs.rows {
		u := row.memory.Unified
		if u.Runtime != "uvmsmart-compat" || !u.All {
			t.Errorf("%s: %+v", row.name, u)
		}
		runs[key(&sim.Spec{Apps: []sim.App{{Name: row.program}}, Sharing: sim.Sharing{Memory: row.memory.Resolve()}})]++
	}
	if len(s.Logs.rows) != 145 || len(runs) >= len(s.Logs.rows) {
		t.Errorf("%d logs of %d runs", len(s.Logs.rows), len(runs))
	}
}

// A table that cannot be used says in which line, and what to do.
func TestMalformedLogs(t *testing.T) {
	s, err := Load("uvm")
	if err != nil {
		t.Fatal(err)
	}
	titles := "log\tdevice_memory\t" + strings.Join(logNumbers(), "\t") + "\n"
	row := func(name, memory, faults string) string {
		return titles + name + "\t" + memory + "\t" + faults + "\t2\t0\t0\t4\n"
	}
	const folder = "Smart_Runtime/Oversub/125/Default/"
	for text, want := range map[string]string{
		row(folder+"stencil_125_DEFAULT", "6MB", "1"): "some.tsv:2: log " + folder +
			"stencil_125_DEFAULT is of program stencil",
		row(folder+"ra.log", "0.001MB", "1"): "some.tsv:2: log " + folder +
			"ra.log: memory.unified.capacity \"0.001MB\" holds no page",
		row(folder+"ra.log", "six", "1"):    "memory.unified.capacity \"six\"",
		row("Elsewhere/ra.log", "6MB", "1"): "no policies are known: add it under logs.folders",
		row(folder+"ra.log", "6MB", "-1"):   "some.tsv:2: pages_faulted is \"-1\"",
		row(folder+"ra.log", "6MB", "many"): "pages_faulted is \"many\"",
		titles:                              "there is no log in the table",
		"log\tdevice_memory\n":              "some.tsv:1: the table has no column pages_faulted",
		titles + folder + "ra.log\t6MB\n":   "some.tsv:2: 2 cells",
	} {
		file := filepath.Join(t.TempDir(), "some.tsv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.ReadLogs(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := (&Study{Name: "x"}).ReadLogs("y"); err == nil {
		t.Error("a study without logs takes some")
	}
}
