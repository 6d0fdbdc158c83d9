package sim

import "time"

// pace is the speed of a run in its latest seconds. The mean since the run's beginning says little about the
// rest: cycles in which the machine idles cost no time.
type pace struct {
	marks [16]paceMark // a ring
	n     int
}

type paceMark struct {
	at    time.Time
	cycle uint64
}

// look notes where a run is, once a second, and returns simulated cycles per second of wall time.
func (p *pace) look(now time.Time, cycle uint64) float64 {
	if p.n == 0 || now.Sub(p.marks[(p.n-1)%len(p.marks)].at) >= time.Second {
		p.marks[p.n%len(p.marks)] = paceMark{now, cycle}
		p.n++
	}
	first := p.marks[max(0, p.n-len(p.marks))%len(p.marks)]
	return ratio(float64(cycle-first.cycle), now.Sub(first.at).Seconds())
}
