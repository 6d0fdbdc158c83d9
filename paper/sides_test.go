package paper

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// TestSides simulates a made-up study of mixes with a CPU side to its drawings.
func TestSides(t *testing.T) {
	b := studied(t, "testdata/sides/")
	done, err := b.Do(context.Background(), figuresOf(t, b.Study))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	measures := map[string]map[string]Measure{}
	for _, r := range done {
		measured(t, b, r)
		measures[r.Figure.Name] = r.Measures
		if err := b.Write(dir, r); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ figure, measure string }{
		{"capacity", "cpu same mean"},
		{"capacity", "gpu same M1"},
		{"gains", "speedup same/none mean"}, // whatever the weight
	} {
		if got, ok := measures[c.figure][c.measure]; !ok || math.Abs(got.Value) > 1e-9 {
			t.Errorf("%s of %s: %v, want 0: the configurations are the same", c.measure, c.figure, got)
		}
	}
	for _, c := range []struct{ figure, measure string }{
		{"slow", "cpu slowdown none M1"},
		{"weights", "gpu slowdown none mean"},
		{"gains", "speedup single full/single none M2"},
	} {
		if got := measures[c.figure][c.measure].Value; got == 0 {
			t.Errorf("%s of %s is exactly 0", c.measure, c.figure)
		}
	}
	if x := measures["found"]["best/full M1"].Value; math.IsNaN(x) || x < measures["found"]["best/full min"].Value {
		t.Errorf("best/full M1: %g", x)
	}
}

// A side's speed is the quotient of the times for equal work, and the speed-up the weighted mean of both sides'.
func TestSpeedOfSides(t *testing.T) {
	run := func(a, b, threads uint64) *sim.Result {
		return &sim.Result{Tenants: []sim.Tenant{
			{Name: "gpu", Cycles: 100, ThreadInsts: threads},
			{Name: "a", Cycles: 100, CPU: &sim.TenantCPU{Insts: a, IPC: float64(a) / 200, Cycles: 200}},
			{Name: "b", Cycles: 100, CPU: &sim.TenantCPU{Insts: b, IPC: float64(b) / 200, Cycles: 200}},
		}}
	}
	base, x := run(100, 400, 800), run(200, 400, 400)
	// For 400 instructions of each: 400 + 100 cycles, then 200 + 100.
	if got := speedOf(x, base, cpuSide); math.Abs(got-5./3) > 1e-9 {
		t.Errorf("the CPU side is %g times as fast, want 5/3", got)
	}
	if got := speedOf(x, base, gpuSide); got != 0.5 {
		t.Errorf("the GPU side is %g times as fast, want 0.5", got)
	}
	if got, want := speedUp(x, base, 3), (3*5./3+0.5)/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("the speed-up is %g, want %g", got, want)
	}
	if got, want := weightedIPC(x, 3), 3*(1+2)+400./8/200; math.Abs(got-want) > 1e-9 {
		t.Errorf("the weighted IPC is %g, want %g", got, want)
	}
	if !math.IsNaN(speedUp(nil, base, 3)) || !math.IsNaN(weightedIPC(nil, 3)) {
		t.Error("a run that failed has a speed")
	}
}

// Factors are of the machine and of policies, as they are at the scale.
func TestTimes(t *testing.T) {
	b := studied(t, "testdata/sides/")
	c := b.Study.config("short")
	_, _, m, err := b.Study.sheet(c, b.Scale, nil)
	if err != nil || m.Memory.Hybrid.Capacity != 2<<20 {
		t.Errorf("%d bytes, %v", m.Memory.Hybrid.Capacity, err)
	}
	list, err := c.governors(b.Scale)
	if err != nil || len(list) != 1 || list[0].Params["epoch"] != 3000 || list[0].Params["w_cpu"] != 3 ||
		list[0].Params["phase"] != 60000 {
		t.Errorf("%+v, %v", list, err)
	}
	if x := b.Scale.Params["hydrogen"]; x["epoch"] != 6000 || len(x) != 4 {
		t.Errorf("the scale's parameters have become %v", x)
	}
}

func TestMalformedSides(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"weight: 3\n", "", "weight"},
		{"sets: [mixed], configs: [none]}", "sets: [kernels], configs: [none]}", "mixes without CPU programs"},
		{"kind: sides, sets: [mixed]", "kind: values, sets: [mixed]", "leaves out"},
		{"over: single none}\nfigures", "over: singel none}\nfigures", "did you mean single none"},
		{"configs: [none, same, short]}", "configs: [none, same, shirt]}", "did you mean short"},
		{"single none, single full]}", "single full]}", "which is not in the figure"},
		{"configs: [none, full]}", "configs: [none]}", "at least 2 configs"},
		{"memory.hybrid.capacity: 0.5", "memory.hybrid.size: 0.5", "no setting memory.hybrid.size"},
		{"memory.hybrid.capacity: 0.5", "memory.hybrid.ways: 0.3", "memory.hybrid.ways"},
		{"hydrogen.epoch: 0.5", "hydrogen.epic: 0.5", "gives epic"},
		{"copies: 1, over: single none}", "copies: -1, over: single none}", "cannot be negative"},
		{"copies: 1, over: single none}", "models: mesured, over: single none}", "did you mean mcf-measured"},
		{
			"single none}\nfigures:\n  - {name: slow, title: Slowdowns, kind: slowdowns, " +
				"sets: [mixed], configs: [none]}",
			"single none, models: measured}\nfigures:\n  - {name: slow, title: Slowdowns, kind: values, " +
				"sets: [kernels], metric: ipc, configs: [single full]}", "no CPU programs",
		},
		{"params: {hydrogen: {epoch: 6000", "params: {hydrogen: {epoch: long", "a number is expected"},
	} {
		dir := t.TempDir()
		for _, f := range []string{"study.yaml", "claims.yaml", "reasons.yaml", "mixes.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata/sides", f))
			if err != nil {
				t.Fatal(err)
			}
			if f == "study.yaml" {
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
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "study.yaml") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}

// figuresOf are all figures of a study.
func figuresOf(t *testing.T, s *Study) []*Figure {
	t.Helper()
	figures, err := s.Select("")
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

// measured holds the measures of a figure against what is announced.
func measured(t *testing.T, b *Book, r *Reproduced) {
	t.Helper()
	var got []string
	for n := range r.Measures {
		got = append(got, n)
	}
	want := b.Study.measureNames(r.Figure)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("%s measures\n%q, announced are\n%q", r.Figure.Name, got, want)
	}
	if len(r.Problems) > 0 {
		t.Errorf("%s: %q", r.Figure.Name, r.Problems)
	}
}
