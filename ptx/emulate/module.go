// Package emulate executes PTX: it decodes modules to flat operations and runs
// warps of 32 lanes one instruction at a time, exactly and deterministically.
//
// A reader must know three types. Module is a loaded file with its Kernels;
// Instance is a module bound to an application's memory; cta is a resident thread
// block, the state behind isa.CTA, whose Step method is the hot path.
package emulate

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Module is a parsed, analysed and decoded PTX file.
type Module struct {
	File    string
	ast     *parse.Module
	kernels []*Kernel
	graphs  map[*parse.Func]*analyze.Graph
	lives   map[*parse.Func]*analyze.Liveness
	symbols []*parse.Var // .global and .const variables, in order of allocation
	symbol  map[*parse.Var]int
	funcAt  map[string]int      // address index of each function
	short   map[*parse.Var]bool // constants whose address is used in 32 bits
	prints  bool                // some kernel calls vprintf
	stack   bool                // some function does alloca
	heap    bool                // some kernel calls malloc or free
	check   *checking           // nil: the first problem ends the loading
}

// Kernel is one .entry of a module.
type Kernel struct {
	Name       string // as its source has it (parse.Func.Called)
	Params     []Param
	ParamBytes int
	Code       *isa.Code
	Regs       int // 32-bit registers per thread, by liveness, called functions included
	// SharedBytes is the static shared memory of a CTA; Launch adds the dynamic part.
	SharedBytes int
	LocalBytes  int    // .local memory per thread along the deepest call chain; at least 1024 with recursion
	MaxThreads  int    // threads per CTA the kernel allows
	MaxNTid     [3]int // .maxntid or .reqntid; zero where absent
	ReqNTid     bool   // MaxNTid is exact
	// short: the kernel, or a function it calls, holds addresses in 32-bit registers.
	short bool
	// DynamicShared tells that the kernel uses an extern .shared array.
	DynamicShared bool
	Line          int
	module        *Module
	prog          *program
	marking       marking
	unrolled      unrolled
}

// Param is a kernel parameter. Type is as in PTX ("u64", "f32"; "b8" for arrays and
// structs, whose Size is the total in bytes).
type Param struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Size   int    `json:"size"`   // bytes
	Align  int    `json:"align"`  // bytes
	Offset int    `json:"offset"` // bytes into the parameter block
}

// program is the decoded code of a kernel and the functions it can reach.
type program struct {
	code   *isa.Code
	ops    []op
	funcs  []function    // 0 is the kernel
	source []*parse.Func // of the same
	k32    []v32
	k64    []v64 // template; fixups are filled in per instance
	fixups []fixup
	slots  int // region-cache entries
	align  int // alignment of dynamic shared memory
	// threadwise says that barriers count threads and not warps: .target sm_70 and later.
	threadwise bool
	byAddr     map[uint64]int32
}

// fixup is a constant row that holds the address of a symbol.
type fixup struct {
	row    int
	symbol int // index in Module.symbols
	addend uint64
	short  bool // the row is a 32-bit one
}

func (p *program) funcOf(pc int32) int32 {
	for i := range p.funcs {
		if pc >= p.funcs[i].start && pc < p.funcs[i].end {
			return int32(i)
		}
	}
	return 0
}

func (p *program) functionAt(addr uint64) (int32, bool) {
	i, ok := p.byAddr[addr]
	return i, ok
}

// Load parses, analyses and decodes a module. Errors are *parse.Error: file, line,
// what is wrong and what to do.
func Load(file string, src []byte) (*Module, error) {
	return Link([]Source{{file, src}})
}

// Source is the text of a module and the name of its file.
type Source struct {
	File string
	Text []byte
}

// Link loads several modules as one: what one declares .extern another defines.
func Link(sources []Source) (m *Module, err error) {
	var parts []*parse.Module
	for _, s := range sources {
		part, err := parse.File(s.File, s.Text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	ast, err := parse.Link(parts)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bail)
			if !ok {
				panic(r)
			}
			m, err = nil, b.err
		}
	}()
	m = newModule(ast.File, ast)
	m.decode()
	return m, nil
}

func newModule(file string, ast *parse.Module) *Module {
	return &Module{
		File: file, ast: ast, graphs: map[*parse.Func]*analyze.Graph{}, lives: map[*parse.Func]*analyze.Liveness{},
		symbol: map[*parse.Var]int{}, funcAt: map[string]int{}, short: map[*parse.Var]bool{},
	}
}

// decode makes the kernels.
func (m *Module) decode() {
	ast := m.ast
	m.collect(m.collectSymbols)
	for i, f := range ast.Funcs {
		if _, seen := m.funcAt[f.Name]; !seen {
			m.funcAt[f.Name] = i
		}
	}
	seen := map[string]bool{}
	for _, f := range ast.Funcs {
		if f.Entry && ast.Func(f.Name) == f && !seen[f.Name] {
			seen[f.Name] = true
			m.collect(func() { m.kernels = append(m.kernels, m.decodeKernel(f)) })
		}
	}
}

// functionIndex is the number that the address of a function is made of.
func (m *Module) functionIndex(name string) int {
	if f := m.ast.Func(name); f != nil {
		return m.funcAt[f.Name]
	}
	return 0
}

// collectSymbols lists the variables that live in the application's memory.
func (m *Module) collectSymbols() {
	add := func(v *parse.Var) {
		if (v.Space == parse.Global || v.Space == parse.Const) && m.ast.Defines[v] == nil {
			m.symbol[v] = len(m.symbols)
			m.symbols = append(m.symbols, v)
		}
	}
	for _, v := range m.ast.Vars {
		add(v)
	}
	for _, f := range m.ast.Funcs {
		for _, v := range f.Vars {
			add(v)
		}
	}
	for v, def := range m.ast.Defines {
		if i, ok := m.symbol[def]; ok {
			m.symbol[v] = i
		}
	}
	for _, v := range m.symbols {
		for _, in := range v.Init {
			if in.Sym == "" || m.ast.Func(in.Sym) != nil {
				continue
			}
			t := m.ast.Var(in.Sym)
			if t == nil {
				fail(m.File, in.Line,
					"the initialiser of %s refers to %s, which is not declared: declare the variable or function",
					v.Name, in.Sym)
			}
			if _, ok := m.symbol[t]; !ok {
				fail(m.File, in.Line,
					"the initialiser of %s holds the address of %s, which is %s: only .global and .const variables "+
						"have a fixed address", v.Name, in.Sym, t.Space)
			}
		}
	}
}

// graph analyses a function once.
func (m *Module) graph(f *parse.Func) (*analyze.Graph, *analyze.Liveness) {
	if m.graphs[f] == nil {
		g := analyze.Build(f)
		m.graphs[f], m.lives[f] = g, analyze.Live(g)
	}
	return m.graphs[f], m.lives[f]
}

// Kernels lists the kernels in file order.
func (m *Module) Kernels() []*Kernel { return m.kernels }

// Kernel finds a kernel by its symbol or any way to write its name; the error lists the names that exist.
func (m *Module) Kernel(name string) (*Kernel, error) {
	f, err := m.ast.Entry(name)
	if err != nil {
		return nil, err
	}
	for _, k := range m.kernels {
		if k.Name == f.Called {
			return k, nil
		}
	}
	return nil, fmt.Errorf("%s: kernel %s has faults: heddle ptx check lists them", m.File, f.Called)
}

// bail carries a decoding error to Load.
type bail struct{ err *parse.Error }

func fail(file string, line int, format string, args ...any) {
	panic(bail{&parse.Error{File: file, Line: line, Msg: fmt.Sprintf(format, args...)}})
}
