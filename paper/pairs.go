package paper

import (
	"slices"

	"github.com/heddle-sim/heddle/report/figure"
)

// pairs is the gain of one configuration over another, for several pairs of them (NUBA, Figures 14
// and 16).
func (b *Book) pairs(r *Reproduced) {
	f, m := r.Figure, r.Figure.metric()
	r.Columns = []string{"pair", "set", "program", f.Metric, "over", "gain_percent"}
	series := map[string][]float64{}
	sets := f.rowSets()
	if len(sets) > 1 {
		sets = append(slices.Clone(sets), "all")
	}
	for _, p := range f.Pairs {
		runs := b.singles(r, []string{p.Of, p.Over})
		for _, s := range runs {
			one := []singles{s}
			x, base := valuesOf(one, 0, m)[0], valuesOf(one, 1, m)[0]
			r.row(p.Name, s.set, s.program, x, base, 100*(known(x, base)-1))
			r.gainsOf(p.Name, s.program, x, base, m)
		}
		f.means(runs, func(set string, part []singles) {
			r.gains(p.Name, set, valuesOf(part, 0, m), valuesOf(part, 1, m), m)
		})
		f.perSet(runs, func(set string, _ []singles) {
			series[set] = append(series[set], r.Measures[m.shown(f)+" "+p.Name+" "+set+" mean"].Value)
		})
	}
	f.less(r)
	panel := figure.Panel{YLabel: m.shown(f) + ", % more", Kind: figure.Bars}
	for _, p := range f.Pairs {
		panel.Ticks = append(panel.Ticks, p.Name)
	}
	for _, set := range sets {
		panel.Series = append(panel.Series, figure.Series{Name: set, Y: series[set]})
	}
	r.Draw.Panels = []figure.Panel{panel}
}

// less measures by how much the means of pairs differ.
func (f *Figure) less(r *Reproduced) {
	for _, p := range f.Pairs {
		f.differences(&p, func(name, of, over string) {
			x, ok := r.Measures[of]
			base, ok2 := r.Measures[over]
			if ok && ok2 {
				r.Measures[name] = Measure{Value: x.Value - base.Value, N: min(x.N, base.N), Of: max(x.Of, base.Of)}
			}
		})
	}
}

// differences names what less measures of a pair, and the measures it does so from.
func (f *Figure) differences(p *Pair, do func(name, of, over string)) {
	sets := slices.Clone(f.rowSets())
	if len(sets) > 1 {
		sets = append(sets, "all")
	}
	for _, set := range sets {
		for _, end := range f.ends() {
			if end = " " + set + end + " mean"; p.Less != "" {
				do(f.Metric+" "+p.Name+" less "+p.Less+end, f.Metric+" "+p.Name+end, f.Metric+" "+p.Less+end)
			}
		}
	}
}
