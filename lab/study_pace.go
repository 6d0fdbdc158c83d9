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
	total, done    work
	running        map[*pacer]struct{} // their progress counts, too
	size           map[string]work     // by label
	unknown        bool                // the cycles of a simulation
	marks          []paceMark          // of the latest minute, and of one before
}

// work is the size of simulations, or what is done of them.
type work struct{ cycles, apps float64 }

func (w *work) add(x work, part float64) {
	w.cycles, w.apps = w.cycles+part*x.cycles, w.apps+part*x.apps
}

// paceMark is what was done at a time.
type paceMark struct {
	at   time.Time
	done work
}

// paceWindow is what a speed is the mean of: runs differ, and other programs on the computer come and go.
const paceWindow = time.Minute

// pacer is one simulation on its way.
type pacer struct {
	size work
	part float64
	left time.Duration // at its own speed
}

// NewPace begins with nothing done.
func NewPace() *Pace {
	return &Pace{now: time.Now, running: map[*pacer]struct{}{}, size: map[string]work{}}
}

// Plan adds simulations to do (Runner.Plan).
func (p *Pace) Plan(todo []Job, kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun.IsZero() {
		p.begun = p.now()
		p.marks = append(p.marks, paceMark{at: p.begun})
	}
	p.todo += len(todo)
	p.kept += kept
	for i := range todo {
		s := &todo[i].Spec
		cycles, apps := max(s.Length.MaxCycles, todo[i].Cycles), float64(max(1, len(s.Apps)))
		p.unknown = p.unknown || cycles == 0
		w := work{float64(cycles) * apps, apps}
		p.size[todo[i].Label] = w
		p.total.add(w, 1)
	}
}

// Start follows a simulation that Plan has counted (Runner.Start).
func (p *Pace) Start(t *Task) (watch func(sim.Progress), done func()) {
	p.mu.Lock()
	r := &pacer{size: p.size[t.Job.Label]}
	p.running[r] = struct{}{}
	p.mu.Unlock()
	watch = func(s sim.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if of := max(s.MaxCycles, t.Job.Cycles); of > 0 {
			r.part = min(1, float64(s.Cycle)/float64(of))
			if r.left = 0; s.CyclesPerS > 0 && s.Cycle < of {
				r.left = time.Duration(float64(of-s.Cycle) / s.CyclesPerS * float64(time.Second))
			}
		}
		p.mark()
	}
	done = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.running, r)
		p.done.add(r.size, 1)
		p.finished++
		p.mark()
	}
	return watch, done
}

// Line is one line of progress: the numbers of runs that are done and that were kept from earlier, and the time for
// the others at the speed of the latest minute.
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

// Left is how long the simulations to do will take at the speed of the latest minute, and at least the one that
// takes longest; 0: not known.
func (p *Pace) Left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left()
}

func (p *Pace) left() time.Duration {
	if len(p.marks) == 0 {
		return 0
	}
	now, done := p.now(), p.sofar()
	first := p.marks[0]
	for _, m := range p.marks[1:] {
		if now.Sub(m.at) < paceWindow {
			break
		}
		first = m
	}
	took, longest := now.Sub(first.at), time.Duration(0)
	for r := range p.running {
		longest = max(longest, r.left)
	}
	of := func(w work) float64 {
		if p.unknown { // each counts by its applications
			return w.apps
		}
		return w.cycles
	}
	if came, total := of(done)-of(first.done), of(p.total); came > 0 && of(done) < total {
		return max(longest, time.Duration(float64(took)*(total-of(done))/came))
	}
	return 0
}

// sofar is what is done, parts of simulations included.
func (p *Pace) sofar() work {
	done := p.done
	for r := range p.running { // a sum of a few parts: their order changes nothing that is shown
		done.add(r.size, r.part)
	}
	return done
}

// mark notes what is done, every few seconds.
func (p *Pace) mark() {
	now := p.now()
	if n := len(p.marks); n > 0 && now.Sub(p.marks[n-1].at) < paceWindow/12 {
		return
	}
	p.marks = append(p.marks, paceMark{now, p.sofar()})
	for len(p.marks) > 1 && now.Sub(p.marks[1].at) >= paceWindow {
		p.marks = p.marks[1:]
	}
}
