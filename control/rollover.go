package control

// Rollover. Wang et al., "Quality of Service Support for Fine-Grained Sharing on GPUs", ISCA 2017, as the baseline of
// SMQoS: applications share every SM (SMK), and each may issue a quota of thread instructions per period on it.
// Period: 10 K core cycles. Hardware: a signed counter and an idle-warp counter per application on each SM
// (rollover_quota.go has how large quotas are, rollover_ctas.go what idle warps are counted for).
//
// The original's text was not available; this is a reconstruction:
//
//   - An application with a target gets alpha x target x period, where alpha = max(1, target /
//     its IPC so far) makes up for the past. SMs get it by its CTAs there. If its kernels have
//     targets, its kernels without a target issue from this quota, too: it is larger by what they
//     have issued.
//   - A best-effort application has an artificial goal. The goal is its IPC in the first period,
//     when no application has a quota, or in the period after the one in which it came. In every
//     later period the goal is multiplied by the least of IPC over target, clamped to [0.5, 2].
//     Until it has a goal it has no quota. The goal stays between an instruction a period and what
//     the machine can issue.
//   - The unused part of a quota is added to the next one (scheme 2, rollover) or dropped (0,
//     naive), or the next period begins on an SM as soon as no application has any quota left (1,
//     elastic); 3, rollover-time, is rollover with best effort after the targets. The SM does this.
//     The part for the time without a kernel on the GPU is not added: the application was not late then.
func rolloverEntry() Entry {
	return Entry{
		Name: "rollover", Source: "Wang et al., ISCA 2017, as in Sun et al., SMQoS, CLUSTER 2019",
		What:     "quotas of instructions on SMs that all share; a target's unused quota is added to its next one",
		Settings: []string{"quota", "ctas"}, Period: 10_000, Aims: true, Needs: append(taskNeeds(), "cycle"),
		Files: []string{"rollover_quota.go", "rollover_ctas.go", "quota_plan.go", "task.go", "task_plan.go"},
		Params: []Param{{
			"scheme", 2, "choice", "0 naive, 1 elastic, 2 rollover, 3 rollover-time", true, 0, 3,
		}, {
			"few_idle", 0.5, "CTAs", "an application with fewer idle warps than this share of a CTA's needs more " +
				"warps", false,
			0, 1,
		}, {
			"move_ctas", 1, "flag", "CTAs are swapped if a target needs more warps or has too many", true, 0, 1,
		}},
		Make: func(m Machine, get func(string) float64) Policy {
			scheme := [...]QuotaScheme{Naive, Elastic, Rollover, RolloverTime}[int(get("scheme"))]
			q := &rollover{
				scheme: scheme, swaps: get("move_ctas") != 0, fewIdle: get("few_idle"), peak: m.IPCMax * float64(m.SMs),
			}
			return Of(q.decide)
		},
	}
}

// rollover is the policy's state.
type rollover struct {
	scheme QuotaScheme
	swaps  bool
	// fewIdle is parameter few_idle.
	fewIdle float64
	peak    float64   // thread instructions the machine can issue per core cycle
	last    uint64    // cycle of the last sample
	period  uint64    // up to it
	total   []service // of applications with targets, since they began
	issued  []uint64  // thread instructions in these periods, those of kernels without a target among them
	goal    []float64 // of best effort: the artificial one, IPC; 0: not measured yet
	ran     []bool    // it had a kernel on the GPU in an earlier period, or more than half of the first
	most    [][]int   // per application and SM, CTAs
}

// rolloverTask is an application with the counters of its SMs.
type rolloverTask struct {
	Task
	CTAWarps uint64   `json:"cta_warps" counter:"app.cta_warps"`              // of the kernel it runs
	Resident []uint64 `json:"resident_ctas" counter:"sm.resident_ctas"`       // on each SM
	Active   []uint64 `json:"active_cycles" counter:"sm.active_cycles"`       // with some
	Left     []uint64 `json:"quota_left" counter:"sm.quota_left"`             // thread instructions
	Idle     []uint64 `json:"idle_warp_cycles" counter:"sm.idle_warp_cycles"` // ready and not issued
}

func (q *rollover) decide(s *TaskSample[rolloverTask]) Plan {
	period := q.since(&s.Clock)
	for len(q.total) < len(s.Apps) {
		q.total, q.goal, q.issued = append(q.total, service{}), append(q.goal, 0), append(q.issued, 0)
		q.ran = append(q.ran, 2*s.Apps[len(q.ran)].Cycles > period)
	}
	p := &QuotaPlan{Cycle: s.Cycle, Gated: s.GatedSMs, quota: &Quota{Scheme: q.scheme, Period: period}}
	factor := q.factor(s)
	for i := range s.Apps {
		a := &s.Apps[i]
		epoch := a.service()
		if a.latencySensitive() {
			q.total[i].follow(&a.Task, epoch)
			q.issued[i] += a.Insts
		}
		ipc, why := q.allowed(i, a, &epoch, factor)
		share := QuotaShare{Name: a.Name, SMs: a.SMs, Quota: int64(min(ipc*float64(period), unlimited))}
		share.PerSM = byResidence(share.Quota, a.places())
		if a.latencySensitive() && (q.scheme == Rollover || q.scheme == RolloverTime) {
			share.takeBack(a.Cycles, period, a.Left)
		}
		share.Quota = total(share.PerSM, share.Quota)
		q.ran[i] = q.ran[i] || epoch.cycles > 0
		p.Apps, p.Why = append(p.Apps, share), append(p.Why, why)
		p.quota.PerSM = append(p.quota.PerSM, share.PerSM)
		p.quota.Goal = append(p.quota.Goal, a.latencySensitive())
	}
	if q.swaps {
		q.swapCTAs(s, p, period)
	}
	return p
}

// since is the core cycles of the period that has ended: the mean of the periods that are over if a file begins
// later, and the one before if two samples have the same cycle.
func (q *rollover) since(c *Clock) uint64 {
	n := c.Cycle - q.last
	if q.last == 0 && c.Epoch > 1 {
		n = c.Cycle / c.Epoch
	}
	if n > 0 {
		q.last, q.period = c.Cycle, n
	}
	return q.period
}
