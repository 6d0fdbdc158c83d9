package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Task is one simulation that is wanted: a job's own or an alone-run.
type Task struct {
	Job    Job
	Alone  bool
	Hash   string // of Job.Spec (runfile.Hash); "" until it is needed
	Result *sim.Result
	Err    error
}

// Pool does the simulations of a Runner: Local in this process, or a cluster.
type Pool interface {
	// Do sets Result and Err of every task. No two tasks are the same simulation if the runner has a store and keeps
	// results in it. Meanwhile other processes may have put results of some of them into the store.
	Do(ctx context.Context, r *Runner, todo []*Task)
}

// ErrLater is the kind of error of a task that a pool has accepted and not finished: its result will be in the store.
var ErrLater = errors.New("not finished yet")

// pool is the part that does the simulations.
func (r *Runner) pool() Pool {
	if r.Pool != nil {
		return r.Pool
	}
	return Local{}
}

// Local is the pool of this process: Runner.Jobs goroutines. A simulation has a core of the computer of its own; it
// also uses those of Runner.Jobs that have no simulation (stride.Cores).
type Local struct{}

// Do does the tasks, beginning them in order.
func (Local) Do(ctx context.Context, r *Runner, todo []*Task) {
	next := make(chan *Task)
	cores := stride.NewCores(max(r.Jobs, 1))
	var wg sync.WaitGroup
	for range min(max(r.Jobs, 1), max(len(todo), 1)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for t := range next {
				r.simulate(ctx, t, cores)
			}
		}()
	}
	for _, t := range todo {
		next <- t
	}
	close(next)
	wg.Wait()
}

// simulate does one task here.
func (r *Runner) simulate(ctx context.Context, t *Task, cores *stride.Cores) {
	if ctx.Err() != nil {
		t.Err = sim.ErrStopped
		return
	}
	cores.Give(-1)
	defer cores.Give(1)
	watch, done := func(sim.Progress) {}, func() {}
	if r.Start != nil {
		watch, done = r.Start(t)
	}
	defer done()
	defer func() {
		if p := recover(); p != nil { // one broken simulation must not end the others
			t.Result, t.Err = nil, fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	hash, err := runfile.Hash(&t.Job.Spec, t.Job.Machine)
	if err != nil {
		t.Err = err
		return
	}
	t.Hash = hash
	spec := t.Job.Spec
	spec.Cores = cores
	// files the program saves belong to the shared run; here they go nowhere
	if t.Alone || r.Keep && spec.OutDir == "" {
		nowhere, err := scratch.Make("", "heddle-alone-")
		if err != nil {
			t.Err = err
			return
		}
		defer func() {
			if err := nowhere.Remove(); err != nil {
				r.Say("%s: %v", t.Job.Label, err)
			}
		}()
		spec.OutDir = nowhere.Path()
	}
	t.Result, t.Err = r.Run(ctx, spec, func(p sim.Progress) {
		if len(p.Waits) > 0 {
			r.Say("%s: %s", t.Job.Label, strings.Join(p.Waits, "\n  "))
		}
		watch(p)
	})
	if t.Result == nil {
		return
	}
	t.Result.SpecHash = hash
	if r.Finish != nil && !t.Job.Spec.Functional {
		if err := r.Finish(t.Result, t.Job.Machine); err != nil {
			r.Say("%s: %v", t.Job.Label, err)
		}
	}
	if (t.Alone || r.Keep) && t.Err == nil && t.Result.Complete && r.Store != nil && !spec.Compiled() {
		if err := r.Store.Put(t.Result); err != nil {
			r.unkept(err)
		}
	}
}
