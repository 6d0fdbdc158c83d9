// Package lab runs simulations: several at once on the cores of the machine, with
// the alone-runs that slowdowns and throughput metrics are measured against kept
// in a content-addressed store.
//
// A reader must know three types. Job is one simulation to do. Runner does a list
// of them and returns an Outcome for each, in the same order whatever finished
// first. Store keeps results under the hash of what they are results of.
package lab

import (
	"fmt"
	"math"

	"heddle/host"
	"heddle/sim"
)

// Compare computes the multi-program metrics from the IPC of each application in
// the shared run and alone on the whole machine (Eyerman and Eeckhout, IEEE Micro
// 2008; the weighted speed-up WS is the same sum as STP). An application without
// progress makes them meaningless, which is an error.
func Compare(names []string, shared, alone []float64) (*sim.Metrics, error) {
	if len(shared) == 0 || len(shared) != len(alone) || len(names) != len(shared) {
		return nil, fmt.Errorf("metrics of %d applications need as many alone-runs, there are %d", len(shared), len(alone))
	}
	m := &sim.Metrics{AloneIPC: append([]float64(nil), alone...)}
	low, high, turnaround := math.Inf(1), 0.0, 0.0
	for i := range shared {
		if !(shared[i] > 0) || math.IsInf(shared[i], 0) {
			return nil, &host.Error{Err: fmt.Errorf("%s executed nothing in the shared run", names[i])}
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
	m.WS = m.STP
	m.ANTT = turnaround / n
	m.HS = n / turnaround
	m.Fairness = low / high
	return m, nil
}
