package parse

import (
	"strconv"
	"strings"
)

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
		default:
			p.attempt(p.statement, false)
		}
	}
}

func (p *parser) statement() {
	switch {
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

func (p *parser) bodyDirective() {
	switch p.text {
	case ".reg", ".shared", ".local", ".param", ".global", ".const":
		p.variable(false)
	case ".loc", ".file", ".pragma", ".section":
		p.debugDirective()
	default:
		p.missing(p.text)
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
	n, r := len(p.fn.Vars), len(p.fn.Regs)
	if p.kind == '(' {
		f.Results = p.params(false)
	}
	p.word("_")
	if p.kind == '(' {
		f.Params = p.params(false)
	}
	p.fn.Vars, p.fn.Regs = p.fn.Vars[:n], p.fn.Regs[:r] // the names of a prototype declare nothing
	p.scope = p.scope.parent
	for p.kind == tID && (p.text == ".noreturn" || strings.HasPrefix(p.text, ".abi_preserve")) {
		conventions{p}.calling()
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
	in.At = p.start
	parts := strings.Split(p.word("an opcode"), ".")
	in.Op, in.Mods = parts[0], parts[1:]
	for p.kind == tID && p.text[0] == '.' { // ld.global .u32
		in.Mods = append(in.Mods, p.text[1:])
		p.next()
	}
	p.lists = in.Op == "call"
	for p.kind != ';' {
		if p.kind == '}' || p.kind == tEOF {
			p.failAt(in.Line, "';' is missing after %s", in.Op)
		}
		if len(in.Args) > 0 && !p.accept(',') {
			if p.kind == '|' { // setp p|q written with spaces
				p.next()
				last := &in.Args[len(in.Args)-1]
				*last = Operand{Kind: KPair, List: []Operand{*last, operands{p}.operand()}}
				continue
			}
			if last := in.Args[len(in.Args)-1]; last.Kind == KLabel && Slip(in.Op, append(in.Mods, last.Name)) == "" {
				p.failAt(in.Line, "the dot before %s is missing: write %s.%s", last.Name, strings.Join(parts, "."),
					last.Name)
			}
			p.fail("found %s where ',' or ';' was expected in %s", p.describe(), in.Op)
		}
		in.Args = append(in.Args, operands{p}.operand())
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
	if v := p.lookup(p.scope, name); v != nil && v.Space == Reg && v.Elems == nil {
		return v
	}
	p.fail("register %s is not declared: add it to a .reg directive", name)
	return nil
}

func (p *parser) lookup(s *scope, name string) *Var {
	for ; s != nil; s = s.parent {
		if v := s.vars[name]; v != nil {
			if v.Space == Reg && v.Owner == nil && p.fn != nil {
				return common{p}.own(v)
			}
			return v
		}
	}
	return nil
}

// specials are the special registers the parser lets through; the decoder may
// still reject one.
var specials = func() map[string]bool {
	m := words(`tid.x tid.y tid.z tid.w ntid.x ntid.y ntid.z ntid.w ctaid.x ctaid.y ctaid.z ctaid.w
		nctaid.x nctaid.y nctaid.z nctaid.w laneid warpid nwarpid smid nsmid gridid clock clock_hi clock64 globaltimer
		globaltimer_lo globaltimer_hi lanemask_eq lanemask_lt lanemask_le lanemask_gt lanemask_ge
		dynamic_smem_size total_smem_size`)
	for i := range 32 {
		m["envreg"+strconv.Itoa(i)] = true
	}
	return m
}()
