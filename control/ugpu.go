package control

import "fmt"

// UGPU's demand-aware resource distribution. Zhao et al., "UGPU: Dynamically
// Constructing Unbalanced GPUs for Enhanced Resource Efficiency", ISCA 2025,
// section 3.2, equations 1 and 2, Figure 5. Period: 5 M core cycles. Hardware
// (section 3.3): 16-bit counters of LLC accesses, LLC hits and memory bandwidth, one
// ALU: 148 cycles for demand and supply, 162 per iteration, at most 20 iterations.
//
// Readings. Figure 5 has one delta for SMs and channels. Channels move in groups, the
// least a slice can own (section 4.3), so that delta is the channels of a group: 4 on
// the ugpu machine (delta_sms and delta_groups move others). An
// application that cannot move without falling below one group or one SM, or without
// changing class, counts as balanced ("no SMs or MCs to be reallocated") and leaves
// its list. Figure 5 as printed lets the last move change classes, which two
// applications that both change pay for by moving back and forth until iteration 20;
// that is parameter flip. At the channels' floor SMs go on alone, as Figure 5(c) ends when
// there are no "SMs or MCs" to move and the paper's eight programs of one group each gain;
// without sm_only_tail they stop. Figure 5 has no hysteresis, and neither has this. Section
// 6.4's "STP feedback" is in no equation; the period's counters stand for it.
const (
	setupCycles     = 148
	iterationCycles = 162
	mostIterations  = 20
)

// ugpu holds the parameters of the demand-aware rule.
type ugpu struct {
	m        Machine
	sms      int  // SMs of a move
	groups   int  // channel groups of a move
	smsAlone bool // when channels are at their floor, continue with SMs alone
	flip     bool // a move may change the class of an application
}

func ugpuEntry() Entry {
	return Entry{
		Name: "ugpu", Source: "Zhao et al., UGPU, ISCA 2025, section 3.2, Figure 5", Machine: "ugpu",
		What:     "SMs move to the most compute-bound, channel groups to the most memory-bound application",
		Settings: []string{"sms", "groups"}, Period: 5_000_000, Params: ugpuParams(), Files: []string{"demand.go"},
		Make: func(m Machine, get func(string) float64) Policy { return Of(newUGPU(m, get).decide) },
	}
}

// ugpuParams are the parameters of the rule, with and without targets.
func ugpuParams() []Param {
	return []Param{
		{"delta_groups", 1, "groups", "channel groups of one move", true, 1, 0},
		{"delta_sms", 0, "SMs", "SMs of one move; 0: as many as a group has channels", true, 0, 0},
		{"flip", 0, "flag", "a move may change the class of an application, as printed in Figure 5", true, 0, 1},
		{"sm_only_tail", 1, "flag", "when channels are at their floor, go on with SMs alone", true, 0, 1},
	}
}

func newUGPU(m Machine, get func(string) float64) *ugpu {
	return &ugpu{
		m: m, sms: orElse(get("delta_sms"), m.Channels), groups: max(1, int(get("delta_groups"))),
		smsAlone: get("sm_only_tail") != 0, flip: get("flip") != 0,
	}
}

// orElse is the given number of SMs, or the default.
func orElse(asked float64, usual int) int {
	if asked > 0 {
		return int(asked)
	}
	return max(1, usual)
}

func (u *ugpu) decide(s *Sample) Plan {
	if s.Moving {
		return Hold(&s.Clock, s.Apps, moving)
	}
	p, d := u.measured(s)
	u.balance(s, d, p)
	return p
}

// measured is what the applications have and need, and a plan that says so and moves nothing.
func (u *ugpu) measured(s *Sample) (*Allocation, []demand) {
	p, d := Hold(&s.Clock, s.Apps), u.m.measureAll(s)
	for i := range d {
		p.Why = append(p.Why, u.m.explain(s.Apps[i].Name, d[i], p.Apps[i].Alloc))
	}
	return p, d
}

// balance is Figure 5 from the allocation in p on.
func (u *ugpu) balance(s *Sample, d []demand, p *Allocation) {
	for p.Iterations < mostIterations {
		p.Iterations++
		groups := u.groups
		c, m := u.pick(d, p.Apps, groups)
		if (c < 0 || m < 0) && u.smsAlone {
			groups = 0
			c, m = u.pick(d, p.Apps, groups)
		}
		if c < 0 || m < 0 {
			p.Why = append(p.Why, fmt.Sprintf("iteration %d: %s", p.Iterations, stopped(c, m)))
			break
		}
		p.Apps[c].Alloc = u.moved(p.Apps[c].Alloc, u.sms, -groups)
		p.Apps[m].Alloc = u.moved(p.Apps[m].Alloc, -u.sms, groups)
		p.Why = append(p.Why, fmt.Sprintf("iteration %d: %s from %s to %s, %s back",
			p.Iterations, many(u.sms, "SM"), s.Apps[m].Name, s.Apps[c].Name, many(groups, "group")))
	}
	p.Latency = setupCycles + iterationCycles*uint64(p.Iterations)
}

func (u *ugpu) moved(al Alloc, sms, groups int) Alloc { return Alloc{al.SMs + sms, al.Groups + groups} }

// pick finds the most compute-bound application that can take SMs for groups and
// the most memory-bound one that can take groups for SMs; -1: none. With no groups
// to move, only applications at their floor of channels take SMs.
func (u *ugpu) pick(d []demand, al []Share, groups int) (compute, memory int) {
	compute, memory = -1, -1
	var least, most float64
	for i := range d {
		if !d[i].active {
			continue
		}
		has := al[i].Alloc
		l := u.m.load(d[i], has)
		give, take := u.moved(has, u.sms, -groups), u.moved(has, -u.sms, groups)
		atFloor := al[i].Groups-u.groups < 1
		switch {
		case l > 1:
			if take.SMs >= 1 && (u.flip || u.m.memoryBound(d[i], take)) && (memory < 0 || l > most) {
				memory, most = i, l
			}
		case give.Groups >= 1 && (groups > 0 || atFloor) && (u.flip || !u.m.memoryBound(d[i], give)):
			if compute < 0 || l < least {
				compute, least = i, l
			}
		}
	}
	return compute, memory
}

// stopped says why the loop ended.
func stopped(compute, memory int) string {
	switch {
	case compute < 0 && memory < 0:
		return "no application can move without changing class or starving"
	case compute < 0:
		return "no compute-bound application can give channels without changing class or starving"
	}
	return "no memory-bound application can give SMs without changing class or starving"
}
