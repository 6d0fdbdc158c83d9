package lab

import (
	"context"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/kernelname"
	"github.com/heddle-sim/heddle/sim"
)

// resolve computes the targets that are a share of an application's speed alone, from alone-runs of the same length,
// each done once. The jobs keep both forms. errs has an error for every job whose targets cannot be known.
func (r *Runner) resolve(ctx context.Context, jobs []Job, byHash map[string]*Task) (out []Job, errs []error) {
	out, errs = slices.Clone(jobs), make([]error, len(jobs))
	alone := map[[2]int]*Task{} // by job and application
	var tasks []*Task
	for i, j := range jobs {
		for a := range j.Spec.Apps {
			if app := &j.Spec.Apps[a]; app.QoSShare == 0 || app.QoS > 0 || j.Spec.Functional {
				continue
			}
			t := r.plan(&Task{Job: aloneJob(&j, a), Alone: true}, byHash)
			alone[[2]int{i, a}] = t
			tasks = appendOnce(tasks, t)
		}
	}
	if len(tasks) == 0 {
		return out, errs
	}
	r.pool().Do(ctx, r, r.open(tasks))
	for i := range out {
		for a := range out[i].Spec.Apps {
			t := alone[[2]int{i, a}]
			if t == nil || errs[i] != nil {
				continue
			}
			apps := slices.Clone(out[i].Spec.Apps)
			apps[a].QoS, errs[i] = target(&apps[a], t)
			out[i].Spec.Apps = apps
		}
	}
	return out, errs
}

// target is what a share of what an application reaches alone comes to.
func target(app *sim.App, alone *Task) (float64, error) {
	if alone.Err != nil {
		return 0, fmt.Errorf("the target of %s needs its IPC alone: %w", app.Name, alone.Err)
	}
	if alone.Result == nil || len(alone.Result.Tenants) != 1 {
		return 0, fmt.Errorf("the target of %s needs its IPC alone, and that run gave no result", app.Name)
	}
	x := &alone.Result.Tenants[0]
	reached, what := x.BusyIPC, app.Name
	if app.QoSKernel != "" {
		what, reached = "kernel "+app.QoSKernel+" of "+app.Name, reachedAlone(alone.Result, app.QoSKernel)
	}
	if !(reached > 0) {
		return 0, fmt.Errorf("%s executed no instruction alone within %d cycles, so that a share of its IPC alone "+
			"cannot be its target", what,
			alone.Result.Cycles)
	}
	return app.QoSShare * reached, nil
}

// reachedAlone is the IPC of a kernel with a target in a run alone; 0: it has none there.
func reachedAlone(alone *sim.Result, kernel string) float64 {
	for _, t := range alone.Targets {
		if kernelname.Same(kernel, t.Kernel) {
			return t.Reached
		}
	}
	return 0
}

// aloneJob is application a of a job alone on the whole machine.
func aloneJob(j *Job, a int) Job {
	return Job{Label: j.Spec.Apps[a].Name, Spec: AloneSpec(&j.Spec, a), Machine: j.Machine}
}

// unreachable warns of targets above what the application reaches alone.
func unreachable(res *sim.Result, alone []*sim.Result) {
	for _, t := range res.Targets {
		for i := range res.Tenants {
			if res.Tenants[i].Name != t.Tenant {
				continue
			}
			who, ipc := t.Tenant, alone[i].Tenants[0].BusyIPC
			if t.Kernel != "" {
				who, ipc = "kernel "+t.Kernel+" of "+t.Tenant, reachedAlone(alone[i], t.Kernel)
			}
			if t.IPC > ipc && ipc > 0 {
				res.Warnings = append(res.Warnings, fmt.Sprintf("the target of %s, %.4g instructions per cycle, is "+
					"more than the %.4g that it reaches alone on the whole machine: no sharing can "+
					"meet it", who, t.IPC, ipc))
			}
		}
	}
}
