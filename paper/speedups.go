package paper

import (
	"math"
	"slices"

	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sim"
)

// Figures of mixes with a CPU and a GPU side (Hydrogen, sections III and VI).

// sideKinds are the kinds of these figures.
func sideKinds() []string { return []string{"slowdowns", "sides", "speedups", "memory", "search"} }

// sided is a figure of both sides at work.
type sided struct {
	*Reproduced
	book *Book
}

// compute computes it.
func (r *sided) compute() {
	switch r.Figure.Kind {
	case "slowdowns":
		r.slowdowns()
	case "sides":
		r.sides()
	case "speedups":
		r.speedups()
	case "memory":
		r.memoryEnergy()
	case "search":
		r.search()
	}
}

// slowdowns has the slowdown of each side beside the other, over its speed alone on the first configuration
// (Hydrogen, Figures 2a and 10a); a measure is in percent above 1.
func (r *sided) slowdowns() {
	f := r.Figure
	runs := r.runs(both, f.Configs)
	alone := map[side][]sideRun{}
	for _, s := range []side{cpuSide, gpuSide} {
		alone[s] = r.runs(s, f.Configs[:1])
	}
	r.Columns = []string{"set", "mix", "configuration", "cpu_slowdown", "gpu_slowdown"}
	slow := func(i, config int, s side) float64 { return speedOf(alone[s][i].res[0], runs[i].res[config], s) }
	for i := range runs {
		for c, name := range f.Configs {
			r.row(runs[i].set, runs[i].mix, name, slow(i, c, cpuSide), slow(i, c, gpuSide))
		}
	}
	at := func(run *sideRun) int {
		return slices.IndexFunc(runs, func(x sideRun) bool { return x.mix == run.mix && x.set == run.set })
	}
	for c, name := range f.Configs {
		r.over("cpu slowdown "+name, runs, func(x *sideRun) float64 { return slow(at(x), c, cpuSide) })
		r.over("gpu slowdown "+name, runs, func(x *sideRun) float64 { return slow(at(x), c, gpuSide) })
		r.over("cpu/gpu slowdown "+name, runs, func(x *sideRun) float64 {
			return slow(at(x), c, cpuSide) / slow(at(x), c, gpuSide)
		})
	}
	if len(f.Configs) > 1 {
		r.sideBars(f.Configs, "slowdown over alone", func(config int, s side) float64 {
			all := make([]float64, len(runs))
			for i := range runs {
				all[i] = slow(i, config, s)
			}
			return geometricMean(all)
		})
		return
	}
	var names []string
	for _, x := range runs {
		names = append(names, x.mix)
	}
	r.sideBars(names, "slowdown over alone", func(i int, s side) float64 { return slow(i, 0, s) })
}

// sideBars draws a bar per side for each of the names.
func (r *sided) sideBars(names []string, unit string, of func(i int, s side) float64) {
	one, zero := 1.0, 0.0
	p := figure.Panel{Kind: figure.Bars, YLabel: unit, Ticks: names, RefLine: &one, YMin: &zero}
	for _, s := range []struct {
		name string
		side side
	}{{"CPU", cpuSide}, {"GPU", gpuSide}} {
		y := make([]float64, len(names))
		for i := range names {
			y[i] = drawn(of(i, s.side))
		}
		p.Series = append(p.Series, figure.Series{Name: s.name, Y: y})
	}
	r.Draw.Panels = append(r.Draw.Panels, p)
}

// drawn is a bar; no bar is drawn for an unknown value.
func drawn(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// sides is the speed of each side on configurations, together, over the first one (Hydrogen, Figures 2b to
// 2d).
func (r *sided) sides() {
	f := r.Figure
	runs := r.runs(both, f.Configs)
	r.Columns = []string{"set", "mix", "configuration", "cpu_speed", "gpu_speed"}
	for _, x := range runs {
		for c, name := range f.Configs {
			r.row(x.set, x.mix, name, speedOf(x.res[c], x.res[0], cpuSide), speedOf(x.res[c], x.res[0], gpuSide))
		}
	}
	for c, name := range f.Configs[1:] {
		r.bothSides(name, runs, func(x *sideRun, s side) float64 { return speedOf(x.res[c+1], x.res[0], s) })
	}
	r.sideBars(f.Configs, "speed over "+f.Configs[0], func(c int, s side) float64 {
		all := make([]float64, len(runs))
		for i := range runs {
			all[i] = speedOf(runs[i].res[c], runs[i].res[0], s)
		}
		return geometricMean(all)
	})
}

// bothSides records the speed of each side, and of one over the other.
func (r *sided) bothSides(name string, runs []sideRun, of func(x *sideRun, s side) float64) {
	r.over("cpu "+name, runs, func(x *sideRun) float64 { return of(x, cpuSide) })
	r.over("gpu "+name, runs, func(x *sideRun) float64 { return of(x, gpuSide) })
	r.over("gpu/cpu "+name, runs, func(x *sideRun) float64 { return of(x, gpuSide) / of(x, cpuSide) })
}

// gainOf is a configuration's speed-up over the one that it is compared with.
func (r *sided) gainOf(x *sideRun, config int) float64 {
	f, s := r.Figure, r.book.Study
	return speedUp(x.res[config], x.res[f.over(s, config)], s.weight(s.config(f.Configs[config])))
}

// speedups is the weighted speed-up of configurations (Hydrogen, Figures 5, 7, 9, 10b and 11). One over another is the
// quotient of theirs; the data have the mean of both sides with equal weights beside it, and the weighted IPC.
func (r *sided) speedups() {
	f := r.Figure
	runs := r.runs(both, f.Configs)
	r.Columns = []string{"set", "mix", "configuration", "speedup", "cpu", "gpu", "equal_weights", "weighted_ipc"}
	for i := range runs {
		x := &runs[i]
		for c, name := range f.Configs {
			base, weight := x.res[f.over(r.book.Study, c)], r.book.Study.weight(r.book.Study.config(name))
			r.row(x.set, x.mix, name, r.gainOf(x, c), speedOf(x.res[c], base, cpuSide),
				speedOf(x.res[c], base, gpuSide), speedUp(x.res[c], base, 1),
				weightedIPC(x.res[c], weight)/weightedIPC(base, weight))
		}
	}
	gain := func(c int) func(*sideRun) float64 {
		return func(x *sideRun) float64 { return r.gainOf(x, c) }
	}
	f.comparable(r.book.Study, func(c, d int) {
		name := f.Configs[c] + "/" + f.Configs[d]
		r.over("speedup "+name, runs, func(x *sideRun) float64 { return gain(c)(x) / gain(d)(x) })
		r.over("cpu "+name, runs, func(x *sideRun) float64 { return speedOf(x.res[c], x.res[d], cpuSide) })
		r.over("gpu "+name, runs, func(x *sideRun) float64 { return speedOf(x.res[c], x.res[d], gpuSide) })
	})
	r.mixBars(runs, "weighted speed-up", gain)
}

// comparable calls do for every ordered pair of configurations that are compared with the same one.
func (f *Figure) comparable(s *Study, do func(c, d int)) {
	for c := range f.Configs {
		for d := range f.Configs {
			if c != d && f.over(s, c) == f.over(s, d) {
				do(c, d)
			}
		}
	}
}

// mixBars draws mixes and their geometric mean, a bar per configuration that is compared with another.
func (r *sided) mixBars(runs []sideRun, unit string, of func(config int) func(*sideRun) float64) {
	f := r.Figure
	one := 1.0
	p := figure.Panel{Kind: figure.Bars, YLabel: unit, RefLine: &one}
	for _, x := range runs {
		p.Ticks = append(p.Ticks, x.mix)
	}
	p.Ticks = append(p.Ticks, "mean")
	for c, name := range f.Configs {
		if f.over(r.book.Study, c) == c {
			continue
		}
		y := make([]float64, len(runs))
		for i := range runs {
			y[i] = of(c)(&runs[i])
		}
		mean := geometricMean(y)
		for i := range y {
			y[i] = drawn(y[i])
		}
		p.Series = append(p.Series, figure.Series{Name: name, Y: append(y, drawn(mean))})
	}
	r.Draw.Panels = append(r.Draw.Panels, p)
}

// memoryEnergy is the energy of all tiers for equal work, static energy included, over the first configuration's
// (Hydrogen, Figure 6). Runs have equal time, so that the weighted speed-up stands for the work.
func (r *sided) memoryEnergy() {
	f := r.Figure
	runs := r.runs(both, f.Configs)
	energy := func(res *sim.Result) float64 {
		if res == nil || res.Energy == nil {
			return math.NaN()
		}
		return res.Energy.Of("dram")
	}
	per := func(c int) func(*sideRun) float64 {
		return func(x *sideRun) float64 {
			return energy(x.res[c]) / energy(x.res[0]) / speedUp(x.res[c], x.res[0], r.book.Study.Weight)
		}
	}
	r.Columns = []string{"set", "mix", "configuration", "memory_j", "per_work_over_" + f.Configs[0]}
	for i := range runs {
		for c, name := range f.Configs {
			r.row(runs[i].set, runs[i].mix, name, energy(runs[i].res[c]), per(c)(&runs[i]))
		}
	}
	for c, name := range f.Configs {
		for d, other := range f.Configs {
			if c != d {
				r.over("energy "+name+"/"+other, runs, func(x *sideRun) float64 { return per(c)(x) / per(d)(x) })
			}
		}
	}
	r.mixBars(runs, "memory energy over "+f.Configs[0], per)
}

// search measures the result of an online search (Hydrogen, Figure 8): the second configuration searches, the others
// stay at a point, and all are compared with the first.
func (r *sided) search() {
	f := r.Figure
	runs := r.runs(both, f.Configs)
	r.Columns = []string{"set", "mix", "configuration", "speedup", "over_" + f.Configs[1]}
	p := figure.Panel{
		Kind: figure.Sorted, XLabel: "configurations, sorted", YLabel: "speed over " + f.Configs[1],
	}
	one := 1.0
	p.RefLine = &one
	fixed := func(x *sideRun) (ys []float64) {
		for c := range f.Configs[2:] {
			ys = append(ys, r.gainOf(x, c+2)/r.gainOf(x, 1))
		}
		return ys
	}
	for i := range runs {
		x := &runs[i]
		for c, name := range f.Configs {
			r.row(x.set, x.mix, name, r.gainOf(x, c), r.gainOf(x, c)/r.gainOf(x, 1))
		}
		if known := numbers(fixed(x)); len(known) > 0 {
			p.Series = append(p.Series, figure.Series{Name: x.mix, Y: known})
		}
	}
	best := func(x *sideRun) float64 { return most(numbers(fixed(x))) }
	found := f.Configs[1]
	r.over("best/"+found, runs, best)
	r.over(found+"/best", runs, func(x *sideRun) float64 { return 1 / best(x) })
	r.over("best/median", runs, func(x *sideRun) float64 { return best(x) / median(numbers(fixed(x))) })
	r.Draw.Panels = []figure.Panel{p}
}

// most and median of an empty list are NaN.
func most(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	return slices.Max(xs)
}

func median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// sidedNames are the measures of a figure of both sides.
func (s *Study) sidedNames(f *Figure) (out []string) {
	var all []string
	for _, set := range f.Sets {
		for _, m := range s.list.Set(set).Mixes {
			all = append(all, m.Name)
		}
	}
	each := func(names ...string) {
		for _, name := range names {
			out = append(out, name+" max", name+" mean", name+" min")
			for _, m := range all {
				out = append(out, name+" "+m)
			}
		}
	}
	switch f.Kind {
	case "slowdowns":
		for _, c := range f.Configs {
			each("cpu slowdown "+c, "gpu slowdown "+c, "cpu/gpu slowdown "+c)
		}
	case "sides":
		for _, c := range f.Configs[1:] {
			each("cpu "+c, "gpu "+c, "gpu/cpu "+c)
		}
	case "speedups":
		f.comparable(s, func(c, d int) {
			name := f.Configs[c] + "/" + f.Configs[d]
			each("speedup "+name, "cpu "+name, "gpu "+name)
		})
	case "memory":
		f.ordered(f.Configs, func(a, base string) { each("energy " + a + "/" + base) })
	case "search":
		each("best/"+f.Configs[1], f.Configs[1]+"/best", "best/median")
	}
	return out
}
