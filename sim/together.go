package sim

import (
	"fmt"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
)

// defaultQuantum is a turn in seconds. Estimate: drivers do not publish theirs; 2 ms is what
// NVIDIA's vGPU scheduler is said to give up to eight guests (recalled, not checked).
const defaultQuantum = 2e-3

// Turn is the length of a turn on machine m in core cycles; 0 where there are no turns.
func (s *Sharing) Turn(m *sheets.Machine) uint64 {
	switch {
	case s.Mode != "timeslice":
		return 0
	case s.Quantum > 0:
		return s.Quantum
	}
	return uint64(defaultQuantum * m.Clock.Core * 1e6)
}

// contexts puts the cost of turns or evictions into the result, and the turns into the timeline.
func (r *run) contexts(res *Result, now uint64) {
	freeing, _, _ := r.gpu.MovingCycles()
	c := &Contexts{CTAs: r.gpu.Sharing.Evicted().CTAs, Bytes: r.gpu.Sharing.Evicted().Bytes, Cycles: freeing}
	log := r.gpu.Sharing.TimeSlices.Log()
	c.Turns = len(log)
	for i, t := range log {
		c.CTAs, c.Bytes = c.CTAs+t.CTAs, c.Bytes+t.Bytes
		per := func(smCycles uint64) float64 { return float64(smCycles) / float64(r.sheet.SM.Count) }
		c.Save, c.Wait, c.Load = c.Save+per(t.Save), c.Wait+per(t.Wait), c.Load+per(t.Load)
		c.Refill, c.Idle = c.Refill+per(t.Refill), c.Idle+per(t.Idle)
		left, next := min(t.Left, now), now
		if i+1 < len(log) {
			next = log[i+1].Start
		}
		for k := range r.sheet.SM.Count {
			r.span(smTrack(k), r.apps[t.Tenant].spec.Name, t.Start, left, t.Tenant)
			if next > left {
				r.span(smTrack(k), "switching", left, next, t.Tenant)
			}
		}
	}
	res.Contexts = c
	if share := c.Overhead() / float64(max(1, now)); share > overheadShare {
		res.Warnings = append(res.Warnings,
			fmt.Sprintf("%.0f %% of the SMs' time was spent on context switches: a quantum of %d cycles is short, "+
				"give a longer one (drivers use about %d on this machine)", 100*share, r.spec.Sharing.Turn(r.sheet),
				uint64(defaultQuantum*r.sheet.Clock.Core*1e6)))
	} else if share := float64(c.Cycles) / float64(max(1, now)); c.Turns == 0 && share > overheadShare {
		w := fmt.Sprintf("CTAs were being moved off SMs in %.0f %% of the time", 100*share)
		if first := r.spec.Sharing.FirstDecision(r.sheet); first > 0 && first < now { // else SMK's own division
			w += fmt.Sprintf(": a period of %d cycles is short, give a longer one", first)
		}
		res.Warnings = append(res.Warnings, w)
	}
}

// overheadShare is the share of the time from which there is a warning about overhead.
const overheadShare = 0.1

// NoTime says, in a sentence each, which policies and turns cannot act in a run that ends at a core cycle. The result
// of such a run has the same sentences as warnings.
func (s *Sharing) NoTime(m *sheets.Machine, end uint64) (out []string) {
	for _, g := range s.Governed() {
		e, err := control.Find(g.Policy)
		if err != nil || len(e.Settings) == 0 {
			continue
		}
		if p := g.period(e, m); p >= end {
			out = append(out, noPeriod(e.Name, p, end))
		}
	}
	if turn := s.Turn(m); turn >= end {
		out = append(out, noTurn(s.Name, turn, end))
	}
	return out
}

// noTurn says that a run is no longer than a turn.
func noTurn(sharing string, turn, end uint64) string {
	return fmt.Sprintf("sharing %s: a turn lasts %d cycles and the run ends at %d, so that the first application may "+
		"be the only one that runs; give it a shorter quantum", sharing, turn, end)
}

// noPeriod says that a policy does not decide, as the run is shorter than its period.
func noPeriod(policy string, period, end uint64) string {
	return fmt.Sprintf("policy %s decides nothing: its period is %d cycles and the run ends at %d; give it a shorter "+
		"period", policy, period, end)
}

// FirstDecision is the core cycle at which a policy can change the machine for the first time; 0 if no policy runs.
func (s *Sharing) FirstDecision(m *sheets.Machine) (cycle uint64) {
	for _, g := range s.Governed() {
		e, err := control.Find(g.Policy)
		if err != nil || len(e.Settings) == 0 {
			continue
		}
		if p := g.period(e, m); cycle == 0 || p < cycle {
			cycle = p
		}
	}
	return cycle
}
