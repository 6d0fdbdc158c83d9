package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

func module(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var more starlark.Tuple // files to link with
	if len(args) > 1 {
		args, more = args[:1], args[1:]
	}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "path", &name); err != nil {
		return nil, err
	}
	var files []emulate.Source
	for i := range len(more) + 1 {
		file := name
		if i > 0 {
			s, ok := starlark.AsString(more[i-1])
			if !ok {
				return nil, fmt.Errorf("module: got %s, want the name of a file", more[i-1].Type())
			}
			file = s
		}
		src, err := e.read(file, -1, "")
		if err != nil {
			return nil, fmt.Errorf("module: %w", err)
		}
		files = append(files, emulate.Source{File: file, Text: src})
	}
	m, err := e.c.LinkModules(files)
	if err != nil {
		return nil, err
	}
	return &moduleValue{e: e, m: m, file: name}, nil
}

// allocate is malloc, malloc_managed and host_array.
func allocate(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var t dtype
	var n int64
	var name string
	var stays bool
	want := []any{"dtype", &t, "count", &n, "name?", &name}
	if b.Name() == "malloc" {
		want = append(want, "stays?", &stays)
	}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, want...); err != nil {
		return nil, err
	}
	alloc := map[string]func(host.DType, int64, string) (*host.Array, error){
		"malloc": e.c.Malloc, "malloc_managed": e.c.MallocManaged, "host_array": e.c.HostArray,
	}[b.Name()]
	if stays {
		alloc = e.c.MallocDevice
	}
	a, err := alloc(host.DType(t), n, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return &array{e: e, a: a}, nil
}

// oneArray reads the only argument of a function.
func oneArray(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (*host.Array, error) {
	var a *array
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "array", &a); err != nil {
		return nil, err
	}
	return a.a, nil
}

func free(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a, err := oneArray(b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.None, e.c.Free(a)
}

func hostRegister(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a, err := oneArray(b, args, kwargs)
	if err != nil {
		return nil, err
	}
	return starlark.None, e.c.HostRegister(a)
}

func launch(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var k *kernel
	var grid, block starlark.Value
	var list starlark.Iterable = starlark.Tuple(nil)
	var shared int
	var cooperative bool
	var s *stream
	err := starlark.UnpackArgs(b.Name(), args, kwargs, "kernel", &k, "grid", &grid, "block", &block, "args?", &list,
		"shared?", &shared, "stream??", &s, "cooperative?", &cooperative)
	if err != nil {
		return nil, err
	}
	l := host.Launch{Shared: shared, Stream: hostStream(s), Cooperative: cooperative}
	if l.Grid, err = dims("grid", grid); err != nil {
		return nil, err
	}
	if l.Block, err = dims("block", block); err != nil {
		return nil, err
	}
	var values []any
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for i := 1; it.Next(&v); i++ {
		x, err := argument(v)
		if err != nil {
			return nil, fmt.Errorf("launch: kernel %s, argument %d: %w", k.k.Name, i, err)
		}
		values = append(values, x)
	}
	return starlark.None, e.c.Launch(k.k, l, values...)
}

// dims reads an int or a sequence of one to three.
func dims(what string, v starlark.Value) (out [3]uint32, err error) {
	out = [3]uint32{1, 1, 1}
	list := starlark.Tuple{v}
	switch x := v.(type) {
	case starlark.Tuple:
		list = x
	case *starlark.List:
		list = nil
		for i := range x.Len() {
			list = append(list, x.Index(i))
		}
	}
	if len(list) < 1 || len(list) > 3 {
		return out, fmt.Errorf("launch: %s has %d dimensions; give an int or (x, y, z)", what, len(list))
	}
	for i, x := range list {
		if s, ok := x.(scalar); ok {
			x = s.plain()
		}
		n, ok := x.(starlark.Int)
		if !ok {
			return out, fmt.Errorf("launch: %s: got %s, want int or (x, y, z); integer division is //", what, x.Type())
		}
		d, ok := n.Int64()
		if !ok || d < 1 || d > 1<<31-1 {
			return out, fmt.Errorf("launch: %s = %s: each dimension must be in 1..2147483647", what, v)
		}
		out[i] = uint32(d)
	}
	return out, nil
}

// argument is a kernel argument for package host. A list or tuple is a structure
// passed by value: typed scalars and arrays at their natural alignment.
func argument(v starlark.Value) (any, error) {
	switch x := v.(type) {
	case *textureValue:
		return x.t, nil
	case *array:
		return x.a, nil
	case starlark.NoneType:
		return nil, nil
	case starlark.Bytes:
		return []byte(x), nil
	case starlark.Tuple:
		return structure(x)
	case *starlark.List:
		return structure(x)
	}
	return goNumber(v)
}

func structure(list starlark.Iterable) ([]byte, error) {
	d := &host.Data{Type: host.U8}
	align := 1
	put := func(s host.Scalar) {
		size := s.Type.Size()
		align = max(align, size)
		for len(d.Bytes)%size != 0 {
			d.Bytes = append(d.Bytes, 0)
		}
		d.Append(s)
	}
	it := list.Iterate()
	defer it.Done()
	var v starlark.Value
	for it.Next(&v) {
		switch x := v.(type) {
		case *array:
			put(host.Scalar{Type: host.U64, Bits: x.a.Addr()})
		case scalar:
			put(x.Scalar)
		default:
			return nil, fmt.Errorf("got %s in a structure; its fields are arrays and typed scalars such as f32(1.5)",
				v.Type())
		}
	}
	for len(d.Bytes)%align != 0 {
		d.Bytes = append(d.Bytes, 0)
	}
	return d.Bytes, nil
}

func deviceSynchronize(e *env, b *starlark.Builtin, args starlark.Tuple,
	kwargs []starlark.Tuple,
) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	return starlark.None, e.c.DeviceSynchronize()
}

func newStream(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	return &stream{s: e.c.NewStream()}, nil
}

func newEvent(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	return &event{e: e.c.NewEvent()}, nil
}

func elapsed(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var from, to *event
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "start", &from, "end", &to); err != nil {
		return nil, err
	}
	us, err := from.e.Elapsed(to.e)
	return starlark.Float(us), err
}

func prefetchAsync(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var a *array
	to := "device"
	var s *stream
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "array", &a, "to?", &to, "stream??", &s); err != nil {
		return nil, err
	}
	if to != "device" && to != "host" {
		return nil, fmt.Errorf("prefetch_async: to = %q: it is device or host", to)
	}
	return starlark.None, e.c.PrefetchAsync(a.a, to == "device", hostStream(s))
}

// adviceFor accepts host.AdviceNames and CUDA's: preferred_location and accessed_by.
func adviceFor(name, to string) (host.Advice, error) {
	adviceNames := host.AdviceNames()
	wanted := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if after, ok := strings.CutPrefix(wanted, "preferred_"); ok && after != "location" {
		wanted = "prefer_" + after
	}
	switch {
	case to != "device" && to != "host":
		return 0, fmt.Errorf("mem_advise: to = %q: it is device or host", to)
	case wanted == "preferred_location" || wanted == "prefer":
		wanted = "prefer_" + to
	case wanted == "accessed_by" && to == "host":
		return 0, errors.New("mem_advise: accessed_by with to = host is not modelled: the host reaches managed " +
			"memory where it is and brings the pages back; leave it out")
	case wanted == "accessed_by":
		wanted = "accessed_by_device"
	}
	if i := slices.Index(adviceNames, wanted); i >= 0 {
		return host.Advice(i), nil
	}
	names := append([]string{"preferred_location", "accessed_by"}, adviceNames...)
	return 0, fmt.Errorf("mem_advise: unknown advice %q; it is one of %s%s", name, strings.Join(names, ", "),
		yamldoc.Guess(wanted, names))
}

func memAdvise(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var a *array
	var name string
	to := "device"
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "array", &a, "advice", &name, "to?", &to); err != nil {
		return nil, err
	}
	advice, err := adviceFor(name, to)
	if err != nil {
		return nil, err
	}
	return starlark.None, e.c.MemAdvise(a.a, advice)
}

func setQoS(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var target, ipc starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "kernel", &target, "ipc", &ipc); err != nil {
		return nil, err
	}
	var name string
	switch x := target.(type) {
	case *kernel:
		name = x.k.Name
	case starlark.String:
		name = string(x)
	default:
		return nil, fmt.Errorf("set_qos: got %s, want a kernel", target.Type())
	}
	f, ok := starlark.AsFloat(ipc)
	if !ok {
		return nil, fmt.Errorf("set_qos: ipc: got %s, want a number", ipc.Type())
	}
	return starlark.None, e.c.SetQoS(name, f)
}

// logLine is log(...): print with the simulated time in front.
func logLine(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, errors.New("log: unexpected keyword arguments")
	}
	steps, err := write("log", args...)
	if err == nil {
		err = e.pay("log", steps)
	}
	if err != nil {
		return nil, err
	}
	var words []string
	for _, v := range args {
		if s, ok := starlark.AsString(v); ok {
			words = append(words, s)
		} else {
			words = append(words, v.String())
		}
	}
	e.log(fmt.Sprintf("[cycle %d] %s", e.c.Cycle(), strings.Join(words, " ")))
	return starlark.None, nil
}
