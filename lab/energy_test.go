package lab

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-18 {
		t.Errorf("%s: %g J, want %g", what, got, want)
	}
}

// total is a counter over all tenants and what is outside of windows.
func total(r *sim.Result, owner, name string) (n uint64) {
	for _, c := range r.Tables {
		for _, v := range c.Values {
			if c.Owner == owner && v.Name == name {
				n += v.N
			}
		}
	}
	return n
}

// gate checks that a run some of whose idle SM-cycles were gated saves what these draw,
// and nothing else.
func gate(t *testing.T, what string, r *sim.Result, m *sheets.Machine) {
	t.Helper()
	some, n := *r, *r.Nobody
	some.Tenants, some.Nobody = slices.Clone(r.Tenants), &n
	gated := n.IdleSMCycles / 3
	n.IdleSMCycles, n.GatedSMCycles = n.IdleSMCycles-gated, n.GatedSMCycles+gated
	outside := *r.Outside
	some.Outside = &outside
	if err := AddEnergy(&some, m); err != nil {
		t.Fatal(err)
	}
	saved := float64(gated) / (m.Clock.Core * 1e6) * (m.Power.IdleSM - m.Power.GatedSM)
	near(t, what+": gating", some.Energy.Total, r.Energy.Total-saved)
	near(t, what+": gating", some.Energy.Of("static"), r.Energy.Of("static")-saved)
	near(t, what+": gating", some.Energy.Nobody, r.Energy.Nobody-saved)
}

// TestEnergyAddsUp: under every way of sharing, static, background and leakage energy are
// those of the machine for the time of the run, whoever has what; rows, what is outside
// of windows and what is nobody's make the total.
func TestEnergyAddsUp(t *testing.T) {
	whole := sim.Length{}
	budget := sim.Length{MaxCycles: 12_000, Budget: true}
	warm := sim.Length{MaxCycles: 12_000, Budget: true, Warmup: 4000}
	gated, numb := control.Params{"gate": 1}, control.Params{"threshold": 1}
	for what, c := range map[string]struct {
		machine string
		apps    int
		sharing sim.Sharing
		length  sim.Length
	}{
		"alone":       {"qv100", 1, sim.Sharing{Mode: "alone"}, whole},
		"mps":         {"qv100", 2, sim.Sharing{Mode: "mps"}, budget},
		"mps of some": {"qv100", 2, sim.Sharing{Mode: "mps", SMs: []int{20, 30}}, warm},
		"slices": {
			"qv100", 2,
			sim.Sharing{Mode: "slices", SMs: []int{60, 10}, Groups: []int{8, 24}},
			whole,
		},
		"smk":                  {"qv100", 2, sim.Sharing{Mode: "smk"}, budget},
		"smk, warm":            {"qv100", 2, sim.Sharing{Mode: "smk"}, warm},
		"smk to the end":       {"qv100", 2, sim.Sharing{Mode: "smk"}, whole},
		"timeslice":            {"qv100", 2, sim.Sharing{Mode: "timeslice", Quantum: 1500}, budget},
		"timeslice to the end": {"qv100", 2, sim.Sharing{Mode: "timeslice", Quantum: 1500}, whole},
		"mig":                  {"a100", 2, sim.Sharing{Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"}}, budget},
		"ugpu":                 {"ugpu", 2, sim.Sharing{Mode: "ugpu", Epoch: 3000}, warm},
		"smqos":                {"fermi", 2, sim.Sharing{Mode: "smqos", Epoch: 500, Params: numb}, budget},
		"smqos, warm":          {"fermi", 2, sim.Sharing{Mode: "smqos", Epoch: 500, Params: numb}, warm},
		"spart":                {"fermi", 2, sim.Sharing{Mode: "spart", Epoch: 500, Params: gated}, budget},
		"rollover":             {"fermi", 2, sim.Sharing{Mode: "rollover", Epoch: 500}, warm},
	} {
		m, _, err := sheets.Load(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		s := sim.Spec{Machine: c.machine, Seed: 1, Sharing: c.sharing, Length: c.length}
		for _, path := range []string{"rodinia-like/hotspot", "micro/spmv"}[:c.apps] {
			s.Apps = append(s.Apps, sim.App{Name: filepath.Base(path), Path: filepath.Join("../apps", path)})
		}
		if c.machine == "fermi" {
			s.Apps[0].QoS = 5 // little, so that SMs are gated
		}
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		asleep := float64(r.Nobody.GatedSMCycles) / (m.Clock.Core * 1e6)
		if gates := c.sharing.Mode == "smqos" || c.sharing.Mode == "spart"; gates != (asleep > 0) {
			t.Errorf("%s: %g SM-seconds without power", what, asleep)
		}
		if err := AddEnergy(r, m); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		e, hz := r.Energy, m.Clock.Core*1e6
		seconds, sms := float64(r.Cycles)/hz, float64(m.SM.Count)
		active := float64(total(r, "sm", "active_share_cycles")) / hz
		if most := (m.Power.Chip + sms*m.Power.ActiveSM) * seconds; e.Of("static") > most*(1+1e-12) || active <= 0 {
			t.Errorf("%s: static energy %g J, the whole machine active takes %g; %g SM-seconds active", what,
				e.Of("static"), most, active)
		}
		near(t, what+": static", e.Of("static"),
			m.Power.Chip*seconds+sms*seconds*m.Power.IdleSM+active*(m.Power.ActiveSM-m.Power.IdleSM)-
				asleep*(m.Power.IdleSM-m.Power.GatedSM))
		rows := e.Outside + e.Nobody
		for i := range r.Tenants {
			rows += r.Tenants[i].EnergyJ
		}
		near(t, what+": rows", rows, e.Total)
		parts := 0.0
		for _, p := range e.Parts {
			parts += p.J
		}
		near(t, what+": parts", parts, e.Total)
		gate(t, what, r, m)
		var idle sim.Result // the same machine with nothing on it
		idle.Cycles, idle.Outside = r.Cycles, &sim.Outside{}
		idle.Nobody = &sim.Nobody{IdleSMCycles: uint64(m.SM.Count) * r.Cycles}
		for _, tab := range r.Tables {
			if tab.Tenant == sim.OutsideWindows {
				none := sim.Counters{Owner: tab.Owner, Tenant: tab.Tenant}
				for _, v := range tab.Values {
					none.Values = append(none.Values, sim.Value{Desc: v.Desc})
				}
				idle.Tables = append(idle.Tables, none)
			}
		}
		if err := AddEnergy(&idle, m); err != nil {
			t.Fatal(err)
		}
		if e.Of("noc") <= idle.Energy.Of("noc") || e.Of("dram") <= idle.Energy.Of("dram") {
			t.Errorf("%s: networks %g J, memory %g; idle %g and %g", what, e.Of("noc"), e.Of("dram"),
				idle.Energy.Of("noc"), idle.Energy.Of("dram"))
		}
		for i := range r.Tenants {
			if held := r.Tenants[i].HeldSMCycles; held > uint64(m.SM.Count)*r.Tenants[i].Cycles {
				t.Errorf("%s: %s had %d SM-cycles", what, r.Tenants[i].Name, held)
			}
		}
	}
}
