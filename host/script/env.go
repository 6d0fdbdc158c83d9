package script

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"strings"

	"go.starlark.net/lib/math"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/heddle-sim/heddle/host"
)

// poll is the number of Starlark steps between two looks at the context.
const poll = 10_000

// env is one run of a program.
type env struct {
	p           *Program
	c           *host.Context
	root        *os.Root
	thread      *starlark.Thread
	predeclared starlark.StringDict
	loaded      map[string]*loaded
	stop        error // why the thread was cancelled
}

// loaded is a module of load(); nil globals and error: being loaded.
type loaded struct {
	globals starlark.StringDict
	err     error
}

func newEnv(p *Program, c *host.Context, root *os.Root) *env {
	e := &env{p: p, c: c, root: root, loaded: map[string]*loaded{}}
	e.predeclared = e.names()
	e.thread = &starlark.Thread{
		Name:       p.name,
		Print:      func(_ *starlark.Thread, msg string) { e.log(msg) },
		Load:       e.load,
		OnMaxSteps: e.pause,
	}
	e.thread.SetMaxExecutionSteps(min(poll, p.opt.MaxSteps))
	return e
}

// pause runs every poll steps: it ends a run that was interrupted or took too long.
func (e *env) pause(t *starlark.Thread) {
	if err := e.c.Err(); err != nil {
		e.cancel(err)
		return
	}
	if t.Steps >= e.p.opt.MaxSteps {
		e.cancel(fmt.Errorf("the script took more than %d steps: is there an endless loop? Work on arrays with fill, "+
			"arange, random, load or a kernel instead of element by element", e.p.opt.MaxSteps))
		return
	}
	t.SetMaxExecutionSteps(min(t.Steps+poll, e.p.opt.MaxSteps))
}

// cancel ends the run with err at the next step.
func (e *env) cancel(err error) {
	if e.stop == nil {
		e.stop = err
	}
	e.thread.Cancel(err.Error())
}

func (e *env) log(line string) {
	if e.p.opt.Log != nil {
		io.WriteString(e.p.opt.Log, line+"\n") // a log that cannot be written must not change the run
	}
}

// text writes what kernels print.
func (e *env) text(s string) {
	if e.p.opt.Log != nil {
		io.WriteString(e.p.opt.Log, s) // as above
	}
}

// builtin is a function of the scripts' language.
type builtin func(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// functions are the builtins by name.
func functions() map[string]builtin {
	return map[string]builtin{
		"module": module, "malloc": allocate, "malloc_managed": allocate, "host_array": allocate, "free": free,
		"launch": launch, "device_synchronize": deviceSynchronize, "stream": newStream, "event": newEvent,
		"elapsed":        elapsed,
		"prefetch_async": prefetchAsync, "mem_advise": memAdvise, "host_register": hostRegister, "set_qos": setQoS,
		"device_limit": deviceLimit, "texture": texture, "surface": texture,
		"check": check, "reference": reference, "log": logLine,
	}
}

// builtins are the functions, and those of the language in a form of our own.
func builtins() map[string]builtin {
	all := functions()
	maps.Copy(all, universe())
	return all
}

// constants are the plain names. Where a function takes device or host, the names
// are strings, so "device" works as well.
func constants() starlark.StringDict {
	d := starlark.StringDict{"math": math.Module}
	for t := range host.DType(host.NumDTypes) {
		d[t.String()] = dtype(t)
	}
	for _, s := range append([]string{"device", "host"}, host.AdviceNames()...) {
		d[s] = starlark.String(s)
	}
	return d
}

// isPredeclared tells the resolver which names exist.
func isPredeclared() func(name string) bool {
	f, c, o := builtins(), constants(), operations()
	return func(name string) bool { return f[name] != nil || c.Has(name) || o[name] != nil }
}

func (e *env) names() starlark.StringDict {
	d := constants()
	ofDevice := functions()
	for name, f := range builtins() {
		var steps uint64
		if ofDevice[name] != nil {
			steps = stepsPerCall
		}
		d[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple,
		) (starlark.Value, error) {
			if err := e.c.Err(); err != nil { // a run that shall stop allocates and copies no more
				return nil, err
			}
			if err := e.pay(name, steps); err != nil {
				return nil, err
			}
			return f(e, b, args, kwargs)
		})
	}
	for name, f := range operations() { // one each few steps: no look at the run for each
		d[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
			_ []starlark.Tuple,
		) (starlark.Value, error) {
			return f(e, args)
		})
	}
	return d
}

// load runs another script of the folder once; its path is relative to the folder.
func (e *env) load(t *starlark.Thread, name string) (starlark.StringDict, error) {
	name = path.Clean(name)
	if m, ok := e.loaded[name]; ok {
		if m.globals == nil && m.err == nil {
			return nil, errors.New("the scripts load each other in a circle")
		}
		return m.globals, m.err
	}
	m := &loaded{}
	e.loaded[name] = m
	m.globals, m.err = e.exec(t, name)
	return m.globals, m.err
}

func (e *env) exec(t *starlark.Thread, name string) (starlark.StringDict, error) {
	if !strings.HasSuffix(name, ".star") {
		return nil, errors.New("load() is for .star files; use array.load() for data and module() for PTX")
	}
	src, err := readScript(e.root, name)
	if err != nil {
		return nil, err
	}
	tree, err := e.p.opt.dialect().Parse(name, allowLoadMethod(string(src)), 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	priced(tree)
	prog, err := starlark.FileProgram(tree, e.predeclared.Has)
	if err != nil {
		return nil, syntaxError(err)
	}
	globals, err := prog.Init(t, e.predeclared)
	if globals == nil {
		globals = starlark.StringDict{}
	}
	return globals, err
}

// where is the script's innermost position, as "app.star:12".
func (e *env) where() string { return innermost(e.thread.CallStack()) }

func innermost(stack starlark.CallStack) string {
	for i := range stack {
		if pos := stack.At(i).Pos; pos.IsValid() && pos.Filename() != "<builtin>" {
			return position(pos)
		}
	}
	return ""
}

func position(p syntax.Position) string { return fmt.Sprintf("%s:%d", p.Filename(), p.Line) }

// explain turns an error of the interpreter into a *host.Error with the position.
func (e *env) explain(err error) error {
	var eval *starlark.EvalError
	var own *host.Error
	switch {
	case errors.As(err, &own) && own.Pos != "":
		return own // a syntax error of a loaded script, or main's arguments
	case errors.As(err, &eval):
		cause := eval.Unwrap()
		for errors.As(cause, &eval) { // the innermost one: inside a loaded script
			cause = eval.Unwrap()
		}
		if e.stop != nil {
			cause = e.stop
		} else if errors.As(cause, &own) {
			cause = own.Err
		}
		return &host.Error{Pos: innermost(eval.CallStack), Err: cause}
	case errors.As(err, &own):
		return own
	}
	return &host.Error{Pos: e.p.file, Err: err}
}

// syntaxError gives a parser's or resolver's error its position.
func syntaxError(err error) error {
	var list resolve.ErrorList
	var one resolve.Error
	var syn syntax.Error
	switch {
	case errors.As(err, &list) && len(list) > 0:
		msg := inOwnWords(list[0].Msg)
		switch more := len(list) - 1; more {
		case 0:
		case 1:
			msg += " (and 1 more error)"
		default:
			msg += fmt.Sprintf(" (and %d more errors)", more)
		}
		return &host.Error{Pos: position(list[0].Pos), Err: errors.New(msg)}
	case errors.As(err, &one):
		return &host.Error{Pos: position(one.Pos), Err: errors.New(inOwnWords(one.Msg))}
	case errors.As(err, &syn):
		return &host.Error{Pos: position(syn.Pos), Err: errors.New(syn.Msg)}
	}
	return &host.Error{Err: err}
}
