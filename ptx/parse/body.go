package parse

import "strings"

// body reads a function body: declarations, labels and instructions.
func (p *parser) body() {
	f := p.fn
	f.Protos, f.Targets = map[string]*Func{}, map[string][]Operand{}
	open := p.tline
	p.expect('{', "before a function body")
	depth := 1
	for depth > 0 {
		switch {
		case p.kind == tEOF:
			p.failAt(open, "the body of %s is not closed: add }", f.Name)
		case p.kind == '{':
			if depth++; depth > maxDepth {
				p.fail("scopes are nested too deeply")
			}
			p.scope = &scope{parent: p.scope, vars: map[string]*Var{}, labels: map[string]int{}}
			p.next()
		case p.kind == '}':
			if depth--; depth > 0 {
				p.scope = p.scope.parent
			}
			p.next()
		case p.kind == ';':
			p.next()
		case p.kind == '@':
			p.instruction(nil)
		case p.kind != tID:
			p.fail("found %s where an instruction was expected", p.describe())
		case p.text[0] == '.':
			p.bodyDirective()
		default:
			p.labelOrInstruction()
		}
	}
}

func (p *parser) bodyDirective() {
	switch p.text {
	case ".reg", ".shared", ".local", ".param", ".global", ".const":
		p.variable(false)
	case ".loc", ".file", ".pragma", ".section":
		p.debugDirective()
	default:
		p.fail("%s is not a directive this front end knows inside a function", p.describe())
	}
}

func (p *parser) labelOrInstruction() {
	save := p.lexer
	name := p.text
	line := p.tline
	p.next()
	if p.kind != ':' {
		p.lexer = save
		p.instruction(nil)
		return
	}
	p.next()
	switch {
	case p.kind == tID && p.text == ".callprototype":
		p.next()
		p.prototype(name)
	case p.kind == tID && (p.text == ".branchtargets" || p.text == ".calltargets"):
		p.next()
		var list []Operand
		for {
			list = append(list, Operand{Kind: KLabel, Name: p.word("a target"), Off: int64(line)})
			if !p.accept(',') {
				break
			}
		}
		p.expect(';', "after a target list")
		p.fn.Targets[name] = list
	default:
		if _, dup := p.scope.labels[name]; dup {
			p.failAt(line, "label %s is already defined in this scope: use another name", name)
		}
		p.scope.labels[name] = len(p.fn.Instrs)
	}
}

// prototype reads "[(ret)] _ [(params)] ;" after .callprototype.
func (p *parser) prototype(name string) {
	f := &Func{Name: name, Line: p.tline}
	p.scope = &scope{parent: p.scope, vars: map[string]*Var{}, labels: map[string]int{}}
	n := len(p.fn.Vars)
	if p.kind == '(' {
		f.Results = p.params(false)
	}
	p.word("_")
	if p.kind == '(' {
		f.Params = p.params(false)
	}
	p.fn.Vars = p.fn.Vars[:n] // the names of a prototype declare nothing
	p.scope = p.scope.parent
	for p.kind == tID && p.text == ".noreturn" {
		p.next()
	}
	p.expect(';', "after .callprototype")
	p.fn.Protos[name] = f
}

// instruction reads "[@p] opcode operands ;".
func (p *parser) instruction(_ *Var) {
	in := &Instr{Line: p.tline, Src: p.loc, scope: p.scope}
	start := p.start
	if p.accept('@') {
		in.Neg = p.accept('!')
		in.Pred = p.register("a guard predicate")
		if in.Pred.Type != Pred {
			p.fail("guard %s is a .%s register, not a predicate", in.Pred.Name, in.Pred.Type)
		}
		in.Line = p.tline
	}
	parts := strings.Split(p.word("an opcode"), ".")
	in.Op, in.Mods = parts[0], parts[1:]
	for p.kind != ';' {
		if p.kind == '}' || p.kind == tEOF {
			p.failAt(in.Line, "';' is missing after %s", in.Op)
		}
		if len(in.Args) > 0 && !p.accept(',') {
			if p.kind == '|' { // setp p|q written with spaces
				p.next()
				last := &in.Args[len(in.Args)-1]
				*last = Operand{Kind: KPair, List: []Operand{*last, p.operand()}}
				continue
			}
			p.fail("found %s where ',' or ';' was expected in %s", p.describe(), in.Op)
		}
		in.Args = append(in.Args, p.operand())
	}
	in.Text = strings.Join(strings.Fields(p.src[start:p.pos]), " ")
	if len(in.Text) > 200 {
		in.Text = in.Text[:200] + "..."
	}
	p.next()
	p.fn.Instrs = append(p.fn.Instrs, in)
}

func (p *parser) register(what string) *Var {
	name := p.word(what)
	if v := p.lookup(p.scope, name); v != nil && v.Space == Reg {
		return v
	}
	p.fail("register %s is not declared: add it to a .reg directive", name)
	return nil
}

func (p *parser) lookup(s *scope, name string) *Var {
	for ; s != nil; s = s.parent {
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

// operand reads one operand; names of labels and functions are resolved later.
func (p *parser) operand() Operand {
	if p.depth++; p.depth > maxDepth {
		p.fail("operand is nested too deeply")
	}
	defer func() { p.depth-- }()
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
	n := p.number("an operand")
	if n.float {
		return Operand{Kind: KFloat, Bits: n.bits, Wide: n.wide}
	}
	return Operand{Kind: KInt, Bits: n.bits}
}

// name reads an operand that begins with an identifier.
func (p *parser) name() Operand {
	name := p.text
	line := p.tline
	p.next()
	if name == "_" {
		return Operand{Kind: KNone}
	}
	o := Operand{Kind: KLabel, Name: name}
	if v := p.lookup(p.scope, name); v != nil {
		o.Kind, o.Var = KSym, v
		if v.Space == Reg {
			o.Kind = KReg
		}
	} else if name[0] == '%' {
		if !specials[name[1:]] {
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
	case (p.kind == '+' || p.kind == '-') && o.Kind == KSym:
		for p.kind == '+' || p.kind == '-' {
			o.Off += int64(p.number("an offset").bits)
		}
	}
	return o
}

// address reads [base], [base+n], [n], [base, ...] is left to the caller's error.
func (p *parser) address() Operand {
	p.next()
	o := Operand{Kind: KAddr}
	if p.kind == tID {
		base := p.name()
		o.Off, base.Off = base.Off, 0
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

// resolve binds labels and function names once the whole module is read.
func (p *parser) resolve(f *Func) {
	for _, in := range f.Instrs {
		for i := range in.Args {
			p.resolveOperand(f, in, &in.Args[i])
		}
	}
	for _, list := range f.Targets {
		for i := range list {
			p.resolveTarget(f, &list[i])
		}
	}
}

func (p *parser) resolveTarget(f *Func, o *Operand) {
	if t := p.m.funcs[o.Name]; t != nil {
		o.Kind = KFunc
		return
	}
	for _, in := range f.Instrs { // target lists name labels of any scope in the function
		for s := in.scope; s != nil; s = s.parent {
			if l, ok := s.labels[o.Name]; ok {
				o.Label = l
				return
			}
		}
	}
	p.failAt(int(o.Off), "target %s is neither a label nor a function", o.Name)
}

func (p *parser) resolveOperand(f *Func, in *Instr, o *Operand) {
	for i := range o.List {
		p.resolveOperand(f, in, &o.List[i])
	}
	if o.Kind != KLabel {
		return
	}
	for s := in.scope; s != nil; s = s.parent {
		if l, ok := s.labels[o.Name]; ok {
			o.Label = l
			return
		}
	}
	o.Label = -1
	if f.Protos[o.Name] != nil || f.Targets[o.Name] != nil {
		return
	}
	if v := p.m.vars[o.Name]; v != nil { // declared after its use
		o.Kind, o.Var = KSym, v
		return
	}
	if p.m.funcs[o.Name] == nil {
		p.failAt(in.Line, "%s is not declared: no variable, function or label has this name (%s)", o.Name, in.Text)
	}
	o.Kind = KFunc
}

// specials are the special registers the parser lets through; the decoder may
// still reject one.
var specials = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(`tid.x tid.y tid.z tid.w ntid.x ntid.y ntid.z ntid.w ctaid.x ctaid.y ctaid.z ctaid.w
		nctaid.x nctaid.y nctaid.z nctaid.w laneid warpid nwarpid smid nsmid gridid clock clock_hi clock64 globaltimer
		globaltimer_lo globaltimer_hi lanemask_eq lanemask_lt lanemask_le lanemask_gt lanemask_ge
		dynamic_smem_size total_smem_size`) {
		m[s] = true
	}
	return m
}()
