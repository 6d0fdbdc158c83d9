package emulate

import (
	"math"
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// constant32 is the row of a 32-bit constant.
func (d *instr) constant32(v uint32) int32 {
	i, ok := d.const32[v]
	if !ok {
		i = ^int32(len(d.prog.k32))
		d.const32[v] = i
		var r v32
		fill(&r, v)
		d.prog.k32 = append(d.prog.k32, r)
	}
	return i
}

func (d *instr) constant64(v uint64) int32 {
	i, ok := d.const64[v]
	if !ok {
		i = ^int32(len(d.prog.k64))
		d.const64[v] = i
		var r v64
		for l := range r {
			r[l] = v
		}
		d.prog.k64 = append(d.prog.k64, r)
	}
	return i
}

// symbolRow is the row that will hold the address of a .global or .const variable.
func (d *instr) symbolRow(v *parse.Var, addend int64) int32 {
	f := fixup{symbol: d.m.symbol[v], addend: uint64(addend)}
	i, ok := d.symRow[f]
	if !ok {
		i = ^int32(len(d.prog.k64))
		d.symRow[f] = i
		f.row = len(d.prog.k64)
		d.prog.fixups = append(d.prog.fixups, f)
		d.prog.k64 = append(d.prog.k64, v64{})
	}
	return i
}

// symbolRow32 is the same in 32 bits, for code compiled with short pointers. Bind
// makes sure the variable lies below 4 GiB.
func (d *instr) symbolRow32(v *parse.Var, addend int64) int32 {
	f := fixup{symbol: d.m.symbol[v], addend: uint64(addend), short: true}
	i, ok := d.symRow[f]
	if !ok {
		i = ^int32(len(d.prog.k32))
		d.symRow[f] = i
		f.row = len(d.prog.k32)
		d.prog.fixups = append(d.prog.fixups, f)
		d.prog.k32 = append(d.prog.k32, v32{})
		if !d.m.short[v] { // a kernel that is decoded again finds nothing new
			d.m.short[v] = true
		}
	}
	return i
}

// specialOf maps the names of special registers that do not change while a warp lives.
func specialOf(name string) special {
	switch name {
	case "tid.x":
		return spTidX
	case "tid.y":
		return spTidY
	case "tid.z":
		return spTidZ
	case "ntid.x":
		return spNtidX
	case "ntid.y":
		return spNtidY
	case "ntid.z":
		return spNtidZ
	case "ctaid.x":
		return spCtaidX
	case "ctaid.y":
		return spCtaidY
	case "ctaid.z":
		return spCtaidZ
	case "nctaid.x":
		return spNctaidX
	case "nctaid.y":
		return spNctaidY
	case "nctaid.z":
		return spNctaidZ
	case "laneid":
		return spLane
	case "warpid":
		return spWarp
	case "nwarpid":
		return spNwarp
	case "smid":
		return spSM
	case "nsmid":
		return spNSM
	case "gridid":
		return spGrid
	case "lanemask_eq":
		return spLaneEq
	case "lanemask_lt":
		return spLaneLt
	case "lanemask_le":
		return spLaneLe
	case "lanemask_gt":
		return spLaneGt
	case "lanemask_ge":
		return spLaneGe
	case "dynamic_smem_size":
		return spDynShared
	case "total_smem_size":
		return spTotalShared
	case "tid.w", "ntid.w", "ctaid.w", "nctaid.w":
		return spZero
	}
	return environment(name)
}

// environment maps %envreg0 to %envreg31, of which two have a meaning.
func environment(name string) special {
	switch {
	case name == "envreg1":
		return spWorkHigh
	case name == "envreg2":
		return spWorkLow
	case strings.HasPrefix(name, "envreg"):
		return spZero
	}
	return spNone
}

// specialRow is the row of the current function that holds a special register.
func (d *instr) specialRow(name string) int32 {
	s := specialOf(name)
	if s == spNone {
		d.fail("%%%s can only be read with mov", name)
	}
	row, ok := d.special[s]
	if !ok {
		row = d.fn.n32
		d.fn.n32++
		d.special[s] = row
		d.fn.special = append(d.fn.special, specialRow{row, s})
	}
	return row
}

// arg is operand i; the form must have it.
func (d *instr) arg(i int) *parse.Operand {
	if i >= len(d.in.Args) {
		d.fail("%s has %d operands, this form needs more", d.in.Op, len(d.in.Args))
	}
	return &d.in.Args[i]
}

// count checks the number of operands.
func (d *instr) count(lo, hi int) {
	if n := len(d.in.Args); n < lo || n > hi {
		if lo == hi {
			d.fail("%s has %d operands, it takes %d", d.in.Op, n, lo)
		}
		d.fail("%s has %d operands, it takes %d to %d", d.in.Op, n, lo, hi)
	}
}

// size checks that a register has the width the type wants.
func (d *instr) size(v *parse.Var, bytes int) {
	if v.Type == parse.Pred || v.Type.Bytes() != bytes {
		d.fail("register %s is .%s, this operand needs %d bits", v.Name, v.Type, 8*bytes)
	}
}

// immediate converts a literal to the bits of type t.
func (d *instr) immediate(o *parse.Operand, t parse.Type) uint64 {
	if o.Kind == parse.KInt {
		if t.Float() {
			d.fail("integer literal where a .%s value is needed: write it as 0f... or 0d...", t)
		}
		return o.Bits
	}
	switch {
	case t == parse.F64 || t == parse.B64:
		if o.Wide {
			return o.Bits
		}
		return math.Float64bits(float64(math.Float32frombits(uint32(o.Bits))))
	case t == parse.F32 || t == parse.B32:
		if !o.Wide {
			return o.Bits
		}
		return uint64(math.Float32bits(float32(math.Float64frombits(o.Bits))))
	}
	d.fail("floating-point literal where a .%s value is needed", t)
	return 0
}

// src32 is the row of a source of at most 32 bits.
func (d *instr) src32(o *parse.Operand, t parse.Type) int32 {
	switch o.Kind {
	case parse.KReg:
		if o.Neg {
			d.fail("operand %s cannot be negated here", o.Var.Name)
		}
		d.size(o.Var, t.Bytes())
		return d.rows[o.Var.ID]
	case parse.KInt, parse.KFloat:
		return d.constant32(uint32(truncate(d.immediate(o, t), unsignedOf(t))))
	case parse.KSpecial:
		if t.Bytes() != 4 {
			d.fail("%%%s is a 32-bit register", o.Name)
		}
		return d.specialRow(o.Name)
	case parse.KSym:
		if o.Var.Space == parse.Shared && t.Bytes() == 4 {
			return d.constant32(uint32(d.shared[o.Var] + o.Off))
		}
		if o.Var.Space == parse.Local && o.Var.Owner == nil && t.Bytes() == 4 {
			return d.constant32(uint32(d.thread.at[o.Var] + o.Off))
		}
		global := o.Var.Space == parse.Global && d.m.short32()
		if (global || o.Var.Space == parse.Const) && t.Bytes() == 4 && o.Index == nil {
			return d.symbolRow32(o.Var, o.Off)
		}
	case parse.KFunc:
		if d.m.short32() && t.Bytes() == 4 {
			return d.constant32(uint32(functionAddress(d.m.functionIndex(o.Name)) - functionBase))
		}
	}
	if o.Kind == parse.KSym {
		d.fail("the address of %s (%s) does not fit a 32-bit operand", o.Var.Name, o.Var.Space)
	}
	d.fail("operand is not a register or literal")
	return 0
}

// unsignedOf is the bit type as wide as t: rows hold values zero-extended.
func unsignedOf(t parse.Type) parse.Type {
	switch t.Bytes() {
	case 1:
		return parse.B8
	case 2:
		return parse.B16
	case 8:
		return parse.B64
	}
	return parse.B32
}

// src64 is the row of a 64-bit source.
func (d *instr) src64(o *parse.Operand, t parse.Type) int32 {
	switch o.Kind {
	case parse.KReg:
		if o.Neg {
			d.fail("operand %s cannot be negated here", o.Var.Name)
		}
		d.size(o.Var, 8)
		return d.rows[o.Var.ID]
	case parse.KInt, parse.KFloat:
		return d.constant64(d.immediate(o, t))
	case parse.KSym:
		return d.address(o)
	case parse.KFunc:
		return d.constant64(functionAddress(d.m.functionIndex(o.Name)))
	case parse.KSpecial:
		if o.Name == "gridid" {
			return d.constant64(0)
		}
		d.fail("%%%s is a 32-bit register: use a 32-bit mov", o.Name)
	}
	d.fail("operand is not a register or literal")
	return 0
}

// address is the constant row of a symbol's address in its own space.
func (d *instr) address(o *parse.Operand) int32 {
	switch v := o.Var; v.Space {
	case parse.Shared:
		return d.constant64(uint64(d.shared[v] + o.Off))
	case parse.Local: // of the module
		return d.constant64(uint64(d.thread.at[v] + o.Off))
	case parse.Global, parse.Const:
		return d.symbolRow(v, o.Off)
	case parse.Param:
		if off, ok := d.paramOffset(v); ok {
			return d.constant64(uint64(off + o.Off))
		}
	}
	d.fail("the address of %s (%s) can only be taken with mov", o.Var.Name, o.Var.Space)
	return 0
}

// paramOffset is the offset of a kernel parameter.
func (d *instr) paramOffset(v *parse.Var) (int64, bool) {
	if !d.f.Entry {
		return 0, false
	}
	off := int64(0)
	for _, p := range d.f.Params {
		off = roundUpTo(off, int64(max(p.Align, 1)))
		if p == v {
			return off, true
		}
		off += int64(p.Size)
	}
	return 0, false
}

// src picks the row file by the width of the type.
func (d *instr) src(i int, t parse.Type) int32 {
	if t.Bytes() == 8 {
		return d.src64(d.arg(i), t)
	}
	return d.src32(d.arg(i), t)
}

// dst is the row of destination operand 0 and checks its width.
func (d *instr) dst(t parse.Type) int32 {
	o := d.arg(0)
	if o.Kind != parse.KReg || o.Neg {
		d.fail("the destination is not a register")
	}
	d.size(o.Var, t.Bytes())
	return d.rows[o.Var.ID]
}

// predOf is the row of a predicate operand and whether it is negated.
func (d *instr) predOf(o *parse.Operand) (row int32, neg bool) {
	switch o.Kind {
	case parse.KReg:
		if o.Var.Type != parse.Pred {
			d.fail("%s is .%s, a predicate is needed", o.Var.Name, o.Var.Type)
		}
		return d.rows[o.Var.ID], o.Neg
	case parse.KInt:
		if (o.Bits != 0) != o.Neg {
			return truePred, false
		}
		return falsePred, false
	}
	d.fail("operand is not a predicate")
	return 0, false
}

// predDst is a predicate destination; _ gives noPred.
func (d *instr) predDst(o *parse.Operand) int32 {
	if o.Kind == parse.KNone {
		return noPred
	}
	if o.Kind != parse.KReg || o.Var.Type != parse.Pred || o.Neg {
		d.fail("the destination is not a predicate")
	}
	return d.rows[o.Var.ID]
}

// take consumes a modifier.
func (d *instr) take(name string) bool {
	for i, m := range d.mods {
		if m == name {
			d.mods = append(d.mods[:i], d.mods[i+1:]...)
			return true
		}
	}
	return false
}

// oneOf consumes the first of the names that is present; "" when none is.
func (d *instr) oneOf(names ...string) string {
	for _, n := range names {
		if d.take(n) {
			return n
		}
	}
	return ""
}

// mode consumes a rounding modifier; ok is false when there is none.
func (d *instr) mode() (rounding, bool) {
	switch d.oneOf("rn", "rz", "rm", "rp") {
	case "rn":
		return rn, true
	case "rz":
		return rz, true
	case "rm":
		return rm, true
	case "rp":
		return rp, true
	}
	return rn, false
}

// types moves the type modifiers out of d.mods.
func (d *instr) types() {
	d.typ = d.typ[:0]
	keep := d.mods[:0]
	for _, m := range d.mods {
		if t, ok := parse.TypeOf(m); ok {
			d.typ = append(d.typ, t)
		} else {
			keep = append(keep, m)
		}
	}
	d.mods = keep
}

// oneType is the only type of the form.
func (d *instr) oneType() parse.Type {
	if len(d.typ) != 1 {
		d.unsupported("this form has one type")
	}
	return d.typ[0]
}
