package script

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// known reports an argument main has no parameter for.
func (p *Program) known(name string) error {
	var names []string
	for _, x := range p.params {
		if x.Name == name {
			return nil
		}
		names = append(names, x.Name)
	}
	return unknownArg(name, names)
}

func unknownArg(name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("unknown argument %q: main has no parameters", name)
	}
	return fmt.Errorf("unknown argument %q: main has %s%s", name, strings.Join(names, ", "), yamldoc.Guess(name, names))
}

// arguments converts the command line's arguments to the types of main's defaults.
func (p *Program) arguments(main *starlark.Function) ([]starlark.Tuple, error) {
	var names []string
	n := main.NumParams()
	if main.HasVarargs() {
		n--
	}
	if main.HasKwargs() {
		n--
	}
	var out []starlark.Tuple
	for i := range n {
		name, _ := main.Param(i)
		names = append(names, name)
		text, given := p.opt.Args[name]
		def := main.ParamDefault(i)
		if !given {
			if def == nil {
				return nil, fmt.Errorf("main needs a value for %s: give --arg %s=...", name, name)
			}
			continue
		}
		v, err := convertArg(name, text, def)
		if err != nil {
			return nil, err
		}
		out = append(out, starlark.Tuple{starlark.String(name), v})
	}
	for _, name := range sortedKeys(p.opt.Args) {
		if slices.Contains(names, name) {
			continue
		}
		if !main.HasKwargs() {
			return nil, unknownArg(name, names)
		}
		v, _ := convertArg(name, p.opt.Args[name], nil)
		out = append(out, starlark.Tuple{starlark.String(name), v})
	}
	return out, nil
}

// convertArg reads text as a value of the type of def. Without a default, or with
// None, it is the first of integer, float, bool and string that fits.
func convertArg(name, text string, def starlark.Value) (starlark.Value, error) {
	switch def.(type) {
	case starlark.Int:
		if i, ok := parseInt(text); ok {
			return i, nil
		}
		return nil, fmt.Errorf("argument %s=%s: main's %s is an integer (default %s)", name, text, name, def)
	case starlark.Float:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return starlark.Float(f), nil
		}
		return nil, fmt.Errorf("argument %s=%s: main's %s is a float (default %s)", name, text, name, def)
	case starlark.Bool:
		if b, ok := parseBool(text); ok {
			return b, nil
		}
		return nil, fmt.Errorf("argument %s=%s: main's %s is True or False", name, text, name)
	case starlark.String:
		return starlark.String(text), nil
	case nil, starlark.NoneType:
		if i, ok := parseInt(text); ok {
			return i, nil
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return starlark.Float(f), nil
		}
		if b, ok := parseBool(text); ok {
			return b, nil
		}
		return starlark.String(text), nil
	}
	return nil, fmt.Errorf("argument %s=%s: main's %s is a %s, which cannot be given from outside", name, text, name,
		def.Type())
}

func parseInt(text string) (starlark.Int, bool) {
	i, ok := new(big.Int).SetString(text, 0)
	if !ok {
		return starlark.Int{}, false
	}
	return starlark.MakeBigInt(i), true
}

func parseBool(text string) (starlark.Bool, bool) {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true, true
	case "false", "0", "no", "off":
		return false, true
	}
	return false, false
}
