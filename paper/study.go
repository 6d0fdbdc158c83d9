// Package paper repeats the experiments of papers: which mixes run under which schemes, which figures are drawn, what
// the text claims. All of that is data (ugpu/*.yaml); this package turns it into simulations, figures and verdicts. A
// reader must know four types. Study is a paper's experiments as data. Book answers "what was the result of this
// run?" and collects the runs that are not simulated yet. Reproduced is a figure with its numbers. Claim is a
// sentence of the paper that numbers can support or contradict.
package paper

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim/runfile"
)

//go:embed */*.yaml */*.tsv
var files embed.FS

// Study is a paper's experiments (study.yaml).
type Study struct {
	Name    string          `yaml:"name"`
	Title   string          `yaml:"title"`
	Machine string          `yaml:"machine"`
	Set     runfile.Scalars `yaml:"set"`     // numbers that differ from the machine's sheet
	SetWhy  string          `yaml:"set_why"` // the reason for Set, printed with every result
	Mixes   string          `yaml:"mixes"`   // list of package mixes, or a file beside the study
	// AccessesOnly reduces all kernels to their accesses to memory, because the paper's simulator is driven by traces
	// of accesses.
	AccessesOnly bool       `yaml:"accesses_only"`
	Weight       float64    `yaml:"weight"` // weight of the CPU's speed-up in a speed-up of both sides; the GPU's is 1
	Scales       []Scale    `yaml:"scales"`
	Programs     []Program  `yaml:"programs"`
	Subsets      []Subset   `yaml:"subsets"`
	Schemes      []Scheme   `yaml:"schemes"`
	Configs      []Config   `yaml:"configs"` // machines that are compared
	Models       modelList  `yaml:"models"`
	Figures      []Figure   `yaml:"figures"`
	Unsteady     []Unsteady `yaml:"unsteady"`
	Logs         *Logs      `yaml:"logs"` // of another simulator

	list    *mixes.List
	claims  []Claim
	leftOut []LeftOut
	reasons []Reason
	shelf   *sheets.Shelf // its configurations make many machines from few sheets
}

// Scale is how long the runs are, and with which inputs.
type Scale struct {
	Name   string `yaml:"name"`
	Budget uint64 `yaml:"budget"`             // core cycles of every run of a mix, and of an application alone
	Period uint64 `yaml:"period" was:"epoch"` // core cycles between two decisions of a policy
	// Profile is how many core cycles one application runs on a slice that never changes: for the curves over SMs and
	// channels, and to choose slices offline.
	Profile uint64 `yaml:"profile"`
	// Instructions, instead of the budget, ends the runs of figures of configurations: after a number of thread
	// instructions of the program.
	Instructions uint64 `yaml:"instructions"`
	// Warmup is the number of core cycles at the beginning that do not count.
	Warmup uint64 `yaml:"warmup"`
	// Work names the configuration whose runs of a program last for the budget's cycles. The runs on all others
	// execute the same number of thread instructions, before the warm-up's end and after it, so that every run is
	// measured over the same part of the program.
	Work string `yaml:"work"`
	// Whole runs programs to their end, those of a mix until the slowest has ended; the budget is then the longest
	// time for that.
	Whole  bool   `yaml:"whole"`
	Inputs string `yaml:"inputs"` // which inputs of the programs
	// Set, Params and Divide make machines smaller: their numbers, parameters of policies by the policy's name, and
	// the divisor of the memory of CPU programs' models.
	Set    runfile.Scalars `yaml:"set"`
	Params PolicyParams    `yaml:"params"`
	Divide int             `yaml:"divide"`
	About  string          `yaml:"about"` // effect of the scaling on results
}

// Runs says how long runs are.
func (c *Scale) Runs() string {
	if c.Whole {
		return fmt.Sprintf("programs run to their end, at most %d cycles", c.Budget)
	}
	return fmt.Sprintf("%d cycles per run, policies decide every %d", c.Budget, c.Period)
}

// Program gives a benchmark's arguments by the name of the inputs.
type Program struct {
	Key    string `yaml:"key"`
	Inputs Inputs `yaml:"inputs"`
	// Working is, by name of the inputs, the program's working set in megabytes of 2^20 bytes that the paper gives,
	// if that is not the memory that it allocates. Shares of memory refer to it.
	Working Params `yaml:"working_set"`
}

// Inputs are arguments by name of the inputs.
type Inputs map[string]runfile.Scalars

// FromNode implements yamldoc.FromNode.
func (in *Inputs) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("inputs must be a mapping of names to arguments, not %s", n.Kind)
	}
	*in = Inputs{}
	for _, k := range n.Keys {
		var s runfile.Scalars
		if err := s.FromNode(k.Value); err != nil {
			return err
		}
		(*in)[k.Name] = s
	}
	return nil
}

// Subset says which mixes of a set a scale runs; without a subset it runs all.
type Subset struct {
	Scale string   `yaml:"scale"`
	Set   string   `yaml:"set"`
	Mixes []string `yaml:"mixes"`
	// Machine restricts the subset to figures on a machine of their own.
	Machine string `yaml:"machine"`
	// Figures restricts the subset to these figures.
	Figures []string `yaml:"figures"`
	// Targets are the figure's targets that it runs; none: all.
	Targets []float64 `yaml:"targets"`
}

// Scheme is a way of sharing, by the paper's name.
type Scheme struct {
	Name   string `yaml:"name"`
	Mode   string `yaml:"mode"` // sharing mode
	Params Params `yaml:"params"`
	// Machine and Set give the scheme another machine than the study's: a sheet, and the numbers that differ from it.
	Machine string          `yaml:"machine"`
	Set     runfile.Scalars `yaml:"set"`
	// Dynamic modes decide with the scale's period.
	Dynamic bool `yaml:"dynamic"`
	// Offline lists by class the slices (SMs, channel groups) each application is
	// profiled on alone; the best static choice among them is run.
	Offline Offline `yaml:"offline"`
	// Step is the SMs and channel groups by which the search goes from that choice to its neighbours, until none is
	// better; none: no such search.
	Step []int `yaml:"step"`
	// High is the fraction of SMs and channel groups (mode slices) or SMs (mode mps) for
	// the high-priority application; the others share the rest evenly.
	High float64 `yaml:"high"`
	// QoS gives the high-priority application a target, as a fraction of its IPC alone.
	QoS float64 `yaml:"qos"`
	// Period is the scheme's own period in core cycles, if the scale's does not fit it.
	Period uint64 `yaml:"period" was:"epoch"`
	// Memory is the placement and migration of pages. With Demand the application that asks most of the link when it
	// is alone (byDemand) always goes first on it (link: static), or at the driver (faults: high).
	Memory runfile.Memory `yaml:"memory"`
	Demand bool           `yaml:"demand"`
}

// Offline is slices (SMs, channel groups) by class of program.
type Offline map[string][][]int

// FromNode implements yamldoc.FromNode.
func (o *Offline) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("offline must be a mapping of classes to lists of [SMs, channel groups], not %s", n.Kind)
	}
	*o = Offline{}
	for _, k := range n.Keys {
		var points struct {
			List [][]int `yaml:"slices"`
		}
		wrapped := yamldoc.Node{Kind: yamldoc.Map, Keys: []yamldoc.Key{{Name: "slices", Value: k.Value, At: k.At}}}
		if err := yamldoc.Decode(&wrapped, "offline", &points); err != nil {
			return err
		}
		for _, p := range points.List {
			if len(p) != 2 || p[0] < 1 || p[1] < 1 {
				return k.Value.Errorf("a slice is [SMs, channel groups], both 1 or more, not %v", p)
			}
		}
		(*o)[k.Name] = points.List
	}
	return nil
}

// Params are parameters of a policy.
type Params map[string]float64

// FromNode implements yamldoc.FromNode.
func (p *Params) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("params must be a mapping of names to numbers, not %s", n.Kind)
	}
	*p = Params{}
	for _, k := range n.Keys {
		switch k.Value.Kind {
		case yamldoc.Int, yamldoc.Float:
			(*p)[k.Name] = k.Value.Float
		case yamldoc.Text:
			v, err := control.ReadParam(k.Name, k.Value.Raw)
			if err != nil {
				return k.Value.Errorf("parameter %v", err)
			}
			(*p)[k.Name] = v
		default:
			return k.Value.Errorf("parameter %s must be a number or the name of a choice, not %s", k.Name, k.Value.Kind)
		}
	}
	return nil
}

// PolicyParams are parameters by the name of the policy.
type PolicyParams map[string]Params

// FromNode implements yamldoc.FromNode.
func (p *PolicyParams) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("params must be a mapping of policies to their parameters, not %s", n.Kind)
	}
	*p = PolicyParams{}
	for _, k := range n.Keys {
		var of Params
		if err := of.FromNode(k.Value); err != nil {
			return err
		}
		(*p)[k.Name] = of
	}
	return nil
}

// Figure is one figure of the paper; Kind decides which of its other fields count.
type Figure struct {
	Name    string   `yaml:"name"`
	Title   string   `yaml:"title"`
	Note    string   `yaml:"note"`
	Kind    string   `yaml:"kind"`    // one of kinds
	Own     bool     `yaml:"own"`     // the paper has no such figure, and makes no claim about it
	Scale   string   `yaml:"scale"`   // it is measured at this scale only; reports of others quote it
	Sets    []string `yaml:"sets"`    // of mixes
	Schemes []string `yaml:"schemes"` // the first is the baseline
	// Programs, SMs and Groups belong to slices and heat: programs, and the slices they run on alone. Of values:
	// programs that are compared.
	Programs []string `yaml:"programs"`
	SMs      []int    `yaml:"sms"`
	Groups   []int    `yaml:"groups"`
	At       []int    `yaml:"at"` // SMs and groups of the slice that counts as 1
	// Of qos: the class with high priority, and its target as a fraction of its IPC alone.
	High   string  `yaml:"high"`
	Target float64 `yaml:"target"`
	// Of reach, batch and power: the targets of each mix's first program, as fractions of its IPC alone; a machine
	// other than the study's, and what differs from it in these runs; power numbers other than its sheet's, with
	// which the energy of finished runs is computed again.
	Targets []float64       `yaml:"targets"`
	Machine string          `yaml:"machine"`
	Set     runfile.Scalars `yaml:"set"`
	Power   runfile.Scalars `yaml:"power"`
	// Of figures of configurations: which, the first being the baseline, and the metric; pairs of them; those that
	// are joined by lines. With Schemes instead they show mixes; with Each there is a row for each program of a mix,
	// called App-1, App-2 and so on in the order of their demand for the link when alone.
	Configs []string `yaml:"configs"`
	Metric  string   `yaml:"metric"`
	Pairs   []Pair   `yaml:"pairs"`
	Lines   []Line   `yaml:"lines"`
	Each    bool     `yaml:"each"`
	// Models are ways to count the same configurations: the first is judged, a second stands beside it.
	Models []string `yaml:"models"`
	// Inputs are, by scale, other inputs of the programs than the scale's.
	Inputs runfile.Scalars `yaml:"inputs"`

	model    *Model   // under which it is computed now
	unsteady []string // programs that Study.Unsteady names for it
}

// Names lists the shipped studies.
func Names() []string {
	found, err := fs.Glob(files, "*/study.yaml")
	if err != nil {
		return nil // the pattern is well formed
	}
	for i := range found {
		found[i] = strings.TrimSuffix(found[i], "/study.yaml")
	}
	return found
}

// Load reads a shipped study by name, or one from a folder when name has a slash.
func Load(name string) (*Study, error) {
	s, root, read, err := open(name)
	if err != nil {
		return nil, err
	}
	list := s.Mixes
	if strings.HasSuffix(list, ".yaml") {
		list = filepath.Join(name, list)
	}
	if s.list, err = mixes.Load(list); err != nil {
		return nil, err
	}
	study := root
	if err := s.validate(root); err != nil {
		return nil, err
	}
	if root, err = s.decodeClaims(read); err == nil && root != nil {
		err = s.validateClaims(root)
	}
	if err == nil {
		err = s.readReasons(read)
	}
	if err == nil {
		err = s.Logs.load(s, study, name)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Outline reads only the title, scales, figures and claims of a study, for lists. It does not check them against
// machines, mixes and programs, which takes Load ten times as long. An outline cannot be run.
func Outline(name string) (*Study, error) {
	s, _, read, err := open(name)
	if err != nil {
		return nil, err
	}
	if _, err := s.decodeClaims(read); err != nil {
		return nil, err
	}
	return s, nil
}

// reader parses a file of a study.
type reader func(file string) (*yamldoc.Node, error)

// beside reads the files of a study, and has the name of its folder for messages: a shipped study, or a folder if the
// name has a slash.
func beside(name string) (shown string, read func(file string) ([]byte, error)) {
	if strings.ContainsRune(name, os.PathSeparator) || name == "." {
		return name, func(f string) ([]byte, error) { return yamldoc.ReadFile(filepath.Join(name, f)) }
	}
	return "paper/" + name, func(f string) ([]byte, error) { return files.ReadFile(name + "/" + f) }
}

// open decodes study.yaml; with reader the other files of the study are read.
func open(name string) (*Study, *yamldoc.Node, reader, error) {
	shown, read := beside(name)
	if shown != name && !slices.Contains(Names(), name) {
		return nil, nil, nil, fmt.Errorf("no study %q%s; `heddle reproduce` lists them", name,
			yamldoc.DidYouMean(name, Names()))
	}
	parsed := func(f string) (*yamldoc.Node, error) {
		src, err := read(f)
		if err != nil {
			return nil, err
		}
		return yamldoc.Parse(shown+"/"+f, src)
	}
	root, err := parsed("study.yaml")
	if err != nil {
		return nil, nil, nil, err
	}
	s := &Study{shelf: new(sheets.Shelf)}
	if err := yamldoc.Decode(root, "a study", s); err != nil {
		return nil, nil, nil, err
	}
	s.tellUnsteady()
	return s, root, parsed, nil
}

// Scale finds a scale by name.
func (s *Study) Scale(name string) (*Scale, error) {
	var names []string
	for i := range s.Scales {
		if s.Scales[i].Name == name {
			return &s.Scales[i], nil
		}
		names = append(names, s.Scales[i].Name)
	}
	return nil, fmt.Errorf("study %s has no scale %q%s", s.Name, name, yamldoc.DidYouMean(name, names))
}

// Select gives the figures with the name, or those whose name it begins, as fig12
// begins fig12a and fig12b; "" selects all.
func (s *Study) Select(name string) ([]*Figure, error) {
	var out []*Figure
	var names []string
	for i := range s.Figures {
		f := &s.Figures[i]
		names = append(names, f.Name)
		rest, begins := strings.CutPrefix(f.Name, name)
		if name == "" || begins && (rest == "" || len(rest) == 1 && rest[0] >= 'a') {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("study %s has no figure %q%s", s.Name, name, yamldoc.DidYouMean(name, names))
	}
	return out, nil
}

// Sheet is the machine of the study at a scale, with further overrides.
func (s *Study) Sheet(scale *Scale, set map[string]string) (map[string]string, *sheets.Machine, error) {
	all := overlay(s.Set, scale.Set, set)
	m, _, err := s.shelf.Resolve(s.Machine, all)
	if err != nil {
		return nil, nil, fmt.Errorf("study %s: %w", s.Name, err)
	}
	return all, m, nil
}

// overlay is numbers of a machine; later ones replace earlier ones.
func overlay(sets ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, set := range sets {
		for k, v := range set {
			all[strings.TrimPrefix(k, "machine.")] = v
		}
	}
	return all
}

func (s *Study) scheme(name string) *Scheme {
	for i := range s.Schemes {
		if s.Schemes[i].Name == name {
			return &s.Schemes[i]
		}
	}
	return nil
}

func (s *Study) program(key string) *Program {
	for i := range s.Programs {
		if s.Programs[i].Key == key {
			return &s.Programs[i]
		}
	}
	return nil
}

// mixesOf lists the mixes of a set at a scale.
func (s *Study) mixesOf(set string, scale *Scale) []mixes.Mix {
	return s.mixesFor(&Figure{}, set, scale)
}

// subset is the subset of a set that a scale runs for a figure: the one for the figure, else the one for its machine;
// nil: all.
func (s *Study) subset(f *Figure, set string, scale *Scale) (out *Subset) {
	for i := range s.Subsets {
		sub := &s.Subsets[i]
		switch {
		case sub.Set != set || sub.Scale != scale.Name:
		case slices.Contains(sub.Figures, f.Name):
			return sub
		case out == nil && len(sub.Figures) == 0 && sub.Machine == f.Machine:
			out = sub
		}
	}
	return out
}

// targetsOn are the targets of a figure that a scale runs for a set.
func (s *Study) targetsOn(f *Figure, set string, scale *Scale) []float64 {
	sub := s.subset(f, set, scale)
	if sub == nil || len(sub.Targets) == 0 {
		return f.Targets
	}
	return slices.DeleteFunc(slices.Clone(f.Targets), func(t float64) bool { return !slices.Contains(sub.Targets, t) })
}

// mixesFor are the mixes of a set that a scale runs for a figure.
func (s *Study) mixesFor(f *Figure, set string, scale *Scale) []mixes.Mix {
	all, sub := s.list.Set(set).Mixes, s.subset(f, set, scale)
	if sub == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(m mixes.Mix) bool { return !slices.Contains(sub.Mixes, m.Name) })
}

func manyPrograms(m mixes.Mix) bool { return len(m.Apps) != 1 }
