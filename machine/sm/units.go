package sm

import "github.com/heddle-sim/heddle/isa"

// unit is one execution unit: the cycle it can start its next instruction.
type unit struct{ free uint64 }

// units are the execution units by class.
type units struct {
	of         [isa.NumUnits][]unit
	schedulers int
}

func (us *units) build(cfg *issueConfig) {
	n := 0
	for _, k := range cfg.units {
		n += k
	}
	all := make([]unit, n)
	for u, k := range cfg.units {
		us.of[u], all = all[:k:k], all[k:]
	}
	us.schedulers = cfg.schedulers
}

// soonest is the unit of class c free first among those scheduler sched may use; with
// more units than schedulers each scheduler has its own.
func (us *units) soonest(c isa.Unit, sched int) *unit {
	of := us.of[c]
	n := us.schedulers
	if len(of) <= n {
		if sched >= len(of) {
			sched %= len(of)
		}
		return &of[sched]
	}
	best := &of[sched]
	for i := sched + n; i < len(of); i += n {
		if of[i].free < best.free {
			best = &of[i]
		}
	}
	return best
}
