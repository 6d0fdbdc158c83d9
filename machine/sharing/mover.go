package sharing

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/stat"
)

// SMMove is an SM that changes hands, or is powered down or woken; -1 stands for no owner. Its cost is the cycles
// from Start to End, in which no application can use the SM, and its contexts.
type SMMove struct {
	SM, From, To int
	Gate         bool // it is powered down once it is free
	How          How
	Start, End   uint64 // core cycles; End 0: not yet
	CTAs         int    // resident at the start
	Bytes        uint64 // of contexts stored

	deadline uint64 // a drain that is not over by then becomes a switch; of an SM that wakes, when it is awake
	counted  uint64 // cycle up to which its waking has been counted
	step     step
	saved    []*sm.Context // on their way to memory
}

// How says how an SM was freed (UGPU, section 3.3), or made ready for use.
type How string

// The ways to free an SM, and to wake one.
const (
	Idle   How = "idle"
	Drain  How = "drain"
	Switch How = "switch"
	Wake   How = "wake"
)

// step is how far an SM's move has come.
type step uint8

const (
	draining step = iota // waits for its CTAs to end
	freezing             // waits for its warps to come to rest
	storing              // contexts are on their way to memory
	waking               // waits until it has power
	handed
)

// smMover frees SMs and gives them to their new owners. An SM is drained of its CTAs, or frozen and its contexts
// stored through its own load/store unit. It also powers down SMs without an owner, and wakes them (gating.go).
type smMover struct {
	tenants  []*Tenant
	sms      []*sm.SM
	tlbs     []*vm.TLB // none where addresses are not translated
	contexts *ContextStore
	groups   *handover
	holdings *holdings
	meters   *timing.Meters
	clock    *timing.Clock
	wakeups  timing.Wakeups
	counters *stat.Table      // of the SMs
	onMoved  func(now uint64) // tenants have other SMs from a cycle on

	wakeDelay uint64         // cycles a gated SM takes to wake
	moving    []*SMMove      // moves of all targets that are not over, oldest first
	gated     []timing.Meter // [SM] cycles without power
}

// begin starts to free an SM, or to wake it.
func (v *smMover) begin(x grant, t *Target, now uint64) SMMove {
	s := v.sms[x.what]
	m := SMMove{
		SM: x.what, From: x.from, To: x.to, Gate: x.gate, Start: now, CTAs: s.Resident(), How: Idle,
		deadline: now + t.Within,
	}
	if v.gated[x.what].Count() > 0 {
		v.wake(&m, now)
		return m
	}
	v.holdings.owners[x.what] = nil
	if m.CTAs == 0 {
		return m
	}
	m.How = Drain
	switch {
	case t.Free == ByDraining:
		m.deadline = engine.Never
	case t.Free == BySwitching || remaining(s, now) > t.Within:
		m.How, m.deadline = Switch, now
	}
	return m
}

// carryOut takes a plan whose moves have begun.
func (v *smMover) carryOut(r *Repartition, now uint64) {
	for i := range r.SMs {
		v.moving = append(v.moving, &r.SMs[i])
	}
	v.meters.SMs.Add(now, len(r.SMs))
	v.meters.Either.Add(now, len(r.SMs))
}

// tick advances the moves as far as possible now, and returns the next cycle with work.
func (v *smMover) tick(now uint64) uint64 {
	still := v.moving[:0]
	for _, m := range v.moving {
		if v.advance(m, now) {
			v.hand(m, now)
		} else {
			still = append(still, m)
		}
	}
	clear(v.moving[len(still):])
	v.moving = still
	return v.next(now + 1)
}

// next is the first cycle from now on with work.
func (v *smMover) next(now uint64) uint64 {
	next := v.awake()
	for _, m := range v.moving {
		if m.step != waking {
			next = now
		}
	}
	return max(now, next)
}

// remaining estimates how long the CTAs on an SM will take: the mean time of their kernels' CTAs so far, less their
// age. A CTA that has run for t without such a mean, or for longer than it, is expected to run for another t.
func remaining(s *sm.SM, now uint64) (most uint64) {
	s.EachCTA(func(k *sm.Kernel, since uint64) {
		age, left := now-since, now-since
		if p := k.Progress(); p.Finished > 0 {
			if mean := p.CTACycles / uint64(p.Finished); mean > age {
				left = mean - age
			}
		}
		most = max(most, left)
	})
	return most
}

// advance carries an SM's move as far as possible now; true when the SM is free. Time slicing frees its SMs by it,
// too.
func (v *smMover) advance(m *SMMove, now uint64) bool {
	if m.step == waking {
		return now+1 >= m.deadline
	}
	s := v.sms[m.SM]
	if m.step == draining && s.Resident() > 0 && now >= m.deadline && !s.Busy() {
		m.How, m.step = Switch, freezing
		s.Freeze(now)
	}
	if m.step == freezing && s.Quiet() {
		v.store(m, s, now)
	}
	if m.step == storing && !s.Busy() && len(m.saved) > 0 {
		v.contexts.keep(m.From, m.saved...)
		m.saved = nil
		v.holdings.offer(now + 1)
	}
	return (m.step == draining && s.Resident() == 0 || m.step == storing) && !s.Busy() && s.Drained()
}

// store takes the CTAs off an SM, into images in their owner's memory.
func (v *smMover) store(m *SMMove, s *sm.SM, now uint64) {
	m.step = storing
	m.saved = s.Save(now, func(k *sm.Kernel, bytes int) uint64 {
		m.Bytes += uint64(bytes)
		return v.contexts.image(k, bytes)
	})
	v.wakeups.WakeSM(m.SM, now+1)
}

// hand gives a free SM to its new owner.
func (v *smMover) hand(m *SMMove, now uint64) {
	if m.step == waking {
		v.countWaking(m, now+1)
		m.End = now + 1
	} else {
		m.End = max(now, 1)
	}
	m.step = handed
	v.meters.SMs.Add(now, -1)
	v.meters.Either.Add(now, -1)
	v.clock.Progress = now
	v.clear(m.SM)
	v.sms[m.SM].Release(now) // its loser may be held
	v.holdings.sm[m.SM] = m.To
	for i, t := range v.tenants {
		t.SMs = t.SMs[:0]
		for k, o := range v.holdings.sm {
			if o == i {
				t.SMs = append(t.SMs, k)
			}
		}
		for _, k := range t.Kernels { // CTAs spread over the SMs there are now
			k.Most = t.most(&k.Geo)
		}
	}
	v.onMoved(now + 1)
	if m.Gate {
		v.gated[m.SM].Add(now+1, 1)
	}
	if m.To < 0 {
		return
	}
	v.holdings.owners[m.SM] = append(v.holdings.owners[m.SM], m.To)
	if v.groups.holds(m.To) {
		v.sms[m.SM].Hold()
	}
	v.holdings.offer(now + 1)
}

// clear flushes the data that a free SM's last owner left in it.
func (v *smMover) clear(i int) {
	v.sms[i].L1().Flush()
	if v.tlbs != nil {
		v.tlbs[i].Flush()
	}
}
