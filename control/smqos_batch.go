package control

import "fmt"

// The batch tasks of SMQoS: Profiling Data Management's history and Algorithm 2. Sun et al.,
// CLUSTER 2019, section III-C. The rules are as printed, and they are not symmetric: after an
// SM more, the IPC that does not rise sets the upper bound and the one that rises the lower
// bound; after an SM less, the IPC that falls sets the upper bound, too.
//
// Readings. opt is 0 until a printed rule sets it, and stays once both bounds are set. A swap
// is judged by the first whole epoch after it: while SMs are on their way to or from the
// task, and in the epoch in which the last of them arrived, it is not. One that the machine
// did not carry out is not judged.

// profile is what is kept of a batch task.
type profile struct {
	opt          int // opt_k, SMs
	upper, lower bool
	swap         int     // the swap that has yet to be judged: 1 an SM more, -1 one less; 0: none
	last         float64 // IPC of the epoch before it (IPC_last)
	sms          int     // it had then
	moved        bool    // SMs were on their way at the last sample
}

// takes is Algorithm 2, lines 2 to 8: whether the task takes an SM that the
// latency-sensitive task gives.
func (b *profile) takes(sms int) bool { return sms < b.opt || !b.upper }

// gives is Algorithm 2, lines 10 to 12, where it does not take it: whether it gives one, too.
func (b *profile) gives() bool { return !b.lower }

// swapped notes a swap, and what the task did before it.
func (b *profile) swapped(by int, t *Task) {
	b.swap, b.last, b.sms = by, taskIPC(t), t.settled()
}

func taskIPC(t *Task) float64 { return float64(t.Insts) / float64(max(t.Cycles, 1)) }

// judge moves the bounds by what came of the last swap (section III-C).
func (b *profile) judge(t *Task, threshold float64, p *TaskPlan) {
	arriving := t.moves()
	whole := !arriving && !b.moved
	b.moved = arriving
	if b.swap == 0 || !whole || t.Cycles == 0 {
		return
	}
	swap := b.swap
	b.swap = 0
	if t.SMs != b.sms+swap || b.upper && b.lower {
		return
	}
	ipc := taskIPC(t)
	gained := ipc > b.last*(1+threshold)
	if swap < 0 {
		gained = ipc >= b.last*(1-threshold)
	}
	if gained {
		b.lower, b.opt = true, t.SMs
	} else {
		b.upper = true
	}
	p.Why = append(p.Why, fmt.Sprintf("%s: %.4g instructions per cycle with %s, %.4g before: %s",
		t.Name, ipc, many(t.SMs, "SM"), b.last, b.bounds()))
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
