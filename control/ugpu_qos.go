package control

import (
	"fmt"
	"math"
)

// UGPU's QoS mode. Zhao et al., UGPU, ISCA 2025, section 6.7: the slice of a
// high-priority application is as large as its target needs, everything else goes
// to the others. Epoch and hardware as in ugpu.go, with the instruction counter that
// is there already. The paper gives no formula. Reading:
//
//   - A target's slice is what ugpu_qos_need.go finds.
//   - The others share the rest by the demand-aware rule of Figure 5.
func (u *ugpu) decideQoS(history []Sample) Plan {
	s := &history[len(history)-1]
	p := Hold(s, "")
	p.Why = p.Why[:0]
	d := u.m.measureAll(s)
	for i := range s.Apps {
		p.Why = append(p.Why, u.m.explain(s.Apps[i].Name, d[i], p.Alloc[i]))
	}
	for i := range s.Apps {
		a := &s.Apps[i]
		if a.QoS <= 0 || !d[i].active || a.Cycles == 0 {
			continue
		}
		want := u.need(history, i)
		got := u.reach(s, d, p.Alloc, i, want)
		p.Why = append(p.Why, fmt.Sprintf("%s: target %.4g, had %.4g instructions per cycle, %.4g since it began; needs %d SMs and %d groups, gets %d and %d",
			a.Name, a.QoS, float64(a.Insts)/float64(a.Cycles), meanIPC(history, i), want.SMs, want.Groups, got.SMs, got.Groups))
	}
	for i := range s.Apps {
		d[i].active = d[i].active && s.Apps[i].QoS <= 0 // Figure 5 is for the others
	}
	u.balance(s, d, &p)
	return p
}

// reach brings application i to what it wants as far as the others allow, moving
// one SM and one group at a time: SMs come from the most memory-bound of the others
// and go to the most compute-bound one, groups the other way. Nobody falls below one
// of each. Idle ones give first and get nothing; what nobody can use stays.
func (u *ugpu) reach(s *Sample, d []demand, al []Alloc, i int, want Alloc) Alloc {
	const toCompute, toMemory = -1.0, 1.0
	other := func(side float64, take bool, ok func(Alloc) bool) int {
		best, at := 0.0, -1
		for j := range d {
			if j == i || s.Apps[j].QoS > 0 || !ok(al[j]) || (!take && !d[j].active) {
				continue
			}
			score := math.Inf(1)
			if d[j].active {
				score = side * u.m.load(d[j], al[j])
			}
			if at < 0 || score > best {
				best, at = score, j
			}
		}
		return at
	}
	hasSM := func(x Alloc) bool { return x.SMs > 1 }
	hasGroup := func(x Alloc) bool { return x.Groups > 1 }
	anyone := func(Alloc) bool { return true }
	for _, step := range []struct {
		side     float64
		ok       func(Alloc) bool
		sms, grp int
		n        int
	}{
		{toMemory, hasSM, 1, 0, want.SMs - al[i].SMs},
		{toCompute, hasGroup, 0, 1, want.Groups - al[i].Groups},
		{toCompute, anyone, -1, 0, al[i].SMs - want.SMs},
		{toMemory, anyone, 0, -1, al[i].Groups - want.Groups},
	} {
		for ; step.n > 0; step.n-- {
			j := other(step.side, step.sms+step.grp > 0, step.ok)
			if j < 0 {
				break
			}
			al[i], al[j] = u.moved(al[i], step.sms, step.grp), u.moved(al[j], -step.sms, -step.grp)
		}
	}
	return al[i]
}
