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

// refine is the finer timing of an instruction that classify has given one.
func refine(in *parse.Instr, typ []parse.Type, timing isa.Timing) isa.Timing {
	t := parse.NoType
	if len(typ) > 0 {
		t = typ[0]
	}
	switch {
	case in.Op == "cvt":
		return refineConversion(typ, timing)
	case t == parse.F16 || t == parse.BF16 || t == parse.F16x2 || t == parse.BF16x2:
		return finer(timing, isa.FpAdd, isa.HalfAdd, isa.FpMul, isa.HalfMul, isa.FpMad, isa.HalfMad)
	case t == parse.S64 || t == parse.U64:
		if timing != isa.TimeOther {
			return finer(timing, isa.IntAdd, isa.WideAdd, isa.IntMul, isa.WideMul, isa.IntMad, isa.WideMad, isa.IntDiv,
				isa.WideDiv)
		}
	case t == parse.F64 && (in.Op == "sqrt" || in.Op == "rcp"):
		return isa.DpRoot
	case t == parse.F32 && !in.Has("approx"):
		switch {
		case in.Op == "sqrt":
			return isa.RootExact
		case in.Op == "rcp":
			return isa.RcpExact
		case in.Op == "div" && in.Has("full"):
			return isa.DivFast
		}
	case t == parse.F32 && in.Op == "div":
		return isa.DivFast
	}
	switch in.Op {
	case "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi", "bmsk", "szext", "setp",
		"set", "selp", "slct":
		return isa.Logic
	case "popc", "clz", "bfind":
		return isa.BitCount
	case "brev":
		return isa.BitReverse
	}
	return timing
}

// finer is the second of the pair whose first is timing; timing itself if there is no such pair.
func finer(timing isa.Timing, pairs ...isa.Timing) isa.Timing {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == timing {
			return pairs[i+1]
		}
	}
	return timing
}

// refineConversion is the finer timing of cvt: between integers of up to 32 bits it is an instruction of the integer
// unit; on 64-bit integers it is moves and shifts.
func refineConversion(typ []parse.Type, timing isa.Timing) isa.Timing {
	floats, wide := false, false
	for _, t := range typ {
		floats, wide = floats || t.Float(), wide || t.Bytes() == 8
	}
	switch {
	case floats && wide:
		return isa.ConvertWide
	case floats:
		return isa.Convert
	}
	return timing
}

// matrixTiming is the finer timing of a matrix instruction of some multiplications.
func matrixTiming(t parse.Type, fma int) isa.Timing {
	type form struct {
		bytes int
		fma   int
	}
	bits := map[parse.Type]int{parse.F16: 2, parse.BF16: 2, parse.TF32: 4, parse.S8: 1, parse.U8: 1}[t]
	switch (form{bits, fma}) {
	case form{2, 1024}:
		return isa.Half1K
	case form{2, 2048}:
		return isa.Half2K
	case form{2, 4096}:
		return isa.Half4K
	case form{4, 512}:
		return isa.Tf512
	case form{4, 1024}:
		return isa.Tf1K
	case form{4, 2048}:
		return isa.Tf2K
	case form{1, 2048}:
		return isa.Byte2K
	case form{1, 4096}:
		return isa.Byte4K
	}
	return isa.Matrix
}
