package paper

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// swapped is the tiny study's figure of tasks, with a file of finished runs.
func swapped(t *testing.T, file string) (*Book, []*Figure) {
	t.Helper()
	b := tiny(t)
	f, err := b.Study.Select("swaps")
	if err == nil {
		b.Runs, err = OpenRuns(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Code = "0123456789abcdef"
	return b, f
}

// Each finished run is in the file before the next begins. Whoever stops on the way and comes again, without what the
// runner had kept, simulates the others alone, and the figure is what it is without a file.
func TestRunsGoOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results", "runs.csv")
	b, f := swapped(t, file)
	whole := tiny(t)
	want, err := whole.Do(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b.Runner.Jobs = 1
	b.Runner.Run = func(ctx context.Context, s sim.Spec, watch func(sim.Progress)) (*sim.Result, error) {
		if rows(t, file) == 1 {
			stop()
		}
		return sim.Run(ctx, s, watch)
	}
	if _, err := b.Do(ctx, f); err == nil {
		t.Fatal("it was not stopped")
	}
	if n := rows(t, file); n != 1 {
		t.Fatalf("%d rows when it was stopped after one", n)
	}

	b, f = swapped(t, file)
	b.Kept = true
	some, err := b.Do(context.Background(), f)
	if err != nil ||
		some[0].Asked != len(want[0].Rows) || some[0].Missing != some[0].Asked-1 || len(some[0].Rows) != 1 {
		t.Fatalf("%d of %d are missing, %d rows, %v", some[0].Missing, some[0].Asked, len(some[0].Rows), err)
	}
	if says := strings.Join(some[0].kept(), " "); !strings.Contains(says, "1 of 0123456789ab") ||
		!strings.Contains(says, "runs are not simulated yet") {
		t.Error(says)
	}

	b, f = swapped(t, file)
	shared := 0
	b.Runner.Run = func(ctx context.Context, s sim.Spec, watch func(sim.Progress)) (*sim.Result, error) {
		if len(s.Apps) > 1 {
			shared++
		}
		return sim.Run(ctx, s, watch)
	}
	b.Runner.Jobs = 1
	rest, err := b.Do(context.Background(), f)
	if err != nil || len(rest[0].Problems) > 0 {
		t.Fatal(err, rest[0].Problems)
	}
	if shared != some[0].Missing || rows(t, file) != some[0].Asked {
		t.Errorf("%d runs for %d that were missing, %d rows", shared, some[0].Missing, rows(t, file))
	}
	if !reflect.DeepEqual(rest[0].Rows, want[0].Rows) || !reflect.DeepEqual(rest[0].Measures, want[0].Measures) {
		t.Errorf("the figure differs from that without a file:\n%v\n%v", rest[0].Rows, want[0].Rows)
	}
}

// rows counts the runs in a file.
func rows(t *testing.T, file string) int {
	t.Helper()
	r, err := OpenRuns(file)
	if err != nil {
		t.Fatal(err)
	}
	return r.Has()
}

// A file that is no file of runs is refused at its line, with what to do, and left as it is.
func TestRunsRefused(t *testing.T) {
	head := strings.Join(runColumns(), ",") + "\n"
	good := "fermi,,A_B,0.8,smqos,abc,1,0.5,60,8,8,3\n"
	for text, want := range map[string]string{
		"a,b\n":                                "runs.csv: record on line 1: wrong number of fields; mend the line",
		strings.Replace(head, "run,", "x,", 1): "runs.csv:1: the columns must be machine,numbers,mix",
		head + good + "fermi,,A_B,0.9,smqos,abc,one,0.5,60,8,8,3\n": `runs.csv:3: reached_over_target: a number is ` +
			`expected, not "one"; mend the line`,
		head + good + "fermi,,A_B,0.9,sm": "record on line 3: wrong number of fields; mend the line, or take it out",
	} {
		file := filepath.Join(t.TempDir(), "runs.csv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenRuns(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Two processes that keep runs in one file lose none.
func TestRunsOfTwo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.csv")
	a, err := OpenRuns(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenRuns(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []*Runs{a, b, a} {
		name := []string{"fermi", "", "A_B", string(rune('0' + i)), "smqos"}
		if err := r.add(name, &taskRun{Code: "c", Reached: 0.1 + float64(i), Moves: i}); err != nil {
			t.Fatal(err)
		}
		if got, err := r.find(name); err != nil || got.Moves != i || got.Reached != 0.1+float64(i) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := rows(t, file); n != 3 {
		t.Errorf("%d rows of 3", n)
	}
}

// What is asked for first is a spread: each of n comes once, and the first six of 36 are of six programs with targets
// and six batch tasks.
func TestSpread(t *testing.T) {
	for n := 1; n < 60; n++ {
		var all []int
		for k := range n {
			all = append(all, spread(k, n))
		}
		slices.Sort(all)
		for i, x := range all {
			if i != x {
				t.Fatalf("%d things: %v", n, all)
			}
		}
	}
	first, second := map[int]bool{}, map[int]bool{}
	for k := range 6 {
		first[spread(k, 36)/6], second[spread(k, 36)%6] = true, true
	}
	if len(first) != 6 || len(second) != 6 {
		t.Errorf("%d and %d of 6", len(first), len(second))
	}
}

// A scheme is highest in a bar where no other is above it.
func TestHighest(t *testing.T) {
	f := &Figure{Schemes: []string{"A", "B"}, Sets: []string{"S", "T"}, Targets: []float64{0.8, 0.9}}
	r := &Reproduced{Figure: f, Measures: map[string]Measure{}}
	for name, v := range map[string]float64{
		"reach A S at 80 mean": 2, "reach B S at 80 mean": 1,
		"reach A S at 90 mean": 1, "reach B S at 90 mean": 1,
		"reach A T at 80 mean": 0, "reach B T at 80 mean": 1,
		"reach A at 80 mean": 1, "reach B at 80 mean": 0,
		"reach A at 90 mean": 0, "reach B at 90 mean": 1,
	} {
		r.Measures[name] = Measure{Value: v}
	}
	r.highest("reach", "", f.groups(nil))
	r.highest("reach", " by target", f.groups(nil))
	for name, want := range map[string]float64{
		"reach highest A mean": 200. / 3, "reach highest B mean": 200. / 3, "reach highest A by target mean": 50,
	} {
		if got := r.Measures[name]; got.Value < want-1e-9 || got.Value > want+1e-9 {
			t.Errorf("%s: %+v, want %g", name, got, want)
		}
	}
}
