package energy

import "github.com/heddle-sim/heddle/sheets"

// cpuEnergy is what CPU cores draw for what they do: events, and what a core that runs a program draws
// beyond an idle one.
func cpuEnergy(m *sheets.Machine, r *reader) float64 {
	p := &m.CPU.Power
	pj := r.get("cpu", "insts")*p.Inst + (r.get("cpu", "loads")+r.get("cpu", "stores"))*p.L1
	// a line of the L2 is read for the L1 and written when that pushes it out, written when it comes, and
	// read when it is written back
	lines := r.get("cpu", "l2_accesses") + r.get("cpu", "l1_writebacks") + r.get("cpu", "requests")
	pj += (lines + r.get("cpu", "writebacks")) * p.L2
	return pj*picojoule + r.get("cpu", "cycles")/(m.CPU.Clock*megahertz)*(p.Active-p.Idle)
}

// cpuIdle is what the machine's cores draw idle, of a share of the chip for a second.
func cpuIdle(m *sheets.Machine, share float64) float64 {
	return float64(m.CPU.Cores) * m.CPU.Power.Idle * share
}
