package lab

import (
	"heddle/energy"
	"heddle/sheets"
	"heddle/sim"
)

// AddEnergy computes the energy of a timed result from its counters. SMs that no
// tenant owned count in the total.
func AddEnergy(r *sim.Result, m *sheets.Machine) error {
	sum, owned := energy.Joules{}, 0
	for i := range r.Tenants {
		t := &r.Tenants[i]
		j, err := energy.Tenant(m, r.Cycles, t.SMs, counts(r, t.Name))
		if err != nil {
			return err
		}
		t.EnergyJ = j.Total()
		sum = sum.Add(j)
		owned += t.SMs
	}
	if free := m.SM.Count - owned; free > 0 {
		sum = sum.Add(energy.Idle(m, r.Cycles, free))
	}
	r.Energy = &sim.Energy{SM: sum.SM, L1: sum.L1, LLC: sum.LLC, NoC: sum.NoC, DRAM: sum.DRAM, Static: sum.Static, Total: sum.Total()}
	return nil
}

// counts looks up the counters of one tenant in a result.
func counts(r *sim.Result, tenant string) energy.Counts {
	byName := map[[2]string]uint64{}
	for _, t := range r.Tables {
		if t.Tenant != tenant {
			continue
		}
		for _, v := range t.Values {
			byName[[2]string{t.Owner, v.Name}] += v.N
		}
	}
	return func(owner, name string) (uint64, bool) {
		n, ok := byName[[2]string{owner, name}]
		return n, ok
	}
}
