package control

import (
	"fmt"
	"slices"
)

// SMQoS. Sun et al., "SMQoS: Improving Utilization and Energy Efficiency with QoS Awareness on GPUs", CLUSTER 2019,
// section III: one latency-sensitive task keeps its target by taking and giving one SM per period (Algorithm 1); an
// SM that it gives goes to a batch task as long as the batch task gains by it, else it is powered down (Algorithm 2,
// smqos_batch.go). Period: 10 K core cycles. Hardware: instructions and cycles of each task, two registers for its
// IPC, two for SMs, four bits.
//
// Parameter swap_out chooses section III-C's rule for a swap-out (printed) or, as that contradicts the paper's
// results, the one that mirrors a swap-in (symmetric, the default): smqos_batch.go has both, and why.
//
// Readings. N_epoch counts the periods since the task first ran, the one that has just ended included; one that runs
// in the first sample has run from the start. IPC_ave is all its instructions over all its cycles with a kernel on
// the GPU. A task without such a cycle in a period asks for nothing. An SM without an owner is taken first: powered,
// then without power; then from the batch task that has most. It keeps one (floor 1), or none (floor 0), as the
// paper's numbers need (DEVIATIONS.md), and then gets the first that is given. SMs on their way count as arrived: a
// plan of every period moves one more, though saving contexts takes longer. SMs of an application that has ended go
// to batch tasks at once.
func smqosEntry() Entry {
	return Entry{
		Name: "smqos", Source: "Sun et al., SMQoS, CLUSTER 2019, section III", Period: 10_000,
		What: "the task with a target takes or gives one SM per period; batch tasks keep the SMs that speed them up, " +
			"the rest is powered down",
		Settings: []string{"sms", "gating"}, Targets: 1, Aims: true, Needs: append(taskNeeds(), "epoch"),
		Files:   []string{"smqos_batch.go", "task.go", "task_ended.go", "task_plan.go"},
		Params:  []Param{thresholdParam(), swapOutParam(), freeParam(), floorParam()},
		Choices: map[string][]string{"swap_out": swapOutNames()},
		Make: func(_ Machine, get func(string) float64) Policy {
			q := &smqos{threshold: get("threshold"), rule: swapOut(get("swap_out"))}
			q.free, q.floor = freeing(get("free")), int(get("floor"))
			return Of(q.decide)
		},
	}
}

// smqos is the policy's state.
type smqos struct {
	threshold float64
	rule      swapOut
	free      Freeing
	floor     int     // SMs of a batch task
	since     uint64  // period in which the latency-sensitive task first ran; 0: not yet
	total     service // of it, since then
	batch     []profile
}

func (q *smqos) decide(s *TaskSample[Task]) Plan {
	p, rest := planFor(s, q.free, q.floor, true)
	ls := slices.IndexFunc(s.Apps, func(a Task) bool { return !a.Ended && a.latencySensitive() })
	first := q.batch == nil
	for len(q.batch) < len(s.Apps) {
		q.batch = append(q.batch, profile{})
	}
	for i := range s.Apps {
		if i != ls {
			q.batch[i].judge(&s.Apps[i], q.threshold, q.rule, p)
		}
	}
	if ls < 0 {
		p.Why = append(p.Why, "no application has a target")
		p.feed(ls, &rest)
		return p
	}
	epoch := s.Apps[ls].service()
	if epoch.cycles == 0 {
		p.Why = append(p.Why, s.Apps[ls].Name+" ran nothing in this period: it keeps its SMs")
		p.feed(ls, &rest)
		return p
	}
	if first {
		q.since = 1
	} else if q.since == 0 {
		q.since = s.Epoch
	}
	q.total.follow(&s.Apps[ls], epoch)
	switch q.wish(&epoch, s.Epoch-q.since+1) {
	case 1:
		q.takeFor(ls, s, p, &rest)
	case -1:
		q.giveFrom(ls, s, p)
	}
	return p
}

// wish is Algorithm 1, lines 2 to 10: 1 to take an SM, -1 to give one, 0 to keep them. n is
// N_epoch.
func (q *smqos) wish(epoch *service, n uint64) int {
	target := epoch.target()
	average, averageTarget := q.total.ipc(), q.total.target()
	switch {
	case average < averageTarget || epoch.ipc() < target:
		return 1
	case average*float64(n)/float64(n+1) > averageTarget && epoch.ipc() > target:
		return -1
	}
	return 0
}

// takeFor is Algorithm 1, lines 12 to 14.
func (q *smqos) takeFor(ls int, s *TaskSample[Task], p *TaskPlan, rest *spare) {
	name := s.Apps[ls].Name
	idle := rest.idle > 0
	from, ok := p.take(ls, rest, func(int) bool { return true })
	switch {
	case !ok:
		p.Why = append(p.Why, name+" is below its target, and no application can give an SM")
	case from >= 0:
		p.Why = append(p.Why, fmt.Sprintf("%s is below its target: it takes an SM of %s", name, s.Apps[from].Name))
	case idle:
		p.Why = append(p.Why, name+" is below its target: it takes an idle SM")
	default:
		p.Why = append(p.Why, name+" is below its target: it takes an SM that was powered down")
	}
}

// giveFrom is Algorithm 1, lines 16 to 18, and what Algorithm 2 does with the SM.
func (q *smqos) giveFrom(ls int, s *TaskSample[Task], p *TaskPlan) {
	name := s.Apps[ls].Name
	if p.Apps[ls].SMs <= 1 {
		p.Why = append(p.Why, name+" is above its target with one SM, and keeps it")
		return
	}
	p.Apps[ls].SMs--
	for i := range s.Apps {
		n := p.Apps[i].SMs
		if i != ls && !p.ended[i] && (n == 0 && q.floor == 0 || q.batch[i].takes(n)) {
			p.Apps[i].SMs++
			p.Why = append(p.Why, fmt.Sprintf("%s is above its target: it gives an SM to %s", name, s.Apps[i].Name))
			return
		}
	}
	p.Gated++
	p.Why = append(p.Why, name+" is above its target: it gives an SM, and no batch task needs it")
	for i := range s.Apps {
		if i != ls && !p.ended[i] && q.batch[i].gives() {
			if p.Apps[i].SMs > 1 {
				p.Apps[i].SMs--
				p.Gated++
				p.Why = append(p.Why, s.Apps[i].Name+" tries with one SM less; that SM is powered down, too")
			}
			return
		}
	}
}
