package control

import (
	"fmt"
	"math"
)

// UGPU's QoS mode. Zhao et al., UGPU, ISCA 2025, section 6.7: the slice of a
// high-priority application is as large as its target needs, everything else goes
// to the others. Period and hardware as in ugpu.go, with the instruction counter that
// is there already. The paper gives no formula. Reading:
//
//   - A target's slice is what ugpu_qos_need.go finds.
//   - The others share the rest by the demand-aware rule of Figure 5.
func ugpuQoSEntry() Entry {
	return Entry{
		Name: "ugpu-qos", Source: "Zhao et al., UGPU, ISCA 2025, section 6.7", Machine: "ugpu",
		What:     "applications with a target keep what it needs, the others share the rest as under ugpu",
		Settings: []string{"sms", "groups"}, Period: 5_000_000, Aims: true, Files: []string{
			"ugpu.go", "ugpu_qos_need.go",
			"demand.go",
		},
		Params: append(ugpuParams(),
			Param{
				"headroom", 2, "ratio", "DRAM bandwidth that is planned for, relative to what the target needs " +
					"without LLC hits",
				false, 1, 0,
			},
			Param{"margin", 0.05, "fraction", "IPC that is planned for, relative to the target", false, 0, 0}),
		Make: func(m Machine, get func(string) float64) Policy {
			return Of((&ugpuQoS{ugpu: *newUGPU(m, get), margin: get("margin"), headroom: get("headroom")}).decide)
		},
	}
}

// ugpuQoS is the rule with targets.
type ugpuQoS struct {
	ugpu
	margin   float64
	headroom float64 // of DRAM bandwidth over a target's demand
	history  []Sample
}

func (u *ugpuQoS) decide(s *Sample) Plan {
	u.history = append(u.history, *s)
	if s.Moving {
		return Hold(&s.Clock, s.Apps, moving)
	}
	p, d := u.measured(s)
	for i := range s.Apps {
		a := &s.Apps[i]
		if a.QoS <= 0 || !d[i].active || a.Cycles == 0 {
			continue
		}
		want := u.need(i)
		got := u.reach(s, d, p.Apps, i, want)
		p.Why = append(p.Why, fmt.Sprintf("%s: target %.4g, had %.4g instructions per cycle, %.4g since it began; "+
			"needs %s, gets %s",
			a.Name, a.QoS, float64(a.Insts)/float64(a.Cycles), meanIPC(u.history, i), want, got))
	}
	for i := range s.Apps {
		d[i].active = d[i].active && s.Apps[i].QoS <= 0 // Figure 5 is for the others
	}
	u.balance(s, d, p)
	return p
}

// reach brings application i to what it wants as far as the others allow, moving one SM and one group at a time: SMs
// come from the most memory-bound of the others and go to the most compute-bound one, groups the other way. Every
// application keeps one of each. Idle applications give first and get nothing; an SM or group that no application can
// use stays.
func (u *ugpuQoS) reach(s *Sample, d []demand, al []Share, i int, want Alloc) Alloc {
	const toCompute, toMemory = -1.0, 1.0
	other := func(side float64, take bool, ok func(Alloc) bool) int {
		best, at := 0.0, -1
		for j := range d {
			if j == i || s.Apps[j].QoS > 0 || !ok(al[j].Alloc) || (!take && !d[j].active) {
				continue
			}
			score := math.Inf(1)
			if d[j].active {
				score = side * u.m.load(d[j], al[j].Alloc)
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
			al[i].Alloc, al[j].Alloc = u.moved(al[i].Alloc, step.sms, step.grp), u.moved(al[j].Alloc, -step.sms,
				-step.grp)
		}
	}
	return al[i].Alloc
}
