// Package runfile reads run files: the YAML description of what to simulate, on
// which machine, shared how, for how long. It also resolves an application folder
// given on the command line to the same thing, and gives a Spec its hash.
//
// A reader must know three types. Doc is the run file as written (its fields are
// the file's keys). File is what it resolves to: one sim.Spec per sharing mode.
// Overrides is what the command line adds.
package runfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/accelsim"
	"github.com/heddle-sim/heddle/trace/record"
	"github.com/heddle-sim/heddle/workload"
)

// Doc is a run file as written.
type Doc struct {
	Machine  string   `yaml:"machine" jsonschema:"default=qv100" jsonschema_description:"Machine sheet: a name (heddle inspect machine lists them) or the path of a YAML file relative to this one"`
	Set      Scalars  `yaml:"set" jsonschema_description:"Overrides of the machine by path such as dram.channels: 16"`
	Apps     []AppDoc `yaml:"apps" jsonschema:"required,minItems=1" jsonschema_description:"The applications that share the machine"`
	Sharing  Modes    `yaml:"sharing" jsonschema_description:"How they share it: one mode or a list of modes to compare"`
	Policies Policies `yaml:"policies" jsonschema_description:"Policies that govern every sharing entry that lists none of its own"`
	Memory   Memory   `yaml:"memory" jsonschema_description:"Page placement and migration, for every sharing entry that does not set its own"`
	Length   Length   `yaml:"length" jsonschema_description:"How long to simulate; to the end of the slowest application when left out"`
	Epoch    uint64   `yaml:"epoch" jsonschema_description:"Core cycles between two records of all counters; 0: none; left out: when results are written, as many as make 100 to 200 records"`
	Seed     uint64   `yaml:"seed" jsonschema:"default=1" jsonschema_description:"Seed of every random choice"`
	Watch    uint64   `yaml:"watchdog" jsonschema_description:"Core cycles without progress, or tens of warp instructions, that count as a deadlock; 0: 20 million"`
	Outputs  Outputs  `yaml:"outputs" jsonschema_description:"What to write besides the table on the terminal"`
}

// AppDoc is one application of a run file.
type AppDoc struct {
	Name         string  `yaml:"name" jsonschema_description:"Name in reports; the folder's name when left out"`
	Path         string  `yaml:"path" jsonschema_description:"Folder with app.star or an Accel-Sim trace (kernelslist.g), or a recording (heddle run --record), relative to this file"`
	Exec         Command `yaml:"exec" jsonschema_description:"Instead of path: a compiled CUDA program and its arguments, as [./prog, 1024]; it runs in the folder of this file"`
	CPU          *CPU    `yaml:"cpu" jsonschema_description:"Instead of path: a program for CPU cores, on machines with CPU cores (hydrogen)"`
	Args         Scalars `yaml:"args" jsonschema_description:"Arguments of the program's main"`
	Arrive       uint64  `yaml:"arrive" jsonschema:"default=0" jsonschema_description:"Core cycle at which the application arrives"`
	Repeat       bool    `yaml:"repeat" jsonschema:"default=false" jsonschema_description:"Start again until the slowest application has ended"`
	AccessesOnly bool    `yaml:"accesses_only" jsonschema:"default=false" jsonschema_description:"Only accesses to global and local memory, fences and barriers take time: no instruction waits for a register, and copies take no time and no memory traffic. For studies of a memory that are driven by traces of accesses"`
	QoS          Target  `yaml:"qos" jsonschema_description:"Target of a latency-sensitive application in thread instructions per core cycle with a kernel on the GPU, or as a share of what it reaches alone (80%); for one kernel as {kernel: NAME, ipc: 80%}"`
}

// CPU is a program for CPU cores.
type CPU struct {
	Trace        string `yaml:"trace" jsonschema_description:"ChampSim trace (.xz, .gz, .zst or plain), relative to this file"`
	Format       string `yaml:"format" jsonschema:"enum=champsim,enum=cloudsuite" jsonschema_description:"Layout of the trace's records: ChampSim's of 64 bytes or CloudSuite's of 96; when left out, the content decides, or an error asks for it"`
	Model        string `yaml:"model" jsonschema_description:"Instead of a trace: a model of a SPEC CPU2017 program that Heddle brings along (heddle inspect apps lists them)"`
	Copies       int    `yaml:"copies" jsonschema:"default=1" jsonschema_description:"Copies of the program, each on a core and in memory of its own"`
	Instructions uint64 `yaml:"instructions" jsonschema_description:"Instructions of one execution of each copy; when left out, the whole trace, or 10000000 of a model"`
	Divide       int    `yaml:"divide" jsonschema:"default=1" jsonschema_description:"Divides the memory of a model by this number, for machines with smaller caches"`
}

// Mode is one way of sharing.
type Mode struct {
	Mode     string   `yaml:"mode" jsonschema:"required" jsonschema_description:"How SMs and channels are divided; heddle inspect policies sharing says what each mode means"`
	Name     string   `yaml:"name" jsonschema_description:"Label in reports; the mode when left out"`
	SMs      []int    `yaml:"sms" jsonschema_description:"SMs per application (mps, slices, smqos and spart); as even as possible when left out"`
	Groups   []int    `yaml:"groups" jsonschema_description:"Channel groups per application (slices)"`
	Profiles []string `yaml:"profiles" jsonschema_description:"MIG profile per application (mig)"`
	Period   uint64   `yaml:"period" was:"epoch" jsonschema_description:"Period of the mode's policy: core cycles between two decisions; the policy's own period when left out"`
	Quantum  uint64   `yaml:"quantum" jsonschema_description:"Core cycles of a turn (timeslice); 2 ms when left out"`
	Params   Numbers  `yaml:"params" jsonschema_description:"Parameters of the mode's policy; heddle inspect policies lists them"`
	Policies Policies `yaml:"policies" jsonschema_description:"Policies that run besides the mode's own"`
	Memory   Memory   `yaml:"memory" jsonschema_description:"Page placement and migration"`
}

// Policy is one policy that governs a run.
type Policy struct {
	Policy string  `yaml:"policy" jsonschema:"required" jsonschema_description:"Name of the policy; heddle inspect policies lists them"`
	Period uint64  `yaml:"period" jsonschema_description:"Core cycles between two samples; the policy's own when left out"`
	Params Numbers `yaml:"params" jsonschema_description:"Parameters of the policy"`
}

// Policies is one policy or a list of them; a name alone stands for a policy with its own
// period and parameters.
type Policies []Policy

// FromNode implements yamldoc.FromNode.
func (p *Policies) FromNode(n *yamldoc.Node) error {
	items := []*yamldoc.Node{n}
	if n.Kind == yamldoc.List {
		items = n.Items
	}
	*p = Policies{}
	for _, it := range items {
		var one Policy
		if it.Kind == yamldoc.Text {
			one.Policy = it.Raw
		} else if err := yamldoc.Decode(it, "a policy", &one); err != nil {
			return err
		}
		if one.Policy == "" {
			return it.Errorf("an entry of policies needs policy, its name")
		}
		if _, err := control.Find(one.Policy); err != nil {
			return it.Errorf("%v", err)
		}
		*p = append(*p, one)
	}
	return nil
}

// Memory says how pages are placed and moved, and whether read-only lines are replicated.
type Memory struct {
	Pages       string  `yaml:"pages" jsonschema:"enum=page-move,enum=read-write,enum=rewrite,enum=migrate,enum=replicate" jsonschema_description:"How pages follow channel groups that change hands: by MIGRATION commands inside the HBM stack, by reads and writes through the memory system, or laid out anew on a conventional address map. Or how they follow the accesses to them, on machines with noc.topology nuba: migrate to the partition that uses them most, replicate in those that read them"`
	Placement   string  `yaml:"placement" jsonschema_description:"Where new pages go; the sheet's vm.placement when left out"`
	Replication string  `yaml:"replication" jsonschema:"enum=none,enum=full" jsonschema_description:"Whether LLC slices keep copies of other partitions' read-only lines (machines with noc.topology nuba); left out: as policy mdr says, or none"`
	Unified     Unified `yaml:"unified" jsonschema_description:"Managed memory whose pages come to the device when they are touched and leave when there is no room"`
}

// Unified asks for unified memory on demand.
type Unified struct {
	Runtime          string `yaml:"runtime" jsonschema:"enum=dissertation,enum=driver-today,enum=uvmsmart-compat,default=dissertation" jsonschema_description:"A set of policies: NVIDIA's runtime as the dissertation describes it, the driver of today, or the dissertation's public simulator. A policy that is named beside it replaces the set's"`
	All              bool   `yaml:"all" jsonschema:"default=false" jsonschema_description:"Memory that programs allocate on the device is managed memory, too"`
	Capacity         string `yaml:"capacity" jsonschema_description:"Device memory for managed pages: bytes, megabytes (14.05MB, up to whole pages), or a share of the rounded bytes allocated at most, as in 75% or 100/110; the whole device memory when left out"`
	Oversubscription string `yaml:"oversubscription" jsonschema_description:"The inverse of capacity: the rounded bytes allocated divided by the device memory, as in 150%"`
	Prefetch         string `yaml:"prefetch" jsonschema:"enum=none,enum=random,enum=sl,enum=zheng-sequential,enum=zheng-512k,enum=tbn,enum=driver-today,default=tbn" jsonschema_description:"Prefetcher: the pages that come along with a page that faults"`
	PrefetchOver     string `yaml:"prefetch_over" jsonschema:"enum=none,enum=random,enum=sl,enum=zheng-sequential,enum=zheng-512k,enum=tbn,enum=driver-today" jsonschema_description:"The prefetcher once memory has been too small; the same as prefetch when left out"`
	Evict            string `yaml:"evict" jsonschema:"enum=lru4k,enum=random4k,enum=sl,enum=tbn,enum=lru2m,enum=lfu,enum=driver-today,default=lru2m" jsonschema_description:"Eviction: the pages that leave when there is no room"`
	Migrate          string `yaml:"migrate" jsonschema:"enum=first-touch,enum=always,enum=oversub,enum=adaptive,default=first-touch" jsonschema_description:"Rule of migration: when a page that is touched comes to the device"`
	Ts               int    `yaml:"ts" jsonschema:"default=8" jsonschema_description:"Static migration threshold: accesses to a 64 KB block"`
	P                int    `yaml:"p" jsonschema:"default=8" jsonschema_description:"Multiplicative penalty of adaptive migration: once memory has been too small, ts counts this many times, and more for a block that comes again"`
	Counters         string `yaml:"counters" jsonschema:"enum=all,enum=remote,default=all" jsonschema_description:"Which accesses of a 64 KB block count against ts: all, or remote, those of pages that are on the host, as Volta's hardware counts"`
	Reserve          int    `yaml:"reserve" jsonschema:"default=0" jsonschema_description:"Percent of the pages on the device that are protected from eviction, the least recently used ones"`
	FreeBuffer       int    `yaml:"free_buffer" jsonschema:"default=0" jsonschema_description:"Percent of the memory that evictions keep free: they begin before it is full"`
	WriteBack        string `yaml:"write_back" jsonschema:"enum=always,enum=dirty,default=always" jsonschema_description:"dirty: chunks of 2 MB in which nothing was written are dropped instead of being written back"`
	Smart            bool   `yaml:"smart" jsonschema:"default=false" jsonschema_description:"The runtime itself chooses prefetcher, eviction and migration, by the pattern in which the blocks of an allocation migrate"`
	Link             string `yaml:"link" jsonschema:"enum=fr-fcfs,enum=rr,enum=static,enum=adaptive,default=fr-fcfs" jsonschema_description:"Scheduler of the link to the host: the application whose transfers and faults go first"`
	Faults           string `yaml:"faults" jsonschema:"enum=link,enum=high,default=link" jsonschema_description:"Application whose faults the driver takes first: the one that goes first on the link, or application high"`
	High             int    `yaml:"high" jsonschema:"default=0" jsonschema_description:"For link: static and faults: high, the application that goes first, counted from 0"`
	Preserve         bool   `yaml:"preserve" jsonschema:"default=false" jsonschema_description:"Pages of the application that goes first on the link are evicted last"`
}

// FromNode implements yamldoc.FromNode: a threshold that is named cannot be 0, which stands for the default.
func (u *Unified) FromNode(n *yamldoc.Node) error {
	type plain Unified
	if err := yamldoc.Decode(n, "unified", (*plain)(u)); err != nil {
		return err
	}
	for _, k := range []struct {
		name  string
		value int
	}{{"ts", u.Ts}, {"p", u.P}} {
		if n.Get(k.name) == nil {
			continue
		}
		if err := uvm.CheckThreshold(k.name, k.value); err != nil {
			return n.At(k.name).Errorf("memory.unified: %v", err)
		}
	}
	return nil
}

// Resolve is the input from which a file is resolved.
func (m Memory) Resolve() sim.Memory {
	return sim.Memory{
		Pages: m.Pages, Placement: m.Placement, Replication: m.Replication, Unified: sim.Unified(m.Unified),
	}
}

// Length says when a run ends.
type Length struct {
	Cycles       uint64 `yaml:"cycles" jsonschema_description:"Stop at this core cycle at the latest"`
	Budget       bool   `yaml:"budget" jsonschema:"default=false" jsonschema_description:"Simulate exactly this many cycles with every application repeating"`
	Instructions uint64 `yaml:"instructions" jsonschema_description:"Simulate until every application has executed this many thread instructions, checked every 500 core cycles; an application that ends before starts again"`
	Warmup       uint64 `yaml:"warmup" jsonschema_description:"Core cycles from the beginning of the run that are not measured; the simulation is the same"`
	WarmupInsts  uint64 `yaml:"warmup_instructions" jsonschema_description:"A warm-up by work: nothing is measured until every application has executed this many thread instructions, checked every 500 core cycles"`
	Until        string `yaml:"until" jsonschema:"enum=end,enum=cycles,default=end" jsonschema_description:"end: when every application has ended once; cycles: the same as budget: true"`
}

// Outputs says what a run writes.
type Outputs struct {
	Dir      string `yaml:"dir" jsonschema_description:"Result directory relative to this file; one sub-directory per sharing mode when there are several"`
	Timeline *bool  `yaml:"timeline" jsonschema:"default=true" jsonschema_description:"timeline.json for ui.perfetto.dev"`
	Touches  bool   `yaml:"touches" jsonschema:"default=false" jsonschema_description:"Count which SMs touch each page, where it lies, and under unified memory when it is accessed (machines that translate addresses)"`
	Profile  *bool  `yaml:"profile" jsonschema:"default=true" jsonschema_description:"stalls.pb.gz for go tool pprof"`
}

// Scalars is a mapping from names to plain values, kept as they are written.
type Scalars map[string]string

// FromNode implements yamldoc.FromNode.
func (s *Scalars) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("a mapping of names to values is expected, not %s", n.Kind)
	}
	*s = Scalars{}
	for _, k := range n.Keys {
		text, err := scalarText(k.Value)
		if err != nil {
			return err
		}
		(*s)[k.Name] = text
	}
	return nil
}

// scalarText writes a value as the command line would; lists become a,b,c.
func scalarText(n *yamldoc.Node) (string, error) {
	switch n.Kind {
	case yamldoc.Null, yamldoc.Map:
		return "", n.Errorf("a plain value is expected, not %s", n.Kind)
	case yamldoc.List:
		parts := make([]string, len(n.Items))
		for i, it := range n.Items {
			t, err := scalarText(it)
			if err != nil {
				return "", err
			}
			parts[i] = t
		}
		return strings.Join(parts, ","), nil
	}
	return n.Raw, nil
}

// Command is a program with its arguments.
type Command []string

// FromNode implements yamldoc.FromNode.
func (c *Command) FromNode(n *yamldoc.Node) error {
	items := []*yamldoc.Node{n}
	if n.Kind == yamldoc.List {
		items = n.Items
	}
	*c = Command{}
	for _, it := range items {
		text, err := scalarText(it)
		if err != nil {
			return err
		}
		*c = append(*c, text)
	}
	if len(*c) == 0 || (*c)[0] == "" {
		return n.Errorf("exec needs a program: [./prog, arguments]")
	}
	return nil
}

// Numbers are parameters of policies by name. A choice may be given by its name.
type Numbers map[string]float64

// FromNode implements yamldoc.FromNode.
func (m *Numbers) FromNode(n *yamldoc.Node) error {
	var text Scalars
	if err := text.FromNode(n); err != nil {
		return err
	}
	*m = Numbers{}
	for _, k := range n.Keys {
		x, err := control.ReadParam(k.Name, text[k.Name])
		if err != nil {
			return k.Value.Errorf("%v", err)
		}
		(*m)[k.Name] = x
	}
	return nil
}

// Modes is one mode or a list of them.
type Modes []Mode

// FromNode implements yamldoc.FromNode.
func (m *Modes) FromNode(n *yamldoc.Node) error {
	items := []*yamldoc.Node{n}
	if n.Kind == yamldoc.List {
		items = n.Items
	}
	if len(items) == 0 {
		return n.Errorf("sharing is an empty list; leave it out or name a mode")
	}
	for _, it := range items {
		var one Mode
		if it.Kind == yamldoc.Text { // "sharing: bp" for modes without parameters
			one.Mode = it.Raw
		} else if err := yamldoc.Decode(it, "sharing", &one); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	return nil
}

// Overrides is what the command line adds to a run file; zero values change nothing.
type Overrides struct {
	Machine    string
	Set        map[string]string
	Sharing    []string // names or modes of the file's entries, or other modes, instead of all the file's
	Args       map[string]string
	Seed       *uint64
	MaxCycles  *uint64
	Watchdog   *uint64
	Functional bool
	Out        string // result directory, relative to the working directory

	Shelf *sheets.Shelf // sheets read before; nil: they are read from their files
}

// File is a resolved run file.
type File struct {
	Path    string
	Specs   []sim.Spec // one per sharing mode, in the order of the file
	Out     string     // result directory; "": none
	Machine *sheets.Machine
	Sheet   *sheets.Provenance
	Notes   []string // changes of the machine that the file does not ask for
}

// DefaultEpoch is the length of epochs, in core cycles, when results are written and the
// run file names none; from DefaultEpochs on they become longer, so that there are as many
// as a plot can show.
const (
	DefaultEpoch  = 1000
	DefaultEpochs = 200
)

// Load reads and resolves a run file.
func Load(path string, o Overrides) (*File, error) {
	src, err := yamldoc.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src, o)
}

// Parse resolves the text of a run file; paths in it are relative to the folder of
// file. Applications must exist.
func Parse(file string, src []byte, o Overrides) (*File, error) {
	root, err := yamldoc.Parse(file, src)
	if err != nil {
		return nil, err
	}
	if err := another(root); err != nil {
		return nil, err
	}
	doc := Doc{Machine: "qv100", Seed: 1}
	if err := yamldoc.Decode(root, "a run file", &doc); err != nil {
		return nil, err
	}
	r := &resolver{root: root, doc: &doc, dir: filepath.Dir(file), o: o}
	return r.resolve(file)
}

// ForApp resolves an application folder or a recording as if a run file named it
// alone on the machine of the overrides.
func ForApp(path string, o Overrides) (*File, error) {
	text := "apps:\n- path: .\n"
	root, err := yamldoc.Parse(path, []byte(text))
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	app := AppDoc{Name: appName(abs), Path: ".", Args: o.Args}
	dir := path
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		dir, app.Path = filepath.Split(path)
	}
	doc := Doc{Machine: "qv100", Seed: 1, Apps: []AppDoc{app}}
	o.Args = nil
	r := &resolver{root: root, doc: &doc, dir: dir, o: o, bare: true}
	return r.resolve(path)
}

// ForProgram resolves a compiled program and its arguments as if a run file named it alone on the machine of the
// overrides.
func ForProgram(args []string, o Overrides) (*File, error) {
	root, err := yamldoc.Parse(args[0], []byte("apps:\n- exec: .\n"))
	if err != nil {
		return nil, err
	}
	doc := Doc{Machine: "qv100", Seed: 1, Apps: []AppDoc{{Name: filepath.Base(args[0]), Exec: args}}}
	r := &resolver{root: root, doc: &doc, o: o, bare: true}
	return r.resolve(args[0])
}

// appName is the name of an application that has not been given one: its folder's,
// or the recording's without the extension.
func appName(path string) string {
	base := filepath.Base(path)
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return base
}

// IsApp distinguishes an application - a folder, a recording or a trace - from a run file. An error says that the
// path is neither.
func IsApp(path string) (bool, error) {
	st, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if _, ok := accelsim.Find(path); ok {
		return true, nil
	}
	if is, err := workload.Is(path); err != nil || is {
		return is, err
	}
	if !st.IsDir() {
		is, err := record.Is(path)
		if err != nil || is {
			return is, err
		}
		what, remedy, err := identify(path)
		if err == nil && what != "" {
			err = fmt.Errorf("%s is %s, neither a run file nor an application: %s", path, what, remedy)
		}
		return false, err
	}
	if _, err := os.Stat(filepath.Join(path, "app.star")); err != nil {
		return false, fmt.Errorf("%s is a folder without app.star or kernelslist.g: give an application's folder or "+
			"a run file (.yaml)", path)
	}
	return true, nil
}
