package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sim"
)

// tasks is a latency-sensitive task and batch tasks on 16 SMs under a mode, with decisions
// every 3000 cycles.
func tasks(mode string, batch ...sim.App) sim.Spec {
	ls := app("rodinia-like/hotspot", map[string]string{"n": "256", "steps": "40", "verify": "False"})
	ls.QoS = 250
	if len(batch) == 0 {
		batch = []sim.App{app("parboil-like/cp", map[string]string{"n": "256", "atoms": "100", "verify": "False"})}
	}
	return sim.Spec{
		Machine: "fermi", Seed: 1, Apps: append([]sim.App{ls}, batch...), Epoch: 3000, Timeline: true,
		Sharing: sim.Sharing{Mode: mode, Epoch: 3000}, Length: sim.Length{MaxCycles: 60_000, Budget: true},
	}
}

// taskSample is what the samples of smqos and spart have in common.
type taskSample struct {
	Cycle     uint64 `json:"cycle"`
	Idle      int    `json:"idle_sms"`
	Gated     int    `json:"gated_sms"`
	SMsGating int    `json:"sms_gating"`
	Apps      []struct {
		Name     string  `json:"name"`
		SMs      int     `json:"sms"`
		Arriving int     `json:"sms_arriving"`
		Leaving  int     `json:"sms_leaving"`
		QoS      float64 `json:"qos"`
		Insts    uint64  `json:"insts"`
		Cycles   uint64  `json:"cycles"`
		Ended    bool    `json:"ended"`
		Kernels  []struct {
			Name   string  `json:"name"`
			QoS    float64 `json:"qos"`
			Insts  uint64  `json:"insts"`
			Cycles uint64  `json:"cycles"`
		} `json:"kernels"`
	} `json:"apps"`
}

func (s *taskSample) settled(app int) int {
	return s.Apps[app].SMs + s.Apps[app].Arriving - s.Apps[app].Leaving
}

// samplesOf reads the samples of a run's decisions as their policy wrote them.
func samplesOf(t *testing.T, r *sim.Result) (out []taskSample) {
	t.Helper()
	for _, d := range r.Decisions {
		var s taskSample
		if err := json.Unmarshal(marshal(t, d.Sample), &s); err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// Under each of the three systems, with one and with two batch tasks: samples conserve SMs,
// replaying them gives the plans, and neither skipping nor lockstep changes a bit.
func TestTasks(t *testing.T) {
	second := app("micro/triad", map[string]string{"n": "60000", "passes": "2", "verify": "False"})
	for _, mode := range few("smqos", "spart", "rollover") {
		for _, spec := range []sim.Spec{tasks(mode), tasks(mode, tasks(mode).Apps[1], second)} {
			spec.Length.MaxCycles, spec.Sharing.Epoch = 24_000, 1200
			r := run(t, spec)
			for _, s := range samplesOf(t, r) {
				sum := s.Idle + s.Gated
				for _, a := range s.Apps {
					sum += a.SMs
				}
				if mode != "rollover" && sum != 16 {
					t.Errorf("%s at %d: %d SMs", mode, s.Cycle, sum)
				}
			}
			replays(t, mode, &spec, r)
			every, lockstep := spec, spec
			every.NoSkip, lockstep.Lockstep = true, true
			want := text(t, r)
			for name, other := range map[string]sim.Spec{"no skipping": every, "lockstep": lockstep} {
				if text(t, run(t, other)) != want {
					t.Errorf("%s: %s changes the result", mode, name)
				}
			}
		}
	}
}

// replays holds the plans of a run against those of its samples, written and read again.
func replays(t *testing.T, mode string, spec *sim.Spec, r *sim.Result) {
	t.Helper()
	var samples, plans []any
	for _, d := range r.Decisions {
		if d.Refused != "" {
			t.Errorf("%s: refused: %s", mode, d.Refused)
		}
		samples, plans = append(samples, d.Sample), append(plans, d.Plan)
	}
	if len(samples) != 20 {
		t.Fatalf("%s: %d decisions, want 20", mode, len(samples))
	}
	e, err := control.Find(mode)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.New(control.FromSheet(sheet(t, *spec), 6, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := control.Replay(e, p, "samples", marshal(t, samples))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, again), marshal(t, plans)) {
		t.Errorf("%s: the samples of the run do not give its plans", mode)
	}
}

// SMQoS moves one SM per task and epoch at most, though one takes longer than an epoch, and
// the decisions tell each with its cost.
func TestSMQoSSwapsOne(t *testing.T) {
	spec := tasks("smqos")
	spec.Apps[0].QoS = 1e6 // never enough
	spec.Sharing.Epoch = 500
	r := run(t, spec)
	samples := samplesOf(t, r)
	overlapping := false
	for i := 1; i < len(samples); i++ {
		if d := samples[i].settled(0) - samples[i-1].settled(0); d < 0 || d > 1 {
			t.Errorf("%d SMs more at %d", d, samples[i].Cycle)
		}
		overlapping = overlapping || samples[i].Apps[0].Arriving > 1
	}
	if last := samples[len(samples)-1]; last.settled(0) != 15 || last.settled(1) != 1 {
		t.Errorf("%+v: the batch task keeps one SM of 16", last)
	}
	if !overlapping {
		t.Error("no SM was asked for while another one was on its way: the test says little")
	}
	moves := 0
	for _, d := range r.Decisions {
		for _, m := range d.SMs {
			if moves++; m.To != "hotspot" || m.From != "cp" || m.How == "drain" ||
				(m.How == "switch") != (m.CTAs > 0) || m.CTAs > 0 && m.Bytes == 0 ||
				m.End > 0 && (m.End < m.Start || m.How != "idle" && m.End == m.Start) {
				t.Errorf("%+v", m)
			}
		}
	}
	if moves != 7 || r.Moved.SMs != 7 {
		t.Errorf("%d moves are told, %d counted, want 7", moves, r.Moved.SMs)
	}
}

// With a target that little meets, SMs that nobody gains by are without power; their energy
// is less, and more wake when there is need again.
func TestSMQoSGates(t *testing.T) {
	spec := tasks("smqos")
	spec.Apps[0].QoS, spec.Sharing.Params = 40, control.Params{"threshold": 1} // it gains by nothing
	r := run(t, spec)
	if r.Nobody == nil || r.Nobody.GatedSMCycles == 0 {
		t.Fatalf("%+v: nothing was gated", r.Nobody)
	}
	gated := 0
	for _, s := range samplesOf(t, r) {
		gated = max(gated, s.Gated)
	}
	if gated < 2 {
		t.Errorf("%d SMs at most were without power", gated)
	}
}

// A latency-sensitive task that comes in the middle of a run: nothing is moved for it
// before, and then it gets what it needs.
func TestLateTask(t *testing.T) {
	spec := tasks("smqos")
	spec.Apps[0].Arrive, spec.Apps[0].QoS = 30_000, 1e6
	samples := samplesOf(t, run(t, spec))
	for _, s := range samples {
		switch {
		case s.Cycle <= 30_000 && (s.Apps[0].Cycles > 0 || s.settled(0) != 8):
			t.Errorf("before it came: %+v", s)
		case s.Cycle >= 60_000 && s.settled(0) != 15:
			t.Errorf("at the end: %+v", s)
		}
	}
}

// A task whose program has ended has no SMs from the next epoch on: the others have all of them. One that has not come
// yet has not ended.
func TestTaskThatEnds(t *testing.T) {
	numbersOnly(t)
	for _, mode := range []string{"smqos", "spart"} {
		spec := tasks(mode, app("parboil-like/cp", map[string]string{"n": "256", "atoms": "600", "verify": "False"}))
		spec.Apps[0].Args["steps"], spec.Length = "4", sim.Length{}
		late := app("micro/triad", nil)
		late.Arrive = 30_000
		spec.Apps = append(spec.Apps, late)
		r := run(t, spec)
		seen := 0
		for k, s := range samplesOf(t, r) {
			if s.Apps[2].Ended && s.Cycle <= late.Arrive {
				t.Errorf("%s, cycle %d: a task that has not come has ended", mode, s.Cycle)
			}
			if !s.Apps[0].Ended {
				continue
			}
			var plan control.TaskPlan // SMs on their way to a task when it ends arrive and go back
			if err := json.Unmarshal(marshal(t, r.Decisions[k].Plan), &plan); err != nil {
				t.Fatal(err)
			}
			if a := plan.Apps; a[0].SMs > 0 || a[1].SMs+a[2].SMs < 16 && !(s.Apps[1].Ended && s.Apps[2].Ended) {
				t.Errorf("%s, cycle %d: %+v", mode, s.Cycle, a)
			}
			if s.Apps[0].SMs == 0 {
				seen++
			}
		}
		if seen < 3 || r.Tenants[0].Runs != 1 {
			t.Errorf("%s: %d epochs without SMs after %d executions", mode, seen, r.Tenants[0].Runs)
		}
	}
}

// set_qos gives one kernel a target; samples tell its instructions and cycles, the result
// what it reached, and a recording keeps it.
func TestKernelTarget(t *testing.T) {
	dir := t.TempDir()
	ptx, err := os.ReadFile("../apps/micro/vecadd/kernel.ptx")
	if err != nil {
		t.Fatal(err)
	}
	script := `
def main():
    k = module("kernel.ptx").kernel("vecadd")
    set_qos(k, 77)
    a = malloc(f32, 200000)
    launch(k, grid = 782, block = 256, args = [a, a, a, 200000])
    device_synchronize()
`
	if err := os.WriteFile(filepath.Join(dir, "kernel.ptx"), ptx, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app.star"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	spec := tasks("smqos")
	spec.Apps[0] = sim.App{Name: "ls", Path: dir}
	r := run(t, spec)
	if len(r.Targets) != 1 || r.Targets[0].Kernel != "vecadd" || r.Targets[0].IPC != 77 || !(r.Targets[0].Reached > 0) {
		t.Fatalf("%+v", r.Targets)
	}
	var insts uint64
	for _, s := range samplesOf(t, r) {
		k := s.Apps[0].Kernels
		if len(k) != 1 || k[0].Name != "vecadd" || k[0].QoS != 77 || s.Apps[0].QoS != 77 ||
			k[0].Insts != s.Apps[0].Insts || k[0].Cycles != s.Apps[0].Cycles {
			t.Errorf("%+v", s.Apps[0])
		}
		insts += k[0].Insts
	}
	if insts != r.Tenants[0].ThreadInsts {
		t.Errorf("samples have %d instructions of the kernel, the tenant %d", insts, r.Tenants[0].ThreadInsts)
	}
	for _, c := range []struct {
		what, kernel string
		qos, share   float64
		warning      string
	}{
		{"as the run file says", "vecadd", 77, 0.5, ""},
		{"another one in the run file", "vecadd", 200, 0.5, "set_qos changed its target to 77; the run file has 200"},
		{"one of the application", "", 200, 0.5, "ls has a target, and set_qos gave one to its kernel vecadd"},
	} {
		own := spec
		own.Apps = slices.Clone(spec.Apps)
		own.Apps[0].QoS, own.Apps[0].QoSKernel, own.Apps[0].QoSShare = c.qos, c.kernel, c.share
		res := run(t, own)
		got := strings.Join(res.Warnings, "; ")
		if (c.warning == "") == strings.Contains(got, "set_qos") || !strings.Contains(got, c.warning) {
			t.Errorf("%s: warnings %q, want %q", c.what, got, c.warning)
		}
		last := res.Targets[len(res.Targets)-1]
		if kept := c.warning == ""; last.IPC != 77 || (last.OfAlone == 0.5) != kept {
			t.Errorf("%s: %+v", c.what, last)
		}
	}
	slip := []byte(strings.Replace(script, "77", "7.7e7", 1))
	if err := os.WriteFile(filepath.Join(dir, "app.star"), slip, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Run(context.Background(), spec, nil); err == nil ||
		!strings.Contains(err.Error(), "app.star:4: set_qos: the IPC target of vecadd is 7.7e+07") {
		t.Errorf("a target beyond any GPU: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app.star"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	none := tasks("smqos")
	none.Apps[0].QoS = 0
	if got := strings.Join(run(t, none).Warnings, "; "); !strings.Contains(got, "policy smqos had nothing to do") {
		t.Errorf("no target: %q", got)
	}
	spec.Apps[0].QoS, spec.Apps[0].QoSKernel = 5, "vecsub"
	if _, err := sim.Run(context.Background(), spec, nil); err == nil ||
		!strings.Contains(err.Error(), "target is for kernel vecsub, which it did not launch; it launched vecadd") {
		t.Errorf("%v", err)
	}
}

// Where CTAs are taken off SMs for more than a tenth of the time, it is said for which part. Without swaps they are
// taken off for who comes second alone, and that is short.
func TestRolloverWarns(t *testing.T) {
	spec := tasks("rollover")
	r := run(t, spec)
	share := float64(r.Contexts.Cycles) / float64(r.Cycles)
	want := fmt.Sprintf("CTAs were being moved off SMs in %.0f %% of the time: a period of 3000 cycles is short, "+
		"give a longer one", 100*share)
	if got := strings.Join(r.Warnings, "; "); share <= 0.1 || !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	spec.Sharing.Params = control.Params{"move_ctas": 0}
	if r := run(t, spec); strings.Contains(strings.Join(r.Warnings, "; "), "taken off") {
		t.Errorf("%+v: %v", r.Contexts, r.Warnings)
	}
}

// wideAndNarrow are two applications of one kernel on many and on few SMs.
func wideAndNarrow(sms []int, length sim.Length) sim.Spec {
	spec := sim.Spec{Machine: "fermi", Seed: 1, Sharing: sim.Sharing{Mode: "mps", SMs: sms}, Length: length}
	for _, name := range []string{"wide", "narrow"} {
		a := app("micro/triad", map[string]string{"n": "60000", "passes": "2"})
		a.Name = name
		spec.Apps = append(spec.Apps, a)
	}
	return spec
}

// The target of an application's only kernel and the application's are judged alike: over its window.
func TestKernelTargetOfTheWindow(t *testing.T) {
	var reached []float64
	for _, kernel := range []string{"", "triad"} {
		spec := wideAndNarrow([]int{13, 3}, sim.Length{Instructions: 1_000_000, WarmupInstructions: 200_000})
		spec.Apps[0].QoS, spec.Apps[0].QoSKernel = 5, kernel
		r := run(t, spec)
		if w := r.Tenants[0].Window; w.Start == 0 || w.End >= r.Cycles || len(r.Warnings) > 0 {
			t.Fatalf("the window %+v is not within %d cycles: %v", w, r.Cycles, r.Warnings)
		}
		reached = append(reached, r.Targets[0].Reached)
	}
	if reached[0] != reached[1] || reached[0] == 0 {
		t.Errorf("the application reaches %g, its kernel %g", reached[0], reached[1])
	}
}

// Who had executed what is asked for before the slowest was warm has nothing of it in its window, which is said.
func TestNothingInTheWindow(t *testing.T) {
	spec := wideAndNarrow([]int{15, 1}, sim.Length{Instructions: 250_000, WarmupInstructions: 200_000})
	w := run(t, spec).Warnings
	if len(w) != 1 || !strings.HasPrefix(w[0], "wide executed its 250000 instructions") {
		t.Errorf("%q", w)
	}
}

// A kernel whose turn had not come when the run ended has not reached its target, and that is said; one that no module
// has is an error.
func TestKernelNotYetLaunched(t *testing.T) {
	spec := tasks("smqos")
	spec.Apps[0] = app("polybench/atax", map[string]string{"n": "512", "ny": "512", "verify": "False"})
	spec.Apps[0].QoS, spec.Apps[0].QoSKernel, spec.Length.MaxCycles = 5, "atax_aty", 20_000
	r := run(t, spec)
	want := "kernel atax_aty of " + r.Tenants[0].Name + " has a target, but it was not launched before the run ended"
	if len(r.Targets) != 1 || r.Targets[0].Met || !slices.Contains(r.Warnings, want) {
		t.Errorf("%+v, %v", r.Targets, r.Warnings)
	}
	spec.Apps[0].QoSKernel = "atax_nope"
	if _, err := sim.Run(context.Background(), spec, nil); err == nil ||
		!strings.Contains(err.Error(), "kernel atax_nope, which it did not launch; it launched atax_ax") {
		t.Error(err)
	}
}

// What makes no sense is refused.
func TestTargetsRefused(t *testing.T) {
	two := tasks("smqos")
	two.Apps[1].QoS = 5
	share := tasks("smqos")
	share.Apps[0].QoS, share.Apps[0].QoSShare = 0, 0.8
	inside := tasks("smk")
	inside.Sharing = sim.Sharing{Mode: "smk", Policies: []sim.Governor{{Policy: "smqos"}}}
	outside := tasks("mps")
	outside.Sharing = sim.Sharing{Mode: "mps", Policies: []sim.Governor{{Policy: "rollover"}}}
	hybrid := tasks("mps")
	hybrid.Sharing = sim.Sharing{Mode: "mps", Policies: []sim.Governor{{Policy: "hydrogen"}}}
	for want, s := range map[string]sim.Spec{
		"policy hydrogen sets ways, channels, tokens of a hybrid memory, but machine": hybrid,

		"serves 1 application with a target (qos) and there are 2":                 two,
		"its target is 80 % of its IPC alone, but there is no alone-run":           share,
		"policy smqos sets sms, but under sharing mode smk all applications share": inside,
		"under sharing mode mps an SM belongs to one application: use smk":         outside,
	} {
		if _, err := sim.Run(context.Background(), s, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// The occupancy and the roof of a kernel are of the SMs its application had while it ran, 8
// to 15 of them, not of those it has at its end.
func TestKernelsOfMovingSMs(t *testing.T) {
	spec := tasks("smqos")
	spec.Apps[0].QoS = 1e6 // it takes all SMs but one
	k := run(t, spec).Tenants[0].Kernels[0]
	if k.Theoretical != 0.5 || k.Achieved < 0.45 || k.Achieved > 0.5 || k.RoofShare < 0.7 || k.RoofShare > 1 {
		t.Errorf("%.3f of %.3f occupancy, %.3f of roof %s", k.Achieved, k.Theoretical, k.RoofShare, k.Roof)
	}
}
