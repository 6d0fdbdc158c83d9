package silicon

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/heddle-sim/heddle/sim"
)

// expression turns figures into the published one. Its names are those of the lines
// "RESULT name figure" that the program prints, dots as underscores; cycles, of all launches
// that count, from launch to end; last, of the last one, from start to end; mhz, the core
// clock. Those of a second run end in _2.
type expression struct {
	text string
	tree syntax.Expr
}

func dialect() *syntax.FileOptions { return &syntax.FileOptions{} }

func parseExpression(s string) (expression, error) {
	tree, err := dialect().ParseExpr("value", s, 0)
	if err != nil {
		return expression{}, fmt.Errorf("value %q: %w: write names, numbers, + - * / and parentheses", s, err)
	}
	return expression{s, tree}, nil
}

// value evaluates the expression.
func (e expression) value(figures starlark.StringDict) (float64, error) {
	v, err := starlark.EvalExprOptions(dialect(), &starlark.Thread{Name: "value"}, e.tree, figures)
	if err != nil {
		return 0, fmt.Errorf("value %q: %w", e.text, err)
	}
	f, ok := starlark.AsFloat(v)
	if !ok {
		return 0, fmt.Errorf("value %q is %s, not a number", e.text, v.Type())
	}
	return f, nil
}

// odd matches what cannot be in a name.
var odd = regexp.MustCompile(`\W`)

// figures adds what a run printed and measured under names that end in suffix.
func figures(to starlark.StringDict, r *sim.Result, suffix string) error {
	t := &r.Tenants[0]
	skip := 0
	for _, line := range t.Log {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "RESULT" {
			continue
		}
		v, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return fmt.Errorf("the program printed %q: a figure is a number", line)
		}
		to[odd.ReplaceAllString(f[1], "_")+suffix] = starlark.Float(v)
		if f[1] == "skip" {
			skip = int(v)
		}
	}
	sum := uint64(0)
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if i >= skip {
			sum += k.End - k.Launch
		}
		to["last"+suffix] = starlark.Float(k.End - k.Start)
	}
	to["cycles"+suffix] = starlark.Float(sum)
	return nil
}
