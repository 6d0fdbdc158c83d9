package machine

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
)

// runSMs runs each SM until it needs the dispatcher. The dispatcher then serves the SMs that ask, in the order of
// cycle and number.
func (l *strides) runSMs() {
	due := l.wakeups.Front.Take(l.wakeups.Dispatch)
	for i := range l.sms.list {
		l.due[i] = l.wakeups.Front.Take(i)
		ask := engine.Never
		if l.dispatch.Open(i) {
			ask = max(due, l.from)
		}
		l.asks[i] = l.runSM(i, l.from, ask)
	}
	later := engine.Never // the first cycle after the stride in which an SM asks
	if due >= l.end {
		later = due
	}
	for {
		i, at := -1, engine.Never
		for k, ask := range l.asks {
			if ask < at || ask == at && i >= 0 && l.dispatch.Before(k, i) {
				i, at = k, ask
			}
		}
		if i < 0 {
			break
		}
		if s := l.sms.list[i]; len(s.Done) > 0 {
			l.dispatch.Retire(s, at)
		}
		ask := l.dispatch.Ask(i, at)
		if ask == engine.Never {
			l.dispatch.Close(i)
		} else if ask >= l.end {
			later = min(later, ask)
		}
		l.due[i] = min(l.due[i], l.wakeups.Front.Take(i))
		l.asks[i] = l.runSM(i, at+1, ask)
	}
	for i, at := range l.due {
		l.wakeups.WakeSM(i, at)
	}
	l.wakeups.Front.Take(l.wakeups.Dispatch) // the SM for which retire has woken it has been served
	if later != engine.Never {
		l.wakeups.WakeDispatch(later)
	}
}

// runSM runs SM i from cycle c on, until it asks the dispatcher, in cycle ask or when a
// CTA ends, or to the end of the stride; it returns the cycle in which it asks.
func (l *strides) runSM(i int, c, ask uint64) uint64 {
	s := l.sms.list[i]
	in, n := l.sms.mail.in[i], 0
	s.Prefetch(l.end)
	at := l.due[i]
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
			at = l.sms.run(i, c)
			if s.Err != nil {
				l.fault(s, c)
				l.due[i] = engine.Never
				return engine.Never
			}
			if len(s.Done) > 0 { // a CTA has ended
				ask = c
			}
		}
		if ask <= c {
			break
		}
	}
	l.due[i] = at
	l.sms.mail.in[i] = in[:copy(in, in[n:])]
	if ask < l.end {
		return ask
	}
	return engine.Never
}

// fault keeps the first fault: SMs that run later may meet theirs in an earlier cycle.
func (l *strides) fault(s *sm.SM, now uint64) {
	if now >= l.firstFault {
		s.Err, s.ErrKernel = nil, nil
		return
	}
	if l.culprit != nil {
		l.culprit.Err, l.culprit.ErrKernel = nil, nil
	}
	l.firstFault, l.culprit, l.firstError.Err = now, s, s.Err
}
