// Package systems says which machine can host which way of sharing: the systems of the five papers, and those that
// commercial GPUs offer. A reader must know two types. System is a way of sharing with the shortest run that uses it.
// Cell is one system on one machine: it works, or the simulator refuses it with a reason.
package systems

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// System is a way of sharing.
type System struct {
	Name    string // column of the table
	What    string // what it does
	Ask     string // how a run file asks for it
	Sharing sim.Sharing
	// Apps is the number of applications that run kernels; CPU is the number of programs on CPU cores beside them.
	Apps   int
	CPU    bool
	Target bool // the first application has a target
	// Profiles of a machine's MIG instances, where the system needs some.
	Profiles bool
}

// All are the systems, in the order of the table.
func All() []System { return append(general(), ofPapers()...) }

// general are the ways of sharing that commercial GPUs offer, and two that papers compare with.
func general() []System {
	return []System{
		{
			Name: "MPS",
			What: "each application has SMs of its own; caches and memory are shared (NVIDIA MPS)",
			Ask:  "sharing: mps", Apps: 2, Sharing: sim.Sharing{Mode: "mps"},
		},
		{
			Name: "timeslice",
			What: "applications take turns on the whole GPU (NVIDIA time slicing)",
			Ask:  "sharing: timeslice", Apps: 2, Sharing: sim.Sharing{Mode: "timeslice", Quantum: 5000},
		},
		{
			Name: "MIG",
			What: "each application has an instance with SMs, L2 slices and memory of its own (NVIDIA MIG)",
			Ask:  "sharing: {mode: mig, profiles: [...]}", Apps: 2, Profiles: true, Sharing: sim.Sharing{Mode: "mig"},
		},
		{
			Name: "SMK",
			What: "every SM runs thread blocks of all applications (simultaneous multikernel)",
			Ask:  "sharing: smk", Apps: 2, Sharing: sim.Sharing{Mode: "smk"},
		},
		{
			Name: "BP",
			What: "each application has an equal share of the SMs and of the memory channels (balanced partition)",
			Ask:  "sharing: bp", Apps: 2, Sharing: sim.Sharing{Mode: "bp"},
		},
	}
}

// ofPapers are the systems of the papers.
func ofPapers() []System {
	return []System{
		{
			Name: "UGPU",
			What: "SMs move to compute-bound applications and memory channels to memory-bound ones, at run time",
			Ask:  "sharing: ugpu", Apps: 2, Sharing: sim.Sharing{Mode: "ugpu", Epoch: 5000},
		},
		{
			Name: "SMQoS",
			What: "an application gets SMs until it meets its performance target; the others get the rest",
			Ask:  "sharing: smqos, and a target under qos", Apps: 2, Target: true,
			Sharing: sim.Sharing{Mode: "smqos", Epoch: 5000},
		},
		{
			Name: "Rollover",
			What: "applications share every SM, and quotas of instructions keep those with a target at it",
			Ask:  "sharing: rollover, and a target under qos", Apps: 2, Target: true,
			Sharing: sim.Sharing{Mode: "rollover", Epoch: 5000},
		},
		{
			Name: "NUBA",
			What: "LLC slices near an SM keep copies of the read-only lines it reads, while a model predicts a gain",
			Ask:  "policies: [mdr]", Apps: 1,
			Sharing: sim.Sharing{Mode: "alone", Policies: []sim.Governor{{Policy: "mdr"}}},
		},
		{
			Name: "Hydrogen",
			What: "CPU and GPU share a fast and a slow memory, which are divided at run time",
			Ask:  "policies: [hydrogen], and a program under cpu beside a kernel", Apps: 1,
			CPU: true, Sharing: sim.Sharing{Mode: "alone", Policies: []sim.Governor{{Policy: "hydrogen"}}},
		},
		{
			Name: "UVM",
			What: "managed memory: pages come to the GPU when touched and leave when memory is full (UVMSmart)",
			Ask:  "memory: {unified: {all: true}}", Apps: 1,
			Sharing: sim.Sharing{Mode: "alone", Memory: sim.Memory{Unified: sim.Unified{
				Runtime: "dissertation", All: true, Capacity: "75%",
			}}},
		},
	}
}

// Cell is a system on a machine.
type Cell struct {
	Machine string
	System  *System
	Set     []string // settings of the sheet with which Refused was checked, such as vm.enabled=true
	Refused error    // nil: it works
}

// Spec is the shortest run of the system on a machine, with the given folder as every application that runs
// kernels.
func (s *System) Spec(m *sheets.Machine, app string) sim.Spec {
	spec := sim.Spec{Machine: m.Name, Seed: 1, Sharing: s.Sharing, Length: sim.Length{MaxCycles: 20_000, Budget: true}}
	for i := range s.Apps {
		a := sim.App{Name: fmt.Sprint("kernel", i), Path: app, Repeat: true}
		if s.Target && i == 0 {
			a.QoS = 1
		}
		spec.Apps = append(spec.Apps, a)
	}
	if s.CPU {
		mcf := &sim.CPU{Model: "mcf", Copies: 1, Instructions: 10_000}
		spec.Apps = append(spec.Apps, sim.App{Name: "cpu", CPU: mcf})
	}
	if s.Profiles {
		smallest := ""
		if p := m.MIG.Profiles; len(p) > 0 {
			smallest = p[0].Name
		}
		spec.Sharing.Profiles = slices.Repeat([]string{smallest}, s.Apps)
	}
	return spec
}

// Check says whether a machine hosts the system, and with which settings.
func (s *System) Check(machine string) (Cell, error) {
	c := Cell{Machine: machine, System: s}
	set := map[string]string{}
	for {
		m, _, err := sheets.Resolve(machine, set)
		if err != nil && len(set) > 0 {
			c.Refused = err // the settings contradict the sheet
			return c, nil
		}
		if err != nil {
			return c, err
		}
		spec := s.Spec(m, "")
		err = spec.Sharing.CheckApps(m, runfile.ChannelGroups(m), spec.Apps)
		var lacks *sim.Lacks
		if !errors.As(err, &lacks) || len(lacks.Set) == 0 || contains(set, lacks.Set) {
			c.Refused = err
			return c, nil
		}
		for _, x := range lacks.Set {
			path, value, _ := strings.Cut(x, "=")
			set[path] = value
		}
		c.Set = append(c.Set, lacks.Set...)
	}
}

// contains says that all of the settings are made.
func contains(set map[string]string, settings []string) bool {
	for _, x := range settings {
		path, value, _ := strings.Cut(x, "=")
		if set[path] != value {
			return false
		}
	}
	return true
}

// Table is the result of every system on every machine, a row a machine.
func Table(machines []string) ([][]Cell, error) {
	systems := All()
	out := make([][]Cell, len(machines))
	for i, m := range machines {
		for j := range systems {
			c, err := systems[j].Check(m)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], c)
		}
	}
	return out, nil
}

// mark is a cell's text.
func (c *Cell) mark() string {
	switch {
	case c.Refused != nil:
		return "-"
	case len(c.Set) > 0:
		return "set"
	default:
		return "yes"
	}
}

// rows are the lines of the table as cells, the head first.
func rows(table [][]Cell) [][]string {
	var out [][]string
	for i, row := range table {
		if i == 0 {
			head := []string{"machine"}
			for _, c := range row {
				head = append(head, c.System.Name)
			}
			out = append(out, head)
		}
		line := []string{row[0].Machine}
		for _, c := range row {
			line = append(line, c.mark())
		}
		out = append(out, line)
	}
	return out
}

// reason is why a system is refused, or what it needs, with the machines that this is said of.
type reason struct {
	system, text string
	machines     []string
}

// reasons lists them, each once.
func reasons(table [][]Cell) []reason {
	var out []reason
	for j := range All() {
		for _, row := range table {
			c := row[j]
			text := ""
			switch {
			case c.Refused != nil:
				text = strings.ReplaceAll(c.Refused.Error(), "machine "+c.Machine, "the machine")
			case len(c.Set) > 0:
				text = "works with --set " + strings.Join(c.Set, " --set ")
			default:
				continue
			}
			at := slices.IndexFunc(out, func(r reason) bool { return r.system == c.System.Name && r.text == text })
			if at < 0 {
				at, out = len(out), append(out, reason{system: c.System.Name, text: text})
			}
			out[at].machines = append(out[at].machines, c.Machine)
		}
	}
	return out
}

// Legend says what a cell of the table means.
const Legend = "yes: works. set: works with the settings named below. -: refused, for the reason named below."

// Text prints the table, then the systems and each reason once, folded by fold to a number of columns.
func Text(w io.Writer, table [][]Cell, fold func(text string, indent int) string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows(table) {
		fmt.Fprintln(tw, strings.Join(r, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n"+Legend)
	for _, s := range All() {
		fmt.Fprintf(w, "\n%s\n", fold(s.Name+": "+s.What, 2))
		fmt.Fprintln(w, "  "+fold("run file: "+s.Ask, 4))
		for _, r := range reasons(table) {
			if r.system == s.Name {
				fmt.Fprintln(w, "  "+fold(fmt.Sprintf("%s: %s", strings.Join(r.machines, ", "), r.text), 4))
			}
		}
	}
	return nil
}

// Head and Rows are the table as documents have it.
func Head(table [][]Cell) []string { return rows(table)[0] }

// Rows are the lines below the head.
func Rows(table [][]Cell) [][]string { return rows(table)[1:] }

// Reasons explain the cells that are not a plain yes: system, machines, and the sentence.
func Reasons(table [][]Cell) (out [][]string) {
	for _, r := range reasons(table) {
		out = append(out, []string{r.system, strings.Join(r.machines, ", "), r.text})
	}
	return out
}

// Entry is a cell as JSON has it.
type Entry struct {
	Machine string   `json:"machine"`
	System  string   `json:"system"`
	Works   bool     `json:"works"`
	Set     []string `json:"set,omitempty"`
	Refused string   `json:"refused,omitempty"`
}

// JSON is the table as entries, a machine after the other.
func JSON(table [][]Cell) []Entry {
	var out []Entry
	for _, row := range table {
		for _, c := range row {
			e := Entry{Machine: c.Machine, System: c.System.Name, Works: c.Refused == nil, Set: c.Set}
			if !e.Works {
				e.Refused = c.Refused.Error()
			}
			out = append(out, e)
		}
	}
	return out
}
