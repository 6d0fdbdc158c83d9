package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	models "github.com/heddle-sim/heddle/workload/cpu"
)

// Runs of mixes with a CPU side, several programs in copies, and a GPU side: on configurations of a machine, both
// sides together or one of them (Hydrogen, sections III and VI). A side's speed is what it takes for equal work: of
// programs that each do as much as in the run they are held against, the sum of their times.

// side says whose programs run.
type side string

const (
	both    side = "both sides"
	cpuSide side = "the CPU side"
	gpuSide side = "the GPU side"
)

// defaultCopies is how many copies of a CPU program run: 2 (Hydrogen, section V).
const defaultCopies = 2

// endless is more instructions than any run executes: models of CPU programs have no end.
const endless = 1 << 49

// Sides is a mix on a configuration, for the scale's budget.
func (b *Book) Sides(m *mixes.Mix, c *Config, whose side) (*sim.Result, error) {
	name, set, sheet, err := b.Study.sheet(c, b.Scale, b.own)
	if err != nil {
		return nil, err
	}
	sharing := sim.Sharing{Name: c.Name, Memory: c.Memory.Resolve()}
	if sharing.Policies, err = c.governors(b.Scale); err != nil {
		return nil, err
	}
	var kernels []string
	if whose != cpuSide {
		kernels = m.Apps
	}
	spec := b.spec(kernels, sharing)
	spec.Machine, spec.Set = name, set
	spec.Length.Warmup = b.Scale.Warmup
	for i := range spec.Apps {
		spec.Apps[i].AccessesOnly = b.Study.AccessesOnly && !c.WholeKernels
	}
	if whose != gpuSide {
		copies := c.Copies
		if copies == 0 {
			copies = defaultCopies
		}
		for _, p := range m.CPU {
			spec.Apps = append(spec.Apps, sim.App{
				Name: p,
				CPU:  &sim.CPU{Model: c.model(p), Copies: copies, Divide: b.Scale.Divide, Instructions: endless},
			})
		}
	}
	label := fmt.Sprintf("%s on %s, %s", m.Name, c.Name, whose)
	r, err := b.resultOf(lab.Job{Label: label, Spec: spec, Machine: sheet, Bare: true})
	if err != nil {
		return nil, err
	}
	for i := range r.Tenants {
		if r.Tenants[i].Insts() == 0 {
			return nil, fmt.Errorf("%s: %s executed no instruction after cycle %d of %d", label, r.Tenants[i].Name,
				b.Scale.Warmup, r.Cycles)
		}
	}
	return r, nil
}

// model is the model of a CPU program.
func (c *Config) model(program string) string {
	if c.Models == "" {
		return program
	}
	return program + "-" + c.Models
}

// tenantsOf are a run's tenants on a side.
func tenantsOf(r *sim.Result, whose side) (list []*sim.Tenant) {
	for i := range r.Tenants {
		if t := &r.Tenants[i]; (t.CPU != nil) == (whose == cpuSide) {
			list = append(list, t)
		}
	}
	return list
}

// speedOf is how fast a side is over another run of the same programs; NaN where one is missing.
func speedOf(x, base *sim.Result, whose side) float64 {
	if x == nil || base == nil {
		return math.NaN()
	}
	was, is := 0.0, 0.0
	others := tenantsOf(base, whose)
	for i, t := range tenantsOf(x, whose) {
		// Equal work is what each does in a cycle of the other run.
		unit, now, before := lab.Progress(t, others[i])
		if whose == gpuSide && unit == lab.ByInsts {
			if a, b, ok := timesForEqual(x, base); ok {
				now, before = 1/a, 1/b
			}
		}
		work := before
		if whose == cpuSide { // as many instructions of each program, as in the paper
			work = 1
		}
		was, is = was+work/before, is+work/now
	}
	return was / is
}

// speedUp is the weighted mean of both sides' speeds over another run.
func speedUp(x, base *sim.Result, weight float64) float64 {
	return (weight*speedOf(x, base, cpuSide) + speedOf(x, base, gpuSide)) / (weight + 1)
}

// laneWidth is the lanes of an instruction of an execution unit (SIMD8).
const laneWidth = 8

// weightedIPC is what Hydrogen's search goes by: instructions per CPU cycle, the CPU's weighted.
func weightedIPC(r *sim.Result, weight float64) float64 {
	if r == nil {
		return math.NaN()
	}
	sum, cycles := 0.0, 0.0
	for _, t := range tenantsOf(r, cpuSide) {
		sum, cycles = sum+weight*t.CPU.IPC, t.CPU.Cycles
	}
	for _, t := range tenantsOf(r, gpuSide) {
		sum += float64(t.ThreadInsts) / laneWidth / cycles
	}
	return sum
}

// weight is that of the CPU's speed-up on a configuration.
func (s *Study) weight(c *Config) float64 {
	if c.Weight > 0 {
		return c.Weight
	}
	return s.Weight
}

// over is the position of the configuration that one of a figure is held against.
func (f *Figure) over(s *Study, config int) int {
	return max(0, slices.Index(f.Configs, s.config(f.Configs[config]).Over))
}

// sideRun is a mix with what it gave on the configurations of a figure; nil where there is nothing.
type sideRun struct {
	set, mix string
	res      []*sim.Result
}

// runs asks for every mix of the figure's sets on all of its configurations.
func (r *sided) runs(whose side, configs []string) (out []sideRun) {
	for _, set := range r.Figure.Sets {
		for _, m := range r.book.Study.mixesFor(r.Figure, set, r.book.Scale) {
			run := sideRun{set: set, mix: m.Name}
			for _, name := range configs {
				res, err := r.book.Sides(&m, r.book.Study.config(name), whose)
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

// over records a ratio of every mix and their geometric mean, in percent above 1.
func (r *sided) over(name string, runs []sideRun, of func(*sideRun) float64) {
	ratios := make([]float64, len(runs))
	for i := range runs {
		ratios[i] = of(&runs[i])
		r.of(name+" "+runs[i].mix, 100*(ratios[i]-1))
	}
	r.gain(name, ratios, metric{})
	if mean, ok := r.Measures[name+" mean"]; ok {
		mean.Value = 100 * (geometricMean(ratios) - 1)
		r.Measures[name+" mean"] = mean
	}
}

// validateSides checks what figures of mixes with a CPU side draw.
func (s *Study) validateSides(at *yamldoc.Node, f *Figure) error {
	for _, n := range f.Configs {
		if s.config(n) == nil {
			return at.At("configs").Errorf("figure %s: no configuration %q%s", f.Name, n,
				yamldoc.DidYouMean(n, s.configNames()))
		}
	}
	least := map[string]int{"slowdowns": 1, "search": 3}[f.Kind]
	switch {
	case len(f.Configs) < max(2, least) && f.Kind != "slowdowns", len(f.Configs) < least, len(f.Sets) == 0:
		return at.Errorf("figure %s: kind %s needs sets, and at least %d configs", f.Name, f.Kind, max(2, least))
	case !(s.Weight > 0):
		return at.Errorf("figure %s: kind %s needs the weight of the CPU's speed-up (weight, of the study)", f.Name,
			f.Kind)
	}
	for i, n := range f.Configs {
		if over := s.config(n).Over; over != "" && !slices.Contains(f.Configs, over) {
			return at.At("configs").Errorf("figure %s: %s is compared with %s, which is not in the figure", f.Name,
				f.Configs[i], over)
		}
	}
	for _, n := range f.Sets {
		if set := s.list.Set(n); set != nil && slices.ContainsFunc(set.Mixes, oneSided) {
			return at.At("sets").Errorf("figure %s: set %s has mixes without CPU programs; kind %s takes both sides",
				f.Name, n, f.Kind)
		}
	}
	return s.validateModels(at, f)
}

// validateModels looks for the models that a figure's configurations name.
func (s *Study) validateModels(at *yamldoc.Node, f *Figure) error {
	for _, config := range f.Configs {
		c := s.config(config)
		if c.Models == "" {
			continue
		}
		for _, n := range f.Sets {
			for _, m := range s.list.Set(n).Mixes {
				for _, p := range m.CPU {
					if _, err := models.Load(c.model(p)); err != nil {
						return at.At("configs").Errorf("figure %s, models of %s: %v", f.Name, config, err)
					}
				}
			}
		}
	}
	return nil
}

func oneSided(m mixes.Mix) bool { return len(m.CPU) == 0 || len(m.Apps) == 0 }
