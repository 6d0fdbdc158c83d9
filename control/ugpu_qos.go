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
//   - SMs: enough that the IPC per SM reaches the target plus a margin, plus what
//     the application is behind its target since it began. Of the epochs the last
//     counts before which no channels changed hands: waiting for pages makes an
//     application look slow. SMs are given back delta_sms an epoch.
//   - Channel groups: enough for the LLC accesses of the target's IPC, with headroom.
//     Equation 2 counts hits as supply, but the hit rate was measured with the LLC
//     slices of all groups held: where the footprint does not fit those of fewer groups, DRAM
//     alone has to do. Groups are taken only after a miss, as taking them costs time too.
//   - A target missed for two epochs together on the same number of groups makes that
//     number too few from then on.
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

// need is the slice with which application i reaches its target.
func (u *ugpu) need(history []Sample, i int) Alloc {
	a, mean := &history[len(history)-1].Apps[i], meanIPC(history, i)
	behind := max(0, a.QoS-mean)
	goal := a.QoS*(1+u.qosMargin) + behind
	n := Alloc{SMs: ceil(goal / settledIPC(history, i)), Groups: u.groupsFor(a, goal)}
	if behind == 0 {
		n.Groups = min(n.Groups, a.Groups)
	}
	n.SMs = max(n.SMs, a.SMs-u.sms)
	n.Groups = max(n.Groups, tooFew(history, i)+1)
	return Alloc{min(max(n.SMs, 1), u.m.SMs), min(max(n.Groups, 1), u.m.Groups)}
}

// groupsFor is the fewest groups whose bandwidth and memory carry an application at an
// IPC.
func (u *ugpu) groupsFor(a *App, ipc float64) (n int) {
	bytes := u.headroom * ipc * float64(a.LLCAccesses) / float64(a.Insts) * float64(u.m.Line) * u.m.CoreHz
	for n = 1; n < u.m.Groups; n++ {
		perMC := u.m.MemBytes
		if a.Footprint <= uint64(n)*u.m.GroupLLC {
			perMC = u.m.measure(a).perMC
		}
		if bytes <= perMC*float64(n*u.m.Channels) && (u.m.GroupMemory == 0 || a.Footprint <= uint64(n)*u.m.GroupMemory) {
			break
		}
	}
	return n
}

// settledIPC is the IPC per SM of application i in the last epoch before which its
// channels did not change.
func settledIPC(history []Sample, i int) float64 {
	at := len(history) - 1
	for k := at; k >= 0; k-- {
		if history[k].Apps[i].Cycles > 0 && (k == 0 || history[k].Apps[i].Groups == history[k-1].Apps[i].Groups) {
			at = k
			break
		}
	}
	a := &history[at].Apps[i]
	sms := a.SMs
	if at > 0 {
		sms = max(sms, history[at-1].Apps[i].SMs) // some have been on their way
	}
	return float64(a.Insts) / float64(max(a.Cycles*uint64(sms), 1))
}

// meanIPC is the IPC of application i over all the history.
func meanIPC(history []Sample, i int) float64 {
	var insts, cycles uint64
	for k := range history {
		insts, cycles = insts+history[k].Apps[i].Insts, cycles+history[k].Apps[i].Cycles
	}
	return float64(insts) / float64(max(cycles, 1))
}

// tooFew is the most groups with which application i missed its target for two
// epochs together; 0: none.
func tooFew(history []Sample, i int) (groups int) {
	missed := func(a *App) bool { return float64(a.Insts) < a.QoS*float64(a.Cycles) }
	for k := 1; k < len(history); k++ {
		a, b := &history[k-1].Apps[i], &history[k].Apps[i]
		if a.Groups == b.Groups && missed(a) && missed(b) {
			groups = max(groups, b.Groups)
		}
	}
	return groups
}

// ceil rounds up within what fits an int.
func ceil(x float64) int { return int(math.Ceil(min(x, 1<<30))) }

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
