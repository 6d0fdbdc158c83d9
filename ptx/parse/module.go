package parse

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/internal/kernelname"
)

// Limits that keep a malformed file from exhausting memory.
const (
	maxRegs  = 1 << 17 // registers of one function
	maxBytes = 1 << 36 // one variable
	maxDepth = 64      // nested scopes, braces and operands
)

type parser struct {
	lexer
	m        *Module
	fn       *Func
	scope    *scope
	depth    int
	loc      SrcLoc
	aliases  map[string]aliased
	all      bool // go on after a problem
	problems []*Error
	said     map[string]bool // the words of problems
	linked   Linkage         // of the declaration being read
	lists    bool            // a parenthesis begins a list of operands, as in call, and no constant expression
}

// aliased is what an alias stands for, and the line that says so.
type aliased struct {
	function string
	line     int
}

// File parses one PTX module. The error is an *Error.
func File(name string, src []byte) (m *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, problem(r)
		}
	}()
	p := newParser(name, src)
	p.module()
	p.m.callFuncs()
	return p.m, nil
}

// All parses as much of a module as can be understood and returns it with all problems, in
// order of lines.
func All(name string, src []byte) (*Module, []*Error) {
	p := newParser(name, src)
	p.all, p.said = true, map[string]bool{}
	p.collect(p.module)
	p.m.callFuncs()
	sort.SliceStable(p.problems, func(i, j int) bool { return p.problems[i].Line < p.problems[j].Line })
	return p.m, p.problems
}

// callFuncs gives the functions the names of their source.
func (m *Module) callFuncs() {
	var names []string
	var funcs []*Func
	for _, f := range m.Funcs {
		if m.funcs[f.Name] == f { // a declaration beside it is called the same
			names, funcs = append(names, f.Name), append(funcs, f)
		}
	}
	for i, name := range kernelname.Short(names) {
		funcs[i].Called = name
	}
	for _, f := range m.Funcs {
		if def := m.funcs[f.Name]; def != nil {
			f.Called = def.Called
		} else {
			f.Called = kernelname.Plain(f.Name)
		}
	}
}

// Entry finds the kernel that a name means: its symbol or any way to write it (kernelname.Find).
func (m *Module) Entry(name string) (*Func, error) {
	var entries []*Func
	var symbols, called []string
	for _, f := range m.Funcs {
		if f.Entry && m.funcs[f.Name] == f {
			entries, symbols, called = append(entries, f), append(symbols, f.Name), append(called, f.Called)
		}
	}
	at, several := kernelname.Find(name, symbols)
	switch {
	case at >= 0:
		return entries[at], nil
	case len(several) > 0:
		var which []string
		for _, i := range several {
			which = append(which, called[i])
		}
		return nil, fmt.Errorf("%s: kernel %s may be any of %s: write it as it stands here", m.File, name,
			strings.Join(which, "; "))
	case len(entries) == 0:
		return nil, fmt.Errorf("%s: no kernel %s: the module has no .entry", m.File, name)
	}
	return nil, fmt.Errorf("%s: no kernel %s: the module has %s", m.File, name, strings.Join(called, ", "))
}

func newParser(name string, src []byte) *parser {
	p := &parser{
		lexer: lexer{file: name, src: string(src), line: 1},
		m:     &Module{File: name, vars: map[string]*Var{}, funcs: map[string]*Func{}},
	}
	p.scope, p.aliases = &scope{vars: p.m.vars}, map[string]aliased{}
	return p
}

func (p *parser) module() {
	p.attempt(p.next, true)
	for p.kind != tEOF {
		p.attempt(p.topLevel, true)
	}
	if p.m.Version == "" {
		p.failAt(1, "no .version directive: this is not a PTX module")
	}
	for _, name := range slices.Sorted(maps.Keys(p.aliases)) {
		p.collect(func() { binder{p}.alias(name, p.aliases[name]) })
	}
	for _, f := range p.m.Funcs {
		binder{p}.resolve(f)
	}
}

func (p *parser) topLevel() {
	if p.kind == ';' {
		p.next()
		return
	}
	if p.kind != tID || p.text[0] != '.' {
		p.fail("found %s where a module directive (.entry, .func, .global ...) was expected", p.describe())
	}
	if p.m.Version == "" && p.text != ".version" {
		p.fail("a PTX module begins with .version, found %s", p.describe())
	}
	switch p.text {
	case ".version":
		p.next()
		p.m.Version = p.text
		if p.kind != tNum {
			p.fail(".version wants a number such as 7.0, found %s", p.describe())
		}
		p.next()
	case ".target":
		p.next()
		p.m.Target = p.word("a target such as sm_70")
		for p.accept(',') {
			p.word("a target option")
		}
	case ".address_size":
		line := p.tline
		p.next()
		p.m.AddressSize = p.integer(".address_size", 32, 64)
		if p.m.AddressSize != 32 && p.m.AddressSize != 64 {
			p.failAt(line, ".address_size is 32 or 64")
		}
	case ".file", ".loc", ".section", ".pragma":
		p.debugDirective()
	case ".alias": // .alias name, function;
		p.next()
		line := p.tline
		name := p.word("the name of an alias")
		p.expect(',', "between the names of .alias")
		p.aliases[name] = aliased{p.word("the name of a function"), line}
		p.expect(';', "after .alias")
	default:
		p.linkage()
	}
}

// debugDirective reads the directives that may also appear inside functions.
func (p *parser) debugDirective() {
	switch p.text {
	case ".file":
		p.restOfLine()
		p.next()
	case ".loc": // .loc file line column [, function_name ..., inlined_at ...]; ends with the line
		rest := strings.Fields(p.restOfLine())
		p.loc = SrcLoc{}
		if len(rest) >= 2 {
			f, ok1 := literal(rest[0])
			n, ok2 := literal(rest[1])
			if !ok1 || !ok2 || f.bits > 1<<20 || n.bits > 1<<30 {
				p.fail(".loc wants a file index and a line number")
			}
			p.loc = SrcLoc{int(f.bits), int(n.bits)}
		}
		p.next()
	case ".pragma":
		p.next()
		for {
			if p.kind != tStr {
				p.fail(".pragma wants a string, found %s", p.describe())
			}
			if p.text == "nounroll" && p.fn != nil {
				if p.fn.NoUnroll == nil {
					p.fn.NoUnroll = map[int]bool{}
				}
				p.fn.NoUnroll[len(p.fn.Instrs)] = true
			}
			p.next()
			if !p.accept(',') {
				break
			}
		}
		p.expect(';', "after .pragma")
	case ".section":
		p.next()
		p.word("a section name")
		for p.kind == tID && p.text[0] == '.' {
			p.next()
		}
		line, depth := p.tline, 0
		for {
			switch p.kind {
			case '{':
				depth++
			case '}':
				depth--
			case tEOF:
				p.failAt(line, ".section is not closed: add }")
			}
			p.next()
			if depth == 0 {
				return
			}
		}
	}
}

// linkage reads [.visible|.extern|.weak|.common] and the declaration after it.
func (p *parser) linkage() {
	extern := false
	p.linked = Linkage{}
	for {
		switch p.text {
		case ".visible", ".weak", ".common":
			p.linked = Linkage{Visible: true, Weak: p.linked.Weak || p.text != ".visible"}
			p.next()
			continue
		case ".extern":
			extern, p.linked.Visible = true, true
			p.next()
			continue
		case ".entry":
			p.next()
			p.function(true, extern)
		case ".func":
			p.next()
			p.function(false, extern)
		case ".global", ".const", ".shared", ".local", ".param", ".tex", ".reg":
			p.variable(extern)
		default:
			p.missing(p.text)
			p.fail("%s is not a module directive this front end knows", p.describe())
		}
		return
	}
}

// declare enters v in the current scope.
func (p *parser) declare(v *Var) {
	if old := p.scope.vars[v.Name]; old != nil {
		if p.scope.parent == nil && (old.Extern || v.Extern) { // a declaration and its definition
			if old.Extern && !v.Extern {
				*old = *v
			}
			return
		}
		p.failAt(v.Line, "%s is already declared on line %d: use another name", v.Name, old.Line)
	}
	p.scope.vars[v.Name] = v
	switch {
	case v.Space == Reg && p.fn == nil: // each function that uses it gets a register for it
	case v.Space == Reg:
		common{p}.add(v)
	case p.fn != nil:
		v.ID = len(p.fn.Vars)
		p.fn.Vars = append(p.fn.Vars, v)
	default:
		v.ID = len(p.m.Vars)
		p.m.Vars = append(p.m.Vars, v)
	}
	if v.Owner = p.fn; p.fn == nil {
		v.Linkage = p.linked
	}
}

// common keeps the registers of a function, among them those that stand for the registers of the module.
type common struct{ *parser }

// add gives the current function a register.
func (p common) add(v *Var) {
	if len(p.fn.Regs) >= maxRegs {
		p.failAt(v.Line, "more than %d registers in one function", maxRegs)
	}
	v.ID = len(p.fn.Regs)
	p.fn.Regs = append(p.fn.Regs, v)
}

// own is the register of the current function for a register of the module.
func (p common) own(v *Var) *Var {
	for _, s := range p.fn.Common {
		if s.Module == v {
			return s.Own
		}
	}
	own := *v
	own.Owner = p.fn
	p.add(&own)
	p.fn.Common = append(p.fn.Common, CommonReg{v, &own})
	return &own
}

func (p *parser) function(entry, extern bool) {
	f := &Func{Entry: entry, Extern: extern, Linkage: p.linked, File: p.m.File, Line: p.tline}
	p.scope = &scope{parent: p.scope, vars: map[string]*Var{}, labels: map[string]int{}}
	p.fn, p.loc = f, SrcLoc{}
	conventions{p}.attributes()
	if !entry && p.kind == '(' {
		f.Results = p.params(entry)
	}
	f.Name = p.word("the name of a function")
	if p.kind == '(' {
		f.Params = p.params(entry)
	}
	p.performance(f)
	if p.kind == '{' {
		p.body()
	} else {
		f.Extern = true
		p.accept(';') // optional after a declaration in some compilers' output
	}
	for _, in := range f.Instrs {
		for _, c := range f.Common {
			if in.Op == "call" {
				in.Also = append(in.Also, c.Own)
			}
		}
	}
	p.scope, p.fn = p.scope.parent, nil
	old := p.m.funcs[f.Name]
	switch {
	case p.m.vars[f.Name] != nil:
		p.failAt(f.Line, "%s is already a variable (line %d): use another name", f.Name, p.m.vars[f.Name].Line)
	case old != nil && !old.Extern && !f.Extern:
		p.failAt(f.Line, "%s is already defined on line %d: use another name", f.Name, old.Line)
	case old == nil || old.Extern:
		p.m.funcs[f.Name] = f
	}
	p.m.Funcs = append(p.m.Funcs, f)
}

// params reads a parenthesised parameter list.
func (p *parser) params(entry bool) []*Var {
	var list []*Var
	p.expect('(', "before parameters")
	for p.kind != ')' {
		if len(list) > 0 {
			p.expect(',', "between parameters")
		}
		space := Param
		switch {
		case p.text == ".reg" && !entry:
			space = Reg
		case p.text != ".param":
			p.fail("found %s where a .param declaration was expected", p.describe())
		}
		p.next()
		v := p.declarator(space)
		if space == Reg && (v.Vec > 1 || v.Dims != nil) {
			p.failAt(v.Line, "parameter %s: only scalars are passed in registers", v.Name)
		}
		if v.Size == 0 && entry {
			p.failAt(v.Line, "parameter %s has no size: give the array an extent", v.Name)
		}
		if v.Name != "_" {
			p.declare(v)
		} else {
			v.Owner = p.fn
		}
		list = append(list, v)
	}
	p.next()
	return list
}

// conventions reads what compilers say of calls and of memory.
type conventions struct{ *parser }

// calling reads a directive of the calling convention: .noreturn, or how many registers a function keeps, which
// says nothing where registers are not assigned.
func (p conventions) calling() {
	name := p.text
	if p.next(); name != ".noreturn" {
		p.integer(name, 0, maxRegs)
	}
}

// attributes reads .attribute(...): what is said there of unified addresses and managed memory holds for all memory
// here.
func (p conventions) attributes() {
	for p.kind == tID && p.text == ".attribute" {
		p.next()
		p.expect('(', "after .attribute")
		for {
			switch name := p.word("an attribute, .managed or .unified(uuid1, uuid2)"); {
			case name == ".managed":
			case name != ".unified":
				p.fail("%s is no attribute: PTX has .managed and .unified(uuid1, uuid2)", name)
			case p.accept('('):
				p.number("the first half of a UUID")
				p.expect(',', "between the halves of a UUID")
				p.number("the second half of a UUID")
				p.expect(')', "after the halves of a UUID")
			default:
				p.fail(".unified has a UUID of two 64-bit numbers: write .unified(uuid1, uuid2)")
			}
			if !p.accept(',') {
				break
			}
		}
		p.expect(')', "after the attributes")
	}
}

// performance reads the directives between the parameters and the body.
func (p *parser) performance(f *Func) {
	dims := func(name string) (d [3]int) {
		d = [3]int{1, 1, 1}
		for i := range d {
			d[i] = p.integer(name, 1, 1<<31)
			if !p.accept(',') {
				break
			}
		}
		return d
	}
	for p.kind == tID && p.text[0] == '.' {
		name := p.text
		switch name {
		case ".maxntid":
			p.next()
			f.MaxNTid = dims(name)
		case ".reqntid":
			p.next()
			f.ReqNTid = dims(name)
		case ".maxnreg":
			p.next()
			f.MaxRegs = p.integer(name, 1, 1024)
		case ".minnctapersm", ".maxnctapersm":
			p.next()
			f.MinCTAs = p.integer(name, 0, 1<<20)
		case ".noreturn", ".abi_preserve_control", ".abi_preserve":
			conventions{p}.calling()
		case ".pragma", ".loc":
			p.debugDirective()
		default:
			p.missing(name)
			return // the next module directive, after a declaration without a semicolon
		}
	}
}
