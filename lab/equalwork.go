package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/sim"
)

// A program's kernels differ: backprop's first executes five times as many instructions in a cycle as its second, as
// it takes fewer accesses. If one of two runs of a fixed time does more work than the other, their windows therefore
// have different parts of the program, and the quotient of their instructions per cycle compares these parts, not the
// machines. What can be compared are the times that both take for the work in both windows.

// Course is the progress of an application on SMs in a run: its thread instructions at the ends of its kernels and of
// its window. Between them progress is taken as even.
type Course struct {
	milestones []milestone
	before     float64 // instructions before the window
}

// milestone is a cycle of a run, with the number of thread instructions that a program had executed since its
// beginning.
type milestone struct{ cycle, insts float64 }

// CourseOf is the course of an application, given the instructions that it had executed before its window.
func CourseOf(t *sim.Tenant, before uint64) Course {
	c := Course{before: float64(before), milestones: []milestone{
		{},
		{float64(t.Window.Start), float64(before)},
		{float64(t.Window.End), float64(before + t.ThreadInsts)},
	}}
	ended := uint64(0)
	for i := range t.Kernels {
		k := &t.Kernels[i]
		c.milestones = append(c.milestones, milestone{float64(k.Start), float64(ended)})
		ended += k.ThreadInsts
		c.milestones = append(c.milestones, milestone{float64(k.End), float64(ended)})
	}
	slices.SortFunc(c.milestones, func(a, b milestone) int {
		return cmp.Or(cmp.Compare(a.insts, b.insts), cmp.Compare(a.cycle, b.cycle))
	})
	return c
}

// end is all instructions.
func (c *Course) end() float64 { return c.milestones[len(c.milestones)-1].insts }

// reached is the cycle in which a number of instructions had been executed. The number is within the course.
func (c *Course) reached(insts float64) float64 {
	i := slices.IndexFunc(c.milestones, func(m milestone) bool { return m.insts >= insts })
	if i <= 0 || c.milestones[i].insts == insts {
		return c.milestones[max(i, 0)].cycle
	}
	a, b := c.milestones[i-1], c.milestones[i]
	return a.cycle + (b.cycle-a.cycle)*(insts-a.insts)/(b.insts-a.insts)
}

// EqualTimes are the cycles that two runs of one application took for the work that lies in the windows of both. If
// the windows have no work in common, because one run ended before the other's window began, they are the cycles for
// the work that both executed since they began.
func EqualTimes(c, d Course) (a, b float64) {
	from, to := max(c.before, d.before), min(c.end(), d.end())
	if from >= to {
		from = 0
	}
	return c.reached(to) - c.reached(from), d.reached(to) - d.reached(from)
}

// apart is how far a slowdown may be from that for equal work without a warning.
const apart = 0.1

// unequal warns of slowdowns that compare different parts of a program: in a run for a fixed time, before it has been
// executed twice, after which its parts even out. The slower run took its whole window for its work, because its wait
// at the end, for a turn or a copy, is part of the work.
func unequal(r *sim.Result, alone []*sim.Result) {
	if !r.Spec.Length.Budget || r.Spec.Length.Warms() {
		return
	}
	for i := range r.Tenants {
		t, a := &r.Tenants[i], &alone[i].Tenants[0]
		if t.CPU != nil || t.Progress != ByInsts || t.Slowdown == 0 || min(t.Runs, a.Runs) > 1 {
			continue
		}
		c, d := CourseOf(t, 0), CourseOf(a, 0)
		here, there, further := float64(t.Cycles), d.reached(c.end()), "alone"
		if c.end() > d.end() {
			here, there, further = c.reached(d.end()), float64(a.Cycles), "here"
		}
		if there == 0 || math.Abs(here/there/t.Slowdown-1) <= apart {
			continue
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s: its slowdown of %.3f is biased, because its two runs did "+
			"different "+
			"parts of the program; it got further %s. For the work that both runs did the slowdown is %.3f. STP, ANTT "+
			"and HS use %.3f", t.Name, t.Slowdown, further, here/there, t.Slowdown))
	}
}
