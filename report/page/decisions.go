package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// decisionView is a row of the decisions table.
type decisionView struct {
	Cycle    string
	Policy   string
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
		v := decisionView{
			Cycle: whole(d.Cycle), Policy: d.Policy, Changed: d.Changed, Why: d.Why,
			Counters: seen(d.Sample, false),
		}
		for j := range d.After {
			v.Plan = append(v.Plan, planned(&d.Before[j], &d.After[j]))
		}
		if len(d.After) == 0 {
			v.Plan = seen(d.Plan, true)
		} else if line := unpowered(d.Plan); line != "" {
			v.Plan = append(v.Plan, line)
		}
		if d.Changed && d.Begun == 0 {
			v.Plan = append(v.Plan, "not begun")
		}
		v.Moved, v.Moves = moves(d)
		out = append(out, v)
	}
	return out
}

// seen lists what a sample or plan says, a line per application and one for the rest. Their
// types are the policies' own, so it goes by their names in JSON. What is zero is left out of samples, not of plans.
func seen(v any, zeros bool) (lines []string) {
	text, err := json.Marshal(v)
	var all map[string]any
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	apps, _ := all["apps"].([]any)
	for _, name := range []string{"apps", "cycle", "epoch", "why"} {
		delete(all, name)
	}
	for _, x := range apps {
		if app, ok := x.(map[string]any); ok {
			name := fmt.Sprint(app["name"])
			delete(app, "name")
			lines = append(lines, name+": "+pairs(app, zeros))
		}
	}
	if rest := pairs(all, zeros); rest != "" {
		lines = append(lines, rest)
	}
	return lines
}

// pairs lists names and values, by name.
func pairs(m map[string]any, zeros bool) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		name := strings.ReplaceAll(k, "_", " ")
		switch x := m[k].(type) {
		case float64:
			if x != 0 || zeros {
				out = append(out, name+" "+strconv.FormatFloat(x, 'f', -1, 64))
			}
		case nil, []any, map[string]any:
		default:
			out = append(out, fmt.Sprintf("%s %v", name, x))
		}
	}
	return strings.Join(out, ", ")
}

// unpowered says how many SMs shall be powered down; empty where a plan sets nothing of the kind,
// or none.
func unpowered(plan any) string {
	var p struct {
		Gated int `json:"gated_sms"`
	}
	if text, err := json.Marshal(plan); err != nil || json.Unmarshal(text, &p) != nil || p.Gated == 0 {
		return ""
	}
	return "without power: " + report.Many(p.Gated, "SM")
}

// planned says what an application gets, beside what it had.
func planned(had, gets *control.Share) string {
	out := had.Name + ": " + becomes(had.SMs, gets.SMs, "SM")
	if had.Groups+gets.Groups > 0 { // else all applications share memory
		out += ", " + becomes(had.Groups, gets.Groups, "group")
	}
	return out
}

// becomes writes a number of things, beside what it was if that is another one.
func becomes(had, gets int, one string) string {
	if had == gets {
		return report.Many(had, one)
	}
	return fmt.Sprintf("%d → %s", had, report.Many(gets, one))
}

// moves sums up and lists what changed hands. A move takes from its start until
// the new owner may use an SM, and until the last page of the old owner has left
// a channel group.
func moves(d *sim.Decision) (sum, list []string) {
	took := func(start, end uint64) string {
		if end < start {
			return "unfinished at the end of the run"
		}
		return report.Many(end-start, "cycle")
	}
	smEnd, open := d.Cycle, 0
	for i := range d.SMs {
		m := &d.SMs[i]
		smEnd = max(smEnd, m.End)
		if m.End < m.Start {
			open++
		}
		from, to := report.Ends(m)
		list = append(list, fmt.Sprintf("SM %d: %s → %s by %s at %d, %s; %s, %s of context",
			m.SM, from, to, m.How, m.Start, took(m.Start, m.End), report.Many(m.CTAs, "CTA"),
			report.Many(m.Bytes, "byte")))
	}
	if len(d.Left) > 0 {
		list = append(list, "not begun, because what it gives was still changing hands: "+strings.Join(d.Left, ", "))
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
		list = append(list, fmt.Sprintf("channels %d: %s → %s at %d, handed over: %s, empty: %s; pages: %d touched, "+
			"%d in background, %d gained, %d waiting",
			m.Group, m.From, m.To, m.Start, took(m.Start, m.Handed), took(m.Start, m.Emptied), m.Touched, m.Swept,
			m.Gained, m.Waiting))
	}
	if n := len(d.Groups); n > 0 {
		sum = append(sum,
			inSum(n, open, "channel group", grpEnd-d.Cycle),
			fmt.Sprintf("pages: %d touched, %d in background, %d gained, %d waiting", p.Touched, p.Swept, p.Gained,
				p.Waiting))
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
		return fmt.Sprintf("%d %s, unfinished at the end of the run", n, what)
	}
	return fmt.Sprintf("%d %s, %d of them in %d cycles, the others unfinished at the end of the "+
		"run", n, what, n-open, cycles)
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

// causeColor: Paul Tol, "Colour schemes" (2021), muted; none of them is an application's.
func causeColor(i int) string {
	colors := []string{
		"#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499", "#bbbbbb",
	}
	return colors[i%len(colors)]
}

// stallViews sums the profile over lines, by application in the order of the run file.
func stallViews(r *sim.Result) ([]stallView, []causeView) {
	sums := map[string]map[string]uint64{} // application, cause
	var names, causes []string
	for _, s := range r.Stalls {
		if s.Cycles == 0 {
			continue
		}
		name := r.Tenants[s.Tenant].Name
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
		legend = append(legend, causeView{c, causeColor(i)})
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
				share := fmt.Sprintf("%.1f", 100*float64(x)/float64(total))
				v.Parts = append(v.Parts, partView{c, causeColor(i), share})
			}
		}
		out = append(out, v)
	}
	return out, legend
}
