package script

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

// A value made of itself twice over, thirty levels deep, has a text of gigabytes, and no limit of steps holds while
// the interpreter writes it. So operations that make text of values, or look one up, check the values first.
const (
	deepest  = 200       // levels
	mostText = 1_000_000 // values in a text
)

// size is the size of a value when all of it is read.
type size struct {
	values, bytes uint64
	key           bool // only tuples are read to the last level: a list or dictionary in a key ends its reading
}

// of reads values to their last level and refuses those that are too deep or too large to be read.
func (s size) of(what string, values ...starlark.Value) (size, error) {
	for _, v := range values {
		if err := s.add(v, 0); err != nil {
			return s, fmt.Errorf("%s: %w", what, err)
		}
	}
	return s, nil
}

// steps is the cost of reading.
func (s size) steps() uint64 { return s.values + s.bytes/textPerStep }

func (s *size) add(v starlark.Value, depth int) error {
	if s.values++; s.values > mostText {
		return fmt.Errorf("the value holds more than %d others", mostText)
	}
	if depth > deepest {
		return fmt.Errorf("the value is nested more than %d levels deep", deepest)
	}
	if _, tuple := v.(starlark.Tuple); s.key && !tuple {
		s.bytes += bytesOf(v)
		return nil
	}
	switch x := v.(type) {
	case *starlark.List:
		for i := range x.Len() {
			if err := s.add(x.Index(i), depth+1); err != nil {
				return err
			}
		}
	case starlark.Tuple:
		for _, e := range x {
			if err := s.add(e, depth+1); err != nil {
				return err
			}
		}
	case *starlark.Dict:
		for _, item := range x.Items() {
			if err := errors.Join(s.add(item[0], depth+1), s.add(item[1], depth+1)); err != nil {
				return err
			}
		}
	default:
		s.bytes += bytesOf(v)
	}
	return nil
}

// members are the lists' elements, and those of lists in them: a dictionary or set of them reads these as keys.
func members(lists []starlark.Value, depth int) (keys []starlark.Value) {
	for _, v := range lists {
		switch x := v.(type) {
		case *starlark.List:
			if depth > 0 {
				for i := range x.Len() {
					keys = append(keys, members([]starlark.Value{x.Index(i)}, depth-1)...)
				}
			}
		case starlark.Tuple:
			if depth == 2 {
				keys = append(keys, members(x, 1)...)
			} else {
				keys = append(keys, x)
			}
		}
	}
	return keys
}
