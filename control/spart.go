package control

import "fmt"

// Spart. Aguilera, Morrow and Kim, "QoS-Aware Dynamic Resource Allocation for Spatial-Multitasking GPUs", ASP-DAC
// 2014, as the baseline of SMQoS. Period: 10 K core cycles, to match SMQoS. Hardware: instructions and SM-cycles of
// each application.
//
// The original's text was not available; this is a reconstruction. Performance is taken to be linear in SMs: an
// application with a target needs the SMs it has, times the target over the IPC of the last period, rounded up. The
// difference changes hands at once. SMs without an owner are taken first, then SMs of the best-effort application
// that has most. SMs go back to the best-effort application that has fewest, or are powered down with parameter gate.
// There is no hysteresis (dead_band 0), so it swaps often. While SMs are on their way, those that ran count, the
// SM-cycles of the period over its cycles: else the time they drain would be read as slowness. SMs of an application
// that has ended go to best effort at once.
//
// With make_up, which is not Spart's, an application that is below its target on average aims above it, by the ratio
// of both as Rollover does (alpha). So it makes up for lost work, which swaps cause most of all.
func spartEntry() Entry {
	return Entry{
		Name: "spart", Source: "Aguilera et al., Spart, ASP-DAC 2014, as in Sun et al., SMQoS, CLUSTER 2019",
		What:     "an application with a target gets the SMs it needs if IPC is linear in SMs; the others get the rest",
		Settings: []string{"sms", "gating"}, Period: 10_000, Aims: true, Needs: taskNeeds(),
		Files: []string{"task.go", "task_ended.go", "task_plan.go"},
		Params: []Param{
			{"dead_band", 0, "SMs", "a difference up to this moves no SM", true, 0, 0},
			{
				"gate", 0, "flag", "SMs that are given back are powered down instead of going to best-effort " +
					"applications", true, 0, 1,
			},
			{
				"make_up", 0, "flag", "an application that is below its target on average aims above it, by target " +
					"over " +
					"average (not Spart's)", true, 0, 1,
			},
			freeParam(), floorParam(),
		},
		Make: func(_ Machine, get func(string) float64) Policy {
			return Of((&spart{
				band: int(get("dead_band")), gate: get("gate") != 0, makeUp: get("make_up") != 0,
				free: freeing(get("free")), floor: int(get("floor")),
			}).decide)
		},
	}
}

// spart is the policy. Without make_up it remembers nothing of earlier periods.
type spart struct {
	band   int
	gate   bool
	makeUp bool
	free   Freeing
	floor  int       // SMs of a batch task
	total  []service // of each application since it began
}

// aim is the factor by which q aims above the target of application i.
func (q *spart) aim(i int) float64 {
	if average := q.total[i].ipc(); q.makeUp && average > 0 {
		return max(1, q.total[i].target()/average)
	}
	return 1
}

// spartTask is an application with the SM-cycles it used.
type spartTask struct {
	Task
	SMCycles uint64 `json:"sm_cycles" counter:"sm.active_cycles"` // with one of its CTAs on the SM
}

func (q *spart) decide(s *TaskSample[spartTask]) Plan {
	p, rest := planFor(s, q.free, q.floor, q.gate)
	batch := func(j int) bool { return !p.ended[j] && !s.Apps[j].latencySensitive() }
	had, need := make([]int, len(s.Apps)), make([]int, len(s.Apps))
	for i := range s.Apps {
		a := &s.Apps[i]
		epoch := a.service()
		if i == len(q.total) {
			q.total = append(q.total, service{})
		}
		q.total[i].follow(&a.Task, epoch)
		had[i], need[i] = p.Apps[i].SMs, p.Apps[i].SMs
		switch {
		case p.ended[i] || batch(i):
		case epoch.cycles == 0:
			p.feed(i, &rest)
			need[i] = p.Apps[i].SMs
		case epoch.insts == 0 && had[i] == 0:
			need[i] = 1
		case epoch.insts == 0 && a.moves(): // its SMs are on their way: the linear model has no point to start from
		default:
			if n := q.need(s, i, &epoch); abs(n-had[i]) > q.band {
				need[i] = n
			}
		}
	}
	for i := range need { // one application may need an SM that another gives back
		for p.Apps[i].SMs > need[i] && !batch(i) {
			q.giveBack(p, i, &rest, batch)
		}
	}
	for i := range need {
		for ok := true; ok && p.Apps[i].SMs < need[i] && !batch(i); {
			_, ok = p.take(i, &rest, batch)
		}
		if epoch := s.Apps[i].service(); need[i] != had[i] {
			p.Why = append(p.Why, fmt.Sprintf("%s: %.4g instructions per cycle, target %.4g: needs %s, had %d, gets %d",
				s.Apps[i].Name, epoch.ipc(), epoch.target(), many(need[i], "SM"), had[i], p.Apps[i].SMs))
		}
	}
	return p
}

// need is the SMs the linear model asks for. Others with a target keep one, and batch tasks their floor.
func (q *spart) need(s *TaskSample[spartTask], i int, epoch *service) int {
	a := &s.Apps[i]
	has := float64(a.SMs)
	if a.moves() && a.Cycles > 0 {
		has = float64(a.SMCycles) / float64(a.Cycles)
	}
	total := s.IdleSMs + s.GatedSMs
	for j := range s.Apps {
		total += s.Apps[j].SMs
		switch {
		case j == i, s.Apps[j].Ended:
		case s.Apps[j].latencySensitive():
			total--
		default:
			total -= q.floor
		}
	}
	if epoch.insts == 0 {
		return max(1, total)
	}
	return max(1, min(ceil(has*epoch.target()*q.aim(i)/epoch.ipc()), total))
}

// giveBack takes an SM of task i for the batch task that has fewest; without one the SM has no owner.
func (q *spart) giveBack(p *TaskPlan, i int, rest *spare, batch func(int) bool) {
	p.Apps[i].SMs--
	to := p.fewest(batch)
	if to < 0 || q.gate && p.Apps[to].SMs > 0 { // a task without an SM gets the first that is given
		p.Gated++
		rest.gated++
		return
	}
	p.Apps[to].SMs++
}
