package paper

import (
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// kinds are the kinds of figures.
func kinds() []string {
	own := []string{"slices", "heat", "schemes", "moved", "energy", "qos", "reach", "batch", "power", "logs"}
	return slices.Concat(own, singleKinds(), sideKinds())
}

// validate finds names of things that do not exist, and reports the place where they are written.
func (s *Study) validate(root *yamldoc.Node) error {
	if s.Name == "" || s.Machine == "" || len(s.Scales) == 0 || len(s.Figures) == 0 {
		return root.Errorf("a study needs name, machine, mixes, scales and figures")
	}
	if len(s.Set) > 0 && s.SetWhy == "" {
		return root.At("set").Errorf("set changes the paper's machine: say why in set_why")
	}
	for _, check := range []func(*yamldoc.Node) error{
		s.validateScales, s.validatePrograms, s.validateSubsets,
		s.validateSchemes, s.validateConfigs,
		s.validateFigures, s.validateInputs,
		s.validateUnsteady,
		func(root *yamldoc.Node) error { return s.Models.validate(root, s.Figures) },
	} {
		if err := check(root); err != nil {
			return err
		}
	}
	return nil
}

func item(root *yamldoc.Node, list string, i int) *yamldoc.Node { return root.Get(list).Items[i] }

func (s *Study) validateScales(root *yamldoc.Node) error {
	seen := map[string]bool{}
	for i, c := range s.Scales {
		at := item(root, "scales", i)
		if c.Name == "" || seen[c.Name] || c.Budget == 0 || c.Inputs == "" || c.About == "" {
			return at.Errorf("a scale needs a name of its own, budget, inputs and about")
		}
		if c.Whole {
			if c.Period+c.Profile+c.Warmup+c.Instructions > 0 || c.Work != "" {
				return at.Errorf("scale %s: whole runs have no period, profile, warmup, work and instructions", c.Name)
			}
			seen[c.Name] = true
			continue
		}
		if c.Period == 0 || c.Period > c.Budget {
			return at.Errorf("scale %s: period must be in 1..%d, the budget", c.Name, c.Budget)
		}
		if c.Profile == 0 || c.Profile > c.Budget {
			return at.Errorf("scale %s: profile must be in 1..%d, the budget", c.Name, c.Budget)
		}
		if c.Work != "" && (s.config(c.Work) == nil || c.Instructions > 0) {
			return at.Errorf("scale %s: work names a configuration, and excludes instructions", c.Name)
		}
		if c.Warmup >= c.Budget {
			return at.Errorf("scale %s: warmup must be below the budget, %d", c.Name, c.Budget)
		}
		seen[c.Name] = true
	}
	return nil
}

func (s *Study) validatePrograms(root *yamldoc.Node) error {
	var keys []string
	for _, p := range s.list.Programs {
		keys = append(keys, p.Key)
	}
	seen := map[string]bool{}
	for i, p := range s.Programs {
		at := item(root, "programs", i)
		if s.list.Program(p.Key) == nil {
			return at.Errorf("program %q is not in the list of mixes%s", p.Key, yamldoc.DidYouMean(p.Key, keys))
		}
		if seen[p.Key] {
			return at.Errorf("program %s stands twice", p.Key)
		}
		seen[p.Key] = true
		for _, c := range s.Scales {
			if _, ok := p.Inputs[c.Inputs]; !ok {
				return at.Errorf("program %s has no inputs %q, which scale %s needs", p.Key, c.Inputs, c.Name)
			}
		}
	}
	return nil
}

// validateInputs looks for the scales and the inputs that figures and working sets name.
func (s *Study) validateInputs(root *yamldoc.Node) error {
	for i := range s.Figures {
		f, at := &s.Figures[i], item(root, "figures", i)
		for _, scale := range slices.Sorted(maps.Keys(f.Inputs)) {
			if _, err := s.Scale(scale); err != nil {
				return at.At("inputs").Errorf("figure %s: %v", f.Name, err)
			}
			for _, p := range s.Programs {
				if _, ok := p.Inputs[f.Inputs[scale]]; !ok {
					return at.At("inputs").Errorf("figure %s: program %s has no inputs %q", f.Name, p.Key,
						f.Inputs[scale])
				}
			}
		}
	}
	for i, p := range s.Programs {
		for _, name := range slices.Sorted(maps.Keys(p.Working)) {
			if _, ok := p.Inputs[name]; !ok || !(p.Working[name] > 0) {
				return item(root, "programs", i).At("working_set").Errorf("program %s: a working set is megabytes, "+
					"more than 0, of inputs it has; not %g of %q", p.Key, p.Working[name], name)
			}
		}
	}
	return nil
}

func (s *Study) validateSubsets(root *yamldoc.Node) error {
	for i, sub := range s.Subsets {
		at := item(root, "subsets", i)
		if _, err := s.Scale(sub.Scale); err != nil {
			return at.Errorf("%v", err)
		}
		set := s.list.Set(sub.Set)
		if set == nil {
			return at.Errorf("no set %q of mixes in list %s", sub.Set, s.list.Name)
		}
		var names []string
		for _, m := range set.Mixes {
			names = append(names, m.Name)
		}
		for j, f := range sub.Figures {
			if !slices.ContainsFunc(s.Figures, func(x Figure) bool { return x.Name == f }) {
				return at.Get("figures").Items[j].Errorf("no figure %q in the study", f)
			}
		}
		if len(sub.Mixes) == 0 {
			return at.Errorf("a subset needs mixes")
		}
		for j, m := range sub.Mixes {
			if !slices.Contains(names, m) {
				return at.Get("mixes").Items[j].Errorf("set %s has no mix %q%s", sub.Set, m,
					yamldoc.DidYouMean(m, names))
			}
		}
	}
	return nil
}

func (s *Study) validateSchemes(root *yamldoc.Node) error {
	seen := map[string]bool{}
	for i, c := range s.Schemes {
		at := item(root, "schemes", i)
		if c.Name == "" || seen[c.Name] {
			return at.Errorf("a scheme needs a name of its own")
		}
		seen[c.Name] = true
		if (c.Mode == "") == (len(c.Offline) == 0) {
			return at.Errorf("scheme %s needs either mode or offline", c.Name)
		}
		if len(c.Step) > 0 && (len(c.Offline) == 0 || len(c.Step) != 2 || min(c.Step[0], c.Step[1]) < 1) {
			return at.At("step").Errorf("scheme %s: step belongs to offline and is [SMs, channel groups], both 1 or "+
				"more", c.Name)
		}
		if c.High < 0 || c.High >= 1 || c.QoS < 0 || c.QoS > 1 {
			return at.Errorf("scheme %s: high and qos are fractions", c.Name)
		}
		if c.High > 0 && c.Mode != "mps" && c.Mode != "slices" {
			return at.Errorf("scheme %s: high belongs to mode mps or slices", c.Name)
		}
		own := *s
		if c.Machine != "" {
			own.Machine = c.Machine
		}
		if _, _, err := own.Sheet(&s.Scales[0], c.Set); err != nil {
			return at.Errorf("scheme %s: %v", c.Name, err)
		}
	}
	return nil
}

func (s *Study) validateFigures(root *yamldoc.Node) error {
	var names []string
	for _, c := range s.Schemes {
		names = append(names, c.Name)
	}
	seen := map[string]bool{}
	for i, f := range s.Figures {
		at := item(root, "figures", i)
		if f.Name == "" || f.Title == "" || seen[f.Name] {
			return at.Errorf("a figure needs a name of its own and a title")
		}
		seen[f.Name] = true
		if !slices.Contains(kinds(), f.Kind) {
			return at.At("kind").Errorf("figure %s: no kind %q%s", f.Name, f.Kind, yamldoc.DidYouMean(f.Kind, kinds()))
		}
		for _, n := range f.Schemes {
			if s.scheme(n) == nil {
				return at.At("schemes").Errorf("figure %s: no scheme %q%s", f.Name, n, yamldoc.DidYouMean(n, names))
			}
		}
		if f.Scale != "" {
			if _, err := s.Scale(f.Scale); err != nil {
				return at.At("scale").Errorf("figure %s: %v", f.Name, err)
			}
			if !f.Own {
				return at.At("scale").Errorf("figure %s: only a figure of our own (own: true) has a scale of its own",
					f.Name)
			}
		}
		if err := s.validateParts(at, &f); err != nil {
			return err
		}
	}
	return nil
}

// validateSets checks that the mixes of a figure are there, and inputs of their programs.
func (s *Study) validateSets(at *yamldoc.Node, f *Figure) error {
	for _, n := range f.Sets {
		set := s.list.Set(n)
		if set == nil {
			return at.At("sets").Errorf("figure %s: no set %q of mixes in list %s", f.Name, n, s.list.Name)
		}
		for _, m := range set.Mixes {
			for _, key := range m.Apps {
				if s.program(key) == nil {
					return at.At("sets").Errorf("figure %s: program %s of mix %s has no inputs in this study", f.Name,
						key, m.Name)
				}
			}
		}
	}
	return nil
}

// validateParts checks that a figure has what its kind draws.
func (s *Study) validateParts(at *yamldoc.Node, f *Figure) error {
	for _, key := range f.Programs {
		if s.program(key) == nil {
			return at.At("programs").Errorf("figure %s: program %q has no inputs in this study", f.Name, key)
		}
	}
	if err := s.validateSets(at, f); err != nil {
		return err
	}
	if slices.Contains(sideKinds(), f.Kind) {
		return s.validateSides(at, f)
	}
	for _, n := range f.Sets {
		if slices.ContainsFunc(s.list.Set(n).Mixes, func(m mixes.Mix) bool { return len(m.CPU) > 0 }) {
			return at.At("sets").Errorf("figure %s: set %s has mixes with CPU programs, which kind %s leaves out; "+
				"kinds with both sides are %s", f.Name, n, f.Kind, strings.Join(sideKinds(), ", "))
		}
	}
	if slices.Contains(singleKinds(), f.Kind) {
		return s.validateSingles(at, f)
	}
	switch f.Kind {
	case "logs":
		if s.Logs == nil {
			return at.Errorf("figure %s: kind logs needs logs in the study", f.Name)
		}
	case "slices", "heat":
		if len(f.SMs) == 0 || len(f.Groups) == 0 || len(f.At) != 2 {
			return at.Errorf("figure %s needs sms, groups and at", f.Name)
		}
		if want := map[string]int{"slices": 1, "heat": 2}[f.Kind]; len(f.Programs) != want {
			return at.Errorf("figure %s: kind %s takes %d programs", f.Name, f.Kind, want)
		}
	default:
		least := 2
		if f.Kind == "moved" {
			least = 1
		}
		if len(f.Sets) == 0 || len(f.Schemes) < least {
			return at.Errorf("figure %s: kind %s needs sets and at least %d schemes", f.Name, f.Kind, least)
		}
		if f.Kind == "qos" && (f.Target <= 0 || len(s.list.Class(f.High)) == 0) {
			return at.Errorf("figure %s needs target and high, a class of programs", f.Name)
		}
		if _, ok := taskFigures()[f.Kind]; ok {
			if err := s.validateTasks(f); err != nil {
				return at.Errorf("%v", err)
			}
		}
	}
	return nil
}
