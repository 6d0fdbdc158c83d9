package slurm

import (
	"context"
	"fmt"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Work does the points of a task that are not in the store yet: a node of the cluster runs it. r keeps its results in
// the store. A point that fails leaves its error in the store. The returned error is one of the plan, or
// sim.ErrStopped.
func Work(ctx context.Context, r *lab.Runner, code, plan string, task int) error {
	var points []Point
	head, err := readPlan(plan, func(i int) bool { return i == task }, func(_ int, p []Point) bool {
		points = p
		return false
	})
	if err != nil {
		return err
	}
	if head.Code != code {
		return fmt.Errorf("%s was made by another simulator (%.12s, this one is %.12s)", plan, head.Code, code)
	}
	if task < 0 || task >= head.Tasks {
		return fmt.Errorf("%s has %d tasks: there is no task %d", plan, head.Tasks, task)
	}
	start := r.Start
	r.Start = func(t *lab.Task) (func(sim.Progress), func()) {
		watch, done := start(t)
		return watch, func() {
			record(ctx, r, t)
			done()
		}
	}
	var todo []*lab.Task
	for i := range points {
		if t := open(r, &points[i]); t != nil {
			todo = append(todo, t)
		}
	}
	lab.Local{}.Do(ctx, r, todo)
	if ctx.Err() != nil {
		return sim.ErrStopped
	}
	return nil
}

// open is the task of a point that must be done; nil when it is done or cannot be.
func open(r *lab.Runner, p *Point) *lab.Task {
	have, err := r.Store.Get(p.Hash)
	if have != nil {
		return nil
	}
	if err != nil {
		r.Say("%v; %s is simulated again", err, p.Label)
	}
	if f, _, err := r.Store.GetFailed(p.Hash); f != nil && err == nil {
		return nil
	}
	t := &lab.Task{Job: lab.Job{Label: p.Label, Spec: p.Spec}, Alone: p.Alone, Hash: p.Hash}
	hash := ""
	if t.Job.Machine, _, t.Err = sheets.Resolve(p.Spec.Machine, p.Spec.Set); t.Err == nil {
		hash, t.Err = runfile.Hash(&p.Spec, t.Job.Machine)
	}
	if t.Err == nil && hash != p.Hash {
		t.Err = fmt.Errorf("its application or machine has changed since it was submitted, or this node sees other "+
			"files (spec hash %.12s, planned %.12s)", hash, p.Hash)
	}
	if t.Err == nil {
		return t
	}
	if err := r.Store.PutFailed(t); err != nil {
		r.Say("%s: %v: %v", p.Label, t.Err, err)
	}
	return nil
}

// record keeps the failure of a task that has ended.
func record(ctx context.Context, r *lab.Runner, t *lab.Task) {
	if t.Err == nil || ctx.Err() != nil {
		return
	}
	if err := r.Store.PutFailed(t); err != nil {
		r.Say("%s: %v: %v", t.Job.Label, t.Err, err)
	}
}
