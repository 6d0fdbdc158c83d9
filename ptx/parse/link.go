package parse

import "fmt"

// Link makes one module from several: what one declares .extern another defines .visible, .weak or .common. Names
// that only their own module sees may occur in several; they then get the number of their module. The modules must
// not be used afterwards.
func Link(modules []*Module) (*Module, error) {
	if len(modules) == 1 {
		return modules[0], nil
	}
	first := modules[0]
	l := &linker{
		out: &Module{
			File: first.File, Version: first.Version, Target: first.Target, AddressSize: first.AddressSize,
			vars: map[string]*Var{}, funcs: map[string]*Func{}, Defines: map[*Var]*Var{},
		},
		count: map[string]int{}, of: map[any]*Module{},
	}
	for _, m := range modules {
		if (m.AddressSize == 64) != (first.AddressSize == 64) {
			return nil, &Error{File: m.File, Line: 1, Msg: fmt.Sprintf("addresses have %d bits here and %d in %s",
				m.AddressSize, first.AddressSize, first.File)}
		}
		for name := range m.vars {
			l.count[name]++
		}
		for name := range m.funcs {
			l.count[name]++
		}
	}
	for i, m := range modules {
		l.rename(m, i)
		for _, v := range m.Vars {
			if err := l.variable(m, v); err != nil {
				return nil, err
			}
		}
		for _, f := range m.Funcs {
			if err := l.function(m, f); err != nil {
				return nil, err
			}
		}
		for name, f := range m.funcs { // aliases
			if f.Name != name {
				l.out.funcs[name] = f
			}
		}
	}
	if err := l.settle(); err != nil {
		return nil, err
	}
	l.out.callFuncs()
	return l.out, nil
}

// linker puts modules together.
type linker struct {
	out   *Module
	count map[string]int // modules that have a name
	of    map[any]*Module
}

// rename gives the names that only m sees, and others have too, the number of the module.
func (l *linker) rename(m *Module, number int) {
	to := map[string]string{}
	own := func(name string, linkage Linkage) string {
		if linkage.Visible || l.count[name] < 2 {
			return name
		}
		to[name] = fmt.Sprintf("%s@%d", name, number+1)
		return to[name]
	}
	for _, v := range m.Vars {
		v.Name = own(v.Name, v.Linkage)
	}
	for _, f := range m.Funcs {
		// A declaration says .visible as its definition does, or not.
		if def := m.funcs[f.Name]; def != nil && def != f {
			f.Linkage.Visible = f.Visible || def.Visible
		}
		if !f.Entry && !f.Extern {
			own(f.Name, f.Linkage)
		}
	}
	if len(to) == 0 {
		return
	}
	name := func(s *string) {
		if n, ok := to[*s]; ok {
			*s = n
		}
	}
	for _, f := range m.Funcs {
		name(&f.Name)
		for _, in := range f.Instrs {
			renameOperands(in.Args, name)
		}
		for _, list := range f.Targets {
			renameOperands(list, name)
		}
		for _, v := range f.Vars {
			renameInit(v, name)
		}
	}
	for _, v := range m.Vars {
		renameInit(v, name)
	}
	for old, f := range m.funcs {
		if n, ok := to[old]; ok && f.Name == n {
			delete(m.funcs, old)
			m.funcs[n] = f
		}
	}
}

func renameOperands(list []Operand, name func(*string)) {
	for i := range list {
		if list[i].Kind == KFunc {
			name(&list[i].Name)
		}
		renameOperands(list[i].List, name)
	}
}

func renameInit(v *Var, name func(*string)) {
	for i := range v.Init {
		name(&v.Init[i].Sym)
	}
}

func (l *linker) variable(m *Module, v *Var) error {
	v.ID = len(l.out.Vars)
	l.out.Vars = append(l.out.Vars, v)
	l.of[v] = m
	old := l.out.vars[v.Name]
	switch {
	case old == nil || old.Extern && !v.Extern || old.Weak && !v.Weak && !v.Extern:
		l.out.vars[v.Name] = v
	case !old.Extern && !v.Extern && !old.Weak && !v.Weak:
		return l.twice(m, v.Line, v.Name, l.of[old], old.Line)
	}
	return nil
}

func (l *linker) function(m *Module, f *Func) error {
	l.out.Funcs = append(l.out.Funcs, f)
	l.of[f] = m
	old := l.out.funcs[f.Name]
	switch {
	case old == nil || old.Extern && !f.Extern || old.Weak && !f.Weak && !f.Extern:
		l.out.funcs[f.Name] = f
	case !old.Extern && !f.Extern && !old.Weak && !f.Weak:
		return l.twice(m, f.Line, f.Name, l.of[old], old.Line)
	}
	return nil
}

func (l *linker) twice(m *Module, line int, name string, other *Module, first int) error {
	return &Error{File: m.File, Line: line, Msg: fmt.Sprintf("%s is already defined in %s, line %d: make one of them "+
		".weak, or not .visible", name, other.File, first)}
}

// settle ties the declarations of variables to their definitions.
func (l *linker) settle() error {
	for _, v := range l.out.Vars {
		def := l.out.vars[v.Name]
		if def == v || def.Extern {
			continue
		}
		if v.Space != def.Space {
			return &Error{File: l.of[v].File, Line: v.Line, Msg: fmt.Sprintf("%s is %s here and %s in %s, line %d",
				v.Name, v.Space, def.Space, l.of[def].File, def.Line)}
		}
		l.out.Defines[v] = def
	}
	return nil
}
