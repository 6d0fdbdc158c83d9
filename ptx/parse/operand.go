package parse

import "strings"

// operands reads the operands of instructions.
type operands struct{ *parser }

// operand reads one operand; names of labels and functions are resolved later.
func (p operands) operand() Operand {
	if p.depth++; p.depth > maxDepth {
		p.fail("operand is nested too deeply")
	}
	defer func() { p.depth-- }()
	if p.kind == '(' && !p.lists { // a constant expression
		return p.immediate()
	}
	switch p.kind {
	case '{', '(':
		o := Operand{Kind: KVec}
		end := tok('}')
		if p.kind == '(' {
			o.Kind, end = KList, ')'
		}
		p.next()
		for p.kind != end {
			if len(o.List) > 0 {
				p.expect(',', "between operands")
			}
			o.List = append(o.List, p.operand())
		}
		p.next()
		return o
	case '[':
		return p.address()
	case '!':
		p.next()
		o := p.operand()
		o.Neg = true
		return o
	case tID:
		return p.name()
	case '-', '+':
		save := p.lexer
		minus := p.kind == '-'
		p.next()
		if p.kind == tID {
			o := p.operand()
			o.Neg = minus
			return o
		}
		p.lexer = save
	}
	return p.immediate()
}

func (p operands) immediate() Operand {
	n := p.number("an operand")
	if n.float {
		return Operand{Kind: KFloat, Bits: n.bits, Wide: n.wide}
	}
	return Operand{Kind: KInt, Bits: n.bits}
}

// name reads an operand that begins with an identifier.
func (p operands) name() Operand {
	name := p.text
	line := p.tline
	p.next()
	if name == "_" {
		return Operand{Kind: KNone}
	}
	o := Operand{Kind: KLabel, Name: name}
	if v, sel := p.selected(name); v != nil {
		o.Kind, o.Var, o.Sel = KReg, v, sel
	} else if v := p.lookup(p.scope, name); v != nil {
		o.Kind, o.Var = KSym, v
		switch {
		case v.Elems != nil:
			o = Operand{Kind: KVec}
			for _, e := range v.Elems {
				o.List = append(o.List, Operand{Kind: KReg, Var: e})
			}
			return o
		case v.Space == Reg:
			o.Kind = KReg
		}
	} else if name[0] == '%' {
		if !specials[name[1:]] {
			p.missing(name)
			p.failAt(line, "%s is neither a declared register nor a special register this front end knows", name)
		}
		o.Kind, o.Name = KSpecial, name[1:]
	} else if name[0] == '.' {
		p.failAt(line, "found %q where an operand was expected", name)
	}
	switch {
	case p.kind == '|':
		p.next()
		return Operand{Kind: KPair, List: []Operand{o, p.operand()}}
	case p.kind == '[' && (o.Kind == KSym || o.Kind == KLabel):
		p.index(&o)
	}
	if (p.kind == '+' || p.kind == '-') && (o.Kind == KSym || o.Kind == KReg) {
		o.Off += p.offset()
	}
	return o
}

// selected splits the selector of a video instruction off a register: %r1.b0, %r2.h10. The elements of a vector of
// registers have names of their own.
func (p operands) selected(name string) (v *Var, selector string) {
	at := strings.LastIndexByte(name, '.')
	if at < 1 || at+2 >= len(name) || strings.IndexByte("bh", name[at+1]) < 0 ||
		strings.Trim(name[at+2:], "01234567") != "" || p.lookup(p.scope, name) != nil {
		return nil, ""
	}
	if v = p.lookup(p.scope, name[:at]); v == nil || v.Space != Reg || v.Elems != nil {
		return nil, ""
	}
	return v, name[at+1:]
}

// offset reads what is added to a name.
func (p operands) offset() (sum int64) {
	for p.kind == '+' || p.kind == '-' {
		n := p.number("an offset")
		if n.float {
			p.fail("an offset must be an integer")
		}
		sum += int64(n.bits)
	}
	return sum
}

// index reads the indices behind the name of an array: a constant, or in the first place
// a register with a constant offset.
func (p operands) index(o *Operand) {
	if o.Var == nil {
		p.fail("%s is not declared, and so has no elements: declare arrays before they are indexed", o.Name)
	}
	stride := int64(o.Var.Stride())
	rest := o.Var.Dims
	for p.kind == '[' {
		if len(rest) == 0 {
			p.fail("%s has %d extents, more indices are given", o.Var.Name, len(o.Var.Dims))
		}
		p.next()
		switch {
		case p.kind != tID:
			n := p.number("an index")
			if n.float {
				p.fail("an index must be an integer")
			}
			o.Off += int64(n.bits) * stride
		case o.Index != nil || len(rest) != len(o.Var.Dims):
			p.fail("only the first index may be a register")
		default:
			o.Index = p.register("an index")
			if b := o.Index.Type.Bytes(); b != 4 && b != 8 || o.Index.Elems != nil || o.Index.Type.Float() {
				p.fail("index %s is .%s, an integer of 32 or 64 bits is needed", o.Index.Name, o.Index.Type)
			}
			o.Off += p.offset() * stride
		}
		p.expect(']', "after an index")
		if rest = rest[1:]; len(rest) > 0 {
			stride /= int64(max(rest[0], 1))
		}
	}
}

// address reads [base], [base+n], [n], [base, ...] is left to the caller's error.
func (p operands) address() Operand {
	p.next()
	o := Operand{Kind: KAddr}
	if p.kind == tID {
		base := p.name()
		o.Off, base.Off = base.Off, 0
		o.Index, base.Index = base.Index, nil
		o.List = []Operand{base}
	}
	for p.kind == '+' || p.kind == '-' || (p.kind == tNum && len(o.List) == 0 && o.Off == 0) {
		n := p.number("an offset")
		if n.float {
			p.fail("an offset must be an integer")
		}
		o.Off += int64(n.bits)
		if p.kind == tNum {
			break
		}
	}
	if p.kind == ',' { // texture coordinates and the like: the decoder names the opcode
		for p.accept(',') {
			o.List = append(o.List, p.operand())
		}
		o.Kind = KVec
	}
	p.expect(']', "after an address")
	return o
}
