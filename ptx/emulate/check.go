package emulate

import (
	"sort"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// checking collects the problems of a module.
type checking struct {
	problems []*parse.Error
	seen     map[parse.Error]bool // functions are decoded once for each kernel that calls them
	decoded  map[*parse.Func]bool
	wrong    map[int]bool // lines the parser has a problem with
}

// Check loads a module as Load does, but continues after a problem: it returns all problems, in order of lines. It
// also checks functions that no kernel calls. The module is nil if there are problems.
func Check(file string, src []byte) (*Module, []*parse.Error) {
	ast, problems := parse.All(file, src)
	m := newModule(file, ast)
	m.check = &checking{problems: problems, seen: map[parse.Error]bool{}, decoded: map[*parse.Func]bool{}}
	m.check.wrong = map[int]bool{}
	for _, e := range problems {
		m.check.wrong[e.Line] = true
	}
	m.decode()
	kernels := m.kernels
	for _, f := range ast.Funcs {
		if !f.Entry && !f.Extern && !m.check.decoded[f] {
			m.collect(func() { m.decodeKernel(f) })
		}
	}
	m.kernels = kernels
	if all := m.check.problems; len(all) > 0 {
		sort.SliceStable(all, func(i, j int) bool { return all[i].Line < all[j].Line })
		return nil, all
	}
	m.check = nil
	return m, nil
}

// collect runs a step and keeps its problem if all problems are wanted; otherwise Load gets the problem.
func (m *Module) collect(step func()) (ok bool) {
	if m.check == nil {
		step()
		return true
	}
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		b, ok := r.(bail)
		if !ok {
			panic(r)
		}
		if !m.check.seen[*b.err] && !m.check.wrong[b.err.Line] {
			m.check.seen[*b.err] = true
			m.check.problems = append(m.check.problems, b.err)
		}
	}()
	step()
	return true
}
