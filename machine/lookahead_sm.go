package machine

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
)

// strideSMs runs the SMs, each as far as it comes without the dispatcher, and lets the
// dispatcher serve those that ask, by cycle and number. A second core has its part
// meanwhile, in which ahead is the end of the next stride.
func (l *lookahead) strideSMs(ahead uint64) {
	z := &l.stride
	due := l.wakeups.Front.Take(l.wakeups.Dispatch)
	for i := range l.sms.list {
		z.due[i], z.asks[i] = l.wakeups.Front.Take(i), engine.Never
		if l.dispatch.open[i>>6]>>(i&63)&1 != 0 {
			z.asks[i] = max(due, z.from)
		}
	}
	l.second.begun.Store(0)
	l.second.ended.Store(0)
	if l.second.memory || l.second.sms {
		l.fabric.slab.Reserve(l.limits.perStride)
		l.core.begin(z.end, ahead)
	}
	if own := l.strideLane(0, 0, len(l.sms.list)); own < len(l.sms.list) {
		l.core.waitFor(&l.second.ended, uint64(len(l.sms.list)-own))
	}
	for i, ask := range z.asks {
		z.asks[i] = l.recordFault(i, ask)
	}
	later := engine.Never // the first cycle behind the stride in which an SM asks
	if due >= z.end {
		later = due
	}
	for {
		i, at := -1, engine.Never
		for k, ask := range z.asks {
			if ask < at || ask == at && i >= 0 && l.dispatch.rate.before(k, i) {
				i, at = k, ask
			}
		}
		if i < 0 {
			break
		}
		if s := l.sms.list[i]; len(s.Done) > 0 {
			l.dispatch.retire(s, at)
		}
		ask := l.dispatch.ask(i, at)
		if ask == engine.Never {
			l.dispatch.open[i>>6] &^= 1 << (i & 63)
		} else if ask >= z.end {
			later = min(later, ask)
		}
		z.due[i] = min(z.due[i], l.wakeups.Front.Take(i))
		z.asks[i] = l.recordFault(i, l.strideSM(i, at+1, ask))
	}
	for i, at := range z.due {
		l.wakeups.WakeSM(i, at)
	}
	l.wakeups.Front.Take(l.wakeups.Dispatch) // whom retire has woken it for has been served
	if later != engine.Never {
		l.wakeups.WakeDispatch(later)
	}
}

// strideLane runs SMs as long as there are some that no core has, after the n that this
// core has run already, and returns how many it has run then, most at most. The cores begin
// at either end, so that an SM mostly stays in the cache of one.
func (l *lookahead) strideLane(lane, n, most int) int {
	z := &l.stride
	for n < most && int(l.second.begun.Add(1)) <= len(l.sms.list) {
		i := n
		if lane > 0 {
			i = len(l.sms.list) - 1 - n
		}
		l.sms.list[i].On(lane)
		z.asks[i] = l.strideSM(i, z.from, z.asks[i])
		n++
		if lane > 0 {
			l.second.ended.Add(1)
		}
	}
	return n
}

// recordFault books a fault of SM i, which has returned from strideSM.
func (l *lookahead) recordFault(i int, ask uint64) uint64 {
	z, s := &l.stride, l.sms.list[i]
	if s.Err == nil {
		return ask
	}
	l.fault(s, z.due[i])
	z.due[i] = engine.Never
	return engine.Never
}

// strideSM runs SM i from cycle c on, until it asks the dispatcher, in cycle ask or when a
// CTA ends, or to the end of the stride; it returns the cycle in which it asks. Where it
// stops at a program's fault, due is the fault's cycle. SMs may run at once.
func (l *lookahead) strideSM(i int, c, ask uint64) uint64 {
	z, s := &l.stride, l.sms.list[i]
	in, n := z.arrived[i], 0
	s.Prefetch(z.end)
	at := z.due[i]
	for ; ; c++ {
		next := min(at, ask)
		if n < len(in) {
			next = min(next, in[n].at)
		}
		if !l.limits.every {
			c = max(c, next)
		}
		if c >= z.end {
			break
		}
		for ; n < len(in) && in[n].at == c; n++ {
			s.Deliver(in[n].h, c)
			at = min(at, max(c, s.Due()))
		}
		if at <= c || l.limits.every {
			at = l.sms.run(i, c)
			if s.Err != nil {
				z.due[i] = c
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
	z.due[i] = at
	z.arrived[i] = in[:copy(in, in[n:])]
	if ask < z.end {
		return ask
	}
	return engine.Never
}

// fault keeps the first fault: SMs that run later may meet theirs in an earlier cycle.
func (l *lookahead) fault(s *sm.SM, now uint64) {
	z := &l.stride
	if z.culprit == s {
		return
	}
	if now >= z.firstFault {
		s.Err, s.ErrKernel = nil, nil
		return
	}
	if z.culprit != nil {
		z.culprit.Err, z.culprit.ErrKernel = nil, nil
	}
	z.firstFault, z.culprit, l.firstError.Err = now, s, s.Err
}
