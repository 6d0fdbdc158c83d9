package sim

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/sheets"
)

// gatedRun is a run of two applications on a 16-SM Fermi with 5 and 6 SMs under a policy
// that sets SMs; nobody's five are asked to be gated at its begin, and the first application
// to have two of them at cycle 3000.
func gatedRun(t *testing.T, spec Spec) *Result {
	t.Helper()
	spec.Machine, spec.Seed, spec.Epoch, spec.Timeline = "fermi", 1, 1000, true
	spec.Length = Length{MaxCycles: 12_000, Budget: true}
	spec.Sharing = Sharing{Mode: "mps", SMs: []int{5, 6}, Policies: []Governor{{Policy: "cd-search", Period: 5000}}}
	for _, name := range []string{"rodinia-like/hotspot", "micro/spmv"} {
		spec.Apps = append(spec.Apps, App{Name: name, Path: "../apps/" + name})
	}
	r := &run{spec: &spec, ctx: context.Background()}
	for i := range spec.Apps {
		a := &app{id: i, spec: spec.Apps[i], counted: true}
		if err := a.load(&spec); err != nil {
			t.Fatal(err)
		}
		r.apps = append(r.apps, a)
	}
	sheet, from, err := sheets.Resolve(spec.Machine, spec.Set)
	if err != nil {
		t.Fatal(err)
	}
	r.sheet, r.given = sheet, MachineSheet{Name: sheet.Name, Numbers: from.List(sheet)}
	if err := r.build(); err != nil {
		t.Fatal(err)
	}
	p, err := r.gpu.Sharing.Repartition(&sharing.Target{Shares: []sharing.Share{{SMs: 5}, {SMs: 6}}, Gated: 5})
	if err != nil {
		t.Fatal(err)
	}
	nothing := &sharing.Repartition{} // of a plan for what everybody has already
	r.ctl.begun = append(r.ctl.begun, &change{decides: map[string]int{"gating": 0}, done: p},
		&change{decides: map[string]int{"sms": 0}, done: nothing})
	r.ctl.waiting = &change{
		want: sharing.Target{Shares: []sharing.Share{{SMs: 7}, {SMs: 6}}, Gated: sharing.KeepGated}, at: 3000,
		decides: map[string]int{"sms": 0},
	}
	r.ctl.decisions = append(r.ctl.decisions, Decision{Changed: true})
	if err := r.loop(); err != nil {
		t.Fatal(err)
	}
	r.stopAll(nil)
	return r.result()
}

// What nobody had is told: idle and gated SM-cycles, which with everybody's are the
// machine's, by SM, by epoch and as a state of the timeline; and every move says what it
// was.
func TestGatedInResult(t *testing.T) {
	r := gatedRun(t, Spec{})
	if r.Moved.Repartitions != 2 {
		t.Errorf("%d repartitions of five SMs powered down, and two handed over", r.Moved.Repartitions)
	}
	n := r.Nobody
	all := n.IdleSMCycles + n.GatedSMCycles + r.Outside.HeldSMCycles
	for i := range r.Tenants {
		all += r.Tenants[i].HeldSMCycles
	}
	if all != 16*r.Cycles || n.GatedSMCycles == 0 || n.GatedSMCycles >= 5*r.Cycles {
		t.Errorf("%+v, %d SM-cycles in all of a run of %d cycles", n, all, r.Cycles)
	}
	var table, epochs, spans uint64
	for _, c := range r.Tables {
		if c.Tenant == NobodyName {
			for _, row := range c.Instances {
				table += row[0]
			}
			if c.Values[0].Name != "gated_cycles" || c.Values[0].N != n.GatedSMCycles || len(c.Instances) != 16 {
				t.Errorf("%+v", c)
			}
		}
	}
	for i := range r.Epochs {
		epochs += r.Epochs[i].Nobody.GatedSMCycles
	}
	for _, s := range r.Spans {
		if s.Name == "gated" {
			spans += s.End - s.Start // an idle SM is powered down at once
		}
	}
	if table != n.GatedSMCycles || epochs != n.GatedSMCycles || spans != n.GatedSMCycles {
		t.Errorf("%d gated SM-cycles; %d by SM, %d by epoch, %d in the timeline", n.GatedSMCycles, table, epochs, spans)
	}
	if m := r.Moved; m.Gated != 5 || m.Woken != 2 || m.SMs != 2 {
		t.Errorf("%+v", m)
	}
	first := r.Tenants[0].Name
	for i, m := range r.Decisions[0].SMs {
		gate := SMMove{SM: 11 + i, Gate: true, How: "idle", Start: 0, End: m.End}
		wake := SMMove{SM: 11 + i - 5, To: first, How: "wake", Start: 3000, End: 4000}
		if m != gate && m != wake || m.End == 0 {
			t.Errorf("%+v", m)
		}
	}
	for _, c := range r.Tables {
		for _, v := range c.Values {
			want, ok := map[string]uint64{"wakes": 2, "waking_cycles": 2000}[v.Name]
			if ok && (v.N > 0) != (c.Tenant == first) || v.N > 0 && ok && v.N != want {
				t.Errorf("%s of %s: %d", v.Name, c.Tenant, v.N)
			}
		}
	}
	if e := r.Epochs[3].Tenants[0]; e.Count(wakes) != 2 || e.Count(waking) != 2000 {
		t.Errorf("%d wakes, %d waking cycles in the fourth epoch", e.Count(wakes), e.Count(waking))
	}
	if sms := r.Epochs[4].Nobody.SMs; r.Tenants[0].SMs != 7 || sms != 3 {
		t.Errorf("%d SMs, nobody's %d", r.Tenants[0].SMs, sms)
	}
}

// The way of simulating changes nothing about what was gated when.
func TestGatedWays(t *testing.T) {
	of := func(s Spec) string {
		r := gatedRun(t, s)
		r.Spec, r.Wall = Spec{}, Wall{}
		text, err := json.Marshal(struct {
			R      *Result
			Epochs []Epoch
			Spans  []Span
			Moves  []SMMove
		}{r, r.Epochs, r.Spans, r.Decisions[0].SMs})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := of(Spec{})
	for _, s := range []Spec{{NoSkip: true}, {Lockstep: true}} {
		if of(s) != want {
			t.Errorf("no skipping %v, lockstep %v: another result", s.NoSkip, s.Lockstep)
		}
	}
}
