package emulate

import (
	"math"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// float decodes f32 and f64 arithmetic.
func (d arithmetic) float(opcode string, t parse.Type) {
	approx := d.oneOf("approx", "full")
	mode, rounded := d.mode()
	ftz, sat := d.take("ftz"), d.take("sat")
	nanny := d.take("NaN")
	if opcode == "mad" { // mad on floats is fma; where the ISA lets the mode be left out it is .rn
		opcode, rounded = "fma", rounded || d.m.before(3)
	}
	if t == parse.F64 {
		d.double(opcode, t, mode, rounded, approx, ftz)
		if sat || nanny {
			d.unsupported("")
		}
		return
	}
	if t != parse.F32 {
		d.unsupported("type ." + t.String())
	}
	ftz = ftz || d.m.flushes()
	if ftz {
		d.o.flags |= fFtzIn | fFtzOut
	}
	if sat {
		d.o.flags |= fSat
	}
	if ftz || sat {
		d.o.shape = shA32m
	}
	if opcode == "fma" && !rounded {
		d.fail("fma has no rounding mode: add .rn, .rz, .rm or .rp")
	}
	if mode != rn {
		f := soft32(opcode, mode)
		if f == nil {
			d.unsupported("rounding mode")
		}
		n := map[string]int{"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}[opcode]
		d.rows32(f, t, n)
		return
	}
	f, n := floatTable(opcode, nanny)
	if f == nil {
		d.unsupported("")
	}
	if opcode == "min" || opcode == "max" {
		f, n = d.extreme(f, nanny)
	} else {
		f = fast32(opcode+".f", f)
	}
	d.rows32(f, t, n)
}

// extreme decodes the ISA's variants of min and max of f32 (f is one of the two): .xorsign.abs, or a third source and
// .abs.
func (d arithmetic) extreme(f fn32, nan bool) (fn32, int) {
	const sign = 1 << 31
	pick := map[string]func(x, y float32) float32{"min": min32, "max": max32}[d.in.Op]
	one := func(a, b uint32) uint32 {
		return math.Float32bits(pick(math.Float32frombits(a), math.Float32frombits(b)))
	}
	if nan {
		one = map[string]func(a, b uint32) uint32{"min": minNaN32, "max": maxNaN32}[d.in.Op]
	}
	three := len(d.in.Args) == 4
	switch xor, abs := d.take("xorsign"), d.take("abs"); {
	case xor && (three || !abs), abs && !xor && !three:
		d.fail("%s takes .xorsign.abs and two sources, or .abs and three", d.in.Op)
	case xor: // a NaN keeps its sign
		return bin32(func(a, b uint32) uint32 {
			r := one(a&^sign, b&^sign)
			if r <= 0x7f800000 {
				r |= (a ^ b) & sign
			}
			return r
		}), 2
	case three:
		off := map[bool]uint32{true: sign}[abs]
		return tri32(func(a, b, c uint32) uint32 { return one(one(a&^off, b&^off), c&^off) }), 3
	}
	return fast32(d.in.Op+".f", f), 2
}

//heddle:table
func floatTable(opcode string, nan bool) (fn32, int) {
	switch opcode {
	case "add":
		return addF32, 2
	case "sub":
		return subF32, 2
	case "mul":
		return mulF32, 2
	case "fma":
		return fmaF32, 3
	case "div":
		return divF32, 2
	case "rcp":
		return rcpF32, 1
	case "sqrt":
		return sqrtF32, 1
	case "rsqrt":
		return rsqrtF32, 1
	case "ex2":
		return ex2F32, 1
	case "lg2":
		return lg2F32, 1
	case "sin":
		return special32(sinF32), 1
	case "cos":
		return special32(cosF32), 1
	case "tanh":
		return special32(math.Tanh), 1
	case "neg":
		return negF32, 1
	case "abs":
		return absF32, 1
	case "copysign":
		return bin32(copysign32), 2
	case "min":
		if nan {
			return bin32(minNaN32), 2
		}
		return minF32, 2
	case "max":
		if nan {
			return bin32(maxNaN32), 2
		}
		return maxF32, 2
	}
	return nil, 0
}

func (d arithmetic) double(opcode string, t parse.Type, mode rounding, rounded bool, approx string, ftz bool) {
	if approx != "" && (opcode == "rcp" || opcode == "rsqrt") {
		f := rcpD
		if opcode == "rsqrt" {
			f = rsqrtD
		}
		if opcode == "rcp" || ftz {
			d.rows64(un64(high20(f)), t, 1)
		} else {
			d.rows64(un64(plain64(f)), t, 1)
		}
		return
	}
	if approx != "" || ftz {
		d.unsupported("")
	}
	if opcode == "fma" && !rounded {
		d.fail("fma has no rounding mode: add .rn, .rz, .rm or .rp")
	}
	f, n := doubleTable(opcode)
	if f == nil {
		d.unsupported("")
	}
	f = fast64(opcode+".f", f)
	if mode != rn {
		if f = soft64(opcode, mode); f == nil {
			d.unsupported("rounding mode")
		}
	}
	d.rows64(f, t, n)
}

//heddle:table
func doubleTable(opcode string) (fn64, int) {
	switch opcode {
	case "add":
		return addF64, 2
	case "sub":
		return subF64, 2
	case "mul":
		return mulF64, 2
	case "div":
		return divF64, 2
	case "fma":
		return fmaF64, 3
	case "rcp":
		return rcpF64, 1
	case "sqrt":
		return sqrtF64, 1
	case "min":
		return bin64(minF64), 2
	case "max":
		return bin64(maxF64), 2
	case "neg":
		return un64(negF64), 1
	case "abs":
		return un64(absF64), 1
	case "copysign":
		return bin64(copysign64), 2
	}
	return nil, 0
}
