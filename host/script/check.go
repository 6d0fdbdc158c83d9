package script

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// defaultRel is the relative tolerance of check() between floating-point values;
// integers are compared exactly unless the script gives a tolerance.
const defaultRel = 1e-5

// check is check(array, expected, rtol = 1e-5, atol = 0, name = ""): expected is a
// file, an array, the result of reference(), a list or a number. It returns whether
// the check passed; a failed one fails the program at its end.
func check(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var got, want, rtol starlark.Value
	var atol starlark.Value = starlark.MakeInt(0)
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "array", &got, "expected", &want, "rtol??", &rtol, "atol?",
		&atol, "name?", &name); err != nil {
		return nil, err
	}
	typ, n, err := shape(got, want)
	if err != nil {
		return nil, err
	}
	tol, err := tolerance(rtol, atol, typ)
	if err != nil {
		return nil, err
	}
	g, _, err := e.sequence(got, typ, n)
	if err != nil {
		return nil, err
	}
	w, against, err := e.sequence(want, typ, n)
	if err != nil {
		return nil, err
	}
	what := "check at " + e.where()
	if name != "" {
		what = name + " (" + e.where() + ")"
	}
	if against != "" {
		what += " against " + against
	}
	k, err := e.c.CheckData(g, w, tol, what)
	return starlark.Bool(k.OK), err
}

// shape is the element type and count of the comparison: those of the first
// argument that has them.
func shape(got, want starlark.Value) (t host.DType, n int64, err error) {
	for _, v := range []starlark.Value{got, want} {
		switch x := v.(type) {
		case *array:
			return x.a.Type(), x.a.Len(), nil
		case *data:
			return x.d.Type, x.d.Len(), nil
		}
	}
	t, n = host.I64, 1
	for _, v := range []starlark.Value{got, want} {
		seq, ok := v.(starlark.Sequence)
		if !ok {
			seq = starlark.Tuple{v}
		}
		n = max(n, int64(seq.Len()))
		it := seq.Iterate()
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			if _, err := goNumber(x); err != nil {
				return t, n, fmt.Errorf("check: %w, or an array", err)
			}
			if _, ok := x.(starlark.Float); ok {
				t = host.F64
			}
		}
	}
	return t, n, nil
}

func tolerance(rtol, atol starlark.Value, t host.DType) (host.Tolerance, error) {
	var tol host.Tolerance
	if t.IsFloat() {
		tol.Rel = defaultRel
	}
	for _, x := range []struct {
		v   starlark.Value
		dst *float64
	}{{rtol, &tol.Rel}, {atol, &tol.Abs}} {
		if x.v == nil {
			continue
		}
		f, ok := starlark.AsFloat(x.v)
		if !ok {
			return tol, fmt.Errorf("check: tolerance: got %s, want a number", x.v.Type())
		}
		*x.dst = f
	}
	return tol, nil
}

// sequence is the values of one side of a check, and how to call them.
func (e *env) sequence(v starlark.Value, t host.DType, n int64) (d *host.Data, name string, err error) {
	switch x := v.(type) {
	case *array:
		var b []byte
		err := x.a.Observe(func(bytes []byte) error { b = bytes; return nil })
		return &host.Data{Type: x.a.Type(), Bytes: b}, x.a.Region().Name, err
	case *data:
		return x.d, x.name, nil
	case starlark.String:
		b, err := e.read(string(x), n*int64(t.Size()), fmt.Sprintf("the array of %d %s", n, t))
		if err != nil {
			return nil, "", fmt.Errorf("check: %w", err)
		}
		return &host.Data{Type: t, Bytes: b}, string(x), nil
	case *starlark.List, starlark.Tuple:
		d, err := literal(x.(starlark.Iterable), t)
		if err != nil {
			return nil, "", fmt.Errorf("check: %w", err)
		}
		return d, "", nil
	}
	one, err := literal(starlark.Tuple{v}, t)
	if err != nil {
		return nil, "", fmt.Errorf("check: %w", err)
	}
	return one.Repeat(n), "", nil
}

// reference is reference(name, args...): a CPU computation registered in Go.
func reference(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 || len(args) == 0 {
		return nil, fmt.Errorf("reference: give the name of a reference and its arguments by position")
	}
	name, ok := starlark.AsString(args[0])
	if !ok {
		return nil, fmt.Errorf("reference: name: got %s, want string", args[0].Type())
	}
	f := e.p.opt.References[name]
	if f == nil {
		names := sortedKeys(e.p.opt.References)
		if len(names) == 0 {
			return nil, fmt.Errorf("reference: no reference named %q: there are none in this run", name)
		}
		return nil, fmt.Errorf("reference: no reference named %q among the %d there are%s", name, len(names),
			yamldoc.Guess(name, names))
	}
	var in []any
	for i, v := range args[1:] {
		x, err := referenceArg(v)
		if err != nil {
			return nil, fmt.Errorf("reference %s, argument %d: %w", name, i+1, err)
		}
		in = append(in, x)
	}
	out, err := f(in)
	if err != nil {
		return nil, fmt.Errorf("reference %s: %w", name, err)
	}
	d, err := host.Result(out, in)
	if err != nil {
		return nil, fmt.Errorf("reference %s: its result: %w", name, err)
	}
	return &data{d: d, name: "reference " + name}, nil
}

// referenceArg is an argument of a reference.
func referenceArg(v starlark.Value) (any, error) {
	switch x := v.(type) {
	case *array:
		return x.a.InPlace()
	case *data:
		return x.d.InPlace(), nil
	case starlark.String:
		return string(x), nil
	case starlark.Bool:
		return bool(x), nil
	case starlark.Float:
		return float64(x), nil
	case scalar:
		v = x.plain()
		if f, ok := v.(starlark.Float); ok {
			return float64(f), nil
		}
	case *starlark.List, starlark.Tuple:
		t, _, err := shape(x, x)
		if err != nil {
			return nil, err
		}
		d, err := literal(x.(starlark.Iterable), t)
		if err != nil {
			return nil, err
		}
		return d.Slice(), nil
	}
	i, ok := v.(starlark.Int)
	if !ok {
		return nil, fmt.Errorf("got %s, want an array, a number, a string or a bool", v.Type())
	}
	n, ok := i.Int64()
	if !ok {
		return nil, fmt.Errorf("%s does not fit in 64 bits", i)
	}
	return n, nil
}
