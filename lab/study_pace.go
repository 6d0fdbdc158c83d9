package lab

import (
	"fmt"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/sim"
)

// Pace estimates how much of a run set is done and when it will be complete. A run counts by its cycles, if they are
// bounded or expected, and by its applications: one application alone on a slice uses less of the machine than four
// on all of it.
type Pace struct {
	now func() time.Time

	mu             sync.Mutex
	begun          time.Time
	todo, finished int
	kept           int
	total, done    float64             // weight of the simulations to do
	running        map[*pacer]struct{} // their progress counts, too
	weight         map[string]float64  // by label
}

// pacer is one simulation on its way.
type pacer struct{ weight, part float64 }

// NewPace begins with nothing done.
func NewPace() *Pace {
	return &Pace{now: time.Now, running: map[*pacer]struct{}{}, weight: map[string]float64{}}
}

// Plan adds simulations to do (Runner.Plan).
func (p *Pace) Plan(todo []Job, kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun.IsZero() {
		p.begun = p.now()
	}
	p.todo += len(todo)
	p.kept += kept
	for i := range todo {
		s := &todo[i].Spec
		w := float64(max(1, s.Length.MaxCycles, todo[i].Cycles)) * float64(max(1, len(s.Apps)))
		p.weight[todo[i].Label] = w
		p.total += w
	}
}

// Start follows a simulation that Plan has counted (Runner.Start).
func (p *Pace) Start(t *Task) (watch func(sim.Progress), done func()) {
	p.mu.Lock()
	r := &pacer{weight: p.weight[t.Job.Label]}
	p.running[r] = struct{}{}
	p.mu.Unlock()
	watch = func(s sim.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if of := max(s.MaxCycles, t.Job.Cycles); of > 0 {
			r.part = min(1, float64(s.Cycle)/float64(of))
		}
	}
	done = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, r)
		p.done += r.weight
		p.finished++
	}
	return watch, done
}

// Line is one line of progress: the numbers of runs that are done and that were kept from earlier, and the time for
// the others at the speed so far.
func (p *Pace) Line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := fmt.Sprintf("%d of %d runs done", p.finished, p.todo)
	if p.kept > 0 {
		s += fmt.Sprintf(", %d kept from before", p.kept)
	}
	if left := p.left(); left > 0 {
		s += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return s
}

// Left is how long the simulations to do will take at the speed so far; 0: not known.
func (p *Pace) Left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left()
}

func (p *Pace) left() time.Duration {
	done := p.done
	for r := range p.running { // a sum of a few parts: their order changes nothing that is shown
		done += r.part * r.weight
	}
	if took := p.now().Sub(p.begun); done > 0 && done < p.total {
		return time.Duration(float64(took) * (p.total - done) / done)
	}
	return 0
}
