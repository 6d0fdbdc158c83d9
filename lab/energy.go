package lab

import (
	"slices"

	"github.com/heddle-sim/heddle/energy"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// AddEnergy computes the energy of a timed result from its counters: of each tenant's window, of the time outside the
// windows, and of SMs that no application held. Together they are the machine's energy.
func AddEnergy(r *sim.Result, m *sheets.Machine) error {
	var sum energy.Parts
	of := func(tenant string, held uint64) (float64, error) {
		p, err := energy.Of(m, held, counted(r, tenant))
		sum = sum.Plus(p)
		return p.Total(), err
	}
	var err error
	for i := range r.Tenants {
		t := &r.Tenants[i]
		if t.EnergyJ, err = of(t.Name, t.HeldSMCycles); err != nil {
			return err
		}
	}
	e := &sim.Energy{}
	if e.Outside, err = of(sim.OutsideWindows, r.Outside.HeldSMCycles); err != nil {
		return err
	}
	r.Outside.EnergyJ = e.Outside
	owners := counted(r, sim.OutsideWindows)
	nobody := energy.Nobodys(m, r.Nobody.IdleSMCycles, r.Nobody.GatedSMCycles, energy.Networks(owners.Owners()),
		owners.kind("dram"))
	sum, e.Nobody = sum.Plus(nobody), nobody.Total()
	for _, p := range sum {
		e.Parts = append(e.Parts, sim.EnergyPart{Name: p.Name, J: p.J})
	}
	e.Total = sum.Total()
	r.Energy = e
	return nil
}

// counts are the counters of one tenant of a result.
type counts []sim.Counters

// counted finds the counters of a tenant, or those outside all windows.
func counted(r *sim.Result, tenant string) (c counts) {
	for _, t := range r.Tables {
		if t.Tenant == tenant {
			c = append(c, t)
		}
	}
	return c
}

// Count implements energy.Counts.
func (c counts) Count(owner, name string) (n uint64, ok bool) {
	for i := range c {
		if c[i].Owner != owner {
			continue
		}
		for _, v := range c[i].Values {
			if v.Name == name {
				n, ok = n+v.N, true
			}
		}
	}
	return n, ok
}

// Owners implements energy.Counts.
func (c counts) Owners() (owners []string) {
	for i := range c {
		if !slices.Contains(owners, c[i].Owner) {
			owners = append(owners, c[i].Owner)
		}
	}
	return owners
}

// kind lists the owners of a kind.
func (c counts) kind(kind string) (owners []string) {
	for _, o := range c.Owners() {
		if stat.OfKind(o, kind) {
			owners = append(owners, o)
		}
	}
	return owners
}
