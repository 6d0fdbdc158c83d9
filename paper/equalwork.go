package paper

import (
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// timesForEqual are the cycles that two runs of one GPU program, for a fixed time, took for the part of it that is in
// the windows of both (lab.EqualTimes). ok is false if the runs do not have these times.
func timesForEqual(x, y *sim.Result) (a, b float64, ok bool) {
	s, t := tenantsOf(x, gpuSide), tenantsOf(y, gpuSide)
	if x.Outside == nil || y.Outside == nil || len(s) != 1 || len(t) != 1 {
		return 0, 0, false
	}
	// such a run ends with its window: what is outside was before
	a, b = lab.EqualTimes(lab.CourseOf(s[0], x.Outside.ThreadInsts), lab.CourseOf(t[0], y.Outside.ThreadInsts))
	return a, b, true
}
