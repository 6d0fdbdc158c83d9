package machine

import (
	"heddle/engine"
	"heddle/machine/sm"
)

// strideSMs runs the SMs, each as far as it comes without the dispatcher, and lets the
// dispatcher serve those that ask, by cycle and number. A second core has its part
// meanwhile, in which lead is the end of the next stride.
func (g *GPU) strideSMs(lead uint64) {
	z := &g.stride
	due := g.agenda.front.Take(g.agenda.dispatch)
	for i := range g.sm {
		z.due[i], z.asks[i] = g.agenda.front.Take(i), engine.Never
		if g.dispatch.open[i>>6]>>(i&63)&1 != 0 {
			z.asks[i] = max(due, z.from)
		}
	}
	z.given.Store(0)
	z.lent.Store(0)
	if z.ahead || z.share {
		g.slab.Reserve(g.perStride)
		g.other.begin(z.end, lead)
	}
	if own := g.strideLane(0, 0, len(g.sm)); own < len(g.sm) {
		g.other.waitFor(&z.lent, uint64(len(g.sm)-own))
	}
	for i, ask := range z.asks {
		z.asks[i] = g.strode(i, ask)
	}
	for {
		i, at := -1, engine.Never
		for k, ask := range z.asks {
			if ask < at {
				i, at = k, ask
			}
		}
		if i < 0 {
			break
		}
		if s := g.sm[i]; len(s.Done) > 0 {
			g.dispatch.retire(s, at)
		}
		ask := g.dispatch.serve(i, at)
		if ask == engine.Never {
			g.dispatch.open[i>>6] &^= 1 << (i & 63)
		}
		z.due[i] = min(z.due[i], g.agenda.front.Take(i))
		z.asks[i] = g.strode(i, g.strideSM(i, at+1, ask))
	}
	for i, at := range z.due {
		g.agenda.wakeSM(i, at)
	}
	g.agenda.front.Take(g.agenda.dispatch) // whom retire has woken it for has been served
	for _, word := range g.dispatch.open {
		if word != 0 {
			g.agenda.wakeDispatch(max(due, z.end))
		}
	}
}

// strideLane runs SMs as long as there are some that no core has, after the n that this
// core has run already, and returns how many it has run then, most at most. The cores begin
// at either end, so that an SM mostly stays in the cache of one.
func (g *GPU) strideLane(lane, n, most int) int {
	z := &g.stride
	for n < most && int(z.given.Add(1)) <= len(g.sm) {
		i := n
		if lane > 0 {
			i = len(g.sm) - 1 - n
		}
		g.sm[i].On(lane)
		z.asks[i] = g.strideSM(i, z.from, z.asks[i])
		n++
		if lane > 0 {
			z.lent.Add(1)
		}
	}
	return n
}

// strode books a fault of SM i, which has returned from strideSM.
func (g *GPU) strode(i int, ask uint64) uint64 {
	z, s := &g.stride, g.sm[i]
	if s.Err == nil {
		return ask
	}
	z.fail(g, s, z.due[i])
	z.due[i] = engine.Never
	return engine.Never
}

// strideSM runs SM i from cycle c on, until it asks the dispatcher, in cycle ask or when a
// CTA ends, or to the end of the stride; it returns the cycle in which it asks. Where it
// stops at a program's fault, due is the fault's cycle. SMs may run at once.
func (g *GPU) strideSM(i int, c, ask uint64) uint64 {
	z, s := &g.stride, g.sm[i]
	in, n := z.arrived[i], 0
	at := z.due[i]
	for ; ; c++ {
		next := min(at, ask)
		if n < len(in) {
			next = min(next, in[n].at)
		}
		if !g.every {
			c = max(c, next)
		}
		if c >= z.end {
			break
		}
		for ; n < len(in) && in[n].at == c; n++ {
			s.Deliver(in[n].h, c)
			at = min(at, max(c, s.Due()))
		}
		if at <= c || g.every {
			at = g.runSM(i, c)
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

// fail keeps the first fault: SMs that run later may meet theirs in an earlier cycle.
func (z *stride) fail(g *GPU, s *sm.SM, now uint64) {
	if z.culprit == s {
		return
	}
	if now >= z.failed {
		s.Err, s.ErrKernel = nil, nil
		return
	}
	if z.culprit != nil {
		z.culprit.Err, z.culprit.ErrKernel = nil, nil
	}
	z.failed, z.culprit, g.verdict.err = now, s, s.Err
}
