package sharing

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
)

// Power gating (SMQoS): an SM without an owner can be powered down. It is free and flushed then, draws the sheet's
// power.gated_sm and takes no CTA. Before it gets an owner again, or is idle, it wakes for sm.wake_delay cycles, in
// which it has power and no owner.

// SMState is the state of an SM: whether it is powered, and whether it has an owner.
type SMState uint8

// The states of an SM.
const (
	SMOwned  SMState = iota // CTAs of its owners may run on it
	SMFreed                 // its owner's CTAs are being removed, or its L1 is being flushed
	SMIdle                  // without an owner, and powered
	SMGated                 // without an owner, and powered down
	SMWaking                // without an owner, and not yet ready for use
)

// String names a state.
func (s SMState) String() string { return [...]string{"owned", "freed", "idle", "gated", "waking"}[s] }

// SMState is the state of an SM.
func (p *Sharing) SMState(i int) SMState {
	v := &p.mover
	for _, m := range v.moving {
		switch {
		case m.SM != i:
		case m.step == waking:
			return SMWaking
		default:
			return SMFreed
		}
	}
	switch {
	case v.gated[i].Count() > 0:
		return SMGated
	case v.holdings.sm[i] < 0:
		return SMIdle
	}
	return SMOwned
}

// Gated is the number of SMs that are powered down.
func (p *Sharing) Gated() (n int) {
	for i := range p.mover.gated {
		n += p.mover.gated[i].Count()
	}
	return n
}

// Powering is the number of SMs that are being powered down, and of those that wake.
func (p *Sharing) Powering() (down, up int) {
	for _, m := range p.mover.moving {
		if m.Gate {
			down++
		}
		if m.step == waking {
			up++
		}
	}
	return down, up
}

// GatedCycles is the core cycles so far in which an SM was powered down.
func (p *Sharing) GatedCycles(i int) uint64 { return p.mover.gated[i].At(p.clock.Now) }

// Moving is the numbers of SMs that a tenant (-1: no owner) is losing and getting, over all targets. An SM belongs to
// its old owner until it is handed over.
func (p *Sharing) Moving(tenant int) (leaving, arriving int) {
	for _, m := range p.mover.moving {
		if m.From == tenant {
			leaving++
		}
		if m.To == tenant {
			arriving++
		}
	}
	return leaving, arriving
}

// wake begins to wake a gated SM.
func (v *smMover) wake(m *SMMove, now uint64) {
	v.gated[m.SM].Add(now, -1)
	m.How, m.step, m.counted, m.deadline = Wake, waking, now, now+v.wakeDelay
	if m.To >= 0 {
		v.counters.Row(m.SM, m.To)[sm.Wakes]++
	}
}

// awake is the first cycle at whose end an SM that wakes is awake.
func (v *smMover) awake() uint64 {
	first := engine.Never
	for _, m := range v.moving {
		if m.step == waking {
			first = min(first, m.deadline-1)
		}
	}
	return first
}

// countWaking counts the cycles an SM has been waking for its new owner, up to now.
func (v *smMover) countWaking(m *SMMove, now uint64) {
	if m.step == waking && m.To >= 0 {
		v.counters.Row(m.SM, m.To)[sm.WakingCycles] += now - m.counted
		m.counted = now
	}
}

// onWay says that an SM is being freed or wakes.
func (v *smMover) onWay(i int) bool {
	for _, m := range v.moving {
		if m.SM == i {
			return true
		}
	}
	return false
}

// owners are the owners of the SMs after all moves.
func (v *smMover) owners() []int {
	out := append([]int(nil), v.holdings.sm...)
	for _, m := range v.moving {
		out[m.SM] = m.To
	}
	return out
}

// ends is the number of SMs that each tenant has then.
func (v *smMover) ends(tenants int) []int {
	out := make([]int, tenants)
	for _, o := range v.owners() {
		if o >= 0 {
			out[o]++
		}
	}
	return out
}

// poweredFirst orders the SMs without an owner: those that need not wake first.
func (v *smMover) poweredFirst(a, b int) int {
	if v.gated[a].Count() != v.gated[b].Count() {
		return v.gated[a].Count() - v.gated[b].Count()
	}
	return a - b
}
