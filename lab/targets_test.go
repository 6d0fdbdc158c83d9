package lab

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

const vecadd, triad = "../apps/micro/vecadd", "../apps/micro/triad"

// A target that is a share of what runs alone is known before the run: one alone-run of the
// same length for all jobs and for their metrics, and jobs keep both forms.
func TestSharesOfAlone(t *testing.T) {
	m, _, err := sheets.Load("fermi")
	if err != nil {
		t.Fatal(err)
	}
	spec := sim.Spec{
		Machine: "fermi", Apps: []sim.App{{Name: "x", QoSShare: 0.8, Path: vecadd}, {Name: "y", Path: triad}},
		Sharing: sim.Sharing{Mode: "smqos"}, Length: sim.Length{MaxCycles: 1000, Budget: true},
	}
	kernel := spec
	kernel.Apps = []sim.App{{Name: "x", QoSShare: 0.5, QoSKernel: "k", Path: vecadd}, {Name: "y", Path: triad}}
	given := spec
	given.Apps = []sim.App{{Name: "x", QoS: 90, Path: vecadd}, {Name: "y", Path: triad}}
	alone := 0
	r := &Runner{Jobs: 2, Run: func(_ context.Context, s sim.Spec, _ func(sim.Progress)) (*sim.Result, error) {
		out := &sim.Result{Spec: s, Complete: true, Outside: &sim.Outside{}}
		for _, a := range s.Apps {
			out.Tenants = append(out.Tenants, sim.Tenant{
				Name: a.Name, Cycles: 1000, ThreadInsts: 50_000, IPC: 50, BusyIPC: 60,
			})
			if a.QoS > 0 || a.QoSKernel != "" {
				x := sim.Target{Tenant: a.Name, IPC: a.QoS, Kernel: a.QoSKernel, Reached: 70}
				out.Targets = append(out.Targets, x)
			}
		}
		if len(s.Apps) == 1 {
			alone++
			if s.Length != spec.Length || s.Apps[0].QoS != 0 || s.Apps[0].QoSShare != 0 {
				t.Errorf("alone: %+v", s)
			}
		}
		return out, nil
	}}
	r.Jobs = 1
	out := r.All(context.Background(), []Job{
		{Label: "a", Spec: spec, Machine: m},
		{Label: "b", Spec: kernel, Machine: m},
		{Label: "c", Spec: given, Machine: m},
	})
	for i, want := range []float64{0.8 * 60, 0.5 * 70, 90} {
		o := out[i]
		if o.Err != nil || o.AloneErr != nil {
			t.Fatal(o.Err, o.AloneErr)
		}
		if a := o.Result.Spec.Apps[0]; a.QoS != want || a.QoSShare != out[i].Job.Spec.Apps[0].QoSShare {
			t.Errorf("%s: target %+v, want %g", o.Job.Label, a, want)
		}
	}
	if alone != 3 { // x, x with its kernel, y
		t.Errorf("%d alone-runs, want 3", alone)
	}
	if w := out[2].Result.Warnings; len(w) != 1 || !strings.Contains(w[0], "more than the 60 that it reaches alone") {
		t.Errorf("%q", w)
	}
	if spec.Apps[0].QoS != 0 {
		t.Error("the caller's spec was changed")
	}
}

// Without its IPC alone there is no target, and the job says so.
func TestShareWithoutAlone(t *testing.T) {
	m, _, err := sheets.Load("fermi")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("it broke")
	for want, result := range map[string]*sim.Result{
		"the target of x needs its IPC alone: it broke": nil,
		"x executed no instruction alone within 7 cycles": {
			Complete: true, Cycles: 7, Tenants: []sim.Tenant{{Name: "alone"}},
		},
	} {
		run := func(_ context.Context, s sim.Spec, _ func(sim.Progress)) (*sim.Result, error) {
			if result == nil {
				return nil, broken
			}
			out := *result
			out.Spec = s
			return &out, nil
		}
		r := &Runner{Jobs: 1, Run: run}
		out := r.All(context.Background(), []Job{{Label: "a", Machine: m, Spec: sim.Spec{
			Machine: "fermi", Sharing: sim.Sharing{Mode: "smqos"},
			Apps: []sim.App{{Name: "x", QoSShare: 0.8, Path: vecadd}, {Name: "y", Path: triad}},
		}}})
		if out[0].Err == nil || !strings.Contains(out[0].Err.Error(), want) {
			t.Errorf("%v, want %s", out[0].Err, want)
		}
	}
}
