package stride

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
)

// runSMs runs each SM until it needs the dispatcher. The dispatcher then serves the SMs that ask, in the order of
// cycle and number.
func (l *Strides) runSMs() {
	if l.SMs.mail.ahead { // the longest work comes first
		l.crew.list = append(l.crew.list, besideSMs)
	}
	due := l.Wakeups.Front.Take(l.Wakeups.Dispatch)
	for i, s := range l.SMs.List {
		s.Part(int(l.end - l.from))
		v := &l.visits[i]
		*v = visit{from: l.from, due: l.Wakeups.Front.Take(i), ask: engine.Never}
		if l.Dispatch.Open(i) {
			v.ask = max(due, l.from)
		}
		l.start(i)
	}
	l.finish()
	if l.SMs.mail.ahead {
		l.SMs.mail.meet()
	}
	later := engine.Never // the first cycle after the stride in which an SM asks
	if due >= l.end {
		later = due
	}
	for {
		i, at := l.first()
		if i < 0 {
			break
		}
		if s := l.SMs.List[i]; len(s.Done) > 0 {
			l.Dispatch.Retire(s, at)
		}
		ask := l.Dispatch.Ask(i, at)
		if ask == engine.Never {
			l.Dispatch.Close(i)
		} else if ask >= l.end {
			later = min(later, ask)
		}
		v := &l.visits[i]
		v.from, v.due, v.ask = at+1, min(v.due, l.Wakeups.Front.Take(i)), ask
		l.start(i)
		l.finish()
	}
	for i, s := range l.SMs.List {
		s.Join()
		l.Wakeups.WakeSM(i, l.visits[i].due)
	}
	l.Wakeups.Front.Take(l.Wakeups.Dispatch) // the SM for which retire has woken it has been served
	if later != engine.Never {
		l.Wakeups.WakeDispatch(later)
	}
}

// first is the SM that the dispatcher serves next, and the cycle in which the SM asks; -1 if none does.
func (l *Strides) first() (i int, at uint64) {
	i, at = -1, engine.Never
	for k := range l.visits {
		ask := l.visits[k].ask
		if ask < at || ask == at && i >= 0 && l.Dispatch.Before(k, i) {
			i, at = k, ask
		}
	}
	return i, at
}

// start lets SM i run from cycle from of its visit on, when finish is called.
func (l *Strides) start(i int) { l.crew.list = append(l.crew.list, int32(i)) }

// finish runs the SMs that have been started, and notes the first fault: SMs that run later may meet theirs in an
// earlier cycle.
func (l *Strides) finish() {
	l.crew.each(l.atOnce)
	for i := range l.visits {
		if v := &l.visits[i]; v.faulted {
			v.faulted = false
			l.fault(l.SMs.List[i], v.from)
		}
	}
}

// visit is an SM's way through a stride.
type visit struct {
	from    uint64 // the first cycle that it has not run,
	due     uint64 // the next one with work,
	ask     uint64 // and the one in which it asks the dispatcher, or does so at the latest; Never: it does not
	faulted bool   // a program has faulted, in cycle from
}

// runSM runs SM i from the first cycle that it has not run until it asks the dispatcher, in the cycle of its visit or
// when a CTA ends, or to the end of the stride. It touches nothing that other SMs touch.
func (l *Strides) runSM(i int) {
	s, v := l.SMs.List[i], &l.visits[i]
	in, n := l.SMs.mail.in[i], 0
	s.Prefetch(l.end)
	c, at, ask := v.from, v.due, v.ask
	for ; ; c++ {
		next := min(at, ask)
		if n < len(in) {
			next = min(next, in[n].at)
		}
		if !l.limits.every {
			c = max(c, next)
		}
		if c >= l.end {
			break
		}
		for ; n < len(in) && in[n].at == c; n++ {
			s.Deliver(in[n].h, c)
			at = min(at, max(c, s.Due()))
		}
		if at <= c || l.limits.every {
			at = l.SMs.run(i, c)
			if s.Err != nil {
				*v = visit{from: c, due: engine.Never, ask: engine.Never, faulted: true}
				return
			}
			if len(s.Done) > 0 { // a CTA has ended
				ask = c
			}
		}
		if ask <= c {
			break
		}
	}
	l.SMs.mail.in[i] = in[:copy(in, in[n:])]
	if ask >= l.end {
		ask = engine.Never
	}
	v.due, v.ask = at, ask
}

// fault keeps the first fault.
func (l *Strides) fault(s *sm.SM, now uint64) {
	if now >= l.firstFault {
		s.Err, s.ErrKernel = nil, nil
		return
	}
	if l.culprit != nil {
		l.culprit.Err, l.culprit.ErrKernel = nil, nil
	}
	l.firstFault, l.culprit, l.FirstError.Err = now, s, s.Err
}
