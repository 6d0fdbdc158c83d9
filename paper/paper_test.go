package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

func tiny(t *testing.T) *Book {
	t.Helper()
	return studied(t, "testdata/tiny/")
}

// studied opens a study's book at scale quick.
func studied(t *testing.T, folder string) *Book {
	t.Helper()
	s, err := Load(folder)
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
	b, err := NewBook(s, scale, nil, "../apps", &lab.Runner{
		Run: sim.Run, Jobs: 2, Store: store, Keep: true,
		Finish: lab.AddEnergy,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTinyStudy simulates a made-up study to its report.
func TestTinyStudy(t *testing.T) {
	b := tiny(t)
	figures := figuresOf(t, b.Study)
	done, err := b.Do(context.Background(), figures)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Verdict{}
	dir := t.TempDir()
	for _, r := range done {
		for _, j := range b.Study.Judge(r) {
			verdicts[j.Claim.ID] = j.Verdict
		}
		if err := b.Write(dir, r); err != nil {
			t.Error(err)
		}
		for _, ext := range []string{"csv", "measures.csv", "svg", "png"} {
			if st, err := os.Stat(filepath.Join(dir, r.Figure.Name+"."+ext)); err != nil || st.Size() == 0 {
				t.Errorf("%s.%s: %v", r.Figure.Name, ext, err)
			}
		}
		if r.Figure.Name != "broken" { // the names claims may use are those that are measured
			measured(t, b, r)
		}
	}
	want := map[string]Verdict{"linear": Holds, "flat": Holds, "slower": Contradicts, "met": Holds, "none": NotMeasured}
	for id, v := range want {
		if verdicts[id] != v {
			t.Errorf("claim %s: %s, want %s", id, verdicts[id], v)
		}
	}
	if p := done[5].Problems; len(p) != 2 || !strings.Contains(p[0], "nosuchmode") {
		t.Errorf("a scheme that does not exist: %q", p)
	}
	text, err := b.Markdown(done, t.TempDir(), "results/quick")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"scale quick", "16", "it was made up to be wrong", "not measured",
		"![curve](results/quick/curve.svg)", "a small machine is simulated sooner",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the report lacks %q", part)
		}
	}
	// Nothing is simulated twice: a second book over the same store runs nothing but what failed.
	again := *b
	again.have, again.noted = map[string]*lab.Outcome{}, map[string]bool{}
	again.Runner = &lab.Runner{Store: b.Runner.Store, Keep: true, Run: func(_ context.Context, s sim.Spec,
		_ func(sim.Progress),
	) (*sim.Result, error) {
		return nil, fmt.Errorf("%s is run again", s.Sharing.Mode)
	}}
	redone, err := again.Do(context.Background(), figures)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 { // those before broken
		if !reflect.DeepEqual(redone[i].Measures, done[i].Measures) {
			t.Errorf("%s from kept results: %+v, at first %+v", done[i].Figure.Name, redone[i].Measures,
				done[i].Measures)
		}
	}
}

// laterPool takes simulations and does one of them.
type laterPool struct{ t *testing.T }

func (p laterPool) Do(ctx context.Context, r *lab.Runner, todo []*lab.Task) {
	for i, x := range todo {
		if i > 0 {
			x.Err = lab.ErrLater
		} else if (lab.Local{}).Do(ctx, r, todo[:1]); x.Err != nil {
			p.t.Error(x.Err)
		}
	}
}

// TestResultsThatComeLater: figures whose runs a pool has only taken are not made, and nothing counts
// as failed; whoever asks again once they are there gets all.
func TestResultsThatComeLater(t *testing.T) {
	b := tiny(t)
	figures, err := b.Study.Select("pairs")
	if err != nil {
		t.Fatal(err)
	}
	for tries := 0; ; tries++ {
		own, err := NewBook(b.Study, b.Scale, nil, b.Apps, &lab.Runner{
			Run: sim.Run, Jobs: 1, Store: b.Runner.Store, Keep: true, Finish: lab.AddEnergy, Pool: laterPool{t},
		})
		if err != nil {
			t.Fatal(err)
		}
		done, err := own.Do(t.Context(), figures)
		if err == nil {
			if len(done) != 1 || len(done[0].Problems) > 0 || tries < 3 {
				t.Errorf("after %d tries: %+v", tries, done)
			}
			return
		}
		if !errors.Is(err, lab.ErrLater) || tries > 100 {
			t.Fatal(err)
		}
	}
}

func TestVerdicts(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		claim Claim
		value float64
		want  Verdict
	}{
		{Claim{Paper: at(30), Direction: "up"}, 30, Holds},
		{Claim{Paper: at(30), Direction: "up"}, 40, Holds},
		{Claim{Paper: at(30), Direction: "up"}, 40.1, Direction},
		{Claim{Paper: at(30), Direction: "up"}, 19.9, Direction},
		{Claim{Paper: at(30), Direction: "up"}, 0, Contradicts},
		{Claim{Paper: at(30), Direction: "up"}, 0.5, Contradicts},
		{Claim{Paper: at(30), Direction: "up"}, 0.6, Direction},
		{Claim{Paper: at(30), Direction: "up"}, -30, Contradicts},
		{Claim{Paper: at(-12), Direction: "down"}, -9, Holds},
		{Claim{Paper: at(-12), Direction: "down"}, -30, Direction},
		{Claim{Paper: at(-12), Direction: "down"}, 1, Contradicts},
		{Claim{Paper: at(0), Direction: "flat", Tolerance: 5}, -5, Holds},
		{Claim{Paper: at(0), Direction: "flat", Tolerance: 5}, 5.1, Contradicts},
		{Claim{Paper: at(8.9), Direction: "level"}, 11, Holds},
		{Claim{Paper: at(8.9), Direction: "level"}, 46.2, Contradicts},
		{Claim{Paper: at(8.9), Direction: "level"}, -8.9, Contradicts},
		{Claim{Paper: at(0), Direction: "level", Tolerance: 1}, 0.6, Holds},
		{Claim{Paper: at(100), Direction: "all"}, 100, Holds},
		{Claim{Paper: at(100), Direction: "all"}, 98, Contradicts},
		{Claim{Direction: "some"}, 98, Holds},
		{Claim{Direction: "some"}, 100, Contradicts},
		{Claim{Direction: "up", Tolerance: 3}, 2, Contradicts},
		{Claim{Direction: "down", Tolerance: 3}, -4, Holds},
		{Claim{Paper: at(30), Direction: "up"}, math.NaN(), NotMeasured},
		{Claim{Direction: "slowly", Tolerance: 25}, 20, Holds},
		{Claim{Direction: "slowly", Tolerance: 25}, 59, Direction},
		{Claim{Direction: "slowly", Tolerance: 25}, 0.5, Contradicts},
		{Claim{Paper: at(-50), Direction: "linear", Tolerance: 10}, -52, Holds},
		{Claim{Paper: at(-50), Direction: "linear", Tolerance: 10}, -61, Direction},
		{Claim{Paper: at(-50), Direction: "linear", Tolerance: 10}, 10, Contradicts},
		{Claim{Paper: at(100), Direction: "linear", Tolerance: 10, Also: []Point{{"other", 3}}}, 95, Holds},
		{Claim{Paper: at(100), Direction: "linear", Tolerance: 10, Also: []Point{{"other", 40}}}, 95, Direction},
	} {
		c.claim.Measure = "m"
		j := Judge(&c.claim, map[string]Measure{"m": {Value: c.value, N: 1, Of: 1}, "other": {Value: 10, N: 1, Of: 1}})
		if j.Verdict != c.want {
			t.Errorf("%+v at %g: %s, want %s", c.claim, c.value, j.Verdict, c.want)
		}
	}
	if j := Judge(&Claim{Measure: "x", Direction: "up"}, nil); j.Verdict != NotMeasured {
		t.Errorf("without a measure: %s", j.Verdict)
	}
}

// Tolerances and fewer mixes than the paper's are told.
func TestClaimsTellTheirTolerance(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for want, c := range map[string]Claim{
		"30 ± 10 %":               {Paper: at(30), Direction: "up"},
		"0 ± 5 %":                 {Paper: at(0), Direction: "flat", Tolerance: 5},
		"(up, by 25 % at most)":   {Direction: "slowly", Tolerance: 25},
		"(down by more than 3 %)": {Direction: "down", Tolerance: 3},
		"(up by more than 0.5 %)": {Direction: "up"},
		"100 %":                   {Paper: at(100), Direction: "all"},
		"0 ± 1 pages":             {Paper: at(0), Direction: "flat", Tolerance: 1, Unit: "pages"},
		"(more than 1.1 times)":   {Direction: "up", Tolerance: 1.1, Unit: "times"},
		"(less than -16 pages)":   {Direction: "down", Tolerance: 16, Unit: "pages"},
	} {
		if got := c.Expected(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	second := Measure{Value: 4.25}
	j := Judged{Claim: Claim{Unit: "pages"}, Value: Measure{Value: 512}, Verdict: Holds, Second: &second}
	if valueCell(&j) != "512 pages" || secondCell(&j) != "4.25 pages" {
		t.Errorf("%q and %q pages", valueCell(&j), secondCell(&j))
	}
	s, err := Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.Select("fig10")
	if err != nil {
		t.Fatal(err)
	}
	r := &Reproduced{Figure: figures[0], Measures: map[string]Measure{
		"stp UGPU/BP mean": {Value: 14, N: 10, Of: 10}, "stp UGPU/BP min": {Value: 2, N: 10, Of: 10},
		"stp UGPU/BP max": {Value: 34, N: 10, Of: 10},
	}}
	for _, j := range s.Judge(r) {
		switch got := mixesCell(&j); j.Claim.ID {
		case "stp":
			if want := "10 of the paper's 50, from 2.0 to 34.0 %"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		case "stp-max":
			if want := "10 of the paper's 50"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func TestReasonsAreForWhatDoesNotHold(t *testing.T) {
	s := &Study{reasons: []Reason{{Claims: []string{"b", "a"}, Scales: []string{"quick"}, Why: "because"}}}
	holds := []Judged{{Claim: Claim{ID: "a"}, Verdict: Holds}}
	if err := s.CheckReasons(holds, "quick"); err == nil || !strings.Contains(err.Error(), "claim a") {
		t.Errorf("a reason for a claim that holds: %v", err)
	}
	if err := s.CheckReasons(holds, "standard"); err != nil {
		t.Error(err)
	}
	if err := s.CheckReasons([]Judged{{Claim: Claim{ID: "a"}, Verdict: Direction}}, "quick"); err != nil {
		t.Error(err)
	}
}

// TestShippedStudies: every study reads, and every figure has something to say or is
// known to have no claim.
func TestShippedStudies(t *testing.T) {
	for _, n := range Names() {
		s, err := Load(n)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, f := range s.Figures {
			if len(s.Claims(f.Name)) == 0 && !f.Own {
				t.Errorf("%s/%s: no claim belongs to it", n, f.Name)
			}
		}
		if missing := s.list.Missing("../apps"); len(missing) > 0 {
			t.Errorf("%s: applications %q are missing", n, missing)
		}
	}
	s, err := Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	for scale, counts := range map[string][]int{"quick": {3, 4, 3}, "standard": {10, 5, 5}, "paper": {50, 55, 25}} {
		c, err := s.Scale(scale)
		if err != nil {
			t.Fatal(err)
		}
		if c.Budget != 5*c.Period {
			t.Errorf("scale %s: %d cycles and periods of %d; the paper has five epochs", scale, c.Budget, c.Period)
		}
		used := map[string]bool{}
		for i, set := range []string{"heterogeneous", "homogeneous", "ai"} {
			list := s.mixesOf(set, c)
			if len(list) != counts[i] {
				t.Errorf("scale %s, set %s: %d mixes, want %d", scale, set, len(list), counts[i])
			}
			for _, m := range list {
				for _, a := range m.Apps {
					used[a] = true
				}
			}
		}
		if scale != "quick" && len(used) != 20 {
			t.Errorf("scale %s uses %d of 20 programs", scale, len(used))
		}
	}
	if got, err := s.Select("fig12"); err != nil || len(got) != 2 {
		t.Errorf("fig12 selects %d figures, %v; want 12a and 12b", len(got), err)
	}
	if got, err := s.Select("fig1"); err == nil {
		t.Errorf("fig1 selects %d figures", len(got))
	}
}

func TestMalformedStudies(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"study.yaml", "budget: 12000", "bugdet: 12000", `unknown key "bugdet"`},
		{"study.yaml", "period: 3000", "period: 30000", "study.yaml:8:"},
		{"study.yaml", "profile: 12000", "profile: 12001", "profile must be in 1..12000"},
		{"study.yaml", "kind: heat", "kind: heath", "did you mean heat"},
		{"study.yaml", "schemes: [BP, BIG, BEST]", "schemes: [BP, BEAST]", "did you mean BEST"},
		{"study.yaml", "sets: [pairs], schemes: [BP, BIG", "sets: [pears], schemes: [BP, BIG", `no set "pears"`},
		{"study.yaml", "{key: V,", "{key: W,", `program "W"`},
		{"study.yaml", "[4, 6]]", "[4]]", "a slice is [SMs, channel groups]"},
		{"study.yaml", "set_why: a small machine is simulated sooner\n", "", "set_why"},
		{"study.yaml", "high: compute", "high: computer", "high, a class"},
		{"study.yaml", "configs: [FAR, NEAR]}", "configs: [FAR, NEER]}", "did you mean NEAR"},
		{"study.yaml", "of: NEAR, over: FAR", "of: NEAR, over: FARR", "did you mean FAR"},
		{"study.yaml", "metric: replies", "metric: repliez", "did you mean replies"},
		{"study.yaml", "metric: ws, sets", "metric: ipc, sets", "`each: true` takes the programs of mixes"},
		{"study.yaml", "metric: ws, sets: [pairs]", "metric: ws, sets: [stream]", "has 1 programs"},
		{"study.yaml", "kind: values, metric: llc misses", "kind: values, metric: ws", "describes whole mixes"},
		{"study.yaml", "about: seconds", "about: seconds, whole: true", "whole runs have no period"},
		{"study.yaml", "noc.flit: 8", "noc.flits: 8", "configuration SLOW"},
		{"study.yaml", "{policy: observe", "{policy: obsrve", "did you mean observe"},
		{"study.yaml", "kind: degree, sets: [stream, compute]", "kind: degree, sets: [pairs]", "takes one"},
		{
			"study.yaml", "kind: degree, sets: [stream, compute], configs: [NEAR]", "kind: degree, sets: [stream]",
			"kind degree needs at least 1 configs",
		},
		{"study.yaml", "configs: [FAR, NEAR]}", "configs: [FAR, NEAR], models: [m]}", `no model "m"`},
		{"study.yaml", "configs: [FAR, NEAR]}", "configs: [FAR, NEAR], inputs: {quick: big}}", `T has no inputs "big"`},
		{"study.yaml", "configs: [FAR, NEAR]}", "configs: [FAR, NEAR], inputs: {quik: small}}", "did you mean quick"},
		{"study.yaml", "{key: C,", "{key: C, working_set: {smal: 12},", `not 12 of "smal"`},
		{"study.yaml", "{key: C,", "{key: C, working_set: {small: 0},", `not 0 of "small"`},
		{"study.yaml", "sm.ctx_share", "sm.ctx_shape", "figure light"},
		{"claims.yaml", "sms 16/8 mean", "sms 16/9 mean", "claims.yaml:2:"},
		{"claims.yaml", "direction: flat", "direction: flatt", "did you mean flat"},
		{"claims.yaml", "figure: pairs", "figure: pear", `no figure "pear"`},
		{"claims.yaml", "paper: 100", "papier: 100", `unknown key "papier"`},
		{"reasons.yaml", "claims: [slower]", "claims: [faster]", `no claim "faster"`},
		{"reasons.yaml", "scales: [quick]", "scales: [quik]", "did you mean quick"},
	} {
		dir := t.TempDir()
		for _, f := range []string{"study.yaml", "claims.yaml", "reasons.yaml", "mixes.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata/tiny", f))
			if err != nil {
				t.Fatal(err)
			}
			if f == c.file {
				if !strings.Contains(string(text), c.old) {
					t.Fatalf("%s has no %q", f, c.old)
				}
				text = []byte(strings.Replace(string(text), c.old, c.new, 1))
			}
			if err := os.WriteFile(filepath.Join(dir, f), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s with %q: %v, want %q", c.file, c.new, err, c.want)
		}
	}
	if _, err := Load("ugpux"); err == nil || !strings.Contains(err.Error(), "did you mean ugpu") {
		t.Errorf("an unknown study: %v", err)
	}
}

// misses reproduces the figure of that name.
func misses(t *testing.T, b *Book) *Reproduced {
	t.Helper()
	figures, err := b.Study.Select("misses")
	if err != nil {
		t.Fatal(err)
	}
	done, err := b.Do(context.Background(), figures)
	if err != nil || len(done[0].Problems) > 0 {
		t.Fatal(err, done[0].Problems)
	}
	return done[0]
}

// Where a scale says how much work a run is, programs on configurations run until it is done.
func TestSinglesByWork(t *testing.T) {
	b := tiny(t)
	scale := *b.Scale
	scale.Instructions = 400_000
	b.Scale = &scale
	r := misses(t, b)
	if len(b.have) != 4 {
		t.Errorf("%d runs, want two programs on two configurations", len(b.have))
	}
	for _, o := range b.have {
		res := o.Result
		if n := res.Tenants[0].ThreadInsts + res.Outside.ThreadInsts; n < scale.Instructions || res.Touches == nil {
			t.Errorf("%s: %d thread instructions, touches %v", o.Job.Label, n, res.Touches)
		}
	}
	// The mean difference of two configurations is the difference of their means, and claims can name it.
	of := func(name string) float64 { return r.Measures["llc misses "+name+" stream mean"].Value }
	if d := of("FAR minus NEAR"); d == 0 || math.Abs(d-(of("FAR")-of("NEAR"))) > 1e-9 {
		t.Errorf("FAR %g less NEAR %g: %g", of("FAR"), of("NEAR"), d)
	}
	names := b.Study.singleNames(r.Figure)
	for name := range r.Measures {
		if !slices.Contains(names, name) {
			t.Errorf("measure %q has no name that a claim may give", name)
		}
	}
	if note := r.Draw.Note; !strings.Contains(note, "400000 thread instructions") {
		t.Errorf("the figure says %q", note)
	}
}

// Where a scale compares equal work, the others execute what the named configuration does in its cycles.
func TestSinglesOfEqualWork(t *testing.T) {
	b := tiny(t)
	scale := *b.Scale
	scale.Warmup, scale.Work = scale.Budget/4, "FAR"
	b.Scale = &scale
	r := misses(t, b)
	for _, p := range b.programs(r.Figure, "stream") {
		far, _ := b.Single(p, b.Study.config("FAR"))
		near, _ := b.Single(p, b.Study.config("NEAR"))
		if w := far.Tenants[0].Window; w.Start != scale.Warmup || w.End != scale.Budget {
			t.Errorf("%s on FAR: window %+v", p, w)
		}
		// Instructions are counted every 500 cycles, so that both ends may lie that much too late.
		a, x := &far.Tenants[0], &near.Tenants[0]
		slack := 500 * x.IPC * 4
		apart := func(i, j uint64) bool { return math.Abs(float64(i)-float64(j)) > slack }
		if x.Window.Of != sim.OfInstructions || apart(x.ThreadInsts, a.ThreadInsts) ||
			apart(near.Outside.ThreadInsts, far.Outside.ThreadInsts) || a.Window == x.Window {
			t.Errorf("%s: %d instructions in %+v and %d in %+v", p, a.ThreadInsts, a.Window, x.ThreadInsts, x.Window)
		}
	}
	if note := r.Draw.Note; !strings.Contains(note, "the work FAR does in cycles") {
		t.Errorf("the figure says %q", note)
	}
}

// A subset of a figure's own comes before that of its scale.
func TestSubsetsOfFigures(t *testing.T) {
	s, err := Load("testdata/tiny/")
	if err != nil {
		t.Fatal(err)
	}
	s.Subsets = []Subset{
		{Scale: "quick", Set: "stream", Mixes: []string{"T"}},
		{Scale: "quick", Set: "stream", Mixes: []string{"V"}, Figures: []string{"misses"}},
	}
	b := &Book{Study: s, Scale: &s.Scales[0]}
	for figure, want := range map[string]string{"misses": "V", "speeds": "T"} {
		f, err := s.Select(figure)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.programs(f[0], "stream"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s runs %v, want %s", figure, got, want)
		}
	}
}

// A figure may have other inputs of the programs than its scale has, and a program another working set than what it
// allocates.
func TestInputsOfFigures(t *testing.T) {
	s, err := Load("uvm")
	if err != nil {
		t.Fatal(err)
	}
	scale, err := s.Scale("standard")
	if err != nil {
		t.Fatal(err)
	}
	b := &Book{Study: s, Scale: scale}
	for want, f := range map[string]*Figure{
		"half": {}, "paper": {Inputs: runfile.Scalars{"standard": "paper", "quick": "half"}},
	} {
		if got := b.inputs(f).Scale.Inputs; got != want {
			t.Errorf("figure with inputs %v: %s, want %s", f.Inputs, got, want)
		}
	}
	p := s.program("backprop")
	for share, want := range map[string]string{"100/110": "15.965909090909092MB", "": "", "14MB": "14MB"} {
		if got := p.capacity("paper", share); got != want {
			t.Errorf("capacity %q of 17.5625 MB: %q, want %q", share, got, want)
		}
	}
	if got := p.capacity("half", "100/110"); got != "100/110" {
		t.Errorf("inputs without a working set of their own: %q", got)
	}
}

// The mean of speeds is harmonic, that of anything else is not; what is not known is left out.
func TestGains(t *testing.T) {
	r := &Reproduced{Measures: map[string]Measure{}}
	r.gain("speed", []float64{2, 1, math.NaN()}, metric{mean: harmonicMean})
	r.gain("power", []float64{2, 1, math.NaN()}, metric{})
	if m := r.Measures["speed mean"]; math.Abs(m.Value-100.0/3) > 1e-9 || m.N != 2 || m.Of != 3 {
		t.Errorf("harmonic mean of 2 and 1: %+v, want 33.3 %%", m)
	}
	if m := r.Measures["power mean"]; m.Value != 50 || r.Measures["power max"].Value != 100 {
		t.Errorf("mean of 2 and 1: %+v, want 50 %%", m)
	}
}

// TestHighPriorityShares: UGPU's Figure 16 gives 60 SMs and 24 channels (6 groups)
// to one of two; with five programs the others share what is left, all of it.
func TestHighPriorityShares(t *testing.T) {
	b := &Book{machine: &sheets.Machine{}}
	b.machine.SM.Count, b.machine.Map.Groups = 80, 8
	for _, c := range []struct {
		mode        string
		n, first    int
		sms, groups []int
	}{
		{"slices", 2, 1, []int{20, 60}, []int{2, 6}},
		{"mps", 2, 0, []int{60, 20}, nil},
		{"mps", 5, 2, []int{5, 5, 60, 5, 5}, nil},
	} {
		s := sim.Sharing{Mode: c.mode}
		b.divide(&s, &Scheme{High: 0.75}, c.n, c.first)
		if !slices.Equal(s.SMs, c.sms) || !slices.Equal(s.Groups, c.groups) {
			t.Errorf("%+v: %v SMs, %v groups", c, s.SMs, s.Groups)
		}
	}
}
