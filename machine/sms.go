package machine

import (
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
)

// smArray is the SMs of the machine.
type smArray struct {
	fabric     *fabric
	dispatch   *dispatcher
	firstError *timing.FirstError

	list  []*sm.SM
	every bool // they are run in every cycle
}

// smPort is where answers for an SM come.
type smPort struct {
	sm      *sm.SM
	wakeups timing.Wakeups
}

// Deliver hands an answer to the SM.
func (p smPort) Deliver(h int32, now uint64) {
	p.sm.Deliver(h, now)
	p.wakeups.WakeSM(p.sm.ID, p.sm.Due())
}

// tick advances SM i to core cycle now.
func (a *smArray) tick(i int, now uint64) uint64 {
	next := a.run(i, now)
	s := a.list[i]
	if len(s.Done) > 0 {
		a.dispatch.retire(s, now)
	}
	a.firstError.Note(s.Err)
	return next
}

// run is tick without what concerns others than the SM.
func (a *smArray) run(i int, now uint64) uint64 {
	s := a.list[i]
	next := s.Due()
	if next <= now || a.every {
		next = s.Tick(now)
	}
	if s.Out().Len() == 0 {
		return next
	}
	if s.LinkFree() <= now && a.fabric.inject(i, *s.Out().Head(), now) {
		s.Sent(now)
		next = min(next, s.Due())
	}
	if s.Out().Len() > 0 {
		next = min(next, max(now+1, s.LinkFree()))
	}
	return next
}
