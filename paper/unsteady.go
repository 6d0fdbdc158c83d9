package paper

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Unsteady are programs whose value in some figures is an effect of the measured window, as the study itself says.
// Each mean is also shown without them, and a claim that only the mean with them supports does not hold.
type Unsteady struct {
	Figures  []string `yaml:"figures"`
	Programs []string `yaml:"programs"`
	Why      string   `yaml:"why"`
}

// steady ends the name of a set without its unsteady programs.
const steady = " steady"

// tellUnsteady gives each figure its unsteady programs.
func (s *Study) tellUnsteady() {
	for i := range s.Figures {
		f := &s.Figures[i]
		for _, u := range s.Unsteady {
			if slices.Contains(u.Figures, f.Name) {
				f.unsteady = append(f.unsteady, u.Programs...)
			}
		}
	}
}

func (s *Study) validateUnsteady(root *yamldoc.Node) error {
	for i, u := range s.Unsteady {
		at := item(root, "unsteady", i)
		if u.Why == "" || len(u.Figures) == 0 || len(u.Programs) == 0 {
			return at.Errorf("unsteady needs figures, programs and why")
		}
		for _, p := range u.Programs {
			if !slices.ContainsFunc(s.Programs, func(q Program) bool { return q.Key == p }) {
				return at.Errorf("unsteady names program %q, which is not in the study", p)
			}
		}
		for _, name := range u.Figures {
			k := slices.IndexFunc(s.Figures, func(f Figure) bool { return f.Name == name })
			if k < 0 {
				return at.Errorf("unsteady names figure %q, which is not in the study", name)
			}
			f := &s.Figures[k]
			if !slices.Contains([]string{"ratios", "values", "parts", "degree", "pairs"}, f.Kind) {
				return at.Errorf("unsteady names figure %s of kind %s, which has no mean over a set of programs: use "+
					"one of kind ratios, values, parts, degree or pairs", name, f.Kind)
			}
		}
	}
	return nil
}

// steadily judges a claim about a mean by the mean without unsteady programs, too, and keeps the worse verdict.
func (j *Judged) steadily(f *Figure, measures map[string]Measure) {
	at := strings.LastIndex(j.Claim.Measure, " ")
	if at < 0 || len(f.unsteady) == 0 {
		return
	}
	without := j.Claim
	without.Measure = j.Claim.Measure[:at] + steady + j.Claim.Measure[at:]
	m, ok := measures[without.Measure]
	if !ok || m.N == j.Value.N {
		return
	}
	j.Steady, j.Without = m, f.unsteady
	order := []Verdict{NotMeasured, Contradicts, Direction, Holds}
	if v := Judge(&without, measures).Verdict; slices.Index(order, v) < slices.Index(order, j.Verdict) {
		j.Verdict = v
	}
}

// means gives the same parts as perSet. For a figure with unsteady programs it also gives each part without them.
func (f *Figure) means(runs []singles, do func(name string, part []singles)) {
	f.perSet(runs, func(name string, part []singles) {
		do(name, part)
		if len(f.unsteady) > 0 {
			do(name+steady, f.steady(part))
		}
	})
}

// steady are the runs of all programs but unsteady ones.
func (f *Figure) steady(runs []singles) (out []singles) {
	for _, s := range runs {
		if !slices.Contains(f.unsteady, s.program) {
			out = append(out, s)
		}
	}
	return out
}

// ends are the possible ends of names of sets.
func (f *Figure) ends() []string {
	if len(f.unsteady) > 0 {
		return []string{"", steady}
	}
	return []string{""}
}
