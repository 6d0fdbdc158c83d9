package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
	"github.com/heddle-sim/heddle/workload"
	models "github.com/heddle-sim/heddle/workload/cpu"
)

// policy is one choice a user can make by name.
type policy struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Where  string `json:"where"` // how it is chosen
	What   string `json:"what"`
	Source string `json:"source"`
}

// policies lists every policy by kind. Names of sharing modes come from runfile;
// the others are the values their sheet fields accept.
func policies() []policy {
	var out []policy
	for _, m := range sim.Modes() {
		what := m.What
		if l := m.Long(); l != "" {
			what += " (short for " + l + ")"
		}
		out = append(out, policy{"sharing", m.Name, "run file: sharing, or --sharing", what, m.Source})
	}
	for _, e := range control.All() {
		out = append(out, policy{"machine-wide", e.Name, "run file: " + chosenBy(&e), describe(&e), e.Source})
	}
	out = append(out, pagePolicies()...)
	for _, p := range hybrid.Policies() {
		out = append(out, policy{
			"hybrid memory", p.Name, "--set memory.hybrid.policy=" + p.Name, p.What, p.Source,
		})
	}
	out = append(out, []policy{
		{
			"warp scheduler", "gto", "--set sm.policy=gto",
			"keep issuing the last warp until it stalls, then the oldest ready one", "Rogers et al., MICRO 2012",
		},
		{"warp scheduler", "lrr", "--set sm.policy=lrr", "loose round robin over the ready warps", "GPGPU-Sim"},
		{
			"DRAM scheduler", "frfcfs", "--set dram.sched=frfcfs", "row hits first, then the oldest request",
			"Rixner et al., ISCA 2000",
		},
		{
			"DRAM scheduler", "frfcfs-rowhit", "--set dram.sched=frfcfs-rowhit",
			"the same, and no request closes a row that an earlier one waits to hit", "Ramulator 2.1",
		},
		{
			"DRAM scheduler", "frfcfs-priorhit", "--set dram.sched=frfcfs-priorhit",
			"the same, and no request closes a row that any other waits to hit", "Ramulator",
		},
		{"DRAM scheduler", "fcfs", "--set dram.sched=fcfs", "the oldest request first", "Rixner et al., ISCA 2000"},
		{
			"DRAM row", "open", "--set dram.page=open", "a row stays open until another one of its bank is needed",
			"JEDEC",
		},
		{"DRAM row", "closed", "--set dram.page=closed", "a row is closed after its access", "JEDEC"},
	}...)
	return append(out, placements()...)
}

// placements are the values of vm.placement.
func placements() []policy {
	return []policy{
		{
			"page placement", "round-robin", "--set vm.placement=round-robin",
			"pages go to the tenant's channel groups in turn", "UGPU paper, section 4",
		},
		{
			"page placement", "least", "--set vm.placement=least",
			"a page goes to the least used of the tenant's channel groups", "UGPU paper, section 4.3",
		},
		{
			"page placement", "least-random", "--set vm.placement=least-random",
			"the same, and any one of equally used groups, by a seeded choice", "UGPU paper, section 4.4, a reading",
		},
		{
			"page placement", "first-touch", "--set vm.placement=first-touch",
			"a page goes to the channel group nearest to the SM that touches it first", "MCM-GPU, ISCA 2017",
		},
		{
			"page placement", "lab", "--set vm.placement=lab",
			"first-touch while the balance of pages is above vm.lab_threshold, else least",
			"NUBA, ASPLOS 2023, section 4",
		},
	}
}

// pagePolicies lists the values of memory.pages.
func pagePolicies() (out []policy) {
	const by = "run file: memory: {pages: "
	for _, w := range sim.PageWays() {
		out = append(out, policy{"page moves", w[0], by + w[0] + "}", w[1], "UGPU paper, section 6.2"})
	}
	for _, e := range vm.HomesEntries() {
		out = append(out, policy{"page homes", e.Name, by + e.Name + "}", e.What, e.Source})
	}
	return out
}

// chosenBy says how a run file names a policy.
func chosenBy(e *control.Entry) string {
	by := "policies: [" + e.Name + "]"
	var modes []string
	for _, m := range sim.Modes() {
		if m.Policy == e.Name {
			modes = append(modes, m.Name)
		}
	}
	if len(modes) > 0 {
		by += ", or sharing mode " + strings.Join(modes, ", ")
	}
	return by
}

// describe says what a policy does, sets and reads, and what a run file can set of it.
func describe(e *control.Entry) string {
	out := e.What
	if len(e.Settings) > 0 {
		out += "; sets " + strings.Join(e.Settings, ", ")
	}
	if e.Period > 0 {
		unit := "core cycles"
		if e.Epoch != "" {
			unit = "CPU cycles (" + e.Epoch + ")"
		}
		out += fmt.Sprintf("; every %d %s", e.Period, unit)
	}
	for _, t := range e.On {
		out += "; on " + string(t)
	}
	var reads []string
	for _, c := range e.Counters() {
		of := c.Counter
		if of == "-" {
			of = "from files alone"
		} else if c.PerKernel {
			of += " per kernel"
		} else if c.PerApp {
			of += " per application"
		}
		reads = append(reads, c.Field+" ("+of+")")
	}
	if len(reads) > 0 {
		out += "; reads " + strings.Join(reads, ", ")
	}
	var params []string
	for _, p := range e.Params {
		params = append(params, fmt.Sprintf("%s (%g; %s: %s)", p.Name, p.Default, p.Unit, p.Doc))
	}
	if len(params) > 0 {
		out += "; params: " + strings.Join(params, ", ")
	}
	return out
}

func inspectPolicies(w io.Writer, name string, asJSON bool) error {
	var list []policy
	var names []string
	for _, p := range policies() {
		names = append(names, p.Name)
		if name == "" || p.Name == name || p.Kind == name {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("no policy %q%s", name, yamldoc.DidYouMean(name, names))
	}
	if asJSON {
		return printJSON(w, list)
	}
	rows := [][]string{{"KIND", "NAME", "CHOSEN BY", "MEANING", "SOURCE"}}
	for _, p := range list {
		rows = append(rows, []string{p.Kind, p.Name, p.Where, p.What, p.Source})
	}
	return columns(w, rows)
}

// counterTable is the counters of one kind of component.
type counterTable struct {
	owner string
	desc  []stat.Desc
}

// counterTables lists what a Result counts, under the names it has there.
func counterTables() []counterTable {
	return []counterTable{
		{"sm", append(sm.Counters(), sim.NobodysCounters()...)},
		{"l3", cache.Counters()},
		{"llc", cache.Counters()},
		{"dram", dram.Desc},
		{"dram_fast", dram.Desc},
		{"hybrid", hybrid.Desc},
		{"noc_request", noc.Desc},
		{"noc_reply", noc.Desc},
		{"noc_l3_request", noc.Desc},
		{"noc_l3_reply", noc.Desc},
		{"links_request", noc.Desc},
		{"links_reply", noc.Desc},
		{"links_recall", noc.Desc},
		{"ring_request", noc.Desc},
		{"ring_reply", noc.Desc},
		{"mdr", cache.SamplerCounters()},
		{"cpu", cpu.Counters()},
		{"mmu", vm.Desc()},
		{"pager", vm.PagerDesc()},
		{"uvm", machine.UnifiedCounters()},
		{"link", link.Desc()},
		{"homes", machine.HomeCounters()},
		{"app", sim.AppCounters()},
		{"kernel", sim.KernelCounters()},
	}
}

// counterKind finds a counter of any machine by owner.name, for policies that are checked before there is one.
func counterKind(counter string) (stat.Kind, error) {
	owner, name, _ := strings.Cut(counter, ".")
	var known []string
	for _, t := range counterTables() {
		for _, d := range t.desc {
			if t.owner == owner && d.Name == name {
				return d.Kind, nil
			}
			known = append(known, t.owner+"."+d.Name)
		}
	}
	return 0, fmt.Errorf("counter %q, which no machine has%s; heddle inspect counters lists them", counter,
		yamldoc.DidYouMean(counter, known))
}

// inspectCounters lists the counters of an owner, as in "sm", or one of them, as in "sm.thread_insts"; of all for "".
func inspectCounters(w io.Writer, what string, asJSON bool) error {
	owner, name, _ := strings.Cut(what, ".")
	type counter struct {
		Owner string `json:"owner"`
		Name  string `json:"name"`
		Unit  string `json:"unit"`
		Doc   string `json:"doc"`
	}
	var list []counter
	var owners []string
	rows := [][]string{{"OWNER", "COUNTER", "UNIT", "MEANING"}}
	for _, t := range counterTables() {
		owners = append(owners, t.owner)
		if owner != "" && owner != t.owner {
			continue
		}
		for _, d := range t.desc {
			if name != "" && name != d.Name {
				continue
			}
			list = append(list, counter{t.owner, d.Name, d.Unit, d.Doc})
			rows = append(rows, []string{t.owner, d.Name, d.Unit, d.Doc})
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("no counters of %q%s: an owner (%s) or a counter of one, as in sm.thread_insts", what,
			yamldoc.DidYouMean(owner, owners), strings.Join(owners, ", "))
	}
	if asJSON {
		return printJSON(w, list)
	}
	return columns(w, rows)
}

// cpuModels adds the models of CPU programs, as run files name them.
func cpuModels(rows [][]string) ([][]string, error) {
	for _, n := range models.Names() {
		m, err := models.Load(n)
		if err != nil {
			return nil, err
		}
		kind := "an estimate"
		if strings.HasPrefix(m.Source, "measured") {
			kind = "misses measured, the rest an estimate"
		}
		rows = append(rows, []string{
			"cpu: {model: " + n + "}", "copies instructions",
			fmt.Sprintf("a program on CPU cores, %s: %g LLC misses per 1000 instructions, %g MB, %g %% writes",
				kind, m.MPKI, m.RSS, 100*m.Writes),
		})
	}
	return rows, nil
}

// app is one application: a folder, or a model file.
type app struct {
	Name   string   `json:"name"` // path below the folder of applications
	Path   string   `json:"path"`
	Params []string `json:"params"`
	What   string   `json:"what"` // first sentence of its README, or the model's description
	Error  string   `json:"error,omitempty"`
}

// appsDir finds the folder of applications.
func appsDir() (string, error) { return nearest("apps", "name one: heddle inspect apps DIR") }

// nearest finds a folder in the working directory or the nearest one above; remedy is what else helps.
func nearest(folder, remedy string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for up := "."; ; up = filepath.Join(up, "..") {
		if st, err := os.Stat(filepath.Join(dir, folder)); err == nil && st.IsDir() {
			return filepath.Join(up, folder), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no folder %s here or above; %s", folder, remedy)
		}
		dir = parent
	}
}

// findApps lists the folders with app.star and the model files below dir, not
// following links.
func findApps(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && d.Name() == "app.star" {
			out = append(out, filepath.Dir(path))
		}
		if model, err := workload.Is(path); err != nil || !model {
			return err
		}
		out = append(out, path)
		return nil
	})
	return out, err
}

// appPaths completes application folders.
func appPaths(prefix string) []string {
	dir, err := appsDir()
	if err != nil {
		return nil
	}
	list, err := findApps(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, a := range list {
		if strings.HasPrefix(a, prefix) {
			out = append(out, a)
		}
	}
	return out
}

func inspectApps(w io.Writer, name string, asJSON bool) error {
	dir := name
	if dir == "" {
		var err error
		if dir, err = appsDir(); err != nil {
			return err
		}
	} else if _, err := os.Stat(dir); err != nil {
		base, err2 := appsDir()
		if err2 != nil {
			return err
		}
		dir = filepath.Join(base, name) // "polybench" or "polybench/atax"
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("no folder %s, here or below %s", name, base)
		}
	}
	paths, err := findApps(dir)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no application (a folder with app.star, or a model file) below %s", dir)
	}
	var list []app
	rows := [][]string{{"APPLICATION", "PARAMETERS", "WHAT"}}
	for _, p := range paths {
		a := describeApp(p)
		list = append(list, a)
		what := a.What
		if a.Error != "" {
			what = "BROKEN: " + a.Error
		}
		rows = append(rows, []string{a.Path, strings.Join(a.Params, " "), what})
	}
	if asJSON {
		return printJSON(w, list)
	}
	if name == "" {
		if rows, err = cpuModels(rows); err != nil {
			return err
		}
	}
	return columns(w, rows)
}

func describeApp(path string) app {
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		return describeModel(path)
	}
	a := app{
		Name: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), Path: path, Params: []string{},
		What: firstSentence(filepath.Join(path, "README.md")),
	}
	prog, err := script.Load(path, script.Options{})
	if err != nil {
		a.Error = err.Error()
		return a
	}
	for _, p := range prog.Params() {
		if p.Default == "" {
			a.Params = append(a.Params, p.Name)
		} else {
			a.Params = append(a.Params, p.Name+"="+p.Default)
		}
	}
	return a
}

func describeModel(path string) app {
	a := app{
		Name: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), Path: path,
		Params: []string{"scale=1"},
	}
	m, err := workload.Read(path)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Params, a.What = append(a.Params, fmt.Sprintf("rounds=%d", m.Rounds)), m.Description
	return a
}

// firstSentence is the first sentence after the title of a README; empty without one.
func firstSentence(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(io.LimitReader(f, 1<<16))
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if i := strings.Index(line, ". "); i > 0 {
			line = line[:i+1]
		}
		return line
	}
	return ""
}
