// Package lab runs simulations: several at once on the cores of the machine, and keeps the alone-runs, to which
// slowdowns and throughput metrics are relative, in a content-addressed store.
//
// A reader must know three types. Job is one simulation to do. Runner does a list of them and returns an Outcome for
// each, in the same order whatever finished first. Store keeps results under the hash of their Spec.
package lab

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
)

// Nothing is the error of an application that executed no instruction in the shared run.
type Nothing struct{ App string }

func (e *Nothing) Error() string { return e.App + " executed nothing in the shared run" }

// Compare computes the multi-program metrics from the progress per cycle of each
// application in the shared run and alone on the whole machine (Eyerman and Eeckhout,
// IEEE Micro 2008). An application without progress makes them meaningless, which is an
// error.
func Compare(names []string, shared, alone []float64) (*sim.Metrics, error) {
	if len(shared) == 0 || len(shared) != len(alone) || len(names) != len(shared) {
		return nil, fmt.Errorf("metrics of %d applications need as many alone-runs, there are %d", len(shared),
			len(alone))
	}
	m := &sim.Metrics{}
	low, high, turnaround := math.Inf(1), 0.0, 0.0
	for i := range shared {
		if !(shared[i] > 0) || math.IsInf(shared[i], 0) {
			return nil, &host.Error{Err: &Nothing{names[i]}}
		}
		if !(alone[i] > 0) || math.IsInf(alone[i], 0) {
			return nil, &host.Error{Err: fmt.Errorf("%s executed nothing alone", names[i])}
		}
		progress := shared[i] / alone[i]
		m.STP += progress
		turnaround += alone[i] / shared[i]
		low, high = min(low, progress), max(high, progress)
	}
	n := float64(len(shared))
	m.ANTT = turnaround / n
	m.HS = n / turnaround
	m.Fairness = low / high
	return m, nil
}

// The units of progress.
const (
	ByInsts      = "thread_insts" // every execution has the same number of them
	ByExecutions = "executions"   // the number in an execution depends on timing
)

// Progress is the work of an application per core cycle of its window, in a shared run and alone, in the same unit:
// thread instructions, or executions if complete executions differed in their instructions.
func Progress(shared, alone *sim.Tenant) (unit string, s, a float64) {
	if same(shared, alone) {
		return ByInsts, per(float64(shared.Insts()), shared.Cycles), per(float64(alone.Insts()), alone.Cycles)
	}
	return ByExecutions, per(executions(shared, alone), shared.Cycles), per(executions(alone, shared), alone.Cycles)
}

// same says that every complete execution took the same number of instructions, as far as there are any. On CPU cores
// every instruction is progress: copies that finish before others begin the next execution.
func same(a, b *sim.Tenant) bool {
	if a.CPU != nil && a.ThreadInsts == 0 {
		return true
	}
	x, y := a.PerExecution, b.PerExecution
	return x.Least == x.Most && y.Least == y.Most && (a.Runs == 0 || b.Runs == 0 || x.Least == y.Least)
}

// executions is the number of executions of t in its window. If t completed none, its fraction is computed with the
// mean execution of the other run.
func executions(t, other *sim.Tenant) float64 {
	if t.Runs == 0 && other.PerExecution.Mean > 0 {
		return float64(t.Insts()) / other.PerExecution.Mean
	}
	return t.Executions
}

func per(x float64, cycles uint64) float64 {
	if cycles == 0 {
		return 0
	}
	return x / float64(cycles)
}
