package paper

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Figures that compare schemes by mixes of programs, in the kinds of those that compare configurations
// (Ganguly, chapter 7).

// compared is what a figure compares: configurations, or schemes.
func (f *Figure) compared() []string {
	if len(f.Schemes) > 0 {
		return f.Schemes
	}
	return f.Configs
}

// rowSets is what a figure has means of: its sets, or where each program of a mix counts, their ranks.
func (f *Figure) rowSets() []string {
	if f.Each {
		return []string{rank(0), rank(1)}
	}
	return f.Sets
}

// rank names the programs of a mix by what they ask of the link.
func rank(i int) string { return fmt.Sprintf("App-%d", i+1) }

// rowNames are those of the rows of a figure when all its programs or mixes run.
func (s *Study) rowNames(f *Figure) (names []string) {
	for _, set := range f.Sets {
		for _, m := range s.list.Set(set).Mixes {
			switch {
			case f.Each:
				for i := range m.Apps {
					names = append(names, m.Name+" "+rank(i))
				}
			case len(f.Schemes) > 0:
				names = append(names, m.Name)
			default:
				names = append(names, m.Apps[0])
			}
		}
	}
	return names
}

// bothWays calls do for the names of a figure's metric.
func (f *Figure) bothWays(do func(name string)) {
	do(f.Metric)
	if m := metrics()[f.Metric]; m.inverse != "" {
		do(m.inverse)
	}
}

// shown is the name whose measures pairs draw: speeds rather than times.
func (m *metric) shown(f *Figure) string {
	if m.inverse != "" {
		return m.inverse
	}
	return f.Metric
}

// mixed are the results of a figure's mixes by scheme.
func (b *Book) mixed(r *Reproduced, schemes []string) (out []singles) {
	f := r.Figure
	for _, set := range f.Sets {
		for _, m := range b.Study.mixesFor(f, set, b.Scale) {
			s := singles{set: set, program: m.Name}
			for _, name := range schemes {
				res, err := b.Mix(&m, b.Study.scheme(name), "")
				if err != nil {
					r.fail(err)
				}
				if err == nil && res.Metrics == nil {
					r.fail(fmt.Errorf("%s %s: its programs have no alone-run", m.Name, name))
					res = nil
				}
				s.res = append(s.res, res)
			}
			if !f.Each {
				out = append(out, s)
				continue
			}
			out = append(out, b.eachOf(r, &m, s)...)
		}
	}
	return out
}

// eachOf is a row for each program of a mix, by what it asks of the link when alone.
func (b *Book) eachOf(r *Reproduced, m *mixes.Mix, s singles) (out []singles) {
	spec, err := b.mixSpec(m, b.Study.scheme(r.Figure.Schemes[0]), "")
	var order []int
	if err == nil {
		order, err = b.byDemand(&spec)
	}
	if err != nil {
		r.fail(err)
		return nil
	}
	for i, of := range order {
		one := s
		one.set, one.program, one.of = rank(i), m.Name+" "+rank(i), of
		out = append(out, one)
	}
	return out
}

// validateMixed checks what figures of schemes draw in the kinds of those of configurations.
func (s *Study) validateMixed(at *yamldoc.Node, f *Figure) error {
	switch {
	case !slices.Contains([]string{"ratios", "values"}, f.Kind):
		return at.Errorf("figure %s: kind %s takes configs, not schemes", f.Name, f.Kind)
	case len(f.Sets) == 0 || len(f.Configs) > 0:
		return at.Errorf("figure %s: schemes need sets, and no configs beside them", f.Name)
	}
	for _, n := range f.Sets {
		for _, m := range s.list.Set(n).Mixes {
			if len(m.Apps) != 2 {
				return at.At("sets").Errorf("figure %s: mix %s has %d programs; kind %s takes two", f.Name, m.Name,
					len(m.Apps), f.Kind)
			}
		}
	}
	return f.validateMetric(at)
}
