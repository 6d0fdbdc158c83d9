package lab

import (
	"math"
	"testing"

	"heddle/energy"
	"heddle/sheets"
	"heddle/sim"
)

// TestEnergyFollowsMovedSMs: ten SMs that move from a to b at a quarter of the run
// were a's for that quarter; static energy is that of the whole machine either way.
func TestEnergyFollowsMovedSMs(t *testing.T) {
	m, _, err := sheets.Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"warp_insts", "thread_insts", "active_cycles", "shared_accesses", "shared_conflict_cycles", "l1_hits", "l1_misses", "l1_accesses"}
	for _, c := range []string{
		"other", "int_add", "int_max", "int_mul", "int_mad", "shuffle", "fp_add", "fp_max", "fp_mul", "fp_mad",
		"dp_add", "dp_max", "dp_mul", "dp_mad", "int_div", "fp_div", "dp_div", "special", "matrix",
	} {
		names = append(names, "lanes_"+c)
	}
	r := &sim.Result{Cycles: 1000000, Tenants: []sim.Tenant{{Name: "a", SMs: 30}, {Name: "b", SMs: 50}}}
	for _, tenant := range []string{"a", "b"} {
		table := func(owner string, names ...string) {
			c := sim.Counters{Owner: owner, Tenant: tenant}
			for _, n := range names {
				v := sim.Value{}
				v.Name = n
				if n == "migrations" && tenant == "a" {
					v.N = 32
				}
				c.Values = append(c.Values, v)
			}
			r.Tables = append(r.Tables, c)
		}
		table("sm", names...)
		table("llc", "accesses", "writebacks")
		table("dram", "activates", "read_bursts", "write_bursts", "migrations")
		table("noc_request", "flits")
		table("noc_reply", "flits")
	}
	move := sim.Decision{Changed: true}
	for sm := range 10 {
		move.SMs = append(move.SMs, sim.SMMove{SM: sm, From: "a", To: "b", Start: 200000, End: 250000})
	}
	move.SMs = append(move.SMs, sim.SMMove{SM: 11, From: "b", To: "a", Start: 900000}) // not done when the run ends
	r.Decisions = []sim.Decision{move}
	if err := AddEnergy(r, m); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %g J, want %g", what, got, want)
		}
	}
	idle := energy.Idle(m, r.Cycles, 80)
	copied := 4096 * 8 * 4e-12
	near("migration", r.Energy.Migration, copied)
	near("total", r.Energy.Total, idle.Total()+copied)
	near("a", r.Tenants[0].EnergyJ, idle.Total()*32.5/80+copied)
	near("b", r.Tenants[1].EnergyJ, idle.Total()*47.5/80)
}
