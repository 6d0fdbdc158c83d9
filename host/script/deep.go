package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

// A value made of itself twice over, thirty levels deep, has a text of gigabytes, and no limit of steps holds while the
// interpreter writes it. What makes text of values therefore looks at them first.
const (
	deepest  = 200       // levels
	mostText = 1_000_000 // values in a text
)

// writable says that the text of values is of a size somebody may read.
func writable(what string, values ...starlark.Value) error {
	left := mostText
	for _, v := range values {
		if err := weigh(v, 0, &left); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

func weigh(v starlark.Value, depth int, left *int) error {
	if *left--; *left < 0 {
		return fmt.Errorf("the value holds more than %d others", mostText)
	}
	if depth > deepest {
		return fmt.Errorf("the value is nested more than %d levels deep", deepest)
	}
	switch x := v.(type) {
	case *starlark.List:
		for i := range x.Len() {
			if err := weigh(x.Index(i), depth+1, left); err != nil {
				return err
			}
		}
	case starlark.Tuple:
		for _, e := range x {
			if err := weigh(e, depth+1, left); err != nil {
				return err
			}
		}
	case *starlark.Dict:
		for _, item := range x.Items() {
			if err := errors.Join(weigh(item[0], depth+1, left), weigh(item[1], depth+1, left)); err != nil {
				return err
			}
		}
	}
	return nil
}

// cautious are the functions of the language that make text of their arguments, for values of a bounded size.
func cautious(name string) builtin {
	f := starlark.Universe[name].(*starlark.Builtin)
	return func(e *env, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := writable(name, args...); err != nil {
			return nil, err
		}
		return f.CallInternal(e.thread, args, kwargs)
	}
}
