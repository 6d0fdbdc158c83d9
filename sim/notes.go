package sim

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/trace/record"
)

// notes looks at what is known of a run at its end: its settings, counters, decisions and what has moved. It says, in
// a sentence each, which of them had no effect, or are misleading. The sentences are warnings of the result.
type notes struct {
	r   *run
	res *Result
}

// take puts all of them into the result.
func (n notes) take() {
	for _, of := range []func() []string{
		n.maps, n.recordings, n.targets, n.missed, n.idleAdvices, n.unmanaged, n.idlePages, n.idlePolicies, n.oneTurn,
	} {
		n.res.Warnings = append(n.res.Warnings, of()...)
	}
}

// maps says that the run had another address map than the sheet, and which way its pages moved.
func (n notes) maps() (out []string) {
	s, m := &n.r.spec.Sharing, n.r.sheet // as it ran
	if s.movesGroups() && m.Map.Kind == "group" {
		out = append(out, fmt.Sprintf("sharing %s ran on a hypothetical address map (map.kind: group): each page of "+
			"%d bytes lies in one of %d groups of channels. No %s is known to have such a map, and runs of other "+
			"ways of sharing have the map of the sheet", s.Name, m.VM.Page, m.Map.Groups, m.Name))
	}
	if s.movesGroups() && s.copying() == transfer.PageMove && !n.r.gpu.MovesInStacks() {
		out = append(out, fmt.Sprintf("sharing %s copied pages by reads and writes: %s cannot move them inside its "+
			"memory stacks (dram.migration)", s.Name, m.Name))
	}
	return out
}

// recordings says which recordings have other loops than the machine makes of a program.
func (n notes) recordings() (out []string) {
	for i := range n.r.apps {
		a := n.r.apps[i]
		p, ok := a.prog.(*record.Program)
		if !ok {
			continue
		}
		has, recorded, machine := isa.LoopsUnrolled, "unrolled", "not"
		if n.r.sheet.SM.Ptxas {
			has, recorded, machine = isa.LoopsKept, "as PTX has them", "unrolled"
		}
		if kernel := p.Kernel(has); kernel != "" {
			out = append(out, fmt.Sprintf("the recording %s has the loops of kernel %s %s, and on %s they are %s "+
				"(sm.ptxas): times and instruction counts differ from those of the program itself there; record it "+
				"on a machine with the same sm.ptxas", a.spec.Name, kernel, recorded, n.r.sheet.Name, machine))
		}
	}
	return out
}

// unmanaged says that memory.unified had nothing to do, or no time for it.
func (n notes) unmanaged() []string {
	r := n.r
	if !r.spec.Sharing.Memory.Unified.On() {
		return nil
	}
	managed := false
	for i := range n.res.Tenants {
		managed = managed || n.res.Tenants[i].ManagedBytes > 0
	}
	fault := uint64(r.sheet.UVM.FaultUs * r.sheet.Clock.Core)
	switch {
	case !managed:
		return []string{"memory.unified moved nothing: no program allocates with malloc_managed. Add all: true to " +
			"memory.unified, which makes memory of malloc managed, too"}
	case n.res.Cycles <= fault:
		return []string{fmt.Sprintf("the run ended after %d cycles, before the driver had handled one fault, which "+
			"takes %d (uvm.fault): programs only waited for their first pages; give the run a longer length",
			n.res.Cycles, fault)}
	}
	return nil
}

// still says that nothing has changed hands.
func (n notes) still() bool { return n.res.Moved == nil || n.res.Moved.Repartitions == 0 }

// idlePages says that memory.pages has no effect: no page can follow channels, because no channels change hands.
func (n notes) idlePages() []string {
	s := &n.r.spec.Sharing
	if s.Memory.Pages == "" || s.homes() != "" || n.r.ctl != nil && slices.ContainsFunc(n.r.ctl.governors,
		func(g *governor) bool { return g.entry.Sets("groups") }) {
		return nil
	}
	return []string{fmt.Sprintf("memory.pages: %s did nothing: no policy of sharing %s gives or takes channel groups, "+
		"so that no page has to follow; leave it out, or add a policy such as ugpu", s.Memory.Pages, s.Name)}
}

// oneTurn says that the run is no longer than a turn.
func (n notes) oneTurn() []string {
	turn := n.r.spec.Sharing.Turn(n.r.sheet)
	if turn < n.res.Cycles || len(n.r.apps) < 2 {
		return nil
	}
	return []string{noTurn(n.r.spec.Sharing.Name, turn, n.res.Cycles)}
}

// idlePolicies says which policies changed nothing in the whole run, with the reason of their last plan.
func (n notes) idlePolicies() (out []string) {
	if !n.r.ctl.moves() {
		return nil
	}
	for _, g := range n.r.ctl.governors {
		if len(g.entry.Settings) == 0 || g.entry.Aims && len(n.res.Targets) == 0 {
			continue
		}
		decisions, changes, why := 0, 0, ""
		for i := range n.res.Decisions {
			if d := &n.res.Decisions[i]; d.Policy == g.entry.Name {
				decisions++
				if d.Changed {
					changes++
				}
				if len(d.Why) > 0 {
					why = ": " + d.Why[len(d.Why)-1]
				}
			}
		}
		switch {
		case changes > 0 && (g.entry.Sets("sms") || g.entry.Sets("groups")) && n.still():
			out = append(out, fmt.Sprintf("policy %s: %d decisions, %d of them for a change, but no change had begun "+
				"when the run ended: its numbers are those of the initial division; give it a longer length",
				g.entry.Name, decisions, changes))
		case changes > 0:
		case decisions > 0:
			out = append(out, fmt.Sprintf("policy %s: %d decisions, 0 changes: its numbers are those "+
				"of the initial division%s", g.entry.Name, decisions, why))
		case g.period > 0:
			out = append(out, noPeriod(g.entry.Name, g.period, n.res.Cycles))
		}
	}
	return out
}
