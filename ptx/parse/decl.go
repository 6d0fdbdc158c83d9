package parse

import (
	"strconv"
	"strings"
)

// variable reads ".space [.align n] [.vN] .type name[dims] [= init] {, ...} ;" at
// module level or in a body.
func (p *parser) variable(extern bool) {
	space := map[string]Space{
		".global": Global, ".const": Const, ".shared": Shared, ".local": Local, ".param": Param,
		".reg": Reg, ".tex": Global,
	}[p.text]
	old := p.text == ".tex"
	p.next()
	if space == Global && old { // .tex .u32 name
		for p.kind == tID && p.text[0] == '.' {
			p.next()
		}
	}
	model, vec := Var{Space: Global, Type: TexRef, Line: p.tline}, 1
	if !old {
		model, vec = p.qualifiers(space)
	}
	for {
		one := model
		v := &one
		v.Line = p.tline
		p.nameAndExtents(v, vec)
		v.Extern = extern
		if p.accept('=') {
			if space != Global && space != Const {
				p.failAt(v.Line, "%s: only .global and .const variables can be initialised", v.Name)
			}
			values{p}.initialiser(v)
		} else if v.Size == 0 && !extern && space != Reg {
			p.failAt(v.Line, "%s has no size: give it an extent or an initialiser, or declare it .extern", v.Name)
		}
		switch {
		case p.kind == '<' && space == Reg:
			p.registerRange(v, vec)
		case space == Reg:
			p.registers(v, vec)
		default:
			p.declare(v)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after a declaration")
}

// declarator reads qualifiers, type, name and extents; the space is already read.
func (p *parser) declarator(space Space) *Var {
	v, vec := p.qualifiers(space)
	p.nameAndExtents(&v, vec)
	return &v
}

// qualifiers reads the words before the name: alignment, attributes, vector length and type.
func (p *parser) qualifiers(space Space) (v Var, vec int) {
	v = Var{Space: space, Line: p.tline}
	vec = 1
	for p.kind == tID && p.text[0] == '.' {
		switch p.text {
		case ".align":
			p.next()
			v.Align = p.integer(".align", 1, 1<<16)
			if v.Align&(v.Align-1) != 0 {
				p.failAt(v.Line, ".align %d is not a power of two", v.Align)
			}
			continue
		case ".attribute":
			conventions{p}.attributes()
			continue
		case ".ptr", ".global", ".const", ".shared", ".local":
			p.next()
			continue
		case ".v2", ".v4", ".v8":
			vec = int(p.text[2] - '0')
			p.next()
			continue
		}
		t, ok := TypeOf(p.text[1:])
		if ok && t == F32x2 {
			p.fail(".f32x2 is a type of instructions: declare %s .b64", space)
		}
		if !ok {
			p.fail("%s is not a type of PTX%s", p.describe(), typeSlip(p.text))
		}
		// .param .u64 .ptr .align 4 name: the first type is the variable's
		if v.Type != NoType {
			p.fail("second type %s in a declaration", p.text)
		}
		v.Type = t
		p.next()
	}
	if v.Type == NoType {
		p.fail("found %s where a type such as .u32 was expected%s", p.describe(), typeSlip(p.text))
	}
	if v.Type >= TexRef && space != Global && space != Param {
		p.fail(".%s variables are .global", v.Type)
	}
	if v.Type == Pred && space != Reg {
		p.fail(".pred belongs in registers only")
	}
	return v, vec
}

func (p *parser) nameAndExtents(v *Var, vec int) {
	v.Name = p.word("a name")
	elem := v.Type.Bytes() * vec
	if v.Align < elem && v.Space != Reg && v.Align == 0 {
		v.Align = elem
	}
	v.Size, v.Vec = elem, vec
	for p.kind == '[' {
		p.next()
		n := 0
		if p.kind != ']' {
			n = p.integer("an array extent", 0, maxBytes)
		} else if len(v.Dims) > 0 {
			p.fail("only the first extent of %s may be left out", v.Name)
		}
		p.expect(']', "after an array extent")
		v.Dims = append(v.Dims, n)
		if n > 0 && v.Size > maxBytes/n {
			p.failAt(v.Line, "%s is larger than %d bytes", v.Name, maxBytes)
		}
		if len(v.Dims) > maxDepth {
			p.fail("%s has too many extents", v.Name)
		}
		v.Size *= n
	}
}

// registerRange declares %r<n> as %r0 ... %r(n-1).
func (p *parser) registerRange(v *Var, vec int) {
	p.next()
	const what = "a register count"
	line := p.tline
	n := p.within(line, expression{&p.lexer, what}.binary(shiftLevel, 0), what, 0, maxRegs) // > ends it
	p.expect('>', "after a register count")
	for i := range n {
		r := *v
		r.Name = v.Name + strconv.Itoa(i)
		p.registers(&r, vec)
	}
}

// registers declares a register, or the elements of a vector of registers: v.x and v.r
// are the first of them.
func (p *parser) registers(v *Var, vec int) {
	v.Vec = vec
	if vec == 1 {
		p.declare(v)
		return
	}
	if vec > 4 || v.Type == Pred {
		p.failAt(v.Line, "%s: a vector of registers has 2 or 4 elements, and no predicates", v.Name)
	}
	if p.fn == nil {
		p.failAt(v.Line, "%s: vectors of registers at module level are not supported yet: declare it in the function, "+
			"or its elements one by one", v.Name)
	}
	all := &Var{Name: v.Name, Space: Reg, Type: v.Type, Vec: vec, Line: v.Line, Owner: p.fn}
	if old := p.scope.vars[v.Name]; old != nil {
		p.failAt(v.Line, "%s is already declared on line %d: use another name", v.Name, old.Line)
	}
	p.scope.vars[v.Name] = all
	for i := range vec {
		e := *v
		e.Vec, e.Size = 1, v.Type.Bytes()
		e.Name = v.Name + "." + "xyzw"[i:i+1]
		p.declare(&e)
		all.Elems = append(all.Elems, &e)
		p.scope.vars[v.Name+"."+"rgba"[i:i+1]] = &e
	}
}

// values reads initial values.
type values struct{ *parser }

// initialiser reads the values after "=".
func (p values) initialiser(v *Var) {
	elem := v.Type.Bytes()
	if elem == 0 {
		p.fail("%s cannot be initialised", v.Type)
	}
	if v.Type >= TexRef {
		p.fields(v)
		return
	}
	if p.kind != '{' {
		if v.Dims != nil {
			p.fail("the initialiser of an array is in braces")
		}
		v.Init = append(v.Init, p.initValue(v.Type, 0))
		return
	}
	unsized := len(v.Dims) > 0 && v.Dims[0] == 0
	limit := v.Size
	if unsized {
		limit = maxBytes
	}
	inner := elem // bytes of one element of the first dimension
	for _, d := range v.Dims[min(1, len(v.Dims)):] {
		inner *= d
	}
	end := p.braces(v, v.Dims, 0, limit)
	if unsized {
		if inner == 0 {
			inner = elem
		}
		v.Dims[0] = (end + inner - 1) / inner
		v.Size = v.Dims[0] * inner
	}
}

// fields reads {name = value, ...}.
func (p values) fields(v *Var) {
	p.expect('{', "before the properties of "+v.Name)
	for p.kind != '}' {
		f := Field{Name: p.word("the name of a property")}
		p.expect('=', "behind the name of a property")
		if p.kind != tID && p.kind != tNum {
			p.fail("found %s where the value of %s was expected", p.describe(), f.Name)
		}
		f.Value = p.text
		p.next()
		v.State = append(v.State, f)
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', "after the properties of "+v.Name)
}

// braces reads one level of a braced initialiser that fills v from byte off, and
// returns the byte after the last value written. Missing values are zero.
func (p values) braces(v *Var, dims []int, off, limit int) int {
	if p.depth++; p.depth > maxDepth {
		p.fail("initialiser is nested too deeply")
	}
	defer func() { p.depth-- }()
	elem := v.Type.Bytes()
	sub := elem
	if len(dims) > 0 {
		for _, d := range dims[1:] {
			sub *= d
		}
	}
	p.expect('{', "before initial values")
	end := off
	for p.kind != '}' {
		if p.kind == '{' {
			if len(dims) < 2 {
				p.fail("more braces than extents in the initialiser of %s", v.Name)
			}
			if off+sub > limit {
				p.fail("too many initial values for %s, which holds %d bytes", v.Name, limit)
			}
			end = max(end, p.braces(v, dims[1:], off, off+sub))
			off += sub
		} else {
			if off+elem > limit {
				p.fail("too many initial values for %s, which holds %d bytes", v.Name, limit)
			}
			v.Init = append(v.Init, p.initValue(v.Type, off))
			off += elem
			end = off
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect('}', "after initial values")
	return end
}

// initValue reads one scalar: a number, or [mask(][generic(]symbol[)][+n][)].
func (p values) initValue(t Type, off int) Init {
	in := Init{Offset: off, Line: p.tline}
	if p.kind == tNum || p.kind != tID && strings.ContainsRune("-+~!(", rune(p.kind)) {
		line := p.tline
		n := p.number("an initial value")
		if p.kind == '(' && !n.float { // 0xFF00(sym)
			p.next()
			in.Mask = n.bits
			if in.Mask == 0 {
				p.fail("the address mask is zero")
			}
			p.initSymbol(&in)
			p.expect(')', "after a masked address")
			return in
		}
		bits, ok := convert(n, t)
		if !ok {
			p.failAt(line, "this initial value does not fit type .%s", t)
		}
		in.Bits = bits
		return in
	}
	p.initSymbol(&in)
	return in
}

func (p values) initSymbol(in *Init) {
	name := p.word("an initial value")
	if name == "generic" && p.accept('(') {
		in.Gen = true
		name = p.word("a symbol")
		p.addend(in)
		p.expect(')', "after generic(symbol")
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "%") {
		p.fail("%q is not a symbol", name)
	}
	in.Sym = name
	p.addend(in)
}

func (p values) addend(in *Init) {
	for p.kind == '+' || p.kind == '-' {
		in.Bits += p.number("an offset").bits
	}
}

// convert turns a literal into the bits of type t.
func convert(n number, t Type) (uint64, bool) {
	if !n.float {
		if t == F32 || t == F64 {
			return convert(number{bits: f64bits(float64(int64(n.bits))), float: true, wide: true}, t)
		}
		b := t.Bits()
		v := int64(n.bits)
		if b < 64 && (v >= 1<<b || v < -1<<(b-1)) {
			return 0, false
		}
		return n.bits, b <= 64
	}
	switch {
	case t == F64 && n.wide, t == F32 && !n.wide, t == B32 && !n.wide, t == B64 && n.wide:
		return n.bits, true
	case t == F64:
		return f64bits(float64(f32from(uint32(n.bits)))), true
	case t == F32:
		return uint64(f32bits(float32(f64from(n.bits)))), true
	}
	return 0, false
}
