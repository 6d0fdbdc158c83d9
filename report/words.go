package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// Many is a number with its noun: "1 turn", "7 turns".
func Many[N int | uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// none stands for a value that does not exist: no accesses, no alone-run.
const none = "-"

// Rate is a share of events as text; "none" if there were no events.
func Rate(x *float64) string {
	if x == nil {
		return none
	}
	return percent(*x)
}

// SMs is the number of a tenant's SMs as text, or says that all are shared.
func SMs(t *sim.Tenant) string {
	if t.CPU != nil && t.SMs == 0 {
		return fmt.Sprintf("%d CPU", t.CPU.Cores)
	}
	return had(t.SMs, t.SharedSMs)
}

// Channels is the same for memory channels.
func Channels(t *sim.Tenant) string { return had(t.Channels, t.SharedChannels) }

func had(n int, shared bool) string {
	if shared {
		return "shared"
	}
	return fmt.Sprint(n)
}

// Executions is the number of a tenant's executions as text. Before the first has ended, the fraction that is done is
// unknown.
func Executions(t *sim.Tenant) string {
	if t.Runs == 0 && t.Executions == 0 && t.Insts() > 0 {
		return "<1"
	}
	if t.Executions == math.Trunc(t.Executions) {
		return fmt.Sprintf("%.0f", t.Executions)
	}
	return fmt.Sprintf("%.2f", t.Executions)
}

// mark follows the name of a tenant whose window is not the one that was asked for.
const mark = "*"

// Name is a tenant's name, marked if it did not complete the work that its window waits for.
func Name(t *sim.Tenant) string {
	if t.Window.Of == sim.OfRun {
		return t.Name + " " + mark
	}
	return t.Name
}

// Windows says in a few lines which part of the run the numbers of a result describe.
func Windows(r *sim.Result) (lines []string) {
	seen := map[sim.WindowKind]bool{}
	for i := range r.Tenants {
		w := r.Tenants[i].Window
		if seen[w.Of] {
			continue
		}
		seen[w.Of] = true
		switch from := fmt.Sprintf("cycle %d", w.Start); w.Of {
		case sim.OfBudget:
			lines = append(lines, fmt.Sprintf("numbers are from %s to %d", from, w.End))
		case sim.OfExecutions:
			lines = append(lines,
				"numbers are from a tenant's first launch to the end of its last complete execution"+behind(r))
		case sim.OfInstructions:
			lines = append(lines, fmt.Sprintf("numbers are from a tenant's first launch to its instruction %d%s",
				r.Spec.Length.Instructions, behind(r)))
		case sim.OfRun:
			what := "no execution was completed"
			if r.Spec.Length.Instructions > 0 {
				what = "executed fewer instructions than length.instructions"
			}
			lines = append(lines, fmt.Sprintf("%s %s: numbers are from %s to %d", mark, what, from, w.End))
		}
	}
	for i := range r.Spec.Apps {
		if a := &r.Spec.Apps[i]; a.AccessesOnly {
			lines = append(lines, fmt.Sprintf("%s (accesses_only): only accesses to memory, fences and barriers of "+
				"its kernels "+
				"take time and count as instructions", a.Name))
		}
	}
	for i := range r.Tenants {
		if t := &r.Tenants[i]; t.Progress == "executions" && r.Metrics != nil {
			lines = append(lines,
				fmt.Sprintf("%s: its number of instructions depends on timing, so its slowdown compares executions "+
					"per cycle",
					t.Name))
		}
	}
	return lines
}

// Targets says of each target whether it was met, a line each.
func Targets(r *sim.Result) (lines []string) {
	for _, t := range r.Targets {
		who, of, met := t.Tenant, "", "met"
		if t.Kernel != "" {
			who = "kernel " + t.Kernel + " of " + who
		}
		if t.OfAlone > 0 {
			of = fmt.Sprintf(", %.4g %% of what it reaches alone", 100*t.OfAlone)
		}
		if !t.Met {
			met = "NOT met"
		}
		lines = append(lines, fmt.Sprintf("target of %s: %s instructions per cycle on the GPU%s; reached %s "+
			"(%.1f %%): %s", who, number(t.IPC), of, number(t.Reached), 100*t.Reached/t.IPC, met))
	}
	return lines
}

// behind describes a warm-up.
func behind(r *sim.Result) string {
	if w := r.Spec.Length.Warmup; w > 0 {
		return fmt.Sprintf(", and after cycle %d", w)
	}
	if w := r.Spec.Length.WarmupInstructions; w > 0 {
		return fmt.Sprintf(", and after every application had executed %d", w)
	}
	return ""
}

// Ends names the owners of an SM before and after a move; "gated" is an SM that is powered down.
func Ends(m *sim.SMMove) (from, to string) {
	name := func(tenant string, gated bool) string {
		switch {
		case gated:
			return "gated"
		case tenant == "":
			return "nobody"
		}
		return tenant
	}
	return name(m.From, m.How == "wake"), name(m.To, m.Gate)
}

// handovers gives the cost of changing hands under a policy that divides SMs or channels; empty if nothing moved.
func handovers(r *sim.Result) string {
	m := r.Moved
	if m == nil || m.SMs+m.Groups == 0 {
		return ""
	}
	var parts []string
	if m.SMs > 0 {
		parts = append(parts, fmt.Sprintf("%s (%d switched with %s of contexts, %d drained)", Many(m.SMs, "SM"),
			m.Switched, sized(m.ContextBytes), m.Drained))
	}
	if m.Groups > 0 {
		parts = append(parts, fmt.Sprintf("%s with %s of pages", Many(m.Groups, "channel group"), sized(m.MoveBytes)))
	}
	return fmt.Sprintf("changed hands: %s; under way in %s of the cycles", strings.Join(parts, ", "),
		percent(m.EpochShare))
}

// gating gives the share of the SMs' time that was spent powered down, and the cost of waking; empty if no SM was
// powered down.
func gating(r *sim.Result) string {
	if r.Nobody == nil || r.Nobody.GatedSMCycles == 0 {
		return ""
	}
	held := r.Nobody.IdleSMCycles + r.Nobody.GatedSMCycles // and by all applications
	if r.Outside != nil {
		held += r.Outside.HeldSMCycles
	}
	for i := range r.Tenants {
		held += r.Tenants[i].HeldSMCycles
	}
	count := func(name string) (n uint64) {
		for _, t := range r.Tables {
			for _, v := range t.Values {
				if t.Owner == "sm" && v.Name == name {
					n += v.N
				}
			}
		}
		return n
	}
	return fmt.Sprintf("power gating: SMs were powered down for %s of their time; %s for an application, %s of waking",
		percent(float64(r.Nobody.GatedSMCycles)/float64(held)), Many(count("wakes"), "wake"),
		Many(count("waking_cycles"), "SM-cycle"))
}

// EnergyKinds are the kinds of parts, in the order of printing, with names.
func EnergyKinds() [][2]string {
	return [][2]string{
		{"sm", "SM"},
		{"l1", "L1"},
		{"l3", "L3"},
		{"llc", "LLC"},
		{"noc", "NoC"},
		{"dram", "DRAM"},
		{"cpu", "CPU"},
		{"static", "static"},
		{"migration", "page copies"},
	}
}

// energyParts lists the energy by kind; kinds that cannot occur in this run are left out.
func energyParts(e *sim.Energy, write func(float64) string) string {
	var parts []string
	for _, k := range EnergyKinds() {
		if j := e.Of(k[0]); j > 0 || k[0] != "migration" && k[0] != "cpu" && k[0] != "l3" {
			parts = append(parts, k[1]+" "+write(j))
		}
	}
	return strings.Join(parts, ", ")
}

// perInst is PerInst as text, or says that there were no instructions.
func perInst(r *sim.Result, write func(float64) string) string {
	if x := PerInst(r); x > 0 {
		return write(x)
	}
	return none
}

// PerInst is the energy of a run over the instructions of all tenants, of threads and of CPU cores. It is 0 if there
// are none, or if CPU cores executed some outside their tenant's window, where they are not counted.
func PerInst(r *sim.Result) float64 {
	n := uint64(0)
	for i := range r.Tenants {
		t := &r.Tenants[i]
		if t.CPU != nil && (t.Window.Start > 0 || t.Window.End < r.Cycles) {
			return 0
		}
		n += t.Insts()
	}
	if r.Outside != nil {
		n += r.Outside.ThreadInsts
	}
	if n == 0 || r.Energy == nil {
		return 0
	}
	return r.Energy.Total / float64(n)
}

// instruction names what PerInst counts.
func instruction(r *sim.Result) string {
	if slices.ContainsFunc(r.Tenants, func(t sim.Tenant) bool { return t.CPU != nil }) {
		return "instruction of threads and CPU cores"
	}
	return "thread instruction"
}
