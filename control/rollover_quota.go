package control

import (
	"fmt"
	"slices"
)

// How large Rollover's quotas are, and how SMs divide them (rollover.go has the rules).

// factor is the least of IPC over target in the period, within [0.5, 2]; 1 without a target.
func (q *rollover) factor(s *TaskSample[rolloverTask]) float64 {
	least := 0.0
	for i := range s.Apps {
		if e := s.Apps[i].service(); s.Apps[i].latencySensitive() && e.cycles > 0 {
			if r := e.ipc() / e.target(); least == 0 || r < least {
				least = max(r, 1e-9)
			}
		}
	}
	if least == 0 {
		return 1
	}
	return max(0.5, min(least, 2))
}

// allowed is the IPC an application may have in the next period.
func (q *rollover) allowed(i int, a *rolloverTask, epoch *service, factor float64) (ipc float64, why string) {
	if a.latencySensitive() {
		return q.owed(i, a)
	}
	switch {
	case q.goal[i] > 0:
	case epoch.insts == 0 || !q.ran[i]:
		return unlimited, a.Name + ": best effort that has not been measured yet: no quota"
	default:
		q.goal[i] = epoch.ipc()
		return q.goal[i], fmt.Sprintf("%s: best effort, its first goal is %.4g as measured", a.Name, q.goal[i])
	}
	q.goal[i] = max(1/float64(max(q.period, 1)), min(q.goal[i]*factor, q.peak))
	return q.goal[i], fmt.Sprintf("%s: best effort, its goal is %.4g (x %.3g)", a.Name, q.goal[i], factor)
}

// owed is the IPC that an application with a target may have in the next period.
func (q *rollover) owed(i int, a *rolloverTask) (ipc float64, why string) {
	total := &q.total[i]
	if total.insts == 0 && a.hasKernelTarget() {
		return unlimited, a.Name + ": none of its kernels with a target has run yet: no quota"
	}
	target, due := q.due(i, a)
	why = fmt.Sprintf("%s: %.4g instructions per cycle so far, target %.4g: quota of %.4g", a.Name, total.ipc(), target,
		due)
	if a.hasKernelTarget() && q.issued[i] > total.insts {
		all := float64(q.issued[i]) / float64(total.insts)
		return due * all, fmt.Sprintf("%s, times %.4g for its other kernels", why, all)
	}
	return due, why
}

// due is a target, and alpha times the target, which makes up for the past.
func (q *rollover) due(i int, a *rolloverTask) (target, due float64) {
	total := &q.total[i]
	if total.insts == 0 {
		return a.QoS, a.QoS
	}
	target = total.target()
	return target, max(1, target/total.ipc()) * target
}

// late says that an application with a target issued less in the period than is due.
func (q *rollover) late(i int, a *rolloverTask) bool {
	epoch := a.service()
	_, due := q.due(i, a)
	return epoch.cycles > 0 && epoch.ipc() < due
}

// places are the CTAs that the application has on each SM, one where it has none at the moment and had some in the
// period: those of its next kernel may come at any time.
func (a *rolloverTask) places() []uint64 {
	if len(a.Active) != len(a.Resident) {
		return a.Resident
	}
	out := slices.Clone(a.Resident)
	for s, n := range a.Active {
		out[s] = max(out[s], min(n, 1))
	}
	return out
}

// byResidence divides a quota among SMs by the CTAs an application has there, evenly if it has none anywhere; the
// remainder goes to the first SMs. Each SM gets at least one instruction, because an application with a quota of 0
// would never end.
func byResidence(quota int64, resident []uint64) []int64 {
	out := make([]int64, len(resident))
	total := int64(0)
	for _, n := range resident {
		total += int64(n)
	}
	left := quota
	for s, n := range resident {
		if total > 0 {
			out[s] = quota / total * int64(n)
		} else {
			out[s] = quota / int64(len(resident))
		}
		left -= out[s]
	}
	for s := 0; left > 0 && len(out) > 0; s = (s + 1) % len(out) {
		if n := min(left, 1+left/int64(len(out))); total == 0 || resident[s] > 0 {
			out[s] += n
			left -= n
		}
	}
	for s := range out {
		out[s] = max(out[s], 1)
	}
	return out
}

// total is the sum of the SMs' parts of a quota, one instruction each included; the whole quota if no part is known.
func total(perSM []int64, quota int64) (sum int64) {
	if len(perSM) == 0 {
		return quota
	}
	for _, n := range perSM {
		sum += n
	}
	return sum
}
