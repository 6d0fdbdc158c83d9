package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"heddle/sim"
)

// Comparison writes one table over several sharing modes of the same applications
// and a verdict: who won on STP, ANTT and fairness. Results without metrics
// (partial ones) are listed, but cannot win. Nil results are left out.
func Comparison(w io.Writer, results []*sim.Result) error {
	p := &printer{w: w}
	energy := false
	for _, r := range results {
		energy = energy || r != nil && r.Energy != nil
	}
	head := []string{"sharing", "cycles", "STP", "ANTT", "WS", "HS", "fairness"}
	if energy {
		head = append(head, "energy")
	}
	rows := [][]string{head}
	for _, r := range results {
		if r == nil {
			continue
		}
		row := []string{label(r), fmt.Sprint(r.Cycles)}
		if m := r.Metrics; m != nil {
			for _, x := range []float64{m.STP, m.ANTT, m.WS, m.HS, m.Fairness} {
				row = append(row, fmt.Sprintf("%.3f", x))
			}
		} else {
			row = append(row, "-", "-", "-", "-", "-")
		}
		if energy && r.Energy != nil {
			row = append(row, joules(r.Energy.Total))
		} else if energy {
			row = append(row, "-")
		}
		rows = append(rows, row)
	}
	p.f("comparison\n")
	p.table(rows)
	p.f("%s\n", Verdict(results))
	return p.err
}

// contest is one metric with its best result.
type contest struct {
	name   string
	value  func(*sim.Metrics) float64
	higher bool // higher is better
}

func contests() []contest {
	return []contest{
		{"STP", func(m *sim.Metrics) float64 { return m.STP }, true},
		{"ANTT", func(m *sim.Metrics) float64 { return m.ANTT }, false},
		{"fairness", func(m *sim.Metrics) float64 { return m.Fairness }, true},
	}
}

// Verdict says in one line who won on what, and by how much over the next.
func Verdict(results []*sim.Result) string {
	var fit []*sim.Result
	for _, r := range results {
		if r != nil && r.Metrics != nil && r.Complete {
			fit = append(fit, r)
		}
	}
	if len(fit) < 2 {
		return "no verdict: fewer than two complete runs with metrics"
	}
	var parts []string
	for _, c := range contests() {
		parts = append(parts, c.judge(fit))
	}
	return strings.Join(parts, "; ")
}

func (c contest) judge(fit []*sim.Result) string {
	best := fit[0]
	better := func(a, b *sim.Result) bool {
		x, y := c.value(a.Metrics), c.value(b.Metrics)
		return x != y && (x > y) == c.higher
	}
	for _, r := range fit[1:] {
		if better(r, best) {
			best = r
		}
	}
	var next *sim.Result
	var tied []string
	for _, r := range fit {
		switch {
		case r == best || c.value(r.Metrics) == c.value(best.Metrics):
			tied = append(tied, label(r))
		case next == nil || better(r, next):
			next = r
		}
	}
	v := c.value(best.Metrics)
	if len(tied) > 1 {
		return fmt.Sprintf("%s: tie of %s (%.3f)", c.name, strings.Join(tied, ", "), v)
	}
	gain := 100 * math.Abs(v/c.value(next.Metrics)-1)
	return fmt.Sprintf("%s: %s wins with %.3f, %.1f %% better than %s", c.name, label(best), v, gain, label(next))
}
