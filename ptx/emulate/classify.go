package emulate

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// classify gives the unit and latency row of an arithmetic opcode the way
// GPGPU-Sim does: divisions and special functions go to the SFU, f32 to SP, f64 to
// DP, everything else to INT.
func classify(opcode string, t parse.Type) (isa.Unit, isa.Timing) {
	kind := 0 // row within the integer, f32 or f64 group
	switch opcode {
	case "add", "sub":
		kind = 1
	case "min", "max":
		kind = 2
	case "mul", "mul24":
		kind = 3
	case "mad", "fma", "mad24", "sad", "dp4a", "dp2a":
		kind = 4
	case "div", "rem":
		kind = 5
	case "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh":
		return isa.SFU, isa.Special
	}
	unit := isa.INT
	rows := [...]isa.Timing{isa.TimeOther, isa.IntAdd, isa.IntMax, isa.IntMul, isa.IntMad, isa.IntDiv}
	switch {
	case t == parse.F64:
		unit = isa.DP
		rows = [...]isa.Timing{isa.TimeOther, isa.DpAdd, isa.DpMax, isa.DpMul, isa.DpMad, isa.DpDiv}
	case t.Float():
		unit = isa.SP
		rows = [...]isa.Timing{isa.TimeOther, isa.FpAdd, isa.FpMax, isa.FpMul, isa.FpMad, isa.FpDiv}
	}
	switch kind {
	case 0: // moves, logic, comparisons
		if opcode != "neg" && opcode != "abs" && opcode != "copysign" {
			unit = isa.INT
		}
	case 5:
		unit = isa.SFU
	}
	return unit, rows[kind]
}
