package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// held compares runs by the targets of their applications: whether each was met, the speed of the applications
// without a target beside it over their speed alone, and the power. It is empty unless every run has targets and
// metrics.
func (p *printer) held(results []*sim.Result) {
	if len(results) < 2 || sameTenants(results) == nil {
		return
	}
	head := []string{"sharing"}
	for _, t := range results[0].Targets {
		head = append(head, "target of "+t.Tenant)
	}
	var others []string
	for i := range results[0].Tenants {
		if t := &results[0].Tenants[i]; !aims(results[0], t.Name) {
			others = append(others, t.Name)
			head = append(head, t.Name+" over alone")
		}
	}
	rows := [][]string{append(head, "power")}
	best, most := "", 0.0
	for _, r := range results {
		if r.Metrics == nil || len(r.Targets) == 0 || len(r.Targets) != len(results[0].Targets) {
			return
		}
		row, met, sum := []string{label(r)}, true, 0.0
		for _, t := range r.Targets {
			word := "met"
			if !t.Met {
				word, met = "NOT met", false
			}
			row = append(row, fmt.Sprintf("%.1f %% (%s)", 100*t.Reached/t.IPC, word))
		}
		for _, name := range others {
			speed := 1 / tenant(r, name).Slowdown
			row, sum = append(row, fmt.Sprintf("%.3f", speed)), sum+speed
		}
		power := none
		if r.Energy != nil && r.Seconds > 0 {
			power = fmt.Sprintf("%.1f W", r.Energy.Total/r.Seconds)
		}
		rows = append(rows, append(row, power))
		if met && sum > most {
			best, most = label(r), sum
		}
	}
	p.f("targets, and the speed of the other applications\n")
	expendable := append([]string(nil), rows[0][1:]...)
	slices.Reverse(expendable)
	p.fitted(rows, expendable)
	switch {
	case best == "":
		p.f("no sharing mode meets all targets\n")
	case len(others) > 0:
		p.f("of the modes that meet all targets, %s leaves most to %s\n", best, strings.Join(others, ", "))
	}
}

// aims says that an application, or a kernel of it, has a target.
func aims(r *sim.Result, name string) bool {
	for _, t := range r.Targets {
		if t.Tenant == name {
			return true
		}
	}
	return false
}
