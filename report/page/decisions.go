package page

import (
	"fmt"
	"slices"
	"strings"

	"heddle/control"
	"heddle/report"
	"heddle/sim"
)

// decisionView is a row of the decisions table.
type decisionView struct {
	Cycle    string
	Changed  bool
	Counters []string // what the policy saw, a line per application
	Plan     []string // what each gets
	Why      []string
	Moved    []string // in sum
	Moves    []string // one by one
}

func decisionViews(r *sim.Result) (out []decisionView) {
	for i := range r.Decisions {
		d := &r.Decisions[i]
		v := decisionView{Cycle: whole(d.Cycle), Changed: d.Changed, Why: d.Plan.Why}
		for j := range d.Sample.Apps {
			v.Counters = append(v.Counters, counters(&d.Sample.Apps[j]))
		}
		for j, a := range d.Plan.Alloc {
			v.Plan = append(v.Plan, planned(d, j, a))
		}
		if d.Plan.Latency > 0 {
			v.Plan = append(v.Plan, "decided in "+report.Many(d.Plan.Latency,
				"cycle")+", "+report.Many(d.Plan.Iterations, "iteration"))
		}
		v.Moved, v.Moves = moves(d)
		out = append(out, v)
	}
	return out
}

func counters(a *control.App) string {
	s := a.Name + ": "
	if a.Cycles > 0 {
		s += fmt.Sprintf("IPC %s, ", number(float64(a.Insts)/float64(a.Cycles)))
	} else {
		s += "no kernel, "
	}
	if a.LLCAccesses > 0 {
		s += fmt.Sprintf("LLC hits %s of %d, ", percent(float64(a.LLCHits)/float64(a.LLCAccesses)), a.LLCAccesses)
	}
	return s + "DRAM " + report.Many(a.DRAMBytes, "byte")
}

// planned says what an application gets, beside what it had.
func planned(d *sim.Decision, i int, a control.Alloc) string {
	if i >= len(d.Sample.Apps) {
		return fmt.Sprintf("application %d: %s, %s", i+1, report.Many(a.SMs, "SM"), report.Many(a.Groups, "group"))
	}
	had := &d.Sample.Apps[i]
	if had.SMs == a.SMs && had.Groups == a.Groups {
		return fmt.Sprintf("%s: %s, %s", had.Name, report.Many(a.SMs, "SM"), report.Many(a.Groups, "group"))
	}
	return fmt.Sprintf("%s: %d → %s, %d → %s", had.Name, had.SMs, report.Many(a.SMs, "SM"), had.Groups,
		report.Many(a.Groups, "group"))
}

// moves sums up and lists what changed hands. A move takes from its start until
// the new owner may use an SM, and until the last page of the old owner has left
// a channel group.
func moves(d *sim.Decision) (sum, list []string) {
	took := func(start, end uint64) string {
		if end < start {
			return "not done at the run's end"
		}
		return report.Many(end-start, "cycle")
	}
	smEnd, open := d.Cycle, 0
	for _, m := range d.SMs {
		smEnd = max(smEnd, m.End)
		if m.End < m.Start {
			open++
		}
		list = append(list, fmt.Sprintf("SM %d: %s → %s by %s at %d, %s; %s, %s of context",
			m.SM, m.From, m.To, m.How, m.Start, took(m.Start, m.End), report.Many(m.CTAs, "CTA"), report.Many(m.Bytes,
				"byte")))
	}
	if n := len(d.SMs); n > 0 {
		sum = append(sum, inSum(n, open, "SM", smEnd-d.Cycle))
	}
	grpEnd := d.Cycle
	open = 0
	var p pages
	for i := range d.Groups {
		m := &d.Groups[i]
		grpEnd = max(grpEnd, m.Emptied)
		if m.Emptied < m.Start {
			open++
		}
		p.add(m)
		list = append(list, fmt.Sprintf("channels %d: %s → %s at %d, handed over: %s, empty: %s; pages: %d touched, %d in background, %d gained, %d waiting",
			m.Group, m.From, m.To, m.Start, took(m.Start, m.Handed), took(m.Start, m.Emptied), m.Touched, m.Swept, m.Gained, m.Waiting))
	}
	if n := len(d.Groups); n > 0 {
		sum = append(sum,
			inSum(n, open, "channel group", grpEnd-d.Cycle),
			fmt.Sprintf("pages: %d touched, %d in background, %d gained, %d waiting", p.Touched, p.Swept, p.Gained, p.Waiting))
	}
	return sum, list
}

// inSum says how many things moved, how many of them never arrived, and when the
// last that did had arrived.
func inSum(n, open int, what string, cycles uint64) string {
	if n != 1 {
		what += "s"
	}
	switch {
	case open == 0:
		return fmt.Sprintf("%d %s in %s", n, what, report.Many(cycles, "cycle"))
	case open == n:
		return fmt.Sprintf("%d %s, not done at the run's end", n, what)
	}
	return fmt.Sprintf("%d %s, %d of them in %d cycles, the others not done at the run's end", n, what, n-open, cycles)
}

// pages are those that one decision moved.
type pages struct{ Touched, Swept, Gained, Waiting uint64 }

func (p *pages) add(m *sim.GroupMove) {
	p.Touched += m.Touched
	p.Swept += m.Swept
	p.Gained += m.Gained
	p.Waiting += m.Waiting
}

// stallView is one bar: where the warps of an application waited.
type stallView struct {
	Name  string
	Total string
	Parts []partView
}

type partView struct{ Cause, Color, Share string }

type causeView struct{ Name, Color string }

// stallViews sums the profile over lines. The profile knows kernels; a kernel that
// several applications launched stands for all of them.
func stallViews(r *sim.Result) ([]stallView, []causeView) {
	owner := map[string]string{}
	var names []string
	for i := range r.Tenants {
		for _, k := range r.Tenants[i].Kernels {
			if o := owner[k.Name]; o == "" {
				owner[k.Name] = r.Tenants[i].Name
			} else if !slices.Contains(strings.Split(o, " and "), r.Tenants[i].Name) {
				owner[k.Name] = o + " and " + r.Tenants[i].Name
			}
		}
	}
	sums := map[string]map[string]uint64{} // owner, cause
	var causes []string
	for _, s := range r.Stalls {
		if s.Cycles == 0 {
			continue
		}
		name := owner[s.Kernel]
		if name == "" {
			name = "kernel " + s.Kernel // it never finished, so no application lists it
		}
		if sums[name] == nil {
			sums[name] = map[string]uint64{}
			names = append(names, name)
		}
		if !slices.Contains(causes, s.Cause) {
			causes = append(causes, s.Cause)
		}
		sums[name][s.Cause] += s.Cycles
	}
	slices.Sort(causes)
	var legend []causeView
	for i, c := range causes {
		legend = append(legend, causeView{c, palette(i)})
	}
	var out []stallView
	for _, n := range names {
		total := uint64(0)
		for _, c := range causes {
			total += sums[n][c]
		}
		v := stallView{Name: n, Total: whole(total)}
		for i, c := range causes {
			if x := sums[n][c]; x > 0 {
				v.Parts = append(v.Parts, partView{c, palette(i), fmt.Sprintf("%.1f", 100*float64(x)/float64(total))})
			}
		}
		out = append(out, v)
	}
	return out, legend
}
