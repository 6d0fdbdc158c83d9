package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sim"
)

func stp(r *sim.Result) float64  { return r.Metrics.STP }
func antt(r *sim.Result) float64 { return r.Metrics.ANTT }

// schemes compares sharing schemes over mixes by STP and ANTT, each scheme's values
// sorted, as the paper draws them (UGPU, Figures 10, 11, 13 to 15). Gains are means
// of the ratios per mix; a gain in ANTT is the baseline's over the scheme's.
func (b *Book) schemes(r *Reproduced) {
	runs := b.runs(r, "")
	r.Columns = []string{"set", "mix", "scheme", "stp", "antt", "sms", "channels"}
	for _, run := range runs {
		for i, name := range r.Figure.Schemes {
			res := run.res[i]
			if res == nil || res.Metrics == nil {
				r.row(run.set, run.mix.Name, name, math.NaN(), math.NaN(), "", "")
				continue
			}
			var sms, channels []int
			for _, t := range res.Tenants {
				sms, channels = append(sms, t.SMs), append(channels, t.Channels)
			}
			r.row(run.set, run.mix.Name, name, res.Metrics.STP, res.Metrics.ANTT, fmt.Sprint(sms), fmt.Sprint(channels))
		}
	}
	for i, set := range r.Figure.Sets {
		part, suffix, title := runs, "", ""
		if len(r.Figure.Sets) > 1 { // each set for itself
			part, suffix, title = nil, " "+set, set+": "
			for _, run := range runs {
				if run.set == set {
					part = append(part, run)
				}
			}
		}
		stps := r.compare("stp"+suffix, part, stp, false)
		antts := r.compare("antt"+suffix, part, antt, true)
		letter := string(rune('a' + 2*i))
		next := string(rune('b' + 2*i))
		r.Draw.Panels = append(r.Draw.Panels,
			figure.Panel{
				Title: "(" + letter + ") " + title + "STP", XLabel: "mixes, sorted", YLabel: "STP",
				Kind: figure.Sorted, Series: stps,
			},
			figure.Panel{
				Title: "(" + next + ") " + title + "ANTT", XLabel: "mixes, sorted", YLabel: "ANTT",
				Kind: figure.Sorted, Series: antts,
			})
	}
}

// compare records a metric of every scheme and the gains of each over each other.
func (r *Reproduced) compare(metric string, runs []mixRun, f func(*sim.Result) float64,
	lowerIsBetter bool,
) []figure.Series {
	names := r.Figure.Schemes
	cols := make([][]float64, len(names))
	var series []figure.Series
	for i, n := range names {
		cols[i] = column(runs, i, f)
		r.measure(metric+" "+n, cols[i])
		if known := numbers(cols[i]); len(known) > 0 {
			series = append(series, figure.Series{Name: n, Y: known})
		}
	}
	for i, a := range names {
		for j, base := range names {
			if i == j {
				continue
			}
			if lowerIsBetter {
				r.measure(metric+" "+a+"/"+base, gains(cols[j], cols[i]))
			} else {
				r.measure(metric+" "+a+"/"+base, gains(cols[i], cols[j]))
			}
		}
	}
	return series
}

// moved is the fraction of the time in which SMs or pages move (UGPU, Figure 12a).
func (b *Book) moved(r *Reproduced) {
	runs := b.runs(r, "")
	r.Columns = []string{
		"mix", "scheme", "epoch_share", "worst_epoch", "repartitions", "sms", "groups",
		"pages_touched", "pages_background", "pages_gained", "pages_waiting",
	}
	panel := figure.Panel{
		Title: "time in which SMs or pages move", XLabel: "mixes, sorted", YLabel: "% of a period",
		Kind: figure.Sorted,
	}
	for i, name := range r.Figure.Schemes {
		shares, worst := make([]float64, len(runs)), make([]float64, len(runs))
		for j, run := range runs {
			shares[j], worst[j] = math.NaN(), math.NaN()
			if run.res[i] == nil {
				continue
			}
			m := run.res[i].Moved
			if m == nil {
				r.fail(fmt.Errorf("%s %s: the result has no data on moves", run.mix.Name, name))
				continue
			}
			shares[j], worst[j] = 100*m.EpochShare, 100*m.WorstEpoch
			r.row(run.mix.Name, name, m.EpochShare, m.WorstEpoch, m.Repartitions, m.SMs, m.Groups, m.PagesTouched,
				m.PagesSwept, m.PagesGained, m.PagesWaiting)
		}
		r.measure("share "+name, shares)
		r.measure("worst epoch "+name, worst)
		if known := numbers(shares); len(known) > 0 {
			panel.Series = append(panel.Series, figure.Series{Name: name, Y: known})
		}
	}
	r.Draw.Panels = []figure.Panel{panel}
}

// hbm is the memory's part of the energy, migration included.
func hbm(e *sim.Energy) float64 { return e.Of("dram") + e.Of("migration") }

// energy is the energy of SMs (with caches and interconnect) and HBM (UGPU, Figure 12b). A run is a
// fixed time and not a fixed work, so energies are compared per work done: per unit of STP. Shares
// do not depend on that.
func (b *Book) energy(r *Reproduced) {
	runs := b.runs(r, "")
	r.Columns = []string{"mix", "scheme", "gpu_j", "hbm_j", "total_j", "stp"}
	for _, run := range runs {
		for i, name := range r.Figure.Schemes {
			if res := run.res[i]; res != nil && res.Energy != nil && res.Metrics != nil {
				r.row(run.mix.Name, name, res.Energy.Total-hbm(res.Energy), hbm(res.Energy), res.Energy.Total,
					res.Metrics.STP)
			}
		}
	}
	perWork := func(of func(*sim.Energy) float64) func(*sim.Result) float64 {
		return func(res *sim.Result) float64 {
			if res.Energy == nil {
				return math.NaN()
			}
			return of(res.Energy) / res.Metrics.STP
		}
	}
	parts := []struct {
		name string
		of   func(*sim.Energy) float64
	}{
		{"gpu", func(e *sim.Energy) float64 { return e.Total - hbm(e) }},
		{"hbm", hbm},
		{"total", func(e *sim.Energy) float64 { return e.Total }},
	}
	base := column(runs, 0, perWork(parts[2].of))
	panel := figure.Panel{
		Title: "energy per work", YLabel: "over " + r.Figure.Schemes[0] + "'s total",
		Kind: figure.Stacked, Ticks: r.Figure.Schemes,
	}
	for _, p := range parts {
		cols := make([][]float64, len(r.Figure.Schemes))
		var means []float64
		for i, name := range r.Figure.Schemes {
			cols[i] = column(runs, i, perWork(p.of))
			share := make([]float64, len(runs))
			for j, total := range column(runs, i, perWork(parts[2].of)) {
				share[j] = 100 * cols[i][j] / total
			}
			r.measure(p.name+" share "+name, share)
			if i > 0 {
				r.measure(p.name+" "+name+"/"+r.Figure.Schemes[0], gains(cols[i], cols[0]))
			}
			relative := make([]float64, len(runs))
			for j := range base {
				relative[j] = cols[i][j] / base[j]
			}
			means = append(means, mean(relative))
		}
		if p.name != "total" {
			panel.Series = append(panel.Series, figure.Series{Name: p.name, Y: means})
		}
	}
	r.Draw.Panels = []figure.Panel{panel}
}

// mean of the known values; 0 if there are none.
func mean(xs []float64) float64 {
	known := numbers(xs)
	sum := 0.0
	for _, x := range known {
		sum += x / float64(len(known))
	}
	return sum
}

// metSlack is the distance below a target that still counts as met: targets have two digits, and 60 of 80 SMs give a
// linear program 0.75, less some noise.
const metSlack = 0.005

// qos is how fast the high-priority program runs, as a fraction of its IPC alone, and
// what that costs in STP (UGPU, Figure 16).
func (b *Book) qos(r *Reproduced) {
	f := r.Figure
	runs := b.runs(r, f.High)
	r.Columns = []string{"mix", "high", "scheme", "np", "met", "stp"}
	np := figure.Panel{
		Title: "(a) speed of the high-priority program", XLabel: "mixes, sorted", YLabel: "over alone",
		Kind: figure.Sorted, RefLine: &f.Target,
	}
	for i, name := range f.Schemes {
		met, speed := make([]float64, len(runs)), make([]float64, len(runs))
		for j := range runs {
			run := &runs[j]
			met[j], speed[j] = math.NaN(), math.NaN()
			res := run.res[i]
			if res == nil || res.Metrics == nil {
				continue
			}
			high := run.mix.Apps[b.priority(&run.mix, f.High)]
			at := slices.IndexFunc(res.Tenants, func(t sim.Tenant) bool { return t.Name == high })
			speed[j] = 1 / res.Tenants[at].Slowdown
			met[j] = 0
			if speed[j] >= f.Target-metSlack {
				met[j] = 100
			}
			r.row(run.mix.Name, high, name, speed[j], met[j] > 0, res.Metrics.STP)
		}
		r.measure("met "+name, met)
		r.measure("np "+name, speed)
		if known := numbers(speed); len(known) > 0 {
			np.Series = append(np.Series, figure.Series{Name: name, Y: known})
		}
	}
	stps := r.compare("stp", runs, stp, false)
	r.Draw.Panels = []figure.Panel{np, {
		Title: "(b) STP", XLabel: "mixes, sorted", YLabel: "STP", Kind: figure.Sorted,
		Series: stps,
	}}
}
