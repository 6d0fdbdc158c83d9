package script

import (
	"fmt"
	"math/bits"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// An operation costs as many steps as what it makes would cost one by one: one for four bytes of text or of a whole
// number, eight for a value of a list, 200 for a call of the device, which may allocate memory or keep a launch. The
// limit of steps then bounds memory and time, whatever a script does.
const (
	textPerStep   = 4
	stepsPerValue = 8
	stepsPerCall  = 200
)

// pay takes the steps of an operation before it is done.
func (e *env) pay(what string, steps uint64) error {
	t, most := e.thread, e.p.opt.MaxSteps
	if left := most - min(t.Steps, most); steps > left {
		return fmt.Errorf("%s would take %d steps (one for %d bytes of text, %d for a value of a list, %d for a call "+
			"of the device), and the script has %d left of %d: work on arrays with fill, arange, random, load or a "+
			"kernel",
			what, steps, textPerStep, stepsPerValue, stepsPerCall, left, most)
	}
	t.Steps += steps
	return nil
}

// product is a*b, or the largest number where that is larger.
func product(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return 1<<64 - 1
	}
	return low
}

// bytesOf is the length of a text, or of a whole number too long for a word.
func bytesOf(v starlark.Value) uint64 {
	switch x := v.(type) {
	case starlark.String:
		return uint64(len(x))
	case starlark.Bytes:
		return uint64(len(x))
	case starlark.Int:
		if _, small := x.Int64(); !small {
			return uint64(x.BigInt().BitLen()+7) / 8
		}
	}
	return 0
}

// read is the cost of reading values, without the contents of their elements.
func read(values ...starlark.Value) (steps uint64) {
	for _, v := range values {
		switch n := starlark.Len(v); {
		case bytesOf(v) > 0:
			steps += bytesOf(v) / textPerStep
		case n > 0:
			steps += product(uint64(n), stepsPerValue)
		}
	}
	return steps
}

// write is the cost of a text of the values.
func write(what string, values ...starlark.Value) (uint64, error) {
	s, err := size{}.of(what, values...)
	return s.steps(), err
}

// binary is x op y.
func (e *env) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	_, small := x.(starlark.Int)
	if _, also := y.(starlark.Int); !small || !also || bytesOf(x)+bytesOf(y) > 0 {
		steps := read(x, y)
		var err error
		switch {
		case op == syntax.STAR:
			steps = times(x, y)
		case number64(x) && (op == syntax.SLASHSLASH || op == syntax.PERCENT || op == syntax.SLASH):
			steps = product(read(x), read(y)) // a division is as dear as a multiplication
		case op == syntax.PERCENT && !number64(x):
			steps, err = format(x, y)
		}
		if err == nil {
			err = e.pay(op.String(), steps)
		}
		if err != nil {
			return nil, err
		}
	}
	return starlark.Binary(op, x, y)
}

func number64(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}

// times is the price of x * y: of large numbers, or of a number of copies of a text or list.
func times(x, y starlark.Value) uint64 {
	if n, ok := y.(starlark.Int); ok && !number64(x) {
		return repeat(x, n)
	}
	if n, ok := x.(starlark.Int); ok && !number64(y) {
		return repeat(y, n)
	}
	return product(read(x), read(y))
}

func repeat(v starlark.Value, n starlark.Int) uint64 {
	if n.Sign() <= 0 {
		return 0
	}
	times, ok := n.Uint64()
	switch {
	case !ok:
		return 1<<64 - 1
	case bytesOf(v) > 0:
		return product(bytesOf(v), times) / textPerStep
	}
	return product(read(v), times)
}

// format is the price of a text with values put into it; each may be put in as often as the text has room.
func format(text starlark.Value, values ...starlark.Value) (uint64, error) {
	s, _ := starlark.AsString(text)
	each, err := write("the text", values...)
	fields := strings.Count(s, "{") + strings.Count(s, "%")
	return read(text) + product(each, uint64(fields)), err
}

// update is x op= y, which changes a list or dictionary in place.
func (e *env) update(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	method := ""
	if _, list := x.(*starlark.List); list && op == syntax.PLUS && starlark.Len(y) >= 0 {
		method = "extend"
	}
	_, isDict := x.(*starlark.Dict)
	if _, also := y.(*starlark.Dict); isDict && also && op == syntax.PIPE {
		method = "update"
	}
	if method == "" {
		return e.binary(op, x, y)
	}
	if err := e.pay(op.String()+"=", read(y)); err != nil {
		return nil, err
	}
	f, err := x.(starlark.HasAttrs).Attr(method)
	if err == nil {
		_, err = f.(*starlark.Builtin).CallInternal(e.thread, starlark.Tuple{y}, nil)
	}
	return x, err
}

// operation is the function behind a rewriter's call.
type operation func(e *env, args starlark.Tuple) (starlark.Value, error)

// operations are those that a rewriter calls, by name.
func operations() map[string]operation {
	all := map[string]operation{
		opMethod: func(e *env, args starlark.Tuple) (starlark.Value, error) { return e.method(args[0]), nil },
		opSpread: paying("the arguments"),
		opSlice:  paying("the slice"),
		opKeep:   func(e *env, args starlark.Tuple) (starlark.Value, error) { return args[0], e.keep(args) },
		opKey:    func(e *env, args starlark.Tuple) (starlark.Value, error) { return args[0], e.look(args[0]) },
		opSearch: func(e *env, args starlark.Tuple) (starlark.Value, error) { return args[0], e.search(args[0]) },
	}
	for op := range binaryOps() {
		all["$"+op.String()] = func(e *env, args starlark.Tuple) (starlark.Value, error) {
			return e.binary(op, args[0], args[1])
		}
		all["$"+op.String()+"="] = func(e *env, args starlark.Tuple) (starlark.Value, error) {
			return e.update(op, args[0], args[1])
		}
	}
	return all
}

// paying is the operation that pays for the value it is given.
func paying(what string) operation {
	return func(e *env, args starlark.Tuple) (starlark.Value, error) {
		return args[0], e.pay(what, read(args[0]))
	}
}

// kept is the cost of keeping values in a list or dictionary. A small list among them is most likely new.
func kept(values []starlark.Value) (steps uint64) {
	const small = 8
	for _, v := range values {
		steps += stepsPerValue
		switch v.(type) {
		case starlark.Tuple, *starlark.List, *starlark.Dict:
			steps += stepsPerValue * uint64(min(starlark.Len(v), small))
		}
	}
	return steps
}

// keep pays for values that a comprehension keeps.
func (e *env) keep(values []starlark.Value) error { return e.pay("one more value", kept(values)) }

// look pays for a key, which is read to its last level.
func (e *env) look(key starlark.Value) error {
	if _, number := key.(starlark.Int); number {
		return nil
	}
	if _, nested := key.(starlark.Tuple); !nested {
		return e.pay("the key", bytesOf(key)/textPerStep)
	}
	s, err := size{key: true}.of("the key", key)
	if err != nil {
		return err
	}
	return e.pay("the key", s.steps())
}

// search pays for looking through a list or text for a value; other containers are asked for it.
func (e *env) search(in starlark.Value) error {
	switch in.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, starlark.Tuple:
		return e.pay("in", searched(in))
	}
	return nil
}

// searched is the price of looking through a list or text, or moving its values by one: a step for each of them.
func searched(in starlark.Value) uint64 {
	if n := bytesOf(in); n > 0 {
		return n / textPerStep
	}
	return uint64(max(0, starlark.Len(in)))
}

// collect is the price of a dictionary or set of what lists hold.
func collect(what string, lists ...starlark.Value) (uint64, error) {
	s, err := size{key: true}.of(what, members(lists, 2)...)
	return read(lists...) + s.steps(), err
}

// method is an attribute; a method of the language's own values asks for its price first.
func (e *env) method(v starlark.Value) starlark.Value {
	f, ok := v.(*starlark.Builtin)
	if !ok || f.Receiver() == nil {
		return v
	}
	switch f.Receiver().(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set:
	default:
		return v
	}
	return starlark.NewBuiltin(f.Name(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		steps, err := priceOf(f, args, kwargs)
		if err == nil {
			err = e.pay(f.Name(), steps)
		}
		if err != nil {
			return nil, err
		}
		return f.CallInternal(e.thread, args, kwargs)
	}).BindReceiver(f.Receiver())
}

// priceOf is the greatest cost of a call of a method.
func priceOf(f *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (uint64, error) {
	recv := f.Receiver()
	switch f.Name() {
	case "index":
		return searched(recv), nil
	case "append":
		return kept(args), nil
	case "insert":
		return kept(args) + searched(recv), nil
	case "add", "get", "pop", "setdefault", "discard", "remove":
		s, err := size{key: true}.of(f.Name(), args[:min(1, len(args))]...)
		steps := kept(args) + s.steps()
		if _, list := recv.(*starlark.List); list && len(args) > 0 {
			steps += searched(recv)
		}
		return steps, err
	case "format":
		return format(recv, given(args, kwargs)...)
	case "replace":
		return replaced(recv, args), nil
	case "join":
		return joined(recv, args)
	case "update", "union", "difference", "intersection", "symmetric_difference", "issubset", "issuperset":
		steps, err := collect(f.Name(), given(args, kwargs)...)
		return read(recv) + steps, err
	case "keys", "values", "items":
		return read(recv), nil
	}
	if _, text := recv.(starlark.String); text {
		return bytesOf(recv), nil // a list of its letters, say
	}
	return read(args...), nil // extend
}

// given are the values of all arguments.
func given(args starlark.Tuple, kwargs []starlark.Tuple) []starlark.Value {
	for _, kv := range kwargs {
		args = append(args[:len(args):len(args)], kv[1])
	}
	return args
}

func replaced(recv starlark.Value, args starlark.Tuple) uint64 {
	if len(args) < 2 {
		return 0
	}
	s, _ := starlark.AsString(recv)
	from, _ := starlark.AsString(args[0])
	return read(recv) + product(uint64(strings.Count(s, from)), bytesOf(args[1]))/textPerStep
}

func joined(recv starlark.Value, args starlark.Tuple) (uint64, error) {
	if len(args) == 0 {
		return 0, nil
	}
	var bytes uint64
	if _, lazy := args[0].(starlark.Sequence); lazy {
		it := starlark.Iterate(args[0])
		defer it.Done()
		for v := starlark.Value(nil); it.Next(&v); {
			bytes += bytesOf(recv) + bytesOf(v)
		}
	}
	return read(args...) + bytes/textPerStep, nil
}

// universe are functions of the language that read all of their arguments, each with its price.
func universe() map[string]builtin {
	all := map[string]builtin{
		"getattr": func(e *env, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
			starlark.Value, error,
		) {
			v, err := starlark.Universe["getattr"].(*starlark.Builtin).CallInternal(e.thread, args, kwargs)
			if err != nil {
				return nil, err
			}
			return e.method(v), nil
		},
	}
	for _, name := range []string{"str", "repr", "print", "fail"} {
		all[name] = costing(name, func(args starlark.Tuple, _ []starlark.Tuple) (uint64, error) {
			return write(name, args...)
		})
	}
	for _, name := range []string{
		"all", "any", "bytes", "enumerate", "float", "hash", "list", "max", "min", "reversed", "sorted", "tuple",
		"zip",
	} {
		all[name] = costing(name, func(args starlark.Tuple, kwargs []starlark.Tuple) (uint64, error) {
			return read(given(args, kwargs)...), nil
		})
	}
	all["int"] = costing("int", func(args starlark.Tuple, _ []starlark.Tuple) (uint64, error) {
		const each = 64 // the number is as long as the text, and each part of the text changes all of it
		n := read(args...)
		return n + product(n, n)/each, nil
	})
	for _, name := range []string{"dict", "set"} {
		all[name] = costing(name, func(args starlark.Tuple, kwargs []starlark.Tuple) (uint64, error) {
			return collect(name, given(args, kwargs)...)
		})
	}
	return all
}

// costing is the function of the language at a price.
func costing(name string, price func(starlark.Tuple, []starlark.Tuple) (uint64, error)) builtin {
	f := starlark.Universe[name].(*starlark.Builtin)
	return func(e *env, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		steps, err := price(args, kwargs)
		if err == nil {
			err = e.pay(name, steps)
		}
		if err != nil {
			return nil, err
		}
		return f.CallInternal(e.thread, args, kwargs)
	}
}
