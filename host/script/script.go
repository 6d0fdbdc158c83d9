// Package script runs host programs written in Starlark (app.star) against a
// host.Context.
//
// A reader must know three types. Program is a script that was read, parsed and
// resolved; it implements host.Program and may be run many times. env is one run:
// the interpreter's thread, the context and the files it may touch. array is a
// host.Array as the script sees it; its methods are in array.go.
//
// A script is confined: it reads files of its own folder only, writes files of the output directory only, and sees
// neither the network nor the time. Its result depends only on its text, its folder, its arguments and the seed.
package script

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/heddle-sim/heddle/host"
)

// DefaultMaxSteps is the number of Starlark steps a run may take unless Options
// says otherwise: some ten seconds of interpretation.
const DefaultMaxSteps = 200_000_000

// maxScript bounds a script in bytes: what is larger is data and belongs into a
// file for load(). It also bounds the parser's recursion.
const maxScript = 256 << 10

// Options of a program.
type Options struct {
	// Args are values for the parameters of main, by name, as the command line gives
	// them; each is converted to the type of the parameter's default value.
	Args map[string]string
	// OutDir is where save() writes; empty: save() is an error. It is created when
	// needed.
	OutDir string
	// Taken says whether Heddle itself writes a file of that name into OutDir; nil: it writes none.
	Taken func(name string) bool
	// References are the CPU references reference() may call.
	References map[string]host.Reference
	// Seed is the seed of random() where the script gives none; 0 counts as 1.
	Seed uint64
	// Log receives the lines of print() and log(); nil: they are dropped.
	Log io.Writer
	// MaxSteps bounds the Starlark steps of a run; 0: DefaultMaxSteps.
	MaxSteps uint64
	// Recursion lets functions call themselves.
	Recursion bool
}

// Param is a parameter of main.
type Param struct {
	Name    string
	Default string // its source text; empty when it has none
}

// Program is a script ready to run.
type Program struct {
	name string // of the folder
	dir  string
	file string // name of the script in dir, as messages show it
	opt  Options
	main *starlark.Program
	// params are those of main; nil when main is not a plain def of this file.
	params []Param
	pos    syntax.Position // of main
}

// Load reads a program: a .star file, or a folder that holds app.star. Errors are
// *host.Error.
func Load(path string, opt Options) (*Program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &host.Error{Err: err}
	}
	dir, file := filepath.Dir(path), filepath.Base(path)
	if info.IsDir() {
		dir, file = path, "app.star"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &host.Error{Err: err}
	}
	defer root.Close()
	src, err := readScript(root, file)
	if err != nil {
		return nil, &host.Error{Err: fmt.Errorf("%s: %w", dir, err)}
	}
	return parse(dir, file, src, opt)
}

func readScript(root *os.Root, file string) ([]byte, error) {
	info, err := statFile(root, file)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxScript {
		return nil, fmt.Errorf("%s has %d bytes; a script may have %d: put data into a file for load()", file,
			info.Size(), maxScript)
	}
	return root.ReadFile(file)
}

func (o Options) dialect() *syntax.FileOptions {
	return &syntax.FileOptions{
		Set: true, While: true, TopLevelControl: true, GlobalReassign: true,
		Recursion: o.Recursion,
	}
}

// parse checks everything that can be known without running the script.
func parse(dir, file string, src []byte, opt Options) (*Program, error) {
	if opt.MaxSteps == 0 {
		opt.MaxSteps = DefaultMaxSteps
	}
	if opt.Seed == 0 {
		opt.Seed = 1
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &host.Error{Err: err}
	}
	p := &Program{name: filepath.Base(abs), dir: dir, file: file, opt: opt}
	text := allowLoadMethod(string(src))
	tree, err := opt.dialect().Parse(file, text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	p.findMain(tree, text)
	priced(tree)
	if p.main, err = starlark.FileProgram(tree, isPredeclared()); err != nil {
		return nil, syntaxError(err)
	}
	if p.params != nil {
		for _, name := range sortedKeys(opt.Args) {
			if err := p.known(name); err != nil {
				return nil, &host.Error{Pos: position(p.pos), Err: err}
			}
		}
	}
	return p, nil
}

// findMain notes the parameters of a plain `def main(...)` at top level.
func (p *Program) findMain(tree *syntax.File, src string) {
	for _, stmt := range tree.Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok || def.Name.Name != "main" {
			continue
		}
		p.pos = def.Name.NamePos
		p.params = []Param{}
		for _, x := range def.Params {
			switch x := x.(type) {
			case *syntax.Ident:
				p.params = append(p.params, Param{Name: x.Name})
			case *syntax.BinaryExpr:
				p.params = append(p.params, Param{Name: x.X.(*syntax.Ident).Name, Default: text(src, x.Y)})
			case *syntax.UnaryExpr:
				if x.Op == syntax.STARSTAR { // takes any name: checked by the call
					p.params = nil
					return
				}
			}
		}
	}
}

// text is the source of an expression that stands on one line, else "...".
func text(src string, e syntax.Expr) string {
	start, end := e.Span()
	line, at := int32(1), 0
	for line < start.Line {
		for src[at] != '\n' {
			at++
		}
		at++
		line++
	}
	if start.Line != end.Line {
		return "..."
	}
	runes := []rune(src[at:])
	if int(end.Col)-1 > len(runes) {
		return "..."
	}
	return string(runes[start.Col-1 : end.Col-1])
}

// Name is the name of the program's folder.
func (p *Program) Name() string { return p.name }

// Params lists the parameters of main; nil when they cannot be known without
// running the script.
func (p *Program) Params() []Param { return p.params }

// Run executes the script's top level and then main, and waits for the device at
// the end. Mistakes are *host.Error with the script's position, a program with
// failed checks ends with *host.CheckError, an interrupted one with
// host.ErrStopped; host.Classify tells them apart.
func (p *Program) Run(c *host.Context) error {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return &host.Error{Err: err}
	}
	defer root.Close()
	e := newEnv(p, c, root)
	c.SetWhere(e.where)
	c.SetPrint(e.text)
	if err := e.run(); err != nil {
		return e.explain(err)
	}
	return c.CheckErr()
}

// run executes everything; errors are as Starlark gives them.
func (e *env) run() error {
	if err := e.c.Err(); err != nil {
		return err
	}
	globals, err := e.p.main.Init(e.thread, e.predeclared)
	if err != nil {
		return err
	}
	main, ok := globals["main"].(*starlark.Function)
	if !ok {
		return &host.Error{
			Pos: e.p.file,
			Err: errors.New("there is no main function; add `def main(n = 4096): ...` with the size parameters as " +
				"keyword parameters"),
		}
	}
	kwargs, err := e.p.arguments(main)
	if err != nil {
		return &host.Error{Pos: position(main.Position()), Err: err}
	}
	if _, err := starlark.Call(e.thread, main, nil, kwargs); err != nil {
		return err
	}
	if err := e.c.Finish(); err != nil {
		return &host.Error{Err: err}
	}
	return nil
}
