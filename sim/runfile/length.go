package runfile

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/sim"
)

// length is how long the run is.
func (r *resolver) length() (sim.Length, error) {
	l := sim.Length{
		MaxCycles: r.doc.Length.Cycles, Budget: r.doc.Length.Budget,
		Instructions: r.doc.Length.Instructions, Warmup: r.doc.Length.Warmup,
		WarmupInstructions: r.doc.Length.WarmupInsts,
	}
	switch r.doc.Length.Until {
	case "", "end":
		if r.doc.Length.Until == "end" && l.Budget {
			return l, r.complain(errors.New("until: end contradicts budget: true"), "length", "until")
		}
	case "cycles":
		l.Budget = true
	default:
		return l, r.complain(fmt.Errorf("until is end or cycles, not %q", r.doc.Length.Until), "length", "until")
	}
	if r.o.MaxCycles != nil {
		l.MaxCycles = *r.o.MaxCycles
	}
	if l.Budget && l.Instructions > 0 {
		return l, r.complain(errors.New("instructions and a budget of cycles exclude each other: "+
			"say which ends the run"), "length", "instructions")
	}
	if l.Budget && l.MaxCycles == 0 {
		return l, r.complain(errors.New("a budget needs cycles, the length of the run"), "length")
	}
	if l.MaxCycles > 0 && l.Warmup >= l.MaxCycles {
		return l, r.complain(fmt.Errorf("a warm-up of %d cycles leaves nothing of the %d of the run", l.Warmup,
			l.MaxCycles), "length", "warmup")
	}
	if l.Warmup > 0 && l.WarmupInstructions > 0 {
		return l, r.complain(errors.New("warmup and warmup_instructions exclude each other: "+
			"say which ends the warm-up"), "length", "warmup_instructions")
	}
	if l.Instructions > 0 && l.WarmupInstructions >= l.Instructions {
		return l, r.complain(fmt.Errorf("a warm-up of %d instructions leaves nothing of the %d of the run",
			l.WarmupInstructions, l.Instructions), "length", "warmup_instructions")
	}
	return l, nil
}
