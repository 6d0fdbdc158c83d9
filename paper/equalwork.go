package paper

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/sim"
)

// A program's kernels differ: backprop's first executes five times as many instructions in a cycle as its second, as
// it takes fewer accesses. Two runs of a fixed time of which one comes further than the other therefore have
// different parts of the program in their windows, and the quotient of their instructions per cycle compares these
// parts, not the machines. So what is compared are the times that both take for the part that is in both windows.

// milestone is a cycle of a run and how many thread instructions a program had executed since its begin.
type milestone struct{ cycle, insts float64 }

// courseOf is how a run's only GPU program went on: between milestones, the ends of kernels and of the window,
// evenly.
func courseOf(r *sim.Result, t *sim.Tenant) []milestone {
	before := float64(r.Outside.ThreadInsts) // a run for a fixed time ends with its window
	course := []milestone{
		{},
		{float64(t.Window.Start), before},
		{float64(t.Window.End), before + float64(t.ThreadInsts)},
	}
	ended := uint64(0)
	for i := range t.Kernels {
		k := &t.Kernels[i]
		course = append(course, milestone{float64(k.Start), float64(ended)})
		ended += k.ThreadInsts
		course = append(course, milestone{float64(k.End), float64(ended)})
	}
	slices.SortFunc(course, func(a, b milestone) int {
		return cmp.Or(cmp.Compare(a.insts, b.insts), cmp.Compare(a.cycle, b.cycle))
	})
	return course
}

// reached is the cycle in which a program had executed so many instructions, which are among those of its course.
func reached(course []milestone, insts float64) float64 {
	i := slices.IndexFunc(course, func(m milestone) bool { return m.insts >= insts })
	if i <= 0 || course[i].insts == insts {
		return course[max(i, 0)].cycle
	}
	a, b := course[i-1], course[i]
	return a.cycle + (b.cycle-a.cycle)*(insts-a.insts)/(b.insts-a.insts)
}

// timesForEqual are the cycles that two runs of one GPU program took for the part of it that is in the windows of
// both. Where no part is, as one run ended before the other's window began, they are those for what both executed
// since they began. ok is false where the runs do not say.
func timesForEqual(x, y *sim.Result) (a, b float64, ok bool) {
	s, t := tenantsOf(x, gpuSide), tenantsOf(y, gpuSide)
	if x.Outside == nil || y.Outside == nil || len(s) != 1 || len(t) != 1 {
		return 0, 0, false
	}
	c, d := courseOf(x, s[0]), courseOf(y, t[0])
	from := float64(max(x.Outside.ThreadInsts, y.Outside.ThreadInsts))
	to := min(c[len(c)-1].insts, d[len(d)-1].insts)
	if from >= to {
		from = 0
	}
	return reached(c, to) - reached(c, from), reached(d, to) - reached(d, from), true
}
