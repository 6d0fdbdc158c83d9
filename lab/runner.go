package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Job is one simulation to do.
type Job struct {
	Label   string // for progress and messages
	Spec    sim.Spec
	Machine *sheets.Machine // the machine of Spec.Machine and Spec.Set
	// Bare jobs need no metrics, and no runs of their applications alone.
	Bare bool
	// Cycles is the expected length of the run in core cycles, for the estimate of progress, if Spec does not bound
	// it.
	Cycles uint64
}

// Outcome is the result of a Job.
type Outcome struct {
	Job    Job
	Result *sim.Result // may be partial, or nil after an error
	Err    error
	// AloneErr says why Result has no Metrics although it has several applications.
	AloneErr error
}

// ErrPanic is the kind of error of a simulation that broke an invariant of the simulator.
var ErrPanic = errors.New("internal error")

// RunFunc simulates one Spec; sim.Run is a RunFunc.
type RunFunc func(ctx context.Context, spec sim.Spec, watch func(sim.Progress)) (*sim.Result, error)

// Runner does jobs. Run must be set; every other field is optional.
type Runner struct {
	Run   RunFunc
	Jobs  int    // simulations at once; below 1 means 1
	Store *Store // nil: alone-runs are repeated every time
	// Keep also keeps the results of the jobs themselves in Store, and simulates neither a job whose result is there
	// nor the same job twice. So run sets can be interrupted and resumed.
	Keep bool
	// Finish completes a result that has just been simulated (energy).
	Finish func(r *sim.Result, m *sheets.Machine) error
	// Start is called when a simulation begins. The functions it returns get the simulation's progress and its end,
	// when the task has its result or error. Several goroutines may call it.
	Start func(t *Task) (watch func(sim.Progress), done func())
	// Plan is called before the first simulation with the number of simulations to do.
	Plan func(todo []Job, kept int)
	// Warn gets messages about harmless failures, one call at a time.
	Warn func(format string, args ...any)
	// Pool does the simulations; nil: goroutines of this process (Local).
	Pool Pool

	mu   sync.Mutex
	told bool // that results cannot be kept
}

// All does the jobs and, for those with several applications, the alone-runs their
// metrics need; each distinct alone-run is done once. Outcomes come in the order
// of the jobs.
func (r *Runner) All(ctx context.Context, jobs []Job) []Outcome {
	out := make([]Outcome, len(jobs))
	own := make([]*Task, len(jobs))
	var tasks []*Task
	byHash := map[string]*Task{}
	resolved, errs := r.resolve(ctx, jobs, byHash)
	for i, j := range resolved {
		out[i].Job = jobs[i]
		own[i] = &Task{Job: j, Err: errs[i]}
		if own[i].Err == nil && r.Keep && r.Store != nil {
			own[i] = r.plan(own[i], byHash)
		}
		tasks = appendOnce(tasks, own[i])
	}
	need := make([][]*Task, len(jobs)) // per job, per application
	for i, j := range jobs {
		if len(j.Spec.Apps) < 2 || j.Spec.Functional || j.Bare || errs[i] != nil {
			continue
		}
		for a := range j.Spec.Apps {
			t := r.plan(&Task{Job: aloneJob(&j, a), Alone: true}, byHash)
			tasks = appendOnce(tasks, t)
			need[i] = append(need[i], t)
		}
	}
	r.pool().Do(ctx, r, r.open(tasks))
	for i := range jobs {
		out[i].Result, out[i].Err = own[i].Result, own[i].Err
		r.metrics(&out[i], need[i])
	}
	return out
}

// open leaves out the simulations whose results are known already.
func (r *Runner) open(tasks []*Task) []*Task {
	var todo []*Task
	var jobs []Job
	for _, t := range tasks {
		if t.Result == nil && t.Err == nil {
			todo = append(todo, t)
			jobs = append(jobs, t.Job)
		}
	}
	if r.Plan != nil {
		r.Plan(jobs, len(tasks)-len(todo))
	}
	return todo
}

func appendOnce(list []*Task, t *Task) []*Task {
	for _, x := range list {
		if x == t {
			return list
		}
	}
	return append(list, t)
}

// AloneSpec is application a of a spec alone on the whole machine. Fields that do not change its numbers are left
// out, so that many studies share one alone-run. A run to the end is measured from the first launch, so the
// application's arrival matters only with a warm-up. Under a budget the time before the first launch counts, here and
// there.
func AloneSpec(s *sim.Spec, a int) sim.Spec {
	app := s.Apps[a]
	app.Name, app.Repeat, app.QoS, app.QoSShare = "alone", false, 0, 0
	out := sim.Spec{
		Machine: s.Machine, Set: s.Set, Seed: s.Seed, Watchdog: s.Watchdog, Apps: []sim.App{app},
		Sharing: sim.Sharing{Mode: "alone", Name: "alone"},
	}
	out.Sharing.Memory.Unified = s.Sharing.Memory.Unified.Alone()
	switch l := &s.Length; {
	case l.Budget:
		out.Length = *l
	default:
		out.Length = *l
		out.Length.MaxCycles = 0
	}
	if !out.Length.Warms() && !s.Length.Budget {
		out.Apps[0].Arrive = 0
	}
	return out
}

// plan finds the task for a simulation: already planned, with its result from the
// store, or t itself.
func (r *Runner) plan(t *Task, byHash map[string]*Task) *Task {
	hash, err := runfile.Hash(&t.Job.Spec, t.Job.Machine)
	if err != nil {
		t.Err = err
		return t
	}
	if known := byHash[hash]; known != nil {
		return known
	}
	byHash[hash], t.Hash = t, hash
	if r.Store != nil && !t.Job.Spec.Compiled() {
		if t.Result, err = r.Store.Get(hash); err != nil {
			what := t.Job.Label
			if t.Alone {
				what += " alone"
			}
			r.Say("%v; %s is simulated again", err, what)
		}
	}
	return t
}

// metrics fills in slowdowns and metrics of a finished shared run.
func (r *Runner) metrics(o *Outcome, alone []*Task) {
	if o.Result == nil || len(alone) == 0 || o.AloneErr != nil {
		return
	}
	if o.Err != nil || !o.Result.Complete {
		o.AloneErr = errors.New("the shared run is not complete")
		return
	}
	var base []*sim.Result
	for _, t := range alone {
		if t.Err != nil || t.Result == nil || len(t.Result.Tenants) != 1 {
			o.AloneErr = fmt.Errorf("%s alone: %w", t.Job.Label, t.Err)
			return
		}
		base = append(base, t.Result)
	}
	o.AloneErr = Against(o.Result, base)
	if nothing := (*Nothing)(nil); errors.As(o.AloneErr, &nothing) {
		o.Result.Warnings = append(o.Result.Warnings, fmt.Sprintf("no slowdowns and metrics: %v", o.AloneErr))
	}
}

// Against adds the comparison with the applications alone to a shared run: slowdowns, metrics, and warnings about
// targets that cannot be met. alone has a result with one application for each of r's.
func Against(r *sim.Result, alone []*sim.Result) error {
	if len(r.Tenants) != len(alone) {
		return fmt.Errorf("the result has %d tenants for %d applications", len(r.Tenants), len(alone))
	}
	var names []string
	var ipc, shared, base []float64
	for i := range alone {
		own := &r.Tenants[i]
		unit, s, a := Progress(own, &alone[i].Tenants[0])
		own.Progress = unit
		names, shared, base = append(names, own.Name), append(shared, s), append(base, a)
		ipc = append(ipc, alone[i].Tenants[0].IPC)
	}
	m, err := Compare(names, shared, base)
	if err != nil {
		return err
	}
	m.AloneIPC = ipc
	r.Metrics = m
	unreachable(r, alone)
	for i := range r.Tenants {
		r.Tenants[i].Slowdown = base[i] / shared[i]
	}
	unequal(r, alone)
	return nil
}

// Say passes a warning on, if the runner has a function for warnings.
func (r *Runner) Say(format string, args ...any) {
	if r.Warn == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Warn(format, args...)
}

// unkept warns once that results cannot be kept: a disk that is full for one is full for all.
func (r *Runner) unkept(err error) {
	r.mu.Lock()
	told := r.told
	r.told = true
	r.mu.Unlock()
	if !told {
		r.Say("results are not kept, so the next run simulates them again: %v; make room there, or give another "+
			"folder with --cache", err)
	}
}
