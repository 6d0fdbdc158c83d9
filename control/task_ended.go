package control

import "fmt"

// aTask is the application of a TaskSample.
type aTask[A any] interface {
	*A
	held() *Held
	latencySensitive() bool
}

// planFor is a plan that changes nothing: every application has what it will have when all moves are over, and so
// have SMs without an owner. SMs of applications that have ended go to batch tasks at once, one after the other to
// the task that has fewest. When the last target ends, SMs without an owner follow, powered or not. If there is no
// batch task, SMs of ended applications have no owner, and are powered down if gate is set. (The papers' tasks run
// for as long as they are looked at.)
func planFor[A any, P aTask[A]](s *TaskSample[A], free Freeing, floor int, gate bool) (*TaskPlan, spare) {
	p := &TaskPlan{Cycle: s.Cycle, Why: []string{}, free: free, floor: floor}
	freed, gone, left := 0, 0, 0 // SMs; tasks with a target that have ended, and others
	for i := range s.Apps {
		h := P(&s.Apps[i]).held()
		n := h.settled()
		switch target := P(&s.Apps[i]).latencySensitive(); {
		case h.Ended && target:
			gone++
		case target:
			left++
		}
		if h.Ended && n > 0 {
			p.Why = append(p.Why, fmt.Sprintf("%s has ended and gives %s back", h.Name, many(n, "SM")))
			freed, n = freed+n, 0
		}
		p.Apps, p.ended = append(p.Apps, TaskShare{h.Name, n}), append(p.ended, h.Ended)
	}
	rest := spareOf[A, P](&s.Clock, s.Apps)
	if n := rest.idle + rest.gated; n > 0 && gone > 0 && left == 0 {
		p.Why = append(p.Why, fmt.Sprintf("no target is left: batch tasks get the %s without an owner", many(n, "SM")))
		freed, rest = freed+n, spare{}
	}
	for ; freed > 0; freed-- {
		to := p.fewest(func(i int) bool { return !p.ended[i] && !P(&s.Apps[i]).latencySensitive() })
		switch {
		case to >= 0:
			p.Apps[to].SMs++
		case gate:
			rest.gated++
		default:
			rest.idle++
		}
	}
	p.Gated = rest.gated
	return p, rest
}

// fewest is the one of some tasks that has fewest SMs, the first of equals; -1 if there are none.
func (p *TaskPlan) fewest(of func(i int) bool) int {
	to := -1
	for i := range p.Apps {
		if of(i) && (to < 0 || p.Apps[i].SMs < p.Apps[to].SMs) {
			to = i
		}
	}
	return to
}
