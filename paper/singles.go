package paper

import (
	"math"
	"slices"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sim"
)

// Figures that compare configurations of a machine by programs that run alone (NUBA, section 7).

// singleKinds are the kinds of these figures.
func singleKinds() []string {
	return []string{"ratios", "values", "parts", "degree", "pairs", "tradeoff"}
}

// single computes a figure of configurations.
func (b *Book) single(r *Reproduced) {
	switch r.Figure.Kind {
	case "ratios":
		b.ratios(r)
	case "values":
		b.values(r)
	case "parts":
		b.energyParts(r)
	case "degree":
		b.degree(r)
	case "pairs":
		b.pairs(r)
	case "tradeoff":
		b.tradeoff(r)
	}
}

// perSet gives the runs of each set, and of all sets if there are several, with the names of their measures.
func (f *Figure) perSet(runs []singles, do func(name string, part []singles)) {
	sets := f.rowSets()
	for _, set := range sets {
		var part []singles
		for _, s := range runs {
			if s.set == set {
				part = append(part, s)
			}
		}
		do(set, part)
	}
	if len(sets) > 1 {
		do("all", runs)
	}
}

// values of one configuration.
func valuesOf(runs []singles, config int, m metric) []float64 {
	out := make([]float64, len(runs))
	for i, s := range runs {
		out[i] = math.NaN()
		if res := s.res[config]; res != nil {
			out[i] = m.of(res, s.of)
		}
	}
	return out
}

// differences are x less base.
func differences(x, base []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - base[i]
	}
	return out
}

// quotients are x over base.
func quotients(x, base []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = known(x[i], base[i])
	}
	return out
}

// gain records a mean of ratios in percent above 1, and the extremes.
func (r *Reproduced) gain(name string, ratios []float64, m metric) {
	percent := make([]float64, len(ratios))
	for i, x := range ratios {
		percent[i] = 100 * (x - 1)
	}
	r.measure(name, percent)
	if mean, ok := r.Measures[name+" mean"]; ok {
		mean.Value = 100 * (m.average(ratios) - 1)
		r.Measures[name+" mean"] = mean
	}
}

// gains records ratios of a set under the metric's name, and their inverses if the inverse has a name, too.
func (r *Reproduced) gains(what, set string, x, base []float64, m metric) {
	r.gain(r.Figure.Metric+" "+what+" "+set, quotients(x, base), m)
	if m.inverse != "" {
		r.gain(m.inverse+" "+what+" "+set, quotients(base, x), m)
	}
}

// gainsOf does the same for a program.
func (r *Reproduced) gainsOf(what, program string, x, base float64, m metric) {
	r.of(r.Figure.Metric+" "+what+" "+program, 100*(known(x, base)-1))
	if m.inverse != "" {
		r.of(m.inverse+" "+what+" "+program, 100*(known(base, x)-1))
	}
}

// of records the result of a program.
func (r *Reproduced) of(name string, x float64) {
	if !math.IsNaN(x) {
		r.Measures[name] = Measure{Value: x, N: 1, Of: 1}
	}
}

// ratios is a metric of every program over the first configuration's (NUBA, Figures 7, 8, 11, 12).
func (b *Book) ratios(r *Reproduced) {
	f, m := r.Figure, r.Figure.metric()
	names := f.compared()
	runs := b.singles(r, names)
	r.Columns = []string{"set", "program", "configuration", f.Metric, "over_" + names[0], "run_cycles"}
	for _, s := range runs {
		for i, c := range names {
			if res := s.res[i]; res != nil && s.res[0] != nil {
				x, base := m.of(res, s.of), m.of(s.res[0], s.of)
				r.row(s.set, s.program, c, x, known(x, base), res.Cycles)
			} else {
				r.row(s.set, s.program, c, math.NaN(), math.NaN(), "")
			}
		}
	}
	for i, a := range names {
		for j, base := range names {
			if i == j {
				continue
			}
			for _, s := range runs {
				one := []singles{s}
				r.gainsOf(a+"/"+base, s.program, valuesOf(one, i, m)[0], valuesOf(one, j, m)[0], m)
			}
			f.means(runs, func(set string, part []singles) {
				r.gains(a+"/"+base, set, valuesOf(part, i, m), valuesOf(part, j, m), m)
			})
		}
	}
	r.bars(runs, f.Metric+" over "+names[0], func(part []singles, config int) []float64 {
		over := quotients(valuesOf(part, config, m), valuesOf(part, 0, m))
		return append(over, m.average(over))
	})
	one := 1.0
	for i := range r.Draw.Panels {
		r.Draw.Panels[i].RefLine = &one
	}
}

// values is a metric of every program as it is (NUBA, Figure 9).
func (b *Book) values(r *Reproduced) {
	f, m := r.Figure, r.Figure.metric()
	names := f.compared()
	runs := b.singles(r, names)
	r.Columns = []string{"set", "program", "configuration", f.Metric}
	for _, s := range runs {
		for i, c := range names {
			x := valuesOf([]singles{s}, i, m)[0]
			r.row(s.set, s.program, c, x)
			r.of(f.Metric+" "+c+" "+s.program, x)
		}
	}
	value := map[string]float64{} // of the present configuration, by program
	for i, c := range names {
		for _, s := range runs {
			value[s.program] = valuesOf([]singles{s}, i, m)[0]
		}
		r.against(c, value)
		f.means(runs, func(set string, part []singles) { r.measure(f.Metric+" "+c+" "+set, valuesOf(part, i, m)) })
		for j, less := range names {
			for _, s := range runs {
				if one := []singles{s}; i != j {
					r.of(f.Metric+" "+c+" minus "+less+" "+s.program, valuesOf(one, i, m)[0]-valuesOf(one, j, m)[0])
				}
			}
			f.means(runs, func(set string, part []singles) {
				if i != j {
					d := differences(valuesOf(part, i, m), valuesOf(part, j, m))
					r.measure(f.Metric+" "+c+" minus "+less+" "+set, d)
				}
			})
		}
	}
	r.bars(runs, m.unit, func(part []singles, config int) []float64 {
		x := valuesOf(part, config, m)
		return append(x, meanOf(x))
	})
}

// against compares the programs that the figure names with each other, if both have a value under a configuration.
func (r *Reproduced) against(config string, value map[string]float64) {
	f := r.Figure
	f.ordered(f.Programs, func(a, base string) {
		x, ok := value[a]
		y, ok2 := value[base]
		if ok && ok2 {
			r.of(f.Metric+" "+config+" "+a+"/"+base, 100*(known(x, y)-1))
		}
	})
}

// againstNames are the measures that compare programs with each other.
func (f *Figure) againstNames() (out []string) {
	for _, c := range f.compared() {
		f.ordered(f.Programs, func(a, base string) { out = append(out, f.Metric+" "+c+" "+a+"/"+base) })
	}
	return out
}

// bars draws a panel per set: programs, and their mean, a bar per configuration.
func (r *Reproduced) bars(runs []singles, unit string, of func(part []singles, config int) []float64) {
	zero := 0.0
	f := r.Figure
	for _, set := range f.rowSets() {
		var part []singles
		p := figure.Panel{Title: set, YLabel: unit, Kind: figure.Bars, YMin: &zero}
		for _, s := range runs {
			if s.set == set {
				part = append(part, s)
				p.Ticks = append(p.Ticks, s.program)
			}
		}
		p.Ticks = append(p.Ticks, "mean")
		for i, c := range f.compared() {
			y := of(part, i)
			for j := range y {
				if math.IsNaN(y[j]) {
					y[j] = 0 // no bar is drawn for an unknown value
				}
			}
			p.Series = append(p.Series, figure.Series{Name: c, Y: y})
		}
		r.Draw.Panels = append(r.Draw.Panels, p)
	}
}

// meanOf is the mean of the known values; NaN if there are none.
func meanOf(xs []float64) float64 {
	if len(numbers(xs)) == 0 {
		return math.NaN()
	}
	return mean(xs)
}

// energyParts is the energy per instruction of the interconnect and of all else, over the first
// configuration's total (NUBA, Figure 13).
func (b *Book) energyParts(r *Reproduced) {
	f := r.Figure
	runs := b.singles(r, f.Configs)
	noc, total := metrics()["noc energy"], metrics()["total energy"]
	r.Columns = []string{"set", "program", "configuration", "noc_j_per_inst", "total_j_per_inst"}
	for _, s := range runs {
		for i, c := range f.Configs {
			one := []singles{s}
			r.row(s.set, s.program, c, valuesOf(one, i, noc)[0], valuesOf(one, i, total)[0])
		}
	}
	f.means(runs, func(set string, part []singles) {
		for i, c := range f.Configs {
			r.measure("noc share "+c+" "+set, percentOf(valuesOf(part, i, noc), valuesOf(part, i, total)))
			for j, over := range f.Configs[:i] {
				name := c + "/" + over + " " + set
				r.gain("noc "+name, quotients(valuesOf(part, i, noc), valuesOf(part, j, noc)), noc)
				r.gain("total "+name, quotients(valuesOf(part, i, total), valuesOf(part, j, total)), total)
			}
		}
	})
	f.perSet(runs, func(set string, part []singles) {
		p := figure.Panel{Title: set, YLabel: "energy over " + f.Configs[0], Kind: figure.Stacked, Ticks: f.Configs}
		base := valuesOf(part, 0, total)
		var network, rest []float64
		for i := range f.Configs {
			n, all := quotients(valuesOf(part, i, noc), base), quotients(valuesOf(part, i, total), base)
			network, rest = append(network, mean(n)), append(rest, mean(all)-mean(n))
		}
		p.Series = []figure.Series{{Name: "rest of the GPU", Y: rest}, {Name: "NoC", Y: network}}
		r.Draw.Panels = append(r.Draw.Panels, p)
	})
}

func percentOf(x, of []float64) []float64 {
	out := quotients(x, of)
	for i := range out {
		out[i] *= 100
	}
	return out
}

// degree is the distribution of the pages of each program by the number of SMs that touch them (NUBA, Figure 3), in
// percent by class; shared pages are touched by more than one SM.
func (b *Book) degree(r *Reproduced) {
	f := r.Figure
	runs := b.singles(r, f.Configs[:1])
	names := b.Study.classes(f.Configs[0])
	r.Columns = append([]string{"set", "program", "pages"}, names...)
	share := make([][]float64, len(runs))
	for i, s := range runs {
		var pages uint64
		share[i], pages = sharesOf(s.res[0], len(names))
		row := []any{s.set, s.program, pages}
		for _, x := range share[i] {
			row = append(row, x)
		}
		r.row(row...)
		r.of("shared "+s.program, 100-share[i][0])
		for k, n := range names {
			r.of(n+" "+s.program, share[i][k])
		}
	}
	f.means(runs, func(set string, part []singles) {
		var shared []float64
		for _, s := range part {
			x, _ := sharesOf(s.res[0], len(names))
			shared = append(shared, 100-x[0])
		}
		r.measure("shared "+set, shared)
	})
	for _, set := range f.Sets {
		p := figure.Panel{Title: set, YLabel: "% of pages", Kind: figure.Stacked}
		for _, n := range names {
			p.Series = append(p.Series, figure.Series{Name: n})
		}
		for i, s := range runs {
			if s.set != set || math.IsNaN(share[i][0]) {
				continue
			}
			p.Ticks = append(p.Ticks, s.program)
			for k := range names {
				p.Series[k].Y = append(p.Series[k].Y, share[i][k])
			}
		}
		r.Draw.Panels = append(r.Draw.Panels, p)
	}
}

// classes are those of pages on a configuration.
func (s *Study) classes(config string) []string {
	_, _, m, err := s.sheet(s.config(config), &s.Scales[0], nil)
	if err != nil {
		return nil // validation tells
	}
	names, _ := report.SharingClasses(m.SM.Count)
	return names
}

// sharesOf are the percentages of a run's pages by class; NaN if the run did not count touches.
func sharesOf(res *sim.Result, classes int) (share []float64, pages uint64) {
	share = slices.Repeat([]float64{math.NaN()}, classes)
	if res == nil || res.Touches == nil {
		return share, 0
	}
	count, pages := report.BySharing(res.Touches.BySMs)
	for k, n := range count {
		share[k] = 100 * float64(n) / float64(pages)
	}
	return share, pages
}

// tradeoff is speed over the interconnect's power, both over a configuration's (NUBA, Figure 10).
func (b *Book) tradeoff(r *Reproduced) {
	f := r.Figure
	names := append(f.joined(), f.Configs[0])
	runs := b.singles(r, names)
	speed, power := metrics()["ipc"], metrics()["noc power"]
	base := len(names) - 1
	r.Columns = []string{"configuration", "speed_over_" + f.Configs[0], "noc_power_over_" + f.Configs[0]}
	panel := figure.Panel{
		XLabel: "NoC power over " + f.Configs[0], YLabel: "speed over " + f.Configs[0], Kind: figure.Lines,
	}
	i := 0
	for _, l := range f.Lines {
		c := curve{Name: l.Name}
		for range l.Configs {
			x := meanOf(quotients(valuesOf(runs, i, power), valuesOf(runs, base, power)))
			y := harmonicMean(quotients(valuesOf(runs, i, speed), valuesOf(runs, base, speed)))
			r.row(names[i], y, x)
			if !math.IsNaN(x) {
				c.add(x, y)
			}
			i++
		}
		panel.Series = append(panel.Series, figure.Series(c))
	}
	for i, a := range names[:base] {
		for j, over := range names[:base] {
			if i != j {
				r.gain("ipc "+a+"/"+over, quotients(valuesOf(runs, i, speed), valuesOf(runs, j, speed)), speed)
				r.gain("power "+a+"/"+over, quotients(valuesOf(runs, i, power), valuesOf(runs, j, power)), power)
			}
		}
	}
	r.Draw.Panels = []figure.Panel{panel}
}

// joined are the configurations of all lines.
func (f *Figure) joined() (names []string) {
	for _, l := range f.Lines {
		names = append(names, l.Configs...)
	}
	return names
}

// singleNames are the measures of a figure of configurations.
func (s *Study) singleNames(f *Figure) (out []string) {
	stat := func(name string) { out = append(out, name+" max", name+" mean", name+" min") }
	sets, programs := slices.Clone(f.rowSets()), s.rowNames(f)
	if len(sets) > 1 {
		sets = append(sets, "all")
	}
	each := func(name string, ofPrograms bool) {
		for _, set := range sets {
			for _, end := range f.ends() {
				stat(name + " " + set + end)
			}
		}
		for _, p := range programs {
			if ofPrograms {
				out = append(out, name+" "+p)
			}
		}
	}
	switch f.Kind {
	case "ratios":
		f.ordered(f.compared(), func(a, base string) {
			f.bothWays(func(name string) { each(name+" "+a+"/"+base, true) })
		})
	case "values":
		for _, c := range f.compared() {
			each(f.Metric+" "+c, true)
		}
		f.ordered(f.compared(), func(a, base string) { each(f.Metric+" "+a+" minus "+base, true) })
		out = append(out, f.againstNames()...)
	case "parts":
		for i, c := range f.Configs {
			each("noc share "+c, false)
			for _, over := range f.Configs[:i] {
				each("noc "+c+"/"+over, false)
				each("total "+c+"/"+over, false)
			}
		}
	case "degree":
		each("shared", true)
		for _, class := range s.classes(f.Configs[0]) {
			for _, p := range programs {
				out = append(out, class+" "+p)
			}
		}
	case "pairs":
		for _, p := range f.Pairs {
			f.bothWays(func(name string) { each(name+" "+p.Name, true) })
			f.differences(&p, func(name, _, _ string) { out = append(out, name) })
		}
	case "tradeoff":
		f.ordered(f.joined(), func(a, base string) {
			stat("ipc " + a + "/" + base)
			stat("power " + a + "/" + base)
		})
	}
	return out
}

// ordered calls do for every ordered pair of names.
func (f *Figure) ordered(names []string, do func(a, base string)) {
	for _, a := range names {
		for _, base := range names {
			if a != base {
				do(a, base)
			}
		}
	}
}
