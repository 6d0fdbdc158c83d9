package paper

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// faulting is a run of a program with unified memory: LRU 2 MB has 20 pages that faulted, TBN 5. The driver takes no
// time where the machine says so; else its batches make every run three times as long.
func faulting(_ context.Context, s sim.Spec, _ func(sim.Progress)) (*sim.Result, error) {
	demand := uint64(20)
	if s.Sharing.Memory.Unified.Evict == "tbn" {
		demand = 5
	}
	cycles := uint64(200_000)
	if s.Set["uvm.fault"] != "0" || s.Sharing.Memory.Unified.Runtime != "uvmsmart-compat" {
		cycles *= 3
	}
	value := func(name string, n uint64) sim.Value { return sim.Value{Desc: stat.Desc{Name: name}, N: n} }
	return &sim.Result{
		Complete: true, Cycles: cycles, Seconds: float64(cycles) / 1481e6,
		Tenants: []sim.Tenant{{
			Name: s.Apps[0].Name, Executions: 1, Cycles: cycles, BusyCycles: 100_000, ThreadInsts: 6400, IPC: 1,
		}},
		Tables: []sim.Counters{{Owner: "uvm", Tenant: s.Apps[0].Name, Values: []sim.Value{
			value("migrated_pages", 100), value("prefetched_pages", 100-demand), value("evicted_pages", 10),
		}}},
	}, nil
}

// underModels is a figure of the unified-memory study at scale quick, over runs that are made up.
func underModels(t *testing.T, name string) (*Book, *Reproduced) {
	t.Helper()
	s, err := Load("uvm")
	if err != nil {
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
	b, err := NewBook(s, scale, nil, "../apps", &lab.Runner{Run: faulting, Jobs: 1, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.Select(name)
	if err != nil {
		t.Fatal(err)
	}
	done, err := b.Do(context.Background(), figures)
	if err != nil || len(done[0].Problems) > 0 {
		t.Fatal(err, done[0].Problems)
	}
	return b, done[0]
}

// Chapters 3 to 6 are judged by the dissertation's time: cycles of kernels and 66,645 for each page that faulted. What
// batches of faults give stands beside it, and so does the speed, the other way to read "x % better".
func TestModels(t *testing.T) {
	b, r := underModels(t, "fig16")
	const name = "time TBNp+TBNe/LRU 2 MB 110 all "
	want := 100 * ((100_000+5*66_645.)/(100_000+20*66_645.) - 1)
	if m := r.Measures[name+"mean"]; math.Abs(m.Value-want) > 0.01 || m.N != 5 {
		t.Errorf("%+v, want %.2f %%", m, want)
	}
	if m := r.Second[name+"mean"]; m.Value != 0 || m.N != 5 {
		t.Errorf("in batches: %+v, want no difference", m)
	}
	if len(r.Rows) != 20 || r.Rows[0][0] != "logged" || r.Rows[19][0] != "in batches" || r.Columns[0] != "model" {
		t.Errorf("%v, %d rows, %v", r.Columns, len(r.Rows), r.Rows[0])
	}
	var text strings.Builder
	if err := b.Show(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"measured", "in batches", "-69.8 % (speed ", "+230.8 %)", "-52 ± 17.3 %"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the table lacks %q:\n%s", part, text.String())
		}
	}
	report, err := b.Markdown([]*Reproduced{r}, t.TempDir(), "results/quick")
	if err != nil || !strings.Contains(report, "| paper | here | in batches | ratio |") ||
		!strings.Contains(report, "-69.8 % (speed +230.8 %) | 0.0 % |") {
		t.Errorf("%v:\n%s", err, report)
	}
}

// Programs that a figure of values names are held against each other, where both have a value.
func TestProgramsAgainstEachOther(t *testing.T) {
	f := &Figure{Metric: "transfers per MB", Programs: []string{"a", "b", "c"}}
	r := &Reproduced{Figure: f, Measures: map[string]Measure{}}
	value := map[string]float64{"a": 3, "b": 2}
	r.against("x", value)
	if m := r.Measures["transfers per MB x a/b"]; m.Value != 50 || len(r.Measures) != 2 {
		t.Errorf("%+v", r.Measures)
	}
}

// Numbers that are kept of other models are not those that claims are of.
func TestKeptModels(t *testing.T) {
	b, r := underModels(t, "fig16")
	dir := t.TempDir()
	if err := b.Write(dir, r); err != nil {
		t.Fatal(err)
	}
	kept, err := Kept(dir, []*Figure{r.Figure})
	const name = "time TBNp+TBNe/LRU 2 MB 110 all mean"
	if err != nil || kept[0].Second[name] != r.Second[name] || kept[0].Measures[name] != r.Measures[name] {
		t.Fatalf("%+v, %v", kept, err)
	}
	other := *r.Figure
	other.Models = []string{"in batches"}
	if _, err := Kept(dir, []*Figure{&other}); err == nil || !strings.Contains(err.Error(), "simulate them once") {
		t.Errorf("one of another model: %v", err)
	}
}

// The dissertation's "x % better" is x % less time: the number is negative.
func TestLessTime(t *testing.T) {
	paper := -22.0
	c := &Claim{Measure: "time A/B all mean", Paper: &paper, Direction: "down"}
	for value, want := range map[float64]Verdict{
		-22: Holds, -28: Holds, -16: Holds, -40: Direction, -3: Direction, -0.4: Contradicts, 22: Contradicts,
	} {
		if j := Judge(c, map[string]Measure{c.Measure: {Value: value, N: 3, Of: 3}}); j.Verdict != want {
			t.Errorf("%g: %s, want %s", value, j.Verdict, want)
		}
	}
	if got := c.Expected(); got != "-22 ± 7.33 %" {
		t.Errorf("%q", got)
	}
}
