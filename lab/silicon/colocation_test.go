package silicon

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// quickPairs are pairs that take little time, with the error in percent that each may have. They are where the sheet is
// at present: who makes one better lowers its number.
func quickPairs() map[string]float64 {
	return map[string]float64{"pipelines ILP 1": 13, "L1 16 KB": 3, "sleep 80 CTAs": 2}
}

func TestQuickPairs(t *testing.T) {
	set, err := OpenPairs(".")
	if err != nil {
		t.Fatal(err)
	}
	var some []*Pair
	for _, p := range set.Pairs {
		if p.Board == "v100-pcie" && quickPairs()[p.Name] > 0 {
			some = append(some, p)
		}
	}
	results, err := set.MeasurePairs(context.Background(), some, Options{Jobs: 2})
	if err != nil || len(results) != len(quickPairs()) {
		t.Fatalf("%d of %d results, %v", len(results), len(quickPairs()), err)
	}
	for i := range results {
		r := &results[i]
		if most := quickPairs()[r.Name] / 100; r.Err != "" || math.Abs(r.Error()) > most {
			t.Errorf("%s: silicon %g, Heddle %g, may be %.0f %% off (%s)", r.Name, r.Silicon, r.Heddle, 100*most, r.Err)
		}
	}
	var b bytes.Buffer
	if err := PairsText(&b, results); err != nil || !strings.Contains(b.String(), "colocation: mean error") ||
		!strings.Contains(b.String(), "(3 rows)") {
		t.Errorf("table: %v\n%s", err, &b)
	}
	if err := Page(&b, PairsLine(results), results, nil); err != nil || !strings.Contains(b.String(), "L1 16 KB") {
		t.Errorf("page: %v", err)
	}
}

// TestUnequalPairs: what differs between the kernels reaches each, in streams and under MPS, and a kernel that does not
// compile is a failed row that says why.
func TestUnequalPairs(t *testing.T) {
	set, err := OpenPairs(".")
	if err != nil {
		t.Fatal(err)
	}
	row := func(args, sharing, ratio string) *Pair {
		t.Helper()
		p, err := readPair([]string{"v100-pcie", args, "pairs", args, sharing, ratio, "1", "s"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, two := "kernel=sleep grid=1 turns=10", "kernel=sleep grid=1 turns=30"
	results, err := set.MeasurePairs(context.Background(), []*Pair{
		row(one+" | "+two, "streams", "pair/alone"), row(one+"|"+two, "streams", "pair/series"),
		row(one+"|"+two, "mps 20% 30%", "each/alone"), row("kernel=mul64 ilp=9 block=32", "streams", "pair/alone"),
		row("kernel=sleep grid=1 turns=10..20 | kernel=sleep grid=1 turns=10..40", "streams", "pair/alone"),
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3, 0.75, 2, 0, 3} {
		if r := results[i]; want > 0 && (r.Err != "" || math.Abs(r.Heddle-want) > 0.02*want) {
			t.Errorf("%s: %g, want %g (%s)", r.Unit, r.Heddle, want, r.Err)
		}
	}
	if !strings.Contains(results[3].Err, "mul64_ilp9") {
		t.Errorf("a kernel that is not there: %q", results[3].Err)
	}
	if m := strings.Join(PairsMissed(results), "\n"); !strings.Contains(m, "mul64_ilp9") ||
		!strings.Contains(m, "mean error") || !strings.Contains(m, " % off, wanted at most 25 %") {
		t.Errorf("missed: %s", m)
	}
	if s := PairsLine(results); !strings.Contains(s, "(4 rows, 1 failed)") {
		t.Errorf("last line: %s", s)
	}
}

// TestSpan: time passes from the first start to the last end, of the launches that count.
func TestSpan(t *testing.T) {
	p := &Pair{}
	of := func(k ...sim.Kernel) *sim.Tenant { return &sim.Tenant{Log: []string{"RESULT skip 1"}, Kernels: k} }
	first := sim.Kernel{Start: 1, End: 5}
	if d := p.span(of(first, sim.Kernel{Start: 20, End: 30}, sim.Kernel{Start: 12, End: 29})); d != 18 {
		t.Errorf("from first start to last end %g, want 18", d)
	}
	if d := p.span(of(first, sim.Kernel{Start: 12, End: 19}, sim.Kernel{Start: 40, End: 50})); d != 17 {
		t.Errorf("one after the other %g, want 17", d)
	}
}

// TestDamagedPairs: each damage is named with its line and what helps.
func TestDamagedPairs(t *testing.T) {
	head := strings.Join(pairColumns(), ",") + "\n"
	good := "b,n,p,x=1,streams,pair/alone,2,s\n"
	for _, c := range []struct{ text, want string }{
		{good, ":1: the first line names the columns"},
		{head, "no rows"},
		{head + good + "b,n\n", ":3:"},
		{head + good + good, `:3: benchmark "n" of board b is there already, in line 2`},
		{head + strings.Replace(good, ",2,", ",0,", 1), `:2: silicon "0": give a number above 0`},
		{head + strings.Replace(good, "x=1", "x", 1), `:2: args "x": write NAME=VALUE`},
		{head + strings.Replace(good, "x=1", "x=1|x=2|x=3", 1), ":2: programs and args: give one"},
		{head + strings.Replace(good, "pair/alone", "pair/along", 1), "did you mean pair/alone?"},
		{head + strings.Replace(good, "pair/alone", "each/alone", 1), "MPS has each/alone"},
		{head + strings.Replace(good, "streams", "mps 50%", 1), "MPS has each/alone"},
		{head + strings.Replace(good, "streams", "mps 50", 1), `:2: sharing "mps 50"`},
		{head + strings.Replace(good, "streams", "mps 80%", 1), "160 % together"},
		{head + strings.Replace(good, ",p,", ",p|q,", 1), "give one program"},
		{head + strings.Replace(good, ",p,", ",,", 1), ":2: a row needs"},
	} {
		_, err := readPairs("colocation.csv", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	p, err := readPairs("colocation.csv", strings.NewReader(head+good))
	if err != nil || len(p) != 1 || p[0].Line != 2 {
		t.Errorf("a good row: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "colocation.csv"), []byte(head+good), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPairs(dir); err == nil || !strings.Contains(err.Error(), `colocation.csv:2: board "b": no sheet`) {
		t.Errorf("no board: %v", err)
	}
	if _, err := OpenPairs(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("no folder: %v", err)
	}
	set, err := OpenPairs(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.SelectPairs("v10"); err == nil || !strings.Contains(err.Error(), "there are pairs of h100, v100") {
		t.Errorf("no machine: %v", err)
	}
}
