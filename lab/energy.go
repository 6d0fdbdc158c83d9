package lab

import (
	"heddle/energy"
	"heddle/sheets"
	"heddle/sim"
)

// AddEnergy computes the energy of a timed result from its counters. SMs that no
// tenant owned count in the total.
func AddEnergy(r *sim.Result, m *sheets.Machine) error {
	sum, owned := energy.Joules{}, 0.0
	held := meanSMs(r)
	for i := range r.Tenants {
		t := &r.Tenants[i]
		j, err := energy.Tenant(m, r.Cycles, held[i], counts(r, t.Name))
		if err != nil {
			return err
		}
		t.EnergyJ = j.Total()
		sum = sum.Add(j)
		owned += held[i]
	}
	if free := float64(m.SM.Count) - owned; free > 0 {
		sum = sum.Add(energy.Idle(m, r.Cycles, free))
	}
	r.Energy = &sim.Energy{
		SM: sum.SM, L1: sum.L1, LLC: sum.LLC, NoC: sum.NoC, DRAM: sum.DRAM, Static: sum.Static, Migration: sum.Migration, Total: sum.Total(),
	}
	return nil
}

// meanSMs is how many SMs each tenant held on average over the run. A tenant's SMs
// in the result are those of the run's end; an SM that changed hands was its old
// owner's until then.
func meanSMs(r *sim.Result) []float64 {
	mean := make([]float64, len(r.Tenants))
	byName := map[string]int{}
	for i := range r.Tenants {
		mean[i] = float64(r.Tenants[i].SMs)
		byName[r.Tenants[i].Name] = i
	}
	for i := range r.Decisions {
		for _, move := range r.Decisions[i].SMs {
			if move.End == 0 || r.Cycles == 0 {
				continue
			}
			before := float64(move.End) / float64(r.Cycles)
			if from, ok := byName[move.From]; ok {
				mean[from] += before
			}
			if to, ok := byName[move.To]; ok {
				mean[to] -= before
			}
		}
	}
	return mean
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
