package runfile

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/accelsim"
	"github.com/heddle-sim/heddle/trace/champsim"
	"github.com/heddle-sim/heddle/trace/record"
	"github.com/heddle-sim/heddle/workload"
)

// resolver turns a Doc into a File, pointing at the line for every complaint.
type resolver struct {
	root *yamldoc.Node
	doc  *Doc
	dir  string
	o    Overrides
	bare bool // no run file: an application given on the command line

	m     *sheets.Machine
	sheet *sheets.Provenance
	notes []string
}

func (r *resolver) resolve(file string) (*File, error) {
	out := &File{Path: file}
	base := sim.Spec{Seed: r.doc.Seed, Epoch: r.doc.Epoch, Watchdog: r.doc.Watch, Functional: r.o.Functional}
	if r.o.Seed != nil {
		base.Seed = *r.o.Seed
	}
	if r.o.Watchdog != nil {
		base.Watchdog = *r.o.Watchdog
	}
	var err error
	if out.Machine, out.Sheet, err = r.machine(&base); err != nil {
		return nil, err
	}
	r.m, r.sheet, out.Notes = out.Machine, out.Sheet, r.notes
	if base.Apps, err = r.apps(); err != nil {
		return nil, err
	}
	if base.Length, err = r.length(); err != nil {
		return nil, err
	}
	r.outputs(out, &base)
	if base.Touches {
		if err := r.placed(sim.CheckTouches(r.m)); err != nil {
			return nil, r.complain(err, "outputs", "touches")
		}
	}
	if err := sim.CheckCPU(r.m, base.Apps); err != nil {
		return nil, r.complain(r.placed(err), "apps")
	}
	modes, err := r.modes(base.Apps)
	if err != nil {
		return nil, err
	}
	for i, s := range modes {
		if err := s.CheckTargets(targets(base.Apps)); err != nil {
			return nil, r.complainAt(err, "sharing", i, "mode")
		}
		spec := base
		spec.Sharing = s
		out.Specs = append(out.Specs, spec)
	}
	return out, nil
}

// unifiedPath begins the paths of the command line's settings of unified memory.
const unifiedPath = "memory.unified."

// unified applies the command line's settings of unified memory to every sharing entry.
func (r *resolver) unified(u *sim.Unified) error {
	for _, k := range slices.Sorted(maps.Keys(r.o.Set)) {
		name, ok := strings.CutPrefix(k, unifiedPath)
		if !ok {
			continue
		}
		if err := u.SetUnified(name, r.o.Set[k]); err != nil {
			return fmt.Errorf("--set %s=%s: %w", k, r.o.Set[k], err)
		}
	}
	return nil
}

// machine loads the sheet with the overrides of the file and the command line.
func (r *resolver) machine(spec *sim.Spec) (*sheets.Machine, *sheets.Provenance, error) {
	spec.Machine = r.path(r.doc.Machine)
	if r.o.Machine != "" {
		spec.Machine = r.o.Machine
	}
	set := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(r.doc.Set)) {
		path := strings.TrimPrefix(k, "machine.")
		if err := sheets.Apply(&sheets.Machine{}, path, r.doc.Set[k]); err != nil {
			return nil, nil, r.root.Get("set").At(k).Errorf("%v", err)
		}
		set[path] = r.doc.Set[k]
	}
	for _, k := range slices.Sorted(maps.Keys(r.o.Set)) {
		if strings.HasPrefix(k, unifiedPath) {
			continue // of the sharing
		}
		path := strings.TrimPrefix(k, "machine.")
		if err := sheets.Apply(&sheets.Machine{}, path, r.o.Set[k]); err != nil {
			return nil, nil, fmt.Errorf("--set %s=%s: %w", k, r.o.Set[k], err)
		}
		set[path] = r.o.Set[k]
	}
	if len(set) > 0 {
		spec.Set = set
	}
	shelf := r.o.Shelf
	if shelf == nil {
		shelf = new(sheets.Shelf)
	}
	m, prov, err := shelf.Resolve(spec.Machine, set)
	if err != nil {
		var own *yamldoc.Error
		if r.o.Machine != "" || errors.As(err, &own) { // the sheet has its own place to point at
			return nil, nil, err
		}
		return nil, nil, r.complainSet(err)
	}
	m, prov = r.translating(spec, shelf, m, prov)
	return m, prov, nil
}

// path makes a file path relative to the run file; sheet names stay as they are.
func (r *resolver) path(p string) string {
	isFile := strings.ContainsAny(p, "/\\") || strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml")
	if !isFile || filepath.IsAbs(p) {
		return p
	}
	j := filepath.Join(r.dir, p)
	if !strings.ContainsAny(j, "/\\") {
		j = "." + string(filepath.Separator) + j
	}
	return j
}

// special resolves an application without a folder.
func (r *resolver) special(i int, d *AppDoc, before []sim.App) (sim.App, error) {
	if d.Exec != nil {
		return r.program(i, d, before)
	}
	return r.cpu(i, d, before)
}

// program resolves a compiled program.
func (r *resolver) program(i int, d *AppDoc, before []sim.App) (sim.App, error) {
	switch {
	case d.Path != "" || d.CPU != nil:
		return sim.App{}, r.complainAt(errors.New("an application has one of path, exec and cpu"), "apps", i, "exec")
	case len(d.Args) > 0:
		return sim.App{}, r.complainAt(errors.New("the arguments of a compiled program belong in exec, as in exec: "+
			"[./prog, 1024]"),
			"apps", i, "args")
	}
	name := d.Name
	if name == "" {
		name = filepath.Base(d.Exec[0])
	}
	if err := r.unnamed(name, i, before); err != nil {
		return sim.App{}, err
	}
	return sim.App{
		Name: name, Path: r.dir, Exec: d.Exec, Arrive: d.Arrive, Repeat: d.Repeat, AccessesOnly: d.AccessesOnly,
		QoS: d.QoS.IPC, QoSKernel: d.QoS.Kernel, QoSShare: d.QoS.Share,
	}, nil
}

func (r *resolver) apps() ([]sim.App, error) {
	if len(r.doc.Apps) == 0 {
		return nil, r.complain(errors.New("no applications: list at least one under apps, as in `- path: "+
			"apps/micro/triad`"), "apps")
	}
	if len(r.o.Args) > 0 {
		return nil, errors.New("--arg belongs to an application folder; " +
			"in a run file write args: under the application")
	}
	var out []sim.App
	for i, d := range r.doc.Apps {
		if d.CPU != nil || d.Exec != nil {
			a, err := r.special(i, &d, out)
			if err != nil {
				return nil, err
			}
			out = append(out, a)
			continue
		}
		if d.Path == "" {
			return nil, r.complainAt(errors.New("an application needs path, the folder with its app.star or "+
				"kernelslist.g, or a recording"), "apps", i, "path")
		}
		dir := d.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.dir, dir)
		}
		if is, err := record.Is(dir); err == nil && is {
			if len(d.Args) > 0 {
				return nil, r.complainAt(fmt.Errorf("%s is a recording: it replays what was recorded and takes no "+
					"arguments", d.Path), "apps", i, "args")
			}
		} else if is, err := workload.Is(dir); err == nil && is {
			if _, err := workload.Read(dir); err != nil { // the model has its own place to point at
				return nil, err
			}
		} else if list, ok := accelsim.Find(dir); ok {
			dir = filepath.Dir(list)
		} else if what, remedy, err := identify(dir); err == nil && what != "" {
			return nil, r.complainAt(fmt.Errorf("%s is %s, not an application: %s", d.Path, what, remedy), "apps", i,
				"path")
		} else if _, err := os.Stat(filepath.Join(dir, "app.star")); err != nil {
			return nil, r.complainAt(fmt.Errorf("%s is not an application: %w", d.Path, noApplication(dir, err)),
				"apps", i, "path")
		}
		name := d.Name
		if name == "" {
			name = appName(dir)
		}
		if err := r.unnamed(name, i, out); err != nil {
			return nil, err
		}
		out = append(out, sim.App{
			Name: name, Path: dir, Args: d.Args, Arrive: d.Arrive, Repeat: d.Repeat,
			AccessesOnly: d.AccessesOnly,
			QoS:          d.QoS.IPC, QoSKernel: d.QoS.Kernel, QoSShare: d.QoS.Share,
		})
	}
	return out, nil
}

// unnamed checks that no earlier application has this name.
func (r *resolver) unnamed(name string, i int, before []sim.App) error {
	for _, a := range before {
		if a.Name == name {
			return r.complainAt(fmt.Errorf("two applications are called %s; give each a name of its own", name), "apps",
				i, "name")
		}
	}
	return nil
}

// cpu is application i, a program for CPU cores.
func (r *resolver) cpu(i int, d *AppDoc, before []sim.App) (sim.App, error) {
	c := &sim.CPU{
		Trace: d.CPU.Trace, Format: champsim.Format(d.CPU.Format), Model: d.CPU.Model, Copies: d.CPU.Copies,
		Instructions: d.CPU.Instructions, Divide: d.CPU.Divide,
	}
	a := sim.App{Name: d.Name, Arrive: d.Arrive, Repeat: d.Repeat, CPU: c}
	if d.Path != "" || len(d.Args) > 0 {
		return a, r.complainAt(errors.New("an application with cpu has no path and no args: it is a trace or a "+
			"model"), "apps", i, "cpu")
	}
	if d.AccessesOnly {
		return a, r.complainAt(errors.New("accesses_only is for kernels: this application runs on CPU "+
			"cores"), "apps", i,
			"accesses_only")
	}
	if d.QoS != (Target{}) {
		return a, r.complainAt(errors.New("qos is for kernels: this application runs on CPU cores"), "apps", i, "qos")
	}
	if c.Trace != "" && !filepath.IsAbs(c.Trace) {
		c.Trace = filepath.Join(r.dir, c.Trace)
	}
	if err := c.Check(); err != nil {
		return a, r.complainAt(err, "apps", i, "cpu")
	}
	if a.Name == "" {
		a.Name = c.Model
	}
	if a.Name == "" {
		a.Name, _, _ = strings.Cut(filepath.Base(c.Trace), ".")
	}
	return a, r.unnamed(a.Name, i, before)
}

// targets is how many applications have a target.
func targets(apps []sim.App) (n int) {
	for _, a := range apps {
		if a.QoS > 0 || a.QoSShare > 0 {
			n++
		}
	}
	return n
}

func (r *resolver) outputs(out *File, spec *sim.Spec) {
	o := r.doc.Outputs
	spec.Touches = o.Touches
	if o.Dir != "" {
		out.Out = o.Dir
		if !filepath.IsAbs(o.Dir) {
			out.Out = filepath.Join(r.dir, o.Dir)
		}
	}
	if r.o.Out != "" {
		out.Out = r.o.Out
	}
	if out.Out == "" {
		return
	}
	spec.Timeline = o.Timeline == nil || *o.Timeline
	spec.Profile = o.Profile == nil || *o.Profile
	if r.bare || r.root.Get("epoch") == nil {
		spec.Epoch, spec.MostEpochs = DefaultEpoch, DefaultEpochs
	}
}

// modes checks every sharing mode against the machine.
func (r *resolver) modes(apps []sim.App) ([]sim.Sharing, error) {
	n := sim.KernelApps(apps)
	docs := r.doc.Sharing
	byFlag := len(r.o.Sharing) > 0
	if byFlag {
		docs = nil
		for _, m := range r.o.Sharing {
			docs = append(docs, r.called(m)...)
		}
	}
	if len(docs) == 0 {
		if n > 1 {
			return nil, r.complain(fmt.Errorf("%d applications need a sharing mode, as in `sharing: bp`%s", n,
				listModes()), "apps")
		}
		docs = Modes{{Mode: "alone"}}
	}
	var out []sim.Sharing
	for i, d := range docs {
		s := sim.Sharing{
			Mode: d.Mode, Name: d.Name, SMs: d.SMs, Groups: d.Groups, Profiles: d.Profiles,
			Epoch: d.Period, Quantum: d.Quantum, Params: control.Params(d.Params),
			Policies: governors(d.Policies), Memory: d.Memory.Resolve(),
		}
		if s.Name == "" {
			s.Name = s.Mode
		}
		if d.Policies == nil {
			s.Policies = governors(r.doc.Policies)
		}
		if d.Memory == (Memory{}) {
			s.Memory = r.doc.Memory.Resolve()
		}
		if err := r.unified(&s.Memory.Unified); err != nil {
			return nil, err
		}
		err := r.mode(&s, apps)
		for _, o := range out {
			if err == nil && o.Name == s.Name {
				err = fmt.Errorf("two sharing modes are called %s; give each a name", s.Name)
			}
		}
		if err != nil && byFlag {
			return nil, fmt.Errorf("--sharing %s: %w", s.Mode, err)
		} else if err != nil {
			return nil, r.complainSharing(err, i)
		}
		out = append(out, s)
	}
	return out, nil
}

// called resolves a word of --sharing: the file's entries with this name, else its entries with this mode and all
// their keys, else the mode itself.
func (r *resolver) called(word string) (of Modes) {
	for _, d := range r.doc.Sharing {
		if d.Name == word || d.Name == "" && d.Mode == word {
			return Modes{d}
		}
		if d.Mode == word {
			of = append(of, d)
		}
	}
	if len(of) == 0 {
		of = Modes{{Mode: word}}
	}
	return of
}

// mode refuses keys that the mode does not use, and modes that the machine cannot have.
func (r *resolver) mode(s *sim.Sharing, apps []sim.App) error {
	if s.Mode == "" {
		return fmt.Errorf("a sharing entry needs a mode%s", listModes())
	}
	for _, list := range [][]int{s.SMs, s.Groups} {
		for _, x := range list {
			if x < 1 || x > 1<<20 {
				return fmt.Errorf("%d in %v: every application needs at least 1", x, list)
			}
		}
	}
	if err := r.instances(s); err != nil {
		return err
	}
	return r.placed(s.CheckApps(r.m, ChannelGroups(r.m), apps))
}

// placed adds the line of the sheet to an error about the sheet.
func (r *resolver) placed(err error) error {
	var lacks *sim.Lacks
	if errors.As(err, &lacks) {
		if e, ok := r.sheet.Lookup(lacks.Path); ok && e.Line > 0 {
			err = fmt.Errorf("%w (sheet %s, line %d)", err, e.Sheet, e.Line)
		}
	}
	return err
}

func listModes() string { return "; modes: " + strings.Join(sim.ModeNames(), ", ") }

// governors are the policies listed for all sharing entries, or for one.
func governors(docs Policies) (out []sim.Governor) {
	for _, d := range docs {
		out = append(out, sim.Governor{Policy: d.Policy, Period: d.Period, Params: control.Params(d.Params)})
	}
	return out
}

// instances checks how often each MIG profile may be used.
func (r *resolver) instances(s *sim.Sharing) error {
	used := map[string]int{}
	for _, p := range s.Profiles {
		used[p]++
	}
	for _, p := range r.m.MIG.Profiles {
		if used[p.Name] > p.Most {
			return fmt.Errorf("MIG profile %s is used %d times; %s allows %d", p.Name, used[p.Name], r.m.Name, p.Most)
		}
	}
	return nil
}

// ChannelGroups is the number of channel groups of a machine that applications can own: one per channel unless the
// sheet says otherwise.
func ChannelGroups(m *sheets.Machine) int {
	if m.Map.Groups > 0 {
		return m.Map.Groups
	}
	return m.DRAM.Channels
}
