package paper

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// What the figures about latency-sensitive tasks have in common (SMQoS, Figures 2 to 4):
// every mix, whose first program has the target, under every scheme with every target.

// taskRuns are the runs of a figure by target and scheme; run is nil where one failed or is not done.
type taskRuns struct {
	set, mix string
	programs []string
	target   float64
	turn     int        // when the mix is asked for
	run      []*taskRun // per scheme of the figure
}

// tasks asks for every mix of the figure's sets under every scheme with every target. It asks for mixes of all sets
// in turn and far apart in their lists, so that the first finished runs are spread over all mixes.
func (b *Book) tasks(r *Reproduced) (out []taskRuns) {
	own, err := b.taskBooks(r.Figure)
	if err != nil {
		r.fail(err)
		return nil
	}
	for _, set := range r.Figure.Sets {
		list := b.Study.mixesFor(r.Figure, set, b.Scale)
		turns := make([]int, len(list))
		for k := range list {
			turns[spread(k, len(list))] = k
		}
		for i, m := range list {
			for _, target := range b.Study.targetsOn(r.Figure, set, b.Scale) {
				out = append(out, taskRuns{set: set, mix: m.Name, programs: m.Apps, target: target, turn: turns[i]})
			}
		}
	}
	order := make([]*taskRuns, len(out))
	for i := range out {
		order[i] = &out[i]
	}
	slices.SortStableFunc(order, func(s, t *taskRuns) int { return s.turn - t.turn })
	for _, t := range order {
		for k, name := range r.Figure.Schemes {
			r.Asked++
			run, err := own[k].run(t.programs, b.Study.scheme(name), t.target)
			switch {
			case errors.Is(err, errPending):
				r.Missing++
			case err != nil:
				r.fail(err)
			default:
				r.Simulators[run.Code]++
			}
			t.run = append(t.run, run)
		}
	}
	return out
}

// spread is the k-th of n things in an order in which neighbours are far apart.
func spread(k, n int) int {
	step := 7
	for gcd(step, n) != 1 {
		step++
	}
	return k * step % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// taskBook is a book for the runs of a figure about latency-sensitive tasks on one machine.
type taskBook struct {
	book   *Book
	figure *Figure
}

// taskBooks are those for the machines of a figure's schemes.
func (b *Book) taskBooks(f *Figure) (out []taskBook, err error) {
	for _, name := range f.Schemes {
		scheme := b.Study.scheme(name)
		own, err := b.on(cmp.Or(scheme.Machine, f.Machine), overlay(f.Set, scheme.Set))
		if err != nil {
			return nil, err
		}
		out = append(out, taskBook{own, f})
	}
	return out, nil
}

// run is a mix under a scheme whose first program has a target, a share of its IPC alone. It returns the kept row, or
// the numbers of the result.
func (b taskBook) run(programs []string, scheme *Scheme, target float64) (*taskRun, error) {
	spec := b.spec(programs, scheme, target)
	mix := strings.Join(programs, "_")
	name := b.name(&spec, mix)
	if run, err := b.book.Runs.find(name); run != nil || err != nil {
		return run, err
	}
	res, err := b.result(spec, fmt.Sprintf("%s %s %.0f %%", mix, scheme.Name, 100*target))
	if err == nil {
		res, err = b.powered(res)
	}
	if err != nil {
		return nil, err
	}
	t := res.Targets[0]
	run := &taskRun{
		Code: fmt.Sprintf("%.12s", b.book.Code), Reached: t.Reached / t.IPC, Batch: taskBatch(res),
		Power: taskPower(res), LS: res.Tenants[0].SMs, Others: res.Tenants[1].SMs,
	}
	if res.Moved != nil {
		run.Moves = res.Moved.SMs
	}
	return run, b.book.Runs.add(name, run)
}

// spec is the run of such a mix.
func (b taskBook) spec(programs []string, scheme *Scheme, target float64) sim.Spec {
	sharing := sim.Sharing{Mode: scheme.Mode, Name: scheme.Mode}
	if scheme.Dynamic {
		if sharing.Epoch = b.book.Scale.Period; scheme.Period > 0 {
			sharing.Epoch = scheme.Period
		}
		sharing.Params = control.Params(scheme.Params)
	}
	spec := b.book.spec(programs, sharing)
	spec.Apps[0].QoSShare = target
	return spec
}

// result is its result, with metrics, a target and energy.
func (b taskBook) result(spec sim.Spec, label string) (*sim.Result, error) {
	res, err := b.book.resultOf(lab.Job{Label: label, Spec: spec, Machine: b.book.machine})
	if idle := (*lab.Nothing)(nil); errors.As(err, &idle) && idle.App == spec.Apps[1].Name {
		err = nil // the other task has all SMs: a throughput of 0
	} else if err == nil && res.Metrics == nil {
		err = fmt.Errorf("%s: the result lacks metrics", label)
	}
	if err == nil && (len(res.Targets) != 1 || res.Energy == nil) {
		err = fmt.Errorf("%s: the result lacks target or energy", label)
	}
	return res, err
}

// powered is a result with the energy of a figure's own power numbers.
func (b taskBook) powered(res *sim.Result) (*sim.Result, error) {
	if len(b.figure.Power) == 0 {
		return res, nil
	}
	own := *res
	own.Tenants = slices.Clone(res.Tenants)
	outside := *res.Outside
	own.Outside = &outside
	m := *b.book.machine
	for k, v := range b.figure.Power {
		if err := sheets.Apply(&m, "power."+k, v); err != nil {
			return nil, err
		}
	}
	return &own, lab.AddEnergy(&own, &m)
}

// The numbers of a result that figures are about.

// reached is 100 if the task reached its target, with reachSlack allowed.
func (t *taskRun) reached() float64 {
	if t.Reached >= 1-reachSlack {
		return 100
	}
	return 0
}

// met is the text in the data that says whether the task reached its target, and whether reachSlack decided.
func (t *taskRun) met() string {
	switch {
	case t.reached() == 0:
		return "false"
	case t.Reached < 1:
		return fmt.Sprintf("within %g %%", 100*reachSlack)
	}
	return "true"
}

func (t *taskRun) batch() float64 { return t.Batch }
func (t *taskRun) power() float64 { return t.Power }

// reachSlack is the distance below a target that still counts as reached: a policy aims at the target itself, and
// ends slightly above or below it.
const reachSlack = 0.001

// taskBatch is the throughput of the batch task over its throughput alone.
func taskBatch(res *sim.Result) float64 {
	if res.Metrics == nil { // it executed nothing
		return 0
	}
	return res.Tenants[1].IPC / res.Metrics.AloneIPC[1]
}

// taskPower is watts.
func taskPower(res *sim.Result) float64 { return res.Energy.Total / res.Seconds }

// group has the runs behind one number of a figure.
type taskGroup struct {
	set    string  // "": all
	target float64 // 0: all
	suffix string
	runs   []taskRuns
}

// groups are all runs and those of each target, then of each set the same.
func (f *Figure) groups(runs []taskRuns) (out []taskGroup) {
	for _, set := range append([]string{""}, f.Sets...) {
		for _, target := range append([]float64{0}, f.Targets...) {
			g := taskGroup{set: set, target: target}
			if set != "" {
				g.suffix = " " + set
			}
			if target > 0 {
				g.suffix += at(target)
			}
			for _, t := range runs {
				if (set == "" || t.set == set) && (target == 0 || t.target == target) {
					g.runs = append(g.runs, t)
				}
			}
			out = append(out, g)
		}
	}
	return out
}

func at(target float64) string { return fmt.Sprintf(" at %.0f", 100*target) }

// values are those of a scheme, NaN where there is no result.
func (g *taskGroup) values(scheme int, of func(*taskRun) float64) []float64 {
	out := make([]float64, len(g.runs))
	for i := range g.runs {
		out[i] = math.NaN()
		if run := g.runs[i].run[scheme]; run != nil {
			out[i] = of(run)
		}
	}
	return out
}

// taskFigure says how a kind of figure is computed from its runs.
type taskFigure struct {
	metric string
	of     func(*taskRun) float64
	unit   string
	// over compares two schemes: points of percent between the means, or percent of ratios.
	over func(x, base []float64) []float64
}

// points are differences of percentages.
func points(x, base []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - base[i]
	}
	return out
}

// ofMeans is the difference of the mean of x from that of base in percent, over the runs that both have.
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
		"reach": {"reach", (*taskRun).reached, "% of runs", points},
		"batch": {"batch", (*taskRun).batch, "over alone", ofMeans},
		"power": {"power", (*taskRun).power, "W", gains},
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
			if x := t.run[i]; x != nil {
				r.row(t.set, t.mix, t.target, name, x.Reached, x.met(), x.Batch, x.Power, x.LS, x.Others, x.Moves)
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
	r.highest(kind.metric, "", f.groups(runs))
	r.highest(kind.metric, " by target", f.groups(runs))
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

// highest measures of each scheme in what share of the figure's bars, in percent, its mean is no lower than that of any
// other: of bars by set and target, or of those by target alone.
func (r *Reproduced) highest(metric, by string, groups []taskGroup) {
	for _, name := range r.Figure.Schemes {
		var bars []float64
		for _, g := range groups {
			if g.target == 0 || (g.set == "") != (by != "") {
				continue
			}
			mine, ok := r.Measures[metric+" "+name+g.suffix+" mean"]
			if !ok {
				continue
			}
			bar := 100.0
			for _, other := range r.Figure.Schemes {
				if r.Measures[metric+" "+other+g.suffix+" mean"].Value > mine.Value {
					bar = 0
				}
			}
			bars = append(bars, bar)
		}
		r.measure(metric+" highest "+name+by, bars)
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
	for _, a := range f.Schemes {
		for _, by := range []string{"", " by target"} {
			for _, s := range []string{" max", " mean", " min"} {
				out = append(out, metric+" highest "+a+by+s)
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
