package control

import "fmt"

// The batch tasks of SMQoS: Profiling Data Management's history and Algorithm 2. Sun et al.,
// CLUSTER 2019, section III-C. The rules are as printed, and they are not symmetric: after an
// SM more, the IPC that does not rise sets the upper bound and the one that rises the lower
// bound; after an SM less, the IPC that falls sets the upper bound, too.
//
// Readings. opt is 0 until a printed rule sets it, and stays once both bounds are set. A swap
// is judged by the first epoch in which the task runs on the SMs that came of it, against the
// epoch before, whoever asked for it. An SM on its way to another one has left the task; one
// on its way to it has not come. So an SM that comes late in an epoch gains little in it: with
// swaps that cost nothing, as in the paper, it would have all of the epoch. Where tasks may be left
// without an SM (floor 0), what one has then is no measurement: its last SM would set the upper bound
// by going, and nothing would bring it back.

// profile is what is kept of a batch task.
type profile struct {
	opt          int // opt_k, SMs
	upper, lower bool
	last         float64 // IPC of the last epoch it ran in (IPC_last)
	sms          int     // it ran on then
	ran          bool
}

// takes is Algorithm 2, lines 2 to 8: whether the task takes an SM that the
// latency-sensitive task gives.
func (b *profile) takes(sms int) bool { return sms < b.opt || !b.upper }

// gives is Algorithm 2, lines 10 to 12, where it does not take it: whether it gives one, too.
func (b *profile) gives() bool { return !b.lower }

// judge moves the bounds by what came of a swap (section III-C), and notes the epoch.
func (b *profile) judge(t *Task, threshold float64, p *TaskPlan) {
	if t.Cycles == 0 {
		return
	}
	ipc, sms := float64(t.Insts)/float64(t.Cycles), t.SMs-t.SMsLeaving
	if sms == 0 && p.floor == 0 {
		return
	}
	last, swap := b.last, sms-b.sms
	if !b.ran || b.sms == 0 && p.floor == 0 {
		swap = 0
	}
	b.last, b.sms, b.ran = ipc, sms, true
	if swap == 0 || b.upper && b.lower {
		return
	}
	gained := ipc > last*(1+threshold)
	if swap < 0 {
		gained = ipc >= last*(1-threshold)
	}
	if gained {
		b.lower, b.opt = true, sms
	} else {
		b.upper = true
	}
	p.Why = append(p.Why, fmt.Sprintf("%s: %.4g instructions per cycle with %s, %.4g before: %s",
		t.Name, ipc, many(sms, "SM"), last, b.bounds()))
}

// bounds says in words what is known of opt_k.
func (b *profile) bounds() string {
	switch {
	case b.upper && b.lower:
		return fmt.Sprintf("both bounds are set, opt stays %d", b.opt)
	case b.upper:
		return "the upper bound is set"
	}
	return fmt.Sprintf("the lower bound is set, opt is %d", b.opt)
}
