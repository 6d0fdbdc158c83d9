package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/report/measures"
	"github.com/heddle-sim/heddle/sim"
)

// Reproduced is a figure with its numbers.
type Reproduced struct {
	Figure   *Figure
	Columns  []string
	Rows     [][]string // the data behind the drawing
	Measures map[string]Measure
	Second   map[string]Measure // the same under the second model
	Draw     figure.Figure
	// Problems are runs that failed: each message once, with its count.
	Problems []string

	// Asked, Missing and Simulators belong to figures about tasks: the runs asked for, those that are not there (in a
	// figure of kept runs), and how many come from which simulator.
	Asked, Missing int
	Simulators     map[string]int

	failed map[string]int
	was    *measures.File // a figure that Kept has read: machine and length it was measured with; nil: the study's
}

// Measure is one number that claims can be compared with.
type Measure = measures.Measure

// figure computes one figure from the results in the book.
func (b *Book) figure(f *Figure) *Reproduced {
	r := &Reproduced{Figure: f, Measures: map[string]Measure{}, Simulators: map[string]int{}, failed: map[string]int{}}
	r.Draw = figure.Figure{Title: f.Title, Note: b.note(f)}
	if slices.Contains(singleKinds(), f.Kind) {
		b.single(r)
	}
	if slices.Contains(sideKinds(), f.Kind) {
		(&sided{r, b}).compute()
	}
	switch f.Kind {
	case "slices":
		b.curves(r)
	case "heat":
		b.heat(r)
	case "schemes":
		b.schemes(r)
	case "moved":
		b.moved(r)
	case "energy":
		b.energy(r)
	case "qos":
		b.qos(r)
	case "reach", "batch", "power":
		b.tasksFigure(r)
	case "logs":
		(&logFigure{Reproduced: r, logs: b.Study.Logs}).fill(b)
	}
	return r
}

// note gives the conditions of the numbers.
func (b *Book) note(f *Figure) string {
	s := fmt.Sprintf("scale %s: %s", b.Scale.Name, b.Scale.Runs())
	switch c := b.Scale; {
	case !slices.Contains(singleKinds(), f.Kind):
	case c.Instructions > 0:
		s = fmt.Sprintf("scale %s: %d thread instructions per run", c.Name, c.Instructions)
	case c.Work != "":
		s = fmt.Sprintf("scale %s: the work %s does in cycles %d to %d", c.Name, c.Work, c.Warmup, c.Budget)
	}
	if in := f.Inputs[b.Scale.Name]; in != "" {
		s += ", inputs " + in
	}
	if f.model != nil {
		s = f.model.About + "; " + s
	}
	if f.Note != "" {
		s = f.Note + "; " + s
	}
	return s
}

// fail records a run without a result; a run that is not done yet is no failure.
func (r *Reproduced) fail(err error) {
	if errors.Is(err, errPending) {
		return
	}
	msg := err.Error()
	if r.failed[msg]++; r.failed[msg] == 1 {
		r.Problems = append(r.Problems, msg)
	}
}

func (r *Reproduced) row(cells ...any) {
	out := make([]string, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case float64:
			if !math.IsNaN(v) { // a run that failed leaves its cell empty
				out[i] = fmt.Sprintf("%.6g", v)
			}
		default:
			out[i] = fmt.Sprint(c)
		}
	}
	r.Rows = append(r.Rows, out)
}

// measure records the mean and the extremes of the known values of xs.
func (r *Reproduced) measure(name string, xs []float64) {
	known := numbers(xs)
	if len(known) == 0 {
		return
	}
	sum := 0.0
	for _, x := range known {
		sum += x
	}
	for suffix, v := range map[string]float64{
		"mean": sum / float64(len(known)), "max": slices.Max(known),
		"min": slices.Min(known),
	} {
		r.Measures[name+" "+suffix] = Measure{Value: v, N: len(known), Of: len(xs)}
	}
}

// numbers leaves out missing values.
func numbers(xs []float64) []float64 {
	var out []float64
	for _, x := range xs {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

// gains are the differences of each x from its base, in percent.
func gains(x, base []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = 100 * (x[i]/base[i] - 1)
	}
	return out
}

// curves is a program's speed against channels with the SMs of `at`, and against SMs
// with the groups of `at`, over its speed there (UGPU, Figures 2 and 3).
func (b *Book) curves(r *Reproduced) {
	f := r.Figure
	p, per := f.Programs[0], b.machine.DRAM.Channels/b.groups()
	base, err := b.Slice(p, f.At[0], f.At[1])
	if err != nil {
		r.fail(err)
		base = math.NaN()
	}
	r.Columns = []string{"program", "sms", "channels", "ipc", "relative"}
	point := func(sms, groups int) float64 {
		x, err := b.Slice(p, sms, groups)
		if err != nil {
			r.fail(err)
			x = math.NaN()
		}
		r.row(p, sms, per*groups, x, x/base)
		return x / base
	}
	byGroups, bySMs := curve{Name: p}, curve{Name: p}
	for _, g := range f.Groups {
		y := point(f.At[0], g)
		r.measure(fmt.Sprintf("channels %d/%d", per*g, per*f.At[1]), []float64{100 * (y - 1)})
		byGroups.add(float64(per*g), y)
	}
	for _, s := range f.SMs {
		y := point(s, f.At[1])
		r.measure(fmt.Sprintf("sms %d/%d", s, f.At[0]), []float64{100 * (y - 1)})
		bySMs.add(float64(s), y)
	}
	zero := 0.0
	r.Draw.Panels = []figure.Panel{
		{
			Title: fmt.Sprintf("(a) %d SMs", f.At[0]), XLabel: "memory channels", YLabel: "speed", Kind: figure.Lines,
			Series: []figure.Series{figure.Series(byGroups)}, YMin: &zero,
		},
		{
			Title: fmt.Sprintf("(b) %d channels", per*f.At[1]), XLabel: "SMs", YLabel: "speed", Kind: figure.Lines,
			Series: []figure.Series{figure.Series(bySMs)}, YMin: &zero,
		},
	}
}

// curve is a Series that grows by the points that are known.
type curve figure.Series

func (c *curve) add(x, y float64) {
	if !math.IsNaN(y) {
		c.X, c.Y = append(c.X, x), append(c.Y, y)
	}
}

// heat is STP over how SMs and channel groups are divided between two programs. Because slices isolate, it is the sum
// of the speeds that each reaches alone on its slice (UGPU, section 3.1, Figure 4). The axes are the first program's
// share.
func (b *Book) heat(r *Reproduced) {
	f := r.Figure
	first, second := f.Programs[0], f.Programs[1]
	per := b.machine.DRAM.Channels / b.groups()
	r.Columns = []string{"sms_" + first, "channels_" + first, "progress_" + first, "progress_" + second, "stp"}
	progress := func(p string, sms, groups int) float64 {
		alone, err := b.Whole(p)
		x, err2 := b.Slice(p, sms, groups)
		if err = errors.Join(err, err2); err != nil {
			r.fail(err)
			return math.NaN()
		}
		return x / alone
	}
	stp := func(sms, groups int) (x, y float64) {
		return progress(first, sms, groups), progress(second, b.machine.SM.Count-sms, b.groups()-groups)
	}
	x, y := stp(f.At[0], f.At[1])
	even := x + y
	panel := figure.Panel{Kind: figure.Heat, XLabel: "SMs of " + first, YLabel: "channels of " + first, Title: "STP"}
	for _, s := range f.SMs {
		panel.XNames = append(panel.XNames, fmt.Sprint(s))
	}
	var all []float64
	for i := len(f.Groups) - 1; i >= 0; i-- { // most channels at the top
		g := f.Groups[i]
		panel.YNames = append(panel.YNames, fmt.Sprint(per*g))
		var row []float64
		for _, s := range f.SMs {
			x, y := stp(s, g)
			r.row(s, per*g, x, y, x+y)
			r.measure(fmt.Sprintf("%d SMs %d channels/even", s, per*g), []float64{100 * ((x+y)/even - 1)})
			row = append(row, x+y)
		}
		panel.Grid = append(panel.Grid, row)
		all = append(all, row...)
	}
	if known := numbers(all); len(known) > 0 {
		r.measure("best/even", []float64{100 * (slices.Max(known)/even - 1)})
	}
	r.Draw.Panels = []figure.Panel{panel}
}

// mixRun is one mix of a set with its results by scheme.
type mixRun struct {
	set string
	mix mixes.Mix
	res []*sim.Result // per scheme of the figure; nil: failed or not done
}

// runs asks for every mix of the figure's sets under every scheme.
func (b *Book) runs(r *Reproduced, high string) []mixRun {
	var out []mixRun
	for _, set := range r.Figure.Sets {
		for _, m := range b.Study.mixesFor(r.Figure, set, b.Scale) {
			run := mixRun{set: set, mix: m}
			for _, name := range r.Figure.Schemes {
				res, err := b.Mix(&m, b.Study.scheme(name), high)
				if err != nil {
					r.fail(err)
				}
				run.res = append(run.res, res)
			}
			out = append(out, run)
		}
	}
	return out
}

// column takes one number per mix of a scheme; NaN where there is no result.
func column(runs []mixRun, scheme int, f func(*sim.Result) float64) []float64 {
	out := make([]float64, len(runs))
	for i, run := range runs {
		out[i] = math.NaN()
		if res := run.res[scheme]; res != nil && res.Metrics != nil {
			out[i] = f(res)
		}
	}
	return out
}
