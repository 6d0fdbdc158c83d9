package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Config is a machine to compare with others, by the paper's name: a sheet, the numbers that differ from it, and its
// policies.
type Config struct {
	Name     string           `yaml:"name"`
	Machine  string           `yaml:"machine"` // "": the study's
	Set      runfile.Scalars  `yaml:"set"`
	Policies runfile.Policies `yaml:"policies"`
	Memory   runfile.Memory   `yaml:"memory"`
	// Times multiplies numbers of the machine, and parameters of policies (hydrogen.epoch), relative to their values
	// at the scale.
	Times Params `yaml:"times"`
	// Copies, Weight and Over belong to mixes with a CPU side: copies of each CPU program (0: 2), the weight of the
	// CPU's speed-up (0: the study's), and the configuration that speed-ups are relative to ("": the figure's first).
	Copies int     `yaml:"copies"`
	Weight float64 `yaml:"weight"`
	Over   string  `yaml:"over"`
	// Work names the configuration whose work this one does, instead of the scale's. That configuration has a machine
	// of the same size.
	Work string `yaml:"work"`
	// Models names other models of the mixes' CPU programs: those called PROGRAM-MODELS.
	Models string `yaml:"models"`
	// WholeKernels runs kernels whole, in a study that otherwise simulates only their accesses.
	WholeKernels bool `yaml:"whole_kernels"`
}

// Pair is two configurations that are compared.
type Pair struct {
	Name string `yaml:"name"`
	Of   string `yaml:"of"`
	Over string `yaml:"over"`
	Less string `yaml:"less"` // another pair; the difference to its means is measured, too, in percentage points
}

// Line is configurations that a figure joins by a line.
type Line struct {
	Name    string   `yaml:"name"`
	Configs []string `yaml:"configs"`
}

func (s *Study) config(name string) *Config {
	for i := range s.Configs {
		if s.Configs[i].Name == name {
			return &s.Configs[i]
		}
	}
	return nil
}

// sheet is the machine of a configuration at a scale.
func (s *Study) sheet(c *Config, scale *Scale, set map[string]string) (name string, all map[string]string,
	m *sheets.Machine, err error,
) {
	if name = s.Machine; c.Machine != "" {
		name = c.Machine
	}
	all = overlay(s.Set, scale.Set, c.Set, set)
	wrong := func(err error) (string, map[string]string, *sheets.Machine, error) {
		return "", nil, nil, fmt.Errorf("study %s, configuration %s at scale %s: %w", s.Name, c.Name, scale.Name, err)
	}
	m, from, err := s.shelf.Resolve(name, all)
	if err != nil {
		return wrong(err)
	}
	if len(c.Times) == 0 {
		return name, all, m, nil
	}
	list := from.List(m)
	for _, path := range slices.Sorted(maps.Keys(c.Times)) {
		if c.ofPolicy(path) {
			continue
		}
		i := slices.IndexFunc(list, func(e sheets.Entry) bool { return e.Path == path })
		if i < 0 {
			return wrong(fmt.Errorf("times: the machine has no setting %s", path))
		}
		x, err := strconv.ParseFloat(list[i].Value, 64)
		if err != nil {
			return wrong(fmt.Errorf("times: %s is %s, not a number", path, list[i].Value))
		}
		all[path] = strconv.FormatFloat(x*c.Times[path], 'f', -1, 64)
	}
	if m, _, err = s.shelf.Resolve(name, all); err != nil {
		return wrong(err)
	}
	return name, all, m, nil
}

// ofPolicy says that a factor multiplies a policy's parameter: POLICY.PARAMETER.
func (c *Config) ofPolicy(path string) bool {
	policy, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(c.Policies, func(p runfile.Policy) bool { return p.Policy == policy })
}

// governors are the policies of a configuration at a scale.
func (c *Config) governors(scale *Scale) (list []sim.Governor, err error) {
	for _, p := range c.Policies {
		params := control.Params(maps.Clone(scale.Params[p.Policy]))
		if params == nil {
			params = control.Params(maps.Clone(p.Params))
		}
		maps.Copy(params, p.Params)
		for _, path := range slices.Sorted(maps.Keys(c.Times)) {
			policy, name, _ := strings.Cut(path, ".")
			if policy != p.Policy {
				continue
			}
			if _, given := params[name]; !given {
				return nil, fmt.Errorf("configuration %s: times %s, and neither scale %s nor the policy gives %s",
					c.Name, path, scale.Name, name)
			}
			params[name] = math.Round(params[name] * c.Times[path])
		}
		list = append(list, sim.Governor{Policy: p.Policy, Period: p.Period, Params: params})
	}
	return list, nil
}

// Single is a program alone on a configuration.
func (b *Book) Single(program string, c *Config) (*sim.Result, error) {
	name, set, m, err := b.Study.sheet(c, b.Scale, b.own)
	if err != nil {
		return nil, err
	}
	sharing := sim.Sharing{Mode: "alone", Name: c.Name, Memory: c.Memory.Resolve()}
	if sharing.Policies, err = c.governors(b.Scale); err != nil {
		return nil, err
	}
	unified := &sharing.Memory.Unified
	unified.Capacity = b.Study.program(program).capacity(b.Scale.Inputs, unified.Capacity)
	spec := b.spec([]string{program}, sharing)
	spec.Machine, spec.Set = name, set
	degree := func(f Figure) bool { return f.Kind == "degree" } // figures share runs, and one kind needs it
	spec.Touches = m.VM.Enabled && slices.ContainsFunc(b.Study.Figures, degree)
	if spec.Length, err = b.length(program, c); err != nil {
		return nil, err
	}
	r, err := b.resultOf(lab.Job{
		Label: program + " on " + c.Name, Spec: spec, Machine: m, Cycles: b.Scale.Budget,
	})
	if b.Scale.Whole {
		r, err = whole(r, err)
	}
	if _, err := ipc(r, err); err != nil {
		return nil, err
	}
	return r, nil
}

// capacity is a share of a program's working set in megabytes, if the paper gives the working set.
func (p *Program) capacity(inputs, share string) string {
	part, whole, ok := strings.Cut(share, "/")
	all, known := p.Working[inputs]
	x, err := strconv.ParseFloat(part, 64)
	y, err2 := strconv.ParseFloat(whole, 64)
	if !ok || !known || err != nil || err2 != nil {
		return share
	}
	return strconv.FormatFloat(all*x/y, 'f', -1, 64) + "MB"
}

// length is that of a program's run on a configuration.
func (b *Book) length(program string, c *Config) (sim.Length, error) {
	s := b.Scale
	work := s.Work
	if work != "" && c.Work != "" {
		work = c.Work
	}
	switch {
	case s.Instructions > 0:
		return sim.Length{Instructions: s.Instructions, Warmup: s.Warmup}, nil
	case work == "" || work == c.Name:
		return sim.Length{MaxCycles: s.Budget, Budget: !s.Whole, Warmup: s.Warmup}, nil
	}
	r, err := b.Single(program, b.Study.config(work))
	if err != nil {
		return sim.Length{}, err
	}
	counted, before := r.Tenants[0].ThreadInsts, uint64(0)
	if r.Outside != nil { // of one application under a budget this is the warm-up
		before = r.Outside.ThreadInsts
	}
	return sim.Length{WarmupInstructions: before, Instructions: before + counted}, nil
}

// programs lists the programs of the figure's sets at a scale: each of its mixes has one program.
func (b *Book) programs(f *Figure, set string) (keys []string) {
	for _, m := range b.Study.mixesFor(f, set, b.Scale) {
		keys = append(keys, m.Apps[0])
	}
	return keys
}

// singles are the results of a figure by set, program and configuration; nil if there is none. For schemes, the
// program is a mix.
type singles struct {
	set, program string
	res          []*sim.Result
	of           int // the program of the mix
}

func (b *Book) singles(r *Reproduced, configs []string) (out []singles) {
	if len(r.Figure.Schemes) > 0 {
		return b.mixed(r, configs)
	}
	for _, set := range r.Figure.Sets {
		for _, p := range b.programs(r.Figure, set) {
			s := singles{set: set, program: p}
			for _, name := range configs {
				res, err := b.Single(p, r.Figure.model.of(b.Study.config(name)))
				if err != nil {
					r.fail(err)
				}
				s.res = append(s.res, res)
			}
			out = append(out, s)
		}
	}
	return out
}

func (s *Study) validateConfigs(root *yamldoc.Node) error {
	seen := map[string]bool{}
	for i := range s.Configs {
		c, at := &s.Configs[i], item(root, "configs", i)
		if c.Name == "" || seen[c.Name] {
			return at.Errorf("a configuration needs a name of its own")
		}
		seen[c.Name] = true
		if c.Copies < 0 || c.Weight < 0 {
			return at.Errorf("configuration %s: copies and weight cannot be negative", c.Name)
		}
		if w := s.config(c.Work); c.Work != "" && (w == nil || w != c && w.Work != w.Name) {
			return at.Errorf("configuration %s: work must name a configuration without a work of its own", c.Name)
		}
		if c.Over != "" && s.config(c.Over) == nil {
			return at.At("over").Errorf("configuration %s: no configuration %q%s", c.Name, c.Over,
				yamldoc.DidYouMean(c.Over, s.configNames()))
		}
		for k := range s.Scales {
			_, _, _, err := s.sheet(c, &s.Scales[k], nil)
			if err == nil {
				_, err = c.governors(&s.Scales[k])
			}
			if err != nil {
				return at.Errorf("%v", err)
			}
		}
	}
	return nil
}

// validateSingles checks what figures of configurations draw.
func (s *Study) validateSingles(at *yamldoc.Node, f *Figure) error {
	known := func(key, name string) error {
		if s.config(name) == nil {
			return at.At(key).Errorf("figure %s: no configuration %q%s", f.Name, name,
				yamldoc.DidYouMean(name, s.configNames()))
		}
		if s.config(name).Models != "" {
			return at.At(key).Errorf("figure %s: %s names models, and kind %s has no CPU programs", f.Name,
				name, f.Kind)
		}
		return nil
	}
	if len(f.Schemes) > 0 {
		return s.validateMixed(at, f)
	}
	if f.Each {
		return at.At("each").Errorf("figure %s: each belongs to schemes, for mixes", f.Name)
	}
	for _, n := range f.Configs {
		if err := known("configs", n); err != nil {
			return err
		}
	}
	for _, p := range f.Pairs {
		if err := firstError(known("pairs", p.Of), known("pairs", p.Over)); err != nil {
			return err
		}
	}
	for _, l := range f.Lines {
		for _, n := range l.Configs {
			if err := known("lines", n); err != nil {
				return err
			}
		}
	}
	for _, n := range f.Sets {
		if set := s.list.Set(n); set != nil && slices.ContainsFunc(set.Mixes, manyPrograms) {
			return at.At("sets").Errorf("figure %s: set %s has mixes of several programs; kind %s takes one", f.Name, n,
				f.Kind)
		}
	}
	return s.needs(at, f)
}

// needs says what a figure of configurations lacks.
func (s *Study) needs(at *yamldoc.Node, f *Figure) error {
	least := map[string]int{"ratios": 2, "values": 1, "parts": 2, "degree": 1}[f.Kind]
	lacks := ""
	switch {
	case len(f.Sets) == 0:
		lacks = "sets"
	case len(f.Configs) < least:
		lacks = fmt.Sprintf("at least %d configs", least)
	case f.Kind == "pairs" && len(f.Pairs) == 0:
		lacks = "pairs"
	case f.Kind == "tradeoff" && (len(f.Lines) == 0 || len(f.Configs) != 1):
		lacks = "lines, and as configs the one that counts as 1"
	}
	if lacks != "" {
		return at.Errorf("figure %s: kind %s needs %s", f.Name, f.Kind, lacks)
	}
	if !slices.Contains([]string{"ratios", "values", "pairs"}, f.Kind) {
		return nil
	}
	return f.validateMetric(at)
}

// validateMetric checks that a metric exists for the things that the figure compares.
func (f *Figure) validateMetric(at *yamldoc.Node) error {
	m, ok := metrics()[f.Metric]
	if !ok {
		return at.At("metric").Errorf("figure %s: no metric %q%s", f.Name, f.Metric,
			yamldoc.DidYouMean(f.Metric, slices.Sorted(maps.Keys(metrics()))))
	}
	if m.mixes && (len(f.Schemes) == 0 || f.Each) {
		return at.At("metric").Errorf("figure %s: metric %q describes whole mixes, under schemes", f.Name, f.Metric)
	}
	if !m.mixes && len(f.Schemes) > 0 && !f.Each {
		return at.At("metric").Errorf("figure %s: metric %q describes one program: `each: true` takes the "+
			"programs of mixes", f.Name, f.Metric)
	}
	return nil
}

func (s *Study) configNames() (names []string) {
	for i := range s.Configs {
		names = append(names, s.Configs[i].Name)
	}
	return names
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
