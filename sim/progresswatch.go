package sim

import (
	"fmt"
	"time"
)

// patienceFor is the wall time after which the user gets a notice that an application has done nothing useful. The
// run continues. Only a number of cycles ends it (the machine's watchdog), so that results do not depend on the
// computer.
const patienceFor = 15 * time.Second

// leastIdle is the number of cycles, over at least two looks of the watchdog, for which an application that seems to
// hang has been idle. An application that time slicing has taken off the SMs in the middle of its work does not reach
// it, however long it waits for its turn.
const leastIdle = 8_000

// progressWatch notices applications that seem to hang.
type progressWatch struct {
	of []lull // per application
}

// lull is a time in which an application has done nothing useful.
type lull struct {
	began time.Time
	since uint64 // cycle of what it last did
	said  bool
}

// due says whether it is time for a notice on an application that has been idle for some cycles since a cycle.
func (l *lull) due(idle, since uint64, now time.Time) bool {
	if since != l.since || idle == 0 || l.began.IsZero() {
		*l = lull{began: now, since: since}
	}
	return !l.said && idle >= leastIdle && now.Sub(l.began) >= patienceFor
}

// endsAnyway says that a run has a length in cycles at which it ends before the machine's watchdog would end it:
// the user knows how long it takes, and such runs often are about blocks that compute for long.
func endsAnyway(l *Length, cycle, limit uint64) bool { return l.Budget && l.MaxCycles < cycle+limit }

// look returns what to say now, nothing for most of the time.
func (p *progressWatch) look(r *run) (say []string) {
	if endsAnyway(&r.spec.Length, r.gpu.Now(), r.gpu.Watchdog.Limit()) {
		return nil
	}
	now := time.Now()
	if p.of == nil {
		p.of = make([]lull, len(r.apps))
	}
	for i := range p.of {
		l := &p.of[i]
		idle, since := r.gpu.Watchdog.Idle(i)
		if !l.due(idle, since, now) {
			continue
		}
		l.said = true
		say = append(say, fmt.Sprintf("%s makes no progress: for %.0f s (%d of its cycles) no block has ended, and "+
			"all warps stay in the same loops, waiting for something; the run stops after %d such cycles",
			r.apps[i].spec.Name, now.Sub(l.began).Seconds(), idle, r.gpu.Watchdog.Limit()))
		say = append(say, r.gpu.Watchdog.Waits(i)...)
	}
	return say
}
