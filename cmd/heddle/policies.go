package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem/placement"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
)

// policy is one choice a user can make by name.
type policy struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Where  string `json:"where"` // how it is chosen
	What   string `json:"what"`
	Source string `json:"source"`

	entry *control.Entry // of a machine-wide one
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
		out = append(out, choice("sharing", m.Name, "run file: sharing, or --sharing", what, m.Source))
	}
	for _, e := range control.All() {
		out = append(out, policy{"machine-wide", e.Name, "run file: " + chosenBy(&e), describe(&e), e.Source, &e})
	}
	out = append(out, pagePolicies()...)
	for _, p := range hybrid.Policies() {
		out = append(out, choice("hybrid memory", p.Name, "--set memory.hybrid.policy="+p.Name, p.What, p.Source))
	}
	out = append(out, []policy{
		choice("warp scheduler", "gto", "--set sm.policy=gto",
			"keep issuing the last warp until it stalls, then the oldest ready one", "Rogers et al., MICRO 2012"),
		choice("warp scheduler", "lrr", "--set sm.policy=lrr", "loose round robin over the ready warps", "GPGPU-Sim"),
		choice("DRAM scheduler", "frfcfs", "--set dram.sched=frfcfs", "row hits first, then the oldest request",
			"Rixner et al., ISCA 2000"),
		choice("DRAM scheduler", "frfcfs-rowhit", "--set dram.sched=frfcfs-rowhit",
			"row hits first, then the oldest; no request closes a row that an earlier one waits to hit",
			"Ramulator 2.1"),
		choice("DRAM scheduler", "frfcfs-priorhit", "--set dram.sched=frfcfs-priorhit",
			"row hits first, then the oldest; no request closes a row that any other waits to hit", "Ramulator"),
		choice("DRAM scheduler", "fcfs", "--set dram.sched=fcfs", "the oldest request first",
			"Rixner et al., ISCA 2000"),
		choice("DRAM row", "open", "--set dram.page=open", "a row stays open until another one of its bank is needed",
			"JEDEC"),
		choice("DRAM row", "closed", "--set dram.page=closed", "a row is closed after its access", "JEDEC"),
	}...)
	return append(out, placements()...)
}

// choice is a policy that is one word.
func choice(kind, name, where, what, source string) policy {
	return policy{Kind: kind, Name: name, Where: where, What: what, Source: source}
}

// placements are the values of vm.placement.
func placements() (out []policy) {
	for _, e := range placement.All() {
		out = append(out, choice("page placement", e.Name, "--set vm.placement="+e.Name, e.What, e.Source))
	}
	return out
}

// pagePolicies lists the values of memory.pages.
func pagePolicies() (out []policy) {
	const by = "run file: memory: {pages: "
	for _, w := range sim.PageWays() {
		out = append(out, choice("page moves", w[0], by+w[0]+"}", w[1], "UGPU paper, section 6.2"))
	}
	for _, e := range vm.HomesEntries() {
		out = append(out, choice("page homes", e.Name, by+e.Name+"}", e.What, e.Source))
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

// period says when a policy decides beside events.
func period(e *control.Entry) string {
	unit := "core cycles"
	if e.Epoch != "" {
		unit = "CPU cycles (" + e.Epoch + ")"
	}
	return fmt.Sprintf("every %d %s", e.Period, unit)
}

// sources says which counters a policy reads, by the field of its sample.
func sources(e *control.Entry) (out [][]string) {
	for _, c := range e.Counters() {
		of := c.Counter
		if of == "-" {
			of = "from files alone"
		} else if c.PerKernel {
			of += " per kernel"
		} else if c.PerApp {
			of += " per application"
		}
		out = append(out, []string{c.Field, of})
	}
	return out
}

// describe says what a policy does, sets and reads, and what a run file can set of it.
func describe(e *control.Entry) string {
	out := e.What
	if len(e.Settings) > 0 {
		out += "; sets " + strings.Join(e.Settings, ", ")
	}
	if e.Period > 0 {
		out += "; " + period(e)
	}
	for _, t := range e.On {
		out += "; on " + string(t)
	}
	var reads []string
	for _, s := range sources(e) {
		reads = append(reads, s[0]+" ("+s[1]+")")
	}
	if len(reads) > 0 {
		out += "; reads " + strings.Join(reads, ", ")
	}
	var params []string
	for _, p := range e.Params {
		params = append(params, fmt.Sprintf("%s (%s; %s: %s)", p.Name, e.ShowDefault(&p), p.Unit, p.Doc))
	}
	if len(params) > 0 {
		out += "; params: " + strings.Join(params, ", ")
	}
	return out
}

// inspectPolicies lists policies, all of them or those of a kind, or shows the one of a name whole.
func inspectPolicies(w io.Writer, name string, asJSON bool) error {
	var list []policy
	var names []string
	kind := name == ""
	for _, p := range policies() {
		names = append(names, p.Name)
		if name == "" || p.Name == name || p.Kind == name {
			list = append(list, p)
			kind = kind || p.Kind == name
		}
	}
	if len(list) == 0 {
		return fmt.Errorf("no policy %q%s; heddle inspect policies lists them", name, yamldoc.DidYouMean(name, names))
	}
	if asJSON {
		return printJSON(w, list)
	}
	if !kind {
		for i, p := range list {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := showPolicy(w, &p); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{{"KIND", "NAME", "MEANING"}}
	for _, p := range list {
		what := p.What
		if p.entry != nil {
			what = p.entry.What
		}
		rows = append(rows, []string{p.Kind, p.Name, what})
	}
	if err := text.Columns(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nheddle inspect policies NAME shows how one is chosen, its source, parameters and "+
		"counters.")
	return err
}

// showPolicy prints all about one policy.
func showPolicy(w io.Writer, p *policy) error {
	what := p.What
	if p.entry != nil {
		what = p.entry.What
	}
	fmt.Fprintf(w, "%s (%s)\n  %s\n\n", p.Name, p.Kind, text.Folded(what, 2, wide-2))
	rows := [][]string{{"chosen by", p.Where}}
	if p.Source != "" {
		rows = append(rows, []string{"source", p.Source})
	}
	e := p.entry
	if e == nil {
		return text.Columns(w, rows)
	}
	if len(e.Settings) > 0 {
		rows = append(rows, []string{"sets", strings.Join(e.Settings, ", ")})
	}
	rows = append(rows, []string{"decides", decides(e)})
	if err := text.Columns(w, rows); err != nil {
		return err
	}
	if reads := sources(e); len(reads) > 0 {
		fmt.Fprintln(w)
		if err := text.Columns(w, append([][]string{{"READS", "COUNTER"}}, reads...)); err != nil {
			return err
		}
	}
	if len(e.Params) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	rows = [][]string{{"PARAMETER", "DEFAULT", "UNIT", "MEANING"}}
	return text.Columns(w, append(rows, paramRows(e)...))
}

// decides says when a policy gets a sample: at the ends of periods, and at events.
func decides(e *control.Entry) string {
	var when []string
	if e.Period > 0 {
		when = append(when, period(e))
	}
	for _, t := range e.On {
		when = append(when, "on "+string(t))
	}
	return strings.Join(when, ", ")
}

// paramRows are the rows of a policy's parameters: name, default, unit and meaning.
func paramRows(e *control.Entry) (rows [][]string) {
	for _, p := range e.Params {
		rows = append(rows, []string{p.Name, e.ShowDefault(&p), p.Unit, p.Doc})
	}
	return rows
}
