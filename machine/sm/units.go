package sm

import "github.com/heddle-sim/heddle/isa"

// unit is one execution unit.
type unit struct {
	free  uint64 // cycle it can start its next instruction, as the issue cycle of one that does not wait
	taken uint64 // cycle it takes its last one from the latch before it
	begun uint64 // cycle it started that one, counted as free is
	ends  uint64 // cycles from begun on in which its pipeline ends an instruction, from the lowest bit
}

// slot is the first cycle from start on in which an instruction can begin. The pipeline ends one instruction a cycle.
// The position of the only bit in end is the number of cycles that the instruction takes.
func (u *unit) slot(start, end uint64) uint64 {
	u.ends >>= start - u.begun
	for u.ends&end != 0 {
		u.ends >>= 1
		start++
	}
	u.begun, u.ends = start, u.ends|end
	return start
}

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

// taken is a lower bound of the cycles in which the units that scheduler sched may use take their last instructions.
// The soonest unit is known.
func (us *units) taken(c isa.Unit, sched int, soonest *unit) uint64 {
	at, of := soonest.taken, us.of[c]
	for i := sched + us.schedulers; i < len(of); i += us.schedulers {
		at = min(at, of[i].taken)
	}
	return at
}
