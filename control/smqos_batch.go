package control

import "fmt"

// The batch tasks of SMQoS: Profiling Data Management's history and Algorithm 2. Sun et al., CLUSTER
// 2019, section III-C. After an SM more, an IPC that does not rise sets the upper bound, and one that
// rises sets the lower bound. The rule after an SM less is parameter swap_out:
//
//	printed    an IPC that falls sets the upper bound; one that does not sets the lower bound and opt
//	symmetric  an IPC that falls sets the lower bound, and opt is what the task had before;
//	           one that does not sets the upper bound, and opt is what the task has now
//
// Symmetric is the default, because the printed rule contradicts the paper. A batch task that computes falls with the
// first SM that the latency-sensitive task takes, and by the printed rule that is its upper bound with opt 0: it
// takes no SM again, and when an SM comes free it gives one more, until it has a single one. Then "opt_k is uniquely
// determined" (III-C) is not true, and batch tasks cannot have the throughput of Figure 3. By the symmetric rule a
// fall says that the SM was worth having, as a rise does after a swap-in.
//
// Readings. opt is 0 until a rule sets it, and stays once both bounds are set. A swap is judged by the first period
// in which the task runs on its new SMs, against the period before, whichever task asked for it. An SM on its way to
// another one has left the task; one on its way to it has not come. So an SM that comes late in a period gains little
// in it: with swaps that cost nothing, as in the paper, it would have all of the period. Where tasks may be left
// without an SM (floor 0), what one has then is no measurement: its last SM would set the upper bound by going, and
// nothing would bring it back.

// profile is the history of a batch task.
type profile struct {
	opt          int // opt_k, SMs
	upper, lower bool
	last         float64 // IPC of the last period it ran in (IPC_last)
	sms          int     // it ran on then
	ran          bool
}

// takes is Algorithm 2, lines 2 to 8: whether the task takes an SM that the
// latency-sensitive task gives.
func (b *profile) takes(sms int) bool { return sms < b.opt || !b.upper }

// gives is Algorithm 2, lines 10 to 12, for a task that does not take the SM: whether it gives one, too.
func (b *profile) gives() bool { return !b.lower }

// swapOut is which rule judges a swap-out.
type swapOut int

// The rules, by the numbers and names of parameter swap_out.
const (
	asPrinted swapOut = iota
	symmetric
)

func thresholdParam() Param {
	return Param{
		"threshold", 0.03, "fraction", "change of a batch task's IPC below which one SM more or less does not " +
			"count (the paper gives no number)", false, 0, 1,
	}
}

// swapOutParam is the parameter.
func swapOutParam() Param {
	return Param{
		Name: "swap_out", Default: float64(symmetric), Unit: "choice",
		Doc: "how the IPC of a batch task with one SM less sets the bounds: printed, as in section III-C, a fall " +
			"sets the upper bound; symmetric to a swap-in, a fall sets the lower bound and opt_k is the SMs before",
		Whole: true, Most: 1,
	}
}

func swapOutNames() []string { return []string{asPrinted: "printed", symmetric: "symmetric"} }

// judge moves the bounds by the effect of a swap (section III-C), and notes the period.
func (b *profile) judge(t *Task, threshold float64, rule swapOut, p *TaskPlan) {
	if t.Cycles == 0 {
		return
	}
	ipc, sms := float64(t.Insts)/float64(t.Cycles), t.SMs-t.SMsLeaving
	if sms == 0 && p.floor == 0 {
		return
	}
	last, before, swap := b.last, b.sms, sms-b.sms
	if !b.ran || b.sms == 0 && p.floor == 0 {
		swap = 0
	}
	b.last, b.sms, b.ran = ipc, sms, true
	if swap == 0 || b.upper && b.lower {
		return
	}
	rises, falls := ipc > last*(1+threshold), ipc < last*(1-threshold)
	switch {
	case swap > 0 && rises:
		b.lower, b.opt = true, sms
	case swap > 0:
		b.upper = true
	case rule == asPrinted && falls:
		b.upper = true
	case rule == asPrinted:
		b.lower, b.opt = true, sms
	case falls:
		b.lower, b.opt = true, before
	default:
		b.upper, b.opt = true, sms
	}
	p.Why = append(p.Why, fmt.Sprintf("%s: %.4g instructions per cycle with %s, %.4g before: %s",
		t.Name, ipc, many(sms, "SM"), last, b.bounds()))
}

// bounds describes the known bounds of opt_k in words.
func (b *profile) bounds() string {
	switch {
	case b.upper && b.lower:
		return fmt.Sprintf("both bounds are set, opt stays %d", b.opt)
	case b.upper && b.opt == 0:
		return "the upper bound is set"
	case b.upper:
		return fmt.Sprintf("the upper bound is set, opt is %d", b.opt)
	}
	return fmt.Sprintf("the lower bound is set, opt is %d", b.opt)
}
