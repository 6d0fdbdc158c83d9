package script

import (
	"fmt"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/heddle-sim/heddle/host"
)

// opaque gives a value the parts of starlark.Value that say nothing.
type opaque struct{}

func (opaque) Freeze()              {}
func (opaque) Truth() starlark.Bool { return true }

func unhashable(v starlark.Value) (uint32, error) {
	return 0, fmt.Errorf("unhashable: %s", v.Type())
}

// dtype is an element type; called, it makes a scalar: f32(1.5).
type dtype host.DType

func (t dtype) String() string        { return host.DType(t).String() }
func (t dtype) Name() string          { return t.String() }
func (t dtype) Type() string          { return "dtype" }
func (t dtype) Freeze()               {}
func (t dtype) Truth() starlark.Bool  { return true }
func (t dtype) Hash() (uint32, error) { return uint32(t), nil }

func (t dtype) Attr(name string) (starlark.Value, error) {
	if name == "size" {
		return starlark.MakeInt(host.DType(t).Size()), nil
	}
	return nil, nil
}
func (t dtype) AttrNames() []string { return []string{"size"} }

func (t dtype) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(t.String(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	n, err := goNumber(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	s, err := host.NewScalar(host.DType(t), n)
	if err != nil {
		return nil, err
	}
	return scalar{Scalar: s}, nil
}

// scalar is a number of a definite type. In arithmetic it acts as the plain number.
type scalar struct {
	opaque
	host.Scalar
}

func (s scalar) String() string        { return s.Scalar.String() }
func (s scalar) Type() string          { return s.Scalar.Type.String() }
func (s scalar) Hash() (uint32, error) { return s.plain().Hash() }
func (s scalar) Truth() starlark.Bool  { return s.plain().Truth() }
func (s scalar) plain() starlark.Value { return plain(s.Value()) }

func (s scalar) Attr(name string) (starlark.Value, error) {
	if name == "value" {
		return s.plain(), nil
	}
	return nil, nil
}
func (s scalar) AttrNames() []string { return []string{"value"} }

func (s scalar) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if t, ok := y.(scalar); ok {
		y = t.plain()
	}
	if side == starlark.Right {
		return starlark.Binary(op, y, s.plain())
	}
	return starlark.Binary(op, s.plain(), y)
}

func (s scalar) Unary(op syntax.Token) (starlark.Value, error) {
	return starlark.Unary(op, s.plain())
}

func (s scalar) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return starlark.CompareDepth(op, s.plain(), y.(scalar).plain(), depth)
}

// plain is a Go number as the script's int or float.
func plain(v any) starlark.Value {
	switch x := v.(type) {
	case int64:
		return starlark.MakeInt64(x)
	case uint64:
		return starlark.MakeUint64(x)
	case *big.Int:
		return starlark.MakeBigInt(x)
	}
	return starlark.Float(v.(float64))
}

// goNumber is a script's number for package host.
func goNumber(v starlark.Value) (any, error) {
	switch x := v.(type) {
	case starlark.Int:
		if i, ok := x.Int64(); ok {
			return i, nil
		}
		return x.BigInt(), nil
	case starlark.Float:
		return float64(x), nil
	case starlark.Bool:
		return bool(x), nil
	case scalar:
		return x.Scalar, nil
	}
	return nil, fmt.Errorf("got %s, want a number", v.Type())
}

// data is a sequence outside the simulated memory: the result of reference().
type data struct {
	opaque
	d    *host.Data
	name string
}

func (d *data) String() string        { return fmt.Sprintf("%s of %d %s", d.name, d.d.Len(), d.d.Type) }
func (d *data) Type() string          { return "data" }
func (d *data) Hash() (uint32, error) { return unhashable(d) }
func (d *data) Len() int              { return int(d.d.Len()) }
func (d *data) Index(i int) starlark.Value {
	return plain(d.d.At(int64(i)).Value())
}

// moduleValue is a PTX module.
type moduleValue struct {
	opaque
	e    *env
	m    *host.Module
	file string
}

func (m *moduleValue) String() string        { return "module " + m.file }
func (m *moduleValue) Type() string          { return "module" }
func (m *moduleValue) Hash() (uint32, error) { return unhashable(m) }
func (m *moduleValue) AttrNames() []string   { return []string{"bind", "kernel", "symbol"} }
func (m *moduleValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "bind":
		return starlark.NewBuiltin("bind", m.bind), nil
	case "kernel":
		return starlark.NewBuiltin("kernel", m.kernel), nil
	case "symbol":
		return starlark.NewBuiltin("symbol", m.symbol), nil
	}
	return nil, nil
}

func (m *moduleValue) kernel(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple,
) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	k, err := m.m.Kernel(name)
	if err != nil {
		return nil, err
	}
	return &kernel{k: k}, nil
}

// symbol takes the element type as an optional second argument.
func (m *moduleValue) symbol(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple,
) (starlark.Value, error) {
	var name string
	var t starlark.Value = starlark.None
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "dtype?", &t); err != nil {
		return nil, err
	}
	var a *host.Array
	var err error
	switch t := t.(type) {
	case starlark.NoneType:
		a, err = m.m.Symbol(name)
	default:
		var as dtype
		if err := as.Unpack(t); err != nil {
			return nil, fmt.Errorf("symbol: for parameter dtype: %w", err)
		}
		a, err = m.m.SymbolAs(name, host.DType(as))
	}
	if err != nil {
		return nil, err
	}
	return &array{e: m.e, a: a}, nil
}

// kernel is an entry function of a module.
type kernel struct {
	opaque
	k *host.Kernel
}

func (k *kernel) String() string        { return "kernel " + k.k.Name }
func (k *kernel) Type() string          { return "kernel" }
func (k *kernel) Hash() (uint32, error) { return unhashable(k) }
func (k *kernel) AttrNames() []string   { return []string{"local", "name", "regs", "shared"} }
func (k *kernel) Attr(name string) (starlark.Value, error) {
	switch name {
	case "name":
		return starlark.String(k.k.Name), nil
	case "regs":
		return starlark.MakeInt(k.k.Regs), nil
	case "shared":
		return starlark.MakeInt(k.k.SharedBytes), nil
	case "local":
		return starlark.MakeInt(k.k.LocalBytes), nil
	}
	return nil, nil
}

// methods is a table of a value's methods; method makes one of them a value.
type methods[T any] map[string]func(recv T, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error)

func method[T any](table methods[T], recv T, name string) (starlark.Value, error) {
	f := table[name]
	if f == nil {
		return nil, nil
	}
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		return f(recv, b, args, kwargs)
	}), nil
}

// stream is a queue of operations.
type stream struct {
	opaque
	s *host.Stream
}

func (s *stream) String() string        { return fmt.Sprintf("stream %d", s.s.ID()) }
func (s *stream) Type() string          { return "stream" }
func (s *stream) Hash() (uint32, error) { return unhashable(s) }
func (s *stream) AttrNames() []string   { return sortedKeys(streamMethods()) }
func (s *stream) Attr(name string) (starlark.Value, error) {
	return method(streamMethods(), s, name)
}

func streamMethods() methods[*stream] {
	return methods[*stream]{
		"synchronize": func(s *stream, b *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple,
		) (starlark.Value, error) {
			if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
				return nil, err
			}
			return starlark.None, s.s.Synchronize()
		},
		"wait": func(s *stream, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error,
		) {
			var e *event
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "event", &e); err != nil {
				return nil, err
			}
			return starlark.None, s.s.WaitFor(e.e)
		},
	}
}

// event is a mark in a stream.
type event struct {
	opaque
	e *host.Event
}

func (e *event) String() string        { return "event" }
func (e *event) Type() string          { return "event" }
func (e *event) Hash() (uint32, error) { return unhashable(e) }
func (e *event) AttrNames() []string   { return sortedKeys(eventMethods()) }
func (e *event) Attr(name string) (starlark.Value, error) {
	return method(eventMethods(), e, name)
}

func eventMethods() methods[*event] {
	return methods[*event]{
		"record": func(e *event, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error,
		) {
			var s *stream
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "stream??", &s); err != nil {
				return nil, err
			}
			return starlark.None, e.e.Record(hostStream(s))
		},
		"synchronize": func(e *event, b *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple,
		) (starlark.Value, error) {
			if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
				return nil, err
			}
			return starlark.None, e.e.Synchronize()
		},
		"elapsed": func(e *event, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error,
		) {
			var other *event
			if err := starlark.UnpackArgs(b.Name(), args, kwargs, "event", &other); err != nil {
				return nil, err
			}
			us, err := e.e.Elapsed(other.e)
			return starlark.Float(us), err
		},
	}
}

func hostStream(s *stream) *host.Stream {
	if s == nil {
		return nil
	}
	return s.s
}
