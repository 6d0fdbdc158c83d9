package parse

import (
	"maps"
	"slices"
)

// binder gives names their meaning once the whole module is read.
type binder struct{ p *parser }

// resolve binds labels and function names once the whole module is read.
func (b binder) resolve(f *Func) {
	for _, in := range f.Instrs {
		b.p.collect(func() {
			for i := range in.Args {
				b.resolveOperand(f, in, &in.Args[i])
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Targets)) {
		list := f.Targets[name]
		for i := range list {
			b.p.collect(func() { b.resolveTarget(f, &list[i]) })
		}
	}
}

func (b binder) resolveTarget(f *Func, o *Operand) {
	if t := b.p.m.funcs[o.Name]; t != nil {
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
	b.p.failAt(int(o.Off), "target %s is neither a label nor a function", o.Name)
}

func (b binder) resolveOperand(f *Func, in *Instr, o *Operand) {
	for i := range o.List {
		b.resolveOperand(f, in, &o.List[i])
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
	if v := b.p.m.vars[o.Name]; v != nil && v.Space != Reg { // declared after its use
		o.Kind, o.Var = KSym, v
		return
	}
	if b.p.m.funcs[o.Name] == nil {
		b.p.failAt(in.Line, "%s is not declared: no variable, function or label has this name (%s)", o.Name, in.Text)
	}
	o.Kind = KFunc
}

// alias lets a name stand for a function.
func (b binder) alias(name string, to aliased) {
	f := b.p.m.funcs[to.function]
	switch {
	case f == nil || f.Extern:
		b.p.failAt(to.line, "%s, which %s stands for, is not defined in this module", to.function, name)
	case f.Entry:
		b.p.failAt(to.line, "%s is a kernel: only functions have aliases", to.function)
	}
	if old := b.p.m.funcs[name]; old != nil && !old.Extern || b.p.m.vars[name] != nil {
		b.p.failAt(to.line, "%s is already defined: an alias is declared without a body", name)
	}
	b.p.m.funcs[name] = f
}
