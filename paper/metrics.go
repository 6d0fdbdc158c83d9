package paper

import (
	"math"

	"heddle/sim"
)

// metric is a number of a run that figures of configurations compare.
type metric struct {
	of   func(*sim.Result) float64 // NaN where the run does not tell
	unit string
	// harmonic: ratios are speeds, whose mean is the harmonic one.
	harmonic bool
}

// metrics are those figures may name. Energy is per thread instruction, as runs are of equal time
// and not of equal work.
func metrics() map[string]metric {
	const perInst = "J per instruction"
	ipc := func(r *sim.Result) float64 { return r.Tenants[0].IPC }
	power := func(r *sim.Result) float64 { return energyOf(r, "noc") / r.Seconds }
	network := func(r *sim.Result) float64 { return energyOf(r, "noc") / insts(r) }
	total := func(r *sim.Result) float64 { return totalEnergy(r) / insts(r) }
	return map[string]metric{
		"ipc":          {ipc, "thread instructions per cycle", true},
		"replies":      {replies, "replies per cycle", true},
		"local":        {local, "% of L1 misses", false},
		"llc misses":   {llcMisses, "% of LLC accesses", false},
		"noc power":    {power, "W", false},
		"noc energy":   {network, perInst, false},
		"total energy": {total, perInst, false},
	}
}

// replies are the answers that reach the SMs in a cycle: every request is answered.
func replies(r *sim.Result) float64 {
	n, ok := counter(r, "sm", "requests")
	if !ok {
		return math.NaN()
	}
	return n / float64(r.Tenants[0].Cycles)
}

// local is the percentage of the requests of SMs that do not cross the NoC; page walks, which cross it,
// are not theirs. It is of one chip: between modules a request passes the stages of two, and counts twice.
func local(r *sim.Result) float64 {
	all, ok := counter(r, "sm", "requests")
	crossing, ok2 := counter(r, "noc_request", "packets")
	walks, _ := counter(r, "mmu", "walk_reads")
	if !ok || !ok2 || all == 0 {
		return math.NaN()
	}
	return 100 * (1 - (crossing-walks)/all)
}

// llcMisses is percent.
func llcMisses(r *sim.Result) float64 {
	if h := r.Tenants[0].LLCHitRate; h != nil {
		return 100 * (1 - *h)
	}
	return math.NaN()
}

func insts(r *sim.Result) float64 { return float64(r.Tenants[0].ThreadInsts) }

func energyOf(r *sim.Result, kind string) float64 {
	if r.Energy == nil {
		return math.NaN()
	}
	return r.Energy.Of(kind)
}

func totalEnergy(r *sim.Result) float64 {
	if r.Energy == nil {
		return math.NaN()
	}
	return r.Energy.Total
}

// counter is a counter of the first tenant's window, moves apart; false if there is none.
func counter(r *sim.Result, owner, name string) (n float64, ok bool) {
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Owner != owner || t.Tenant != r.Tenants[0].Name || t.Moved {
			continue
		}
		for _, v := range t.Values {
			if v.Name == name {
				return float64(v.N), true
			}
		}
	}
	return 0, false
}

// harmonicMean of what is known and above zero; NaN where nothing is.
func harmonicMean(xs []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range xs {
		if x > 0 {
			sum, n = sum+1/x, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(n) / sum
}
