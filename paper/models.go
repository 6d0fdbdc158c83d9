package paper

import (
	"slices"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Model is a way to count the same experiment: the numbers of the machine that differ, and the metrics that replace a
// figure's. A figure that names two is judged by the first; the second is a column beside it.
type Model struct {
	Name    string          `yaml:"name"`
	About   string          `yaml:"about"`   // what is counted, for the notes of figures
	Set     runfile.Scalars `yaml:"set"`     // numbers of the machine
	Runtime string          `yaml:"runtime"` // of unified memory; "": the configuration's
	Metrics runfile.Scalars `yaml:"metrics"` // a figure's metric, and the one that is measured in its place
}

// modelList is those of a study.
type modelList []Model

func (m modelList) find(name string) *Model {
	i := slices.IndexFunc(m, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &m[i]
}

// validate checks the models, and what figures name of them.
func (m modelList) validate(root *yamldoc.Node, figures []Figure) error {
	var names []string
	for i := range m {
		at := item(root, "models", i)
		if m[i].Name == "" || m[i].About == "" || slices.Contains(names, m[i].Name) {
			return at.Errorf("a model needs a name of its own, and about: what it counts")
		}
		names = append(names, m[i].Name)
		for from, to := range m[i].Metrics {
			if metrics()[from].of == nil || metrics()[to].of == nil {
				return at.At("metrics").Errorf("model %s: %q or %q is no metric", m[i].Name, from, to)
			}
		}
	}
	for i := range figures {
		f, at := &figures[i], item(root, "figures", i)
		if len(f.Models) == 0 {
			continue
		}
		if len(f.Models) > 2 || len(f.Schemes) > 0 || !slices.Contains([]string{"ratios", "values", "pairs"}, f.Kind) {
			return at.At("models").Errorf("figure %s: models are one or two, and only kinds ratios, values and pairs "+
				"of configs take them", f.Name)
		}
		for _, n := range f.Models {
			if m.find(n) == nil {
				return at.At("models").Errorf("figure %s: no model %q%s", f.Name, n, yamldoc.DidYouMean(n, names))
			}
		}
	}
	return nil
}

// of is a configuration under a model; nil: as it is.
func (m *Model) of(c *Config) *Config {
	if m == nil {
		return c
	}
	own := *c
	own.Set = overlay(c.Set, m.Set)
	if m.Runtime != "" {
		own.Memory.Unified.Runtime = m.Runtime
	}
	return &own
}

// metric is what a figure compares.
func (f *Figure) metric() metric {
	m := metrics()[f.Metric]
	if f.model != nil && f.model.Metrics[f.Metric] != "" {
		m.of = metrics()[f.model.Metrics[f.Metric]].of
	}
	return m
}

// second titles the column of the second model, if there is one.
func (f *Figure) second() []string {
	if len(f.Models) < 2 {
		return nil
	}
	return f.Models[1:]
}

// modelled is a figure under each of its models.
type modelled struct {
	book   *Book
	figure *Figure
}

// compute does the figure once for every model; its drawing is of the first.
func (m modelled) compute() (all *Reproduced) {
	if len(m.figure.Models) == 0 {
		return m.book.figure(m.figure)
	}
	for _, name := range m.figure.Models {
		own := *m.figure
		own.model = m.book.Study.Models.find(name)
		r := m.book.figure(&own)
		r.Columns = append([]string{"model"}, r.Columns...)
		for i := range r.Rows {
			r.Rows[i] = append([]string{name}, r.Rows[i]...)
		}
		if all == nil {
			all = r
			all.Figure = m.figure
			continue
		}
		all.Rows, all.Second = append(all.Rows, r.Rows...), r.Measures
		for _, p := range r.Problems {
			all.Problems = append(all.Problems, name+": "+p)
		}
	}
	return all
}
