package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// What the figures about latency-sensitive tasks have in common (SMQoS, Figures 2 to 4):
// every mix, whose first program has the target, under every scheme with every target.

// taskRuns are the results of a figure by target and scheme; res is nil where one failed.
type taskRuns struct {
	set, mix string
	target   float64
	res      []*sim.Result // per scheme of the figure
}

// tasks asks for every mix of the figure's sets under every scheme with every target.
func (b *Book) tasks(r *Reproduced) (out []taskRuns) {
	own, err := b.on(r.Figure.Machine, r.Figure.Set)
	if err != nil {
		r.fail(err)
		return nil
	}
	for _, set := range r.Figure.Sets {
		for _, m := range b.Study.mixesOn(r.Figure.Machine, set, b.Scale) {
			for _, target := range b.Study.targetsOn(r.Figure, set, b.Scale) {
				t := taskRuns{set: set, mix: m.Name, target: target}
				for _, name := range r.Figure.Schemes {
					res, err := own.task(m.Apps, b.Study.scheme(name), target)
					if err == nil {
						res, err = own.powered(res, r.Figure)
					}
					if err != nil {
						r.fail(err)
						res = nil
					}
					t.res = append(t.res, res)
				}
				out = append(out, t)
			}
		}
	}
	return out
}

// task is a mix under a scheme whose first program has a target, a share of its IPC alone.
func (b *Book) task(programs []string, scheme *Scheme, target float64) (*sim.Result, error) {
	sharing := sim.Sharing{Mode: scheme.Mode, Name: scheme.Mode}
	if scheme.Dynamic {
		if sharing.Epoch = b.Scale.Epoch; scheme.Epoch > 0 {
			sharing.Epoch = scheme.Epoch
		}
		sharing.Params = control.Params(scheme.Params)
	}
	spec := b.spec(programs, sharing)
	spec.Apps[0].QoSShare = target
	res, err := b.resultOf(lab.Job{
		Label: fmt.Sprintf("%s_%s %s %.0f %%", programs[0], programs[1], scheme.Name, 100*target), Spec: spec,
		Machine: b.machine,
	})
	if idle := (*lab.Nothing)(nil); errors.As(err, &idle) && idle.App == programs[1] {
		err = nil // all SMs are the other's: a throughput of nothing
	} else if err == nil && res.Metrics == nil {
		err = fmt.Errorf("%s_%s %s: the result lacks metrics", programs[0], programs[1], scheme.Name)
	}
	if err == nil && (len(res.Targets) != 1 || res.Energy == nil) {
		err = fmt.Errorf("%s_%s %s: the result lacks target or energy", programs[0], programs[1], scheme.Name)
	}
	return res, err
}

// powered is a result with the energy of a figure's own power numbers.
func (b *Book) powered(res *sim.Result, f *Figure) (*sim.Result, error) {
	if len(f.Power) == 0 {
		return res, nil
	}
	own := *res
	own.Tenants = slices.Clone(res.Tenants)
	outside := *res.Outside
	own.Outside = &outside
	m := *b.machine
	for k, v := range f.Power {
		if err := sheets.Apply(&m, "power."+k, v); err != nil {
			return nil, err
		}
	}
	return &own, lab.AddEnergy(&own, &m)
}

// The numbers of a result that figures are about.

// taskReached is 100 where the task reached its target, to within the two digits it has.
func taskReached(res *sim.Result) float64 {
	if t := &res.Targets[0]; t.Reached >= t.IPC*(1-reachSlack) {
		return 100
	}
	return 0
}

// reachSlack is what may lack of a target that counts as reached: a policy aims at the
// target itself, so that it ends a hair above or below.
const reachSlack = 0.001

// taskBatch is the throughput of the batch task over what it has alone.
func taskBatch(res *sim.Result) float64 {
	if res.Metrics == nil { // it executed nothing
		return 0
	}
	return res.Tenants[1].IPC / res.Metrics.AloneIPC[1]
}

// taskPower is watts.
func taskPower(res *sim.Result) float64 { return res.Energy.Total / res.Seconds }

// group is the runs that one number of a figure is of.
type taskGroup struct {
	suffix string
	runs   []taskRuns
}

// groups are all runs, those of each target, of each set, and of each set and target.
func (f *Figure) groups(runs []taskRuns) (out []taskGroup) {
	add := func(suffix string, of func(*taskRuns) bool) {
		g := taskGroup{suffix: suffix}
		for i := range runs {
			if of(&runs[i]) {
				g.runs = append(g.runs, runs[i])
			}
		}
		out = append(out, g)
	}
	add("", func(*taskRuns) bool { return true })
	for _, p := range f.Targets {
		add(at(p), func(t *taskRuns) bool { return t.target == p })
	}
	for _, s := range f.Sets {
		add(" "+s, func(t *taskRuns) bool { return t.set == s })
		for _, p := range f.Targets {
			add(" "+s+at(p), func(t *taskRuns) bool { return t.set == s && t.target == p })
		}
	}
	return out
}

func at(target float64) string { return fmt.Sprintf(" at %.0f", 100*target) }

// values are those of a scheme, NaN where there is no result.
func (g *taskGroup) values(scheme int, of func(*sim.Result) float64) []float64 {
	out := make([]float64, len(g.runs))
	for i := range g.runs {
		out[i] = math.NaN()
		if res := g.runs[i].res[scheme]; res != nil {
			out[i] = of(res)
		}
	}
	return out
}

// taskFigure says how a kind of figure is made of its runs.
type taskFigure struct {
	metric string
	of     func(*sim.Result) float64
	unit   string
	// over compares two schemes: points of percent between the means, or percent of ratios.
	over func(x, base []float64) []float64
}

// points are differences of what is in percent.
func points(x, base []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - base[i]
	}
	return out
}

// ofMeans is by how many percent the mean of x is above that of base, over what both have.
func ofMeans(x, base []float64) []float64 {
	var a, b float64
	for i := range x {
		if !math.IsNaN(x[i]) && !math.IsNaN(base[i]) {
			a, b = a+x[i], b+base[i]
		}
	}
	return []float64{100 * (a/b - 1)}
}

func taskFigures() map[string]taskFigure {
	return map[string]taskFigure{
		"reach": {"reach", taskReached, "% of runs", points},
		"batch": {"batch", taskBatch, "over alone", ofMeans},
		"power": {"power", taskPower, "W", gains},
	}
}

// tasksFigure draws one number of all runs by set and target, a bar per scheme.
func (b *Book) tasksFigure(r *Reproduced) {
	f, kind := r.Figure, taskFigures()[r.Figure.Kind]
	runs := b.tasks(r)
	r.Columns = []string{
		"set", "mix", "target", "scheme", "reached_over_target", "met", "batch_over_alone", "power_w", "ls_sms",
		"batch_sms", "sm_moves",
	}
	for _, t := range runs {
		for i, name := range f.Schemes {
			if res := t.res[i]; res != nil {
				x, moves := res.Targets[0], 0
				if res.Moved != nil {
					moves = res.Moved.SMs
				}
				r.row(t.set, t.mix, t.target, name, x.Reached/x.IPC, taskReached(res) > 0, taskBatch(res),
					taskPower(res), res.Tenants[0].SMs, res.Tenants[1].SMs, moves)
			}
		}
	}
	for _, g := range f.groups(runs) {
		for i, a := range f.Schemes {
			x := g.values(i, kind.of)
			r.measure(kind.metric+" "+a+g.suffix, x)
			for j, base := range f.Schemes {
				if i != j {
					r.measure(kind.metric+" "+a+"/"+base+g.suffix, kind.over(x, g.values(j, kind.of)))
				}
			}
		}
	}
	zero := 0.0
	for _, s := range f.Sets {
		p := figure.Panel{Title: s, XLabel: "target, % of alone", YLabel: kind.unit, Kind: figure.Bars, YMin: &zero}
		targets := b.Study.targetsOn(f, s, b.Scale)
		for _, target := range targets {
			p.Ticks = append(p.Ticks, fmt.Sprintf("%.0f", 100*target))
		}
		for _, name := range f.Schemes {
			series := figure.Series{Name: name}
			for _, target := range targets {
				series.Y = append(series.Y, r.Measures[kind.metric+" "+name+" "+s+at(target)+" mean"].Value)
			}
			p.Series = append(p.Series, series)
		}
		r.Draw.Panels = append(r.Draw.Panels, p)
	}
}

// taskNames are the measures of such a figure.
func taskNames(f *Figure) (out []string) {
	metric := taskFigures()[f.Kind].metric
	for _, g := range f.groups(nil) {
		for _, a := range f.Schemes {
			for _, base := range append([]string{""}, f.Schemes...) {
				name := metric + " " + a
				if base == a {
					continue
				} else if base != "" {
					name += "/" + base
				}
				for _, s := range []string{" max", " mean", " min"} {
					out = append(out, name+g.suffix+s)
				}
			}
		}
	}
	return out
}

// validateTasks checks what such a figure needs beside sets and schemes.
func (s *Study) validateTasks(f *Figure) error {
	if len(f.Targets) == 0 {
		return fmt.Errorf("figure %s: kind %s needs targets, shares of the IPC alone", f.Name, f.Kind)
	}
	for _, t := range f.Targets {
		if !(t > 0 && t <= 1) {
			return fmt.Errorf("figure %s: target %g: a share of the IPC alone is above 0 and at most 1", f.Name, t)
		}
	}
	for k, v := range f.Power {
		if err := sheets.Apply(&sheets.Machine{}, "power."+k, v); err != nil {
			return err
		}
	}
	of := *s
	if f.Machine != "" {
		of.Machine = f.Machine
	}
	for i := range s.Scales {
		if _, _, err := of.Sheet(&s.Scales[i], f.Set); err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
	}
	return nil
}
