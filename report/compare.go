package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// tie is the difference below which two results are equal: what a different placement of
// CTAs or rows makes of the same machine.
const tie = 0.01

// Comparison writes one table over several sharing modes of the same applications and a verdict: which one won on
// STP, ANTT and fairness. Results without metrics (partial ones) are listed, but cannot win. Nil results are left
// out. The table has at most 100 columns, or with wide every column.
func Comparison(w io.Writer, results []*sim.Result, wide bool) error {
	p := &printer{w: w, wide: wide}
	var all []*sim.Result
	energy := false
	for _, r := range results {
		if r != nil {
			all = append(all, r)
			energy = energy || r.Energy != nil
		}
	}
	head := []string{"sharing", "cycles", "STP", "ANTT", "HS", "fairness"}
	whole := wholeTenants(all)
	if energy {
		head = append(head, "energy", "per instruction")
		for _, name := range whole {
			head = append(head, "per execution of "+name)
		}
	}
	rows := [][]string{head}
	for _, r := range all {
		row := []string{label(r), fmt.Sprint(r.Cycles)}
		if m := r.Metrics; m != nil {
			for _, x := range []float64{m.STP, m.ANTT, m.HS, m.Fairness} {
				row = append(row, fmt.Sprintf("%.3f", x))
			}
		}
		if r.Energy != nil {
			for len(row) < 6 {
				row = append(row, none)
			}
			row = append(row, joules(r.Energy.Total), perInst(r, joules))
			for _, name := range whole {
				t := tenant(r, name)
				row = append(row, joules(t.EnergyJ/t.Executions))
			}
		}
		for len(row) < len(head) {
			row = append(row, none)
		}
		rows = append(rows, row)
	}
	p.f("comparison%s\n", Unequal(all))
	expendable := append([]string(nil), head[min(len(head), 8):]...)
	slices.Reverse(expendable)
	p.fitted(rows, append(expendable, "HS", "per instruction", "cycles"))
	p.f("%s\n", Verdict(all, nil))
	p.held(all)
	p.leftOut()
	return p.err
}

// Unequal is added to the heading of a comparison if the runs did not do the same work: it names the tenants that
// executed different numbers of instructions in their windows.
func Unequal(results []*sim.Result) string {
	var parts []string
	for _, work := range []struct {
		name string
		of   func(t *sim.Tenant) uint64
	}{
		{"thread instructions", func(t *sim.Tenant) uint64 { return t.ThreadInsts }},
		{"CPU instructions", func(t *sim.Tenant) uint64 { return t.Insts() - t.ThreadInsts }},
	} {
		var apart []string
		for _, name := range sameTenants(results) {
			least, most := uint64(math.MaxUint64), uint64(0)
			for _, r := range results {
				n := work.of(tenant(r, name))
				least, most = min(least, n), max(most, n)
			}
			if float64(most-least) > tie*float64(most) {
				apart = append(apart, fmt.Sprintf("%s by %.0f %%", name, 100*float64(most-least)/float64(most)))
			}
		}
		if len(apart) > 0 {
			parts = append(parts, work.name+" of "+strings.Join(apart, " and of "))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" over unequal work (the runs differ in %s): compare rates, and energy per unit of work",
		strings.Join(parts, ", "))
}

// sameTenants are the names of the tenants of all results, in the order of the first; none where they
// are not the same or there are fewer than two results.
func sameTenants(results []*sim.Result) []string {
	if len(results) < 2 {
		return nil
	}
	first := applications(results[0])
	for _, r := range results {
		if !slices.Equal(slices.Sorted(slices.Values(applications(r))), slices.Sorted(slices.Values(first))) {
			return nil
		}
	}
	return first
}

// tenant is the one of a name, of which there is one.
func tenant(r *sim.Result, name string) *sim.Tenant {
	return &r.Tenants[slices.IndexFunc(r.Tenants, func(t sim.Tenant) bool { return t.Name == name })]
}

// wholeTenants are the names of those that did whole executions in every run, and nothing else, so
// that energy per execution means something.
func wholeTenants(results []*sim.Result) (out []string) {
	for _, name := range sameTenants(results) {
		whole := true
		for _, r := range results {
			x := tenant(r, name).Executions
			whole = whole && x >= 1 && x == math.Trunc(x)
		}
		if whole {
			out = append(out, name)
		}
	}
	return out
}

// contest is one metric with its best result.
type contest struct {
	name   string
	value  func(*sim.Result) float64
	higher bool // higher is better
	text   func(float64) string
}

func contests() []contest {
	three := func(x float64) string { return fmt.Sprintf("%.3f", x) }
	return []contest{
		{"STP", func(r *sim.Result) float64 { return r.Metrics.STP }, true, three},
		{"ANTT", func(r *sim.Result) float64 { return r.Metrics.ANTT }, false, three},
		{"fairness", func(r *sim.Result) float64 { return r.Metrics.Fairness }, true, three},
	}
}

// race compares runs of one application alone by the time in which they did the same work.
func race() []contest {
	return []contest{{"time", func(r *sim.Result) float64 { return r.Seconds }, false, seconds}}
}

// alone says whether a run is one application to its end, without a limit.
func alone(r *sim.Result) bool {
	return len(r.Tenants) == 1 && !r.Spec.Functional && r.Spec.Length.MaxCycles == 0 && r.Spec.Length.Instructions == 0
}

// Verdict says in one line which run won on which metric, and by how much over the next; of runs of one application
// alone, which was the fastest. Runs are named by names, or by their sharing modes if names is nil. Runs of different
// applications cannot be compared.
func Verdict(results []*sim.Result, names []string) string {
	var shared, single []entrant
	for i, r := range results {
		if r == nil || !r.Complete {
			continue
		}
		e := entrant{label(r), r}
		if names != nil {
			e.name = names[i]
		}
		switch {
		case r.Metrics != nil:
			shared = append(shared, e)
		case alone(r):
			single = append(single, e)
		}
	}
	fit, by := shared, contests()
	if len(shared) == 0 {
		fit, by = single, race()
	}
	if len(fit) < 2 {
		return "no verdict: it needs two complete runs of applications that share a machine, or of one application " +
			"to its end"
	}
	var all []*sim.Result
	for _, e := range fit {
		all = append(all, e.Result)
	}
	if sameTenants(all) == nil {
		return "no verdict: the runs have different applications"
	}
	if len(shared) == 0 && Unequal(all) != "" {
		return "no verdict: the runs did different amounts of work"
	}
	var parts []string
	for _, c := range by {
		parts = append(parts, c.judge(fit))
	}
	return strings.Join(parts, "; ")
}

// applications are the names of a run's.
func applications(r *sim.Result) (names []string) {
	for i := range r.Tenants {
		names = append(names, r.Tenants[i].Name)
	}
	return names
}

// entrant is a run in a contest.
type entrant struct {
	name string
	*sim.Result
}

func (c contest) judge(fit []entrant) string {
	best := &fit[0]
	better := func(a, b *entrant) bool {
		x, y := c.value(a.Result), c.value(b.Result)
		return x != y && (x > y) == c.higher
	}
	for i := range fit {
		if better(&fit[i], best) {
			best = &fit[i]
		}
	}
	v := c.value(best.Result)
	var next *entrant
	var tied []string
	last := v // the worst of those tied
	for i := range fit {
		r := &fit[i]
		x := c.value(r.Result)
		switch {
		case math.Abs(x-v) < tie*math.Abs(v) || x == v:
			tied = append(tied, r.name)
			if math.Abs(x-v) > math.Abs(last-v) {
				last = x
			}
		case next == nil || better(r, next):
			next = r
		}
	}
	if len(tied) > 1 {
		values := c.text(v)
		if worst := c.text(last); worst != values {
			values += " to " + worst + ", less than 1 % apart"
		}
		return fmt.Sprintf("%s: tie of %s (%s)", c.name, strings.Join(tied, ", "), values)
	}
	win := fmt.Sprintf("%s: %s wins with %s", c.name, best.name, c.text(v))
	if w := c.value(next.Result); w != 0 {
		win += fmt.Sprintf(", %.1f %% better than %s", 100*math.Abs(v/w-1), next.name)
	}
	return win
}
