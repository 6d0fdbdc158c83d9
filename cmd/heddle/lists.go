package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
	models "github.com/heddle-sim/heddle/workload/cpu"
)

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
		{"uvm", residency.UnifiedCounters()},
		{"link", link.Desc()},
		{"homes", residency.HomeCounters()},
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
	return 0, fmt.Errorf("no machine has the counter %q%s; heddle inspect counters lists them", counter,
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
	if len(list) == 0 && slices.Contains(owners, owner) {
		return fmt.Errorf("%s has no counter %q; heddle inspect counters %[1]s lists them", owner, name)
	}
	if len(list) == 0 {
		return fmt.Errorf("no counters of %q%s: an owner (%s) or a counter of one, as in sm.thread_insts", what,
			yamldoc.Guess(owner, owners), strings.Join(owners, ", "))
	}
	if asJSON {
		return printJSON(w, list)
	}
	return text.Columns(w, rows)
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
