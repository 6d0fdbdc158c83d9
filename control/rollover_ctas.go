package control

import (
	"fmt"
	"slices"
)

// How Rollover divides an SM's places for CTAs. Wang et al., ISCA 2017, reconstructed: what an SM
// has of ready warps that did not issue tells whether an application has warps enough.
//
//   - One with a target that is behind it, has quota left and hardly any such warps misses warps:
//     it gets a CTA more, and best effort with most CTAs there, if it has any, one less. Hardly any
//     is less than half of a CTA's warps in the mean (parameter few_idle): some are always ready at
//     once. What earlier periods left is no sign that it is behind.
//   - One that has as many idle warps as a CTA of it has, has a CTA too many: best effort may
//     have it.
//   - One swap per SM and period; one with a target keeps a CTA, best effort need not.
//
// Readings. The first limits are what is resident at the end of the first period, when SMK has
// divided the SMs by dominant shares; an application that has none yet has no limit. In an period
// in which nothing with a target ran there are no limits, and they begin again.

// swapCTAs moves the limits of CTAs and puts them into the plan.
func (q *rollover) swapCTAs(s *TaskSample[rolloverTask], p *QuotaPlan, period uint64) {
	more, less := make([]int, len(s.Apps)), make([]int, len(s.Apps))
	if len(s.Apps) < 2 { // no other application has the SMs
		return
	}
	if !slices.ContainsFunc(s.Apps, func(a rolloverTask) bool { return a.latencySensitive() && a.Cycles > 0 }) {
		q.most = nil
		for i := range s.Apps {
			p.Apps[i].CTAs = slices.Repeat([]int{noLimit}, len(s.Apps[i].Resident))
		}
		return
	}
	if q.most == nil {
		q.most = firstLimits(s)
	} else {
		for sm := range s.Apps[0].Resident {
			switch i, by := q.swapOn(s, sm, period); {
			case by > 0:
				more[i]++
			case by < 0:
				less[i]++
			}
		}
	}
	for i := range s.Apps {
		p.Apps[i].CTAs = slices.Clone(q.most[i])
		if more[i]+less[i] > 0 {
			p.Why = append(p.Why, fmt.Sprintf("%s: a CTA more on %s, one less on %d", s.Apps[i].Name,
				many(more[i], "SM"), less[i]))
		}
	}
}

// noLimit is the limit of applications that have none.
const noLimit = -1

// firstLimits are the numbers of resident CTAs.
func firstLimits(s *TaskSample[rolloverTask]) (most [][]int) {
	for i := range s.Apps {
		list := make([]int, len(s.Apps[i].Resident))
		for sm, n := range s.Apps[i].Resident {
			if list[sm] = int(n); n == 0 {
				list[sm] = noLimit
			}
		}
		most = append(most, list)
	}
	return most
}

// swapOn decides on one SM: which application with a target gets a CTA more (1) or less (-1).
func (q *rollover) swapOn(s *TaskSample[rolloverTask], sm int, period uint64) (app, by int) {
	for i := range s.Apps {
		a := &s.Apps[i]
		if !a.latencySensitive() || a.Resident[sm] == 0 || period == 0 {
			continue
		}
		other := q.bestEffort(s, sm)
		idle := float64(a.Idle[sm]) / float64(period)
		switch {
		case a.Left[sm] > 0 && idle < q.fewIdle*float64(a.CTAWarps) && q.late(i, a):
			if other >= 0 && s.Apps[other].Resident[sm] > 0 {
				q.most[other][sm] = int(s.Apps[other].Resident[sm]) - 1
			} else if int(a.Resident[sm]) < q.most[i][sm] || q.most[i][sm] == noLimit {
				continue // there are no more of them, or no room
			}
			q.most[i][sm] = int(a.Resident[sm]) + 1
			return i, 1
		case a.CTAWarps > 0 && idle >= float64(a.CTAWarps) && a.Resident[sm] > 1:
			q.most[i][sm] = int(a.Resident[sm]) - 1
			if other >= 0 {
				q.most[other][sm] = int(s.Apps[other].Resident[sm]) + 1
			}
			return i, -1
		}
	}
	return 0, 0
}

// bestEffort is the application without a target that has most CTAs on an SM; -1: none.
func (q *rollover) bestEffort(s *TaskSample[rolloverTask], sm int) int {
	best := -1
	for j := range s.Apps {
		if !s.Apps[j].latencySensitive() && (best < 0 || s.Apps[j].Resident[sm] > s.Apps[best].Resident[sm]) {
			best = j
		}
	}
	return best
}
