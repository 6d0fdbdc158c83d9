package script

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/host"
)

// array is a host.Array as scripts see it: a[i], a[i] = x, len(a), for x in a, and
// the methods below.
type array struct {
	opaque
	e *env
	a *host.Array
}

func (a *array) Type() string          { return "array" }
func (a *array) Hash() (uint32, error) { return unhashable(a) }
func (a *array) Len() int              { return int(a.a.Len()) }
func (a *array) AttrNames() []string {
	return append(sortedKeys(arrayMethods()), "dtype", "nbytes")
}

func (a *array) String() string {
	return fmt.Sprintf("array of %d %s in %s memory, %s", a.a.Len(), a.a.Type(), a.a.Kind(), a.a.Region().Name)
}

func (a *array) Attr(name string) (starlark.Value, error) {
	switch name {
	case "dtype":
		return dtype(a.a.Type()), nil
	case "nbytes":
		return starlark.MakeInt64(a.a.Size()), nil
	}
	if name == loadMethod {
		name = "load"
	}
	return method(arrayMethods(), a, name)
}

// index turns a script's index, negative from the end, into an element number.
func (a *array) index(k starlark.Value) (int64, error) {
	x, ok := k.(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("array index: got %s, want int", k.Type())
	}
	i, ok := x.Int64()
	n := a.a.Len()
	if ok && i < 0 && i >= -n {
		i += n
	}
	if !ok || i < 0 || i >= n {
		return 0, fmt.Errorf("index %s is outside the array's %d elements", x, n)
	}
	return i, nil
}

// Get is a[i]. It makes array a Mapping rather than an Indexable because reading
// may fail: it waits for the device.
func (a *array) Get(k starlark.Value) (starlark.Value, bool, error) {
	i, err := a.index(k)
	if err != nil {
		return nil, false, err
	}
	s, err := a.a.At(i)
	if err != nil {
		return nil, false, err
	}
	return plain(s.Value()), true, nil
}

// SetKey is a[i] = v.
func (a *array) SetKey(k, v starlark.Value) error {
	i, err := a.index(k)
	if err != nil {
		return err
	}
	n, err := goNumber(v)
	if err != nil {
		return fmt.Errorf("array element: %w", err)
	}
	return a.a.SetAt(i, n)
}

// Iterate goes over a snapshot of the elements.
func (a *array) Iterate() starlark.Iterator {
	b, err := a.a.Bytes()
	if err != nil {
		a.e.cancel(err) // an iterator cannot fail
		return &iterator{d: &host.Data{Type: a.a.Type()}}
	}
	return &iterator{d: &host.Data{Type: a.a.Type(), Bytes: b}}
}

type iterator struct {
	d *host.Data
	i int64
}

func (it *iterator) Next(p *starlark.Value) bool {
	if it.i >= it.d.Len() {
		return false
	}
	*p = plain(it.d.At(it.i).Value())
	it.i++
	return true
}

func (it *iterator) Done() {}

type arrayMethod = func(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error)

func arrayMethods() methods[*array] {
	return methods[*array]{
		"fill": fill, "arange": arange, "random": random, "load": loadArray, "save": saveArray, "copy_from": copyFrom,
		"slice": slice, "offset": offset, "view": view, "to_list": toList, "sha256": sha256,
		"sums": sums, "prefix_sums": prefixSums,
		"len": query(func(a *array) (starlark.Value, error) { return starlark.MakeInt64(a.a.Len()), nil }),
		"sum": query(func(a *array) (starlark.Value, error) {
			s, err := a.a.Sum()
			if err != nil {
				return nil, err
			}
			return plain(s), nil
		}),
		"min": query(func(a *array) (starlark.Value, error) { return element(a.a.Min()) }),
		"max": query(func(a *array) (starlark.Value, error) { return element(a.a.Max()) }),
	}
}

// query is a method without arguments.
func query(f func(a *array) (starlark.Value, error)) arrayMethod {
	return func(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
			return nil, err
		}
		return f(a)
	}
}

func element(s host.Scalar, err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	return plain(s.Value()), nil
}

func fill(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "value", &v); err != nil {
		return nil, err
	}
	n, err := goNumber(v)
	if err != nil {
		return nil, fmt.Errorf("fill: %w", err)
	}
	return starlark.None, a.a.Fill(n)
}

// pair reads two numbers with defaults.
func pair(b *starlark.Builtin, x, y starlark.Value) (p, q any, err error) {
	if p, err = goNumber(x); err == nil {
		q, err = goNumber(y)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", b.Name(), err)
	}
	return p, q, err
}

func arange(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var start, step starlark.Value = starlark.MakeInt(0), starlark.MakeInt(1)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "start?", &start, "step?", &step); err != nil {
		return nil, err
	}
	s, d, err := pair(b, start, step)
	if err != nil {
		return nil, err
	}
	return starlark.None, a.a.Arange(s, d)
}

func random(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	seed := a.e.p.opt.Seed
	var lo, hi starlark.Value = starlark.MakeInt(0), starlark.MakeInt(1)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "seed?", &seed, "lo?", &lo, "hi?", &hi); err != nil {
		return nil, err
	}
	l, h, err := pair(b, lo, hi)
	if err != nil {
		return nil, err
	}
	return starlark.None, a.a.Random(seed, l, h)
}

func loadArray(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &name); err != nil {
		return nil, err
	}
	src, err := a.e.open(name, a.a.Size(), a.content())
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	defer src.Close()
	return starlark.None, a.a.Load(src)
}

func (a *array) content() string {
	return fmt.Sprintf("the array of %d %s", a.a.Len(), a.a.Type())
}

func saveArray(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &name); err != nil {
		return nil, err
	}
	return starlark.None, a.a.Observe(func(bytes []byte) error {
		if err := a.e.save(name, bytes); err != nil {
			return fmt.Errorf("save: %w", err)
		}
		return nil
	})
}

func copyFrom(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var src starlark.Value
	var s *stream
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "src", &src, "stream??", &s); err != nil {
		return nil, err
	}
	switch x := src.(type) {
	case *array:
		return starlark.None, a.a.CopyFrom(x.a, hostStream(s))
	case *data:
		if s == nil {
			return starlark.None, a.a.Set(x.d)
		}
	case *starlark.List, starlark.Tuple:
		if s == nil {
			d, err := literal(x.(starlark.Iterable), a.a.Type())
			if err != nil {
				return nil, fmt.Errorf("copy_from: %w", err)
			}
			return starlark.None, a.a.Set(d)
		}
	default:
		return nil, fmt.Errorf("copy_from: got %s, want an array", src.Type())
	}
	return nil, fmt.Errorf("copy_from: an asynchronous copy needs an array as its source, not a %s", src.Type())
}

// literal converts a list of numbers to elements of type t.
func literal(list starlark.Iterable, t host.DType) (*host.Data, error) {
	d := &host.Data{Type: t}
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for i := 0; it.Next(&v); i++ {
		n, err := goNumber(v)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		s, err := host.NewScalar(t, n)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		d.Append(s)
	}
	return d, nil
}

func slice(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	n := a.a.Len()
	from, to := int64(0), n
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "start", &from, "end?", &to); err != nil {
		return nil, err
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	v, err := a.a.Slice(from, to)
	if err != nil {
		return nil, err
	}
	return &array{e: a.e, a: v}, nil
}

func offset(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var n int64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "bytes", &n); err != nil {
		return nil, err
	}
	v, err := a.a.Offset(n)
	if err != nil {
		return nil, err
	}
	return &array{e: a.e, a: v}, nil
}

func view(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var t dtype
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "dtype", &t); err != nil {
		return nil, err
	}
	v, err := a.a.View(host.DType(t))
	if err != nil {
		return nil, err
	}
	return &array{e: a.e, a: v}, nil
}

func sums(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var n int
	var list starlark.Iterable
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "count", &n, "start??", &list); err != nil {
		return nil, err
	}
	var start []float64
	if list != nil {
		start = []float64{}
		it := list.Iterate()
		defer it.Done()
		for v := starlark.Value(nil); it.Next(&v); {
			f, ok := starlark.AsFloat(v)
			if !ok {
				return nil, fmt.Errorf("%s: start: got %s, want numbers", b.Name(), v.Type())
			}
			start = append(start, f)
		}
	}
	found, err := a.a.Sums(n, start)
	out := make([]starlark.Value, len(found))
	for i, v := range found {
		out[i] = plain(v)
	}
	return starlark.NewList(out), err
}

func prefixSums(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var src *array
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "src", &src); err != nil {
		return nil, err
	}
	return starlark.None, a.a.PrefixSums(src.a)
}

func toList(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	if err := a.e.pay(b.Name(), read(a)); err != nil {
		return nil, err
	}
	bytes, err := a.a.Bytes()
	if err != nil {
		return nil, err
	}
	d := &host.Data{Type: a.a.Type(), Bytes: bytes}
	out := make([]starlark.Value, d.Len())
	for i := range out {
		out[i] = plain(d.At(int64(i)).Value())
	}
	return starlark.NewList(out), nil
}

func sha256(a *array, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	s, err := a.a.SHA256()
	return starlark.String(s), err
}
