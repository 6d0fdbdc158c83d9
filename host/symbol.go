package host

import (
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Symbol is a .global or .const variable as an array. Compilers declare arrays as
// bytes (.b8 coeffs[64]), so the element type is then the one the module's code
// loads and stores through the variable's address; where the code does not tell
// (the address goes through memory or a call, or the widths differ) the elements
// are bytes. SymbolAs overrules it.
func (m *Module) Symbol(name string) (*Array, error) {
	bytes, err := m.SymbolAs(name, U8)
	if err != nil {
		return nil, err
	}
	if m.ast == nil {
		var parts []*parse.Module
		for _, s := range m.src {
			part, err := parse.File(s.File, s.Text)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		if m.ast, err = parse.Link(parts); err != nil {
			return nil, err
		}
	}
	v := m.ast.Var(name)
	if v == nil {
		return bytes, nil
	}
	t := elementType(v.Type)
	if v.Type == parse.B8 && v.Dims != nil {
		t = usedType(m.ast, v)
	}
	if bytes.Size()%int64(t.Size()) != 0 {
		return bytes, nil
	}
	return bytes.View(t)
}

// SymbolAs is a .global or .const variable as an array of elements of type t.
func (m *Module) SymbolAs(name string, t DType) (*Array, error) {
	r, err := m.inst.Symbol(name)
	if err != nil {
		return nil, err
	}
	a := &Array{c: m.c, b: &block{r: r}, t: U8, n: int64(len(r.Data))}
	return a.View(t)
}

// elementType is the array type for a PTX type; untyped bits are unsigned.
func elementType(t parse.Type) DType {
	switch t {
	case parse.S8:
		return I8
	case parse.S16:
		return I16
	case parse.S32:
		return I32
	case parse.S64:
		return I64
	case parse.F16:
		return F16
	case parse.F32:
		return F32
	case parse.F64:
		return F64
	}
	switch t.Bytes() {
	case 2:
		return U16
	case 4:
		return U32
	case 8:
		return U64
	}
	return U8
}

// usedType is the element type of the accesses through the address of v. Accesses
// of one width and several sorts are taken as floating, else signed, else unsigned.
func usedType(m *parse.Module, v *parse.Var) DType {
	best, known := U8, false
	for _, f := range m.Funcs {
		for _, t := range accesses(f, v) {
			switch {
			case !known:
				best, known = t, true
			case t.Size() != best.Size():
				return U8
			case t.IsFloat(), t.signed() && !best.IsFloat():
				best = t
			}
		}
	}
	return best
}

// accesses lists the types of the loads and stores of f whose address derives from
// that of v by moves and arithmetic on registers.
func accesses(f *parse.Func, v *parse.Var) []DType {
	derived := map[*parse.Var]bool{v: true}
	for changed := true; changed; {
		changed = false
		for _, in := range f.Instrs {
			switch in.Op {
			case "mov", "add", "sub", "mad", "cvta", "cvt", "or", "selp":
			default:
				continue
			}
			if len(in.Args) < 2 || in.Args[0].Kind != parse.KReg || derived[in.Args[0].Var] {
				continue
			}
			for _, src := range in.Args[1:] {
				if (src.Kind == parse.KReg || src.Kind == parse.KSym) && derived[src.Var] {
					derived[in.Args[0].Var] = true
					changed = true
				}
			}
		}
	}
	var out []DType
	for _, in := range f.Instrs {
		if t, ok := accessType(in, derived); ok {
			out = append(out, t)
		}
	}
	return out
}

// accessType is the element type of a memory instruction with a derived address.
// The type of the data register decides where the instruction says only .b32.
func accessType(in *parse.Instr, derived map[*parse.Var]bool) (DType, bool) {
	switch in.Op {
	case "ld", "ldu", "st", "atom", "red":
	default:
		return 0, false
	}
	hit, float := false, false
	for _, a := range in.Args {
		if a.Kind == parse.KAddr && len(a.List) > 0 && derived[a.List[0].Var] {
			hit = true
		}
		if a.Kind == parse.KVec && len(a.List) > 0 {
			a = a.List[0]
		}
		if a.Kind == parse.KReg && a.Var.Type.Float() {
			float = true
		}
	}
	if !hit {
		return 0, false
	}
	for i := len(in.Mods) - 1; i >= 0; i-- {
		if t, ok := parse.TypeOf(in.Mods[i]); ok {
			e := elementType(t)
			if t >= parse.B16 && t <= parse.B64 && float {
				e = F16 + DType(map[int]int{2: 0, 4: 1, 8: 2}[e.Size()])
			}
			return e, true
		}
	}
	return 0, false
}
