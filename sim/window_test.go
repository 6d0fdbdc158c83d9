package sim_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// conserved holds every counter of the machine against the windows of all tenants and
// what lies outside of them.
func conserved(t *testing.T, r *sim.Result) {
	t.Helper()
	type counter struct{ owner, name string }
	machine, rows := map[counter]uint64{}, map[counter]uint64{}
	for _, c := range r.Tables {
		if c.Moved { // by nobody's instances
			continue
		}
		for i, v := range c.Values {
			if v.Kind == stat.Gauge {
				continue // a window has no difference of one
			}
			k := counter{c.Owner, v.Name}
			rows[k] += v.N
			for _, row := range c.Instances {
				machine[k] += row[i]
			}
		}
	}
	if machine[counter{"sm", "thread_insts"}] == 0 {
		t.Error("no instructions at all")
	}
	for _, d := range sm.Counters() {
		if k := (counter{"sm", d.Name}); d.Kind == stat.Gauge { // of a moment, not of a window
			machine[k] = 0
		}
	}
	for k, n := range machine {
		if rows[k] != n {
			t.Errorf("%s.%s: windows and what is outside have %d, the machine %d", k.owner, k.name, rows[k], n)
		}
	}
	for i := range r.Tenants {
		x := &r.Tenants[i]
		if sum := x.Time.Kernels + x.Time.Cut + x.Time.Copies + x.Time.Gaps; sum != x.Cycles ||
			x.Window.End-x.Window.Start != x.Cycles {
			t.Errorf("%s: %+v of a window %+v of %d cycles", x.Name, x.Time, x.Window, x.Cycles)
		}
		if ipc := float64(x.ThreadInsts) / float64(x.Cycles); x.IPC != ipc {
			t.Errorf("%s: IPC %g, %d instructions in %d cycles", x.Name, x.IPC, x.ThreadInsts, x.Cycles)
		}
		if x.BusyCycles > x.Cycles {
			t.Errorf("%s: %d busy cycles of %d", x.Name, x.BusyCycles, x.Cycles)
		}
	}
}

// epochInsts is a tenant's thread instructions in the epochs that end in (from, to].
func epochInsts(r *sim.Result, tenant int, from, to uint64) (n uint64) {
	for _, e := range r.Epochs {
		if e.Cycle > from && e.Cycle <= to {
			n += e.Tenants[tenant].Count("thread_insts")
		}
	}
	return n
}

var windowed = sim.Spec{
	Machine: "qv100", Seed: 1, Epoch: 500, Sharing: sim.Sharing{Mode: "mps"},
	Apps: []sim.App{app("micro/vecadd", nil), app("micro/spmv", nil)},
}

// A run to the end: from the first launch to the end of the last complete execution,
// whatever an application that repeats has begun besides.
func TestWindowOfExecutions(t *testing.T) {
	s := windowed
	s.Apps = append([]sim.App(nil), s.Apps...)
	s.Apps[0].Repeat = true
	r := run(t, s)
	conserved(t, r)
	once, twice := &r.Tenants[1], &r.Tenants[0]
	k := twice.Kernels
	if twice.Window.Of != sim.OfExecutions || twice.Window.Start != k[0].Launch ||
		twice.Executions != float64(twice.Runs) || twice.Runs < 2 {
		t.Errorf("the application that repeats: %+v, %g executions of %d", twice.Window, twice.Executions, twice.Runs)
	}
	per := twice.PerExecution
	if per.Least != per.Most || twice.ThreadInsts != uint64(twice.Runs)*per.Least {
		t.Errorf("%d instructions in %d executions of %+v", twice.ThreadInsts, twice.Runs, per)
	}
	if once.Runs != 1 || once.Executions != 1 || once.Window.End != r.Cycles {
		t.Errorf("the other: %+v, %g executions in a run of %d cycles", once.Window, once.Executions, r.Cycles)
	}
	if twice.Window.End >= r.Cycles || r.Outside.ThreadInsts == 0 {
		t.Errorf("the last execution of %s ended at %d of %d: nothing is outside", twice.Name, twice.Window.End,
			r.Cycles)
	}
}

// A budget: every application from the warm-up's end to the budget's, arrivals or not.
func TestWindowOfBudget(t *testing.T) {
	s := windowed
	s.Apps = append([]sim.App(nil), s.Apps...)
	s.Apps[1].Arrive = 3000
	s.Length = sim.Length{MaxCycles: 20_000, Budget: true}
	whole := run(t, s)
	conserved(t, whole)
	s.Length.Warmup = 8000
	r := run(t, s)
	conserved(t, r)
	for i := range r.Tenants {
		x, w := &r.Tenants[i], &whole.Tenants[i]
		if x.Window != (sim.Window{Of: sim.OfBudget, Start: 8000, End: 20_000}) ||
			w.Window != (sim.Window{Of: sim.OfBudget, End: 20_000}) {
			t.Errorf("%s: windows %+v and %+v", x.Name, x.Window, w.Window)
		}
		if n := epochInsts(r, i, 8000, 20_000); x.ThreadInsts != n || n == 0 {
			t.Errorf("%s: %d instructions, its epochs have %d", x.Name, x.ThreadInsts, n)
		}
		if n := epochInsts(r, i, 0, 20_000); w.ThreadInsts != n {
			t.Errorf("%s: %d instructions without warm-up, the same run's epochs have %d", x.Name, w.ThreadInsts, n)
		}
		if x.Runs != w.Runs || x.PerExecution != w.PerExecution {
			t.Errorf("%s: a warm-up changed the run: %d executions %+v, %d %+v", x.Name, x.Runs, x.PerExecution,
				w.Runs, w.PerExecution)
		}
		if done := float64(x.ThreadInsts) / x.PerExecution.Mean; math.Abs(x.Executions-done) > 1e-9 {
			t.Errorf("%s: %g executions, its instructions make %g", x.Name, x.Executions, done)
		}
	}
	if whole.Outside.ThreadInsts != 0 || r.Outside.ThreadInsts == 0 {
		t.Errorf("outside: %d without warm-up, %d with", whole.Outside.ThreadInsts, r.Outside.ThreadInsts)
	}
}

// So many instructions: to the cycle in which they were reached, looked at every 500.
func TestWindowOfInstructions(t *testing.T) {
	s := windowed
	s.Length = sim.Length{Instructions: 60_000}
	r := run(t, s)
	conserved(t, r)
	for i := range r.Tenants {
		x := &r.Tenants[i]
		if x.Window.Of != sim.OfInstructions || x.Window.End%500 != 0 || len(x.Kernels) > 0 &&
			x.Window.Start != x.Kernels[0].Launch {
			t.Errorf("%s: %+v", x.Name, x.Window)
		}
		if n := epochInsts(r, i, 0, x.Window.End); x.ThreadInsts != n || n < 60_000 {
			t.Errorf("%s: %d instructions, the epochs until then %d", x.Name, x.ThreadInsts, n)
		}
	}
}

// A warm-up by work ends, for everybody, in the look at which the last application has done it; who
// had done all that was asked for by then has its window behind it.
func TestWarmupOfInstructions(t *testing.T) {
	s := windowed
	s.Length = sim.Length{Instructions: 600_000}
	whole := run(t, s)
	s.Length.WarmupInstructions = 200_000
	r := run(t, s)
	conserved(t, r)
	least := uint64(math.MaxUint64)
	for i := range r.Tenants {
		x, w := &r.Tenants[i], &whole.Tenants[i]
		if x.Window.Of != sim.OfInstructions || x.Window.Start%500 != 0 ||
			x.Window.Start != r.Tenants[0].Window.Start || x.Window.End < w.Window.End ||
			i == 0 && x.Window.End != w.Window.End {
			t.Errorf("%s: %+v, without warm-up %+v", x.Name, x.Window, w.Window)
		}
		if n := epochInsts(r, i, x.Window.Start, x.Window.End); x.ThreadInsts != n || n == 0 {
			t.Errorf("%s: %d instructions, its epochs have %d", x.Name, x.ThreadInsts, n)
		}
		least = min(least, epochInsts(r, i, 0, x.Window.Start))
	}
	if least < 200_000 || least > 400_000 {
		t.Errorf("the slower application had done %d of 200000 at the end of the warm-up", least)
	}
	s.Length.Instructions, s.Length.WarmupInstructions = 0, 1<<40
	if r, err := sim.Run(context.Background(), s, nil); err == nil || r.Complete ||
		!strings.Contains(err.Error(), "length.warmup_instructions") {
		t.Errorf("a warm-up beyond the end: %v", err)
	}
}

// Without a complete execution the window is the run, marked so; without anything behind
// the warm-up there is nothing to measure.
func TestWindowOfTheRun(t *testing.T) {
	s := windowed
	s.Length = sim.Length{MaxCycles: 3000}
	r, err := sim.Run(context.Background(), s, nil)
	var limit *sim.Unfinished
	if !errors.As(err, &limit) || r.Complete {
		t.Fatalf("%v", err)
	}
	conserved(t, r)
	if x := &r.Tenants[1]; x.Runs != 0 || x.Window != (sim.Window{Of: sim.OfRun, End: 3000}) || x.Executions != 0 {
		t.Errorf("%s: %d executions, %g in %+v", x.Name, x.Runs, x.Executions, x.Window)
	}
	s.Length = sim.Length{Warmup: 1_000_000}
	if r, err = sim.Run(context.Background(), s, nil); err == nil || r.Complete {
		t.Errorf("a warm-up beyond the end: %v", err)
	}
	// A warm-up in a run to the end moves the start.
	s.Length = sim.Length{Warmup: 3000}
	r = run(t, s)
	conserved(t, r)
	if x := &r.Tenants[1]; x.Window.Of != sim.OfExecutions || x.Window.Start != 3000 || x.Executions <= 0 ||
		x.Executions >= 1 {
		t.Errorf("%s behind a warm-up: %+v, %g executions", x.Name, x.Window, x.Executions)
	}
}

// A limit of somebody's own ends a run with its cause.
func TestStoppedForACause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	full := errors.New("too much memory")
	s := windowed
	s.Length = sim.Length{MaxCycles: 200_000, Budget: true}
	r, err := sim.Run(ctx, s, func(p sim.Progress) { cancel(full) })
	if !errors.Is(err, full) || !errors.Is(err, sim.ErrStopped) || r.Complete || r.Why != "too much memory" {
		t.Errorf("%v; %q", err, r.Why)
	}
}
