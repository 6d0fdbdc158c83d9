package silicon

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/heddle-sim/heddle/sim"
)

// Expression computes the published figure from figures of a simulation. It may use the names of the lines "RESULT
// name figure" that the program prints, with _ for dots; cycles, of all launches that count, from launch to end;
// last, of the last one, from start to end; mhz, the core clock. Names of a second run end in _2.
type Expression struct {
	text string
	tree syntax.Expr
}

func dialect() *syntax.FileOptions { return &syntax.FileOptions{} }

// ParseExpression reads one.
func ParseExpression(s string) (Expression, error) {
	tree, err := dialect().ParseExpr("value", s, 0)
	if err != nil {
		return Expression{}, fmt.Errorf("value %q: %w: write names, numbers, + - * / and parentheses", s, err)
	}
	return Expression{s, tree}, nil
}

// Value evaluates the expression; the error names an unknown name, or a result that is not a number.
func (e Expression) Value(figures Figures) (float64, error) {
	known := starlark.StringDict{}
	for name, v := range figures {
		known[name] = starlark.Float(v)
	}
	v, err := starlark.EvalExprOptions(dialect(), &starlark.Thread{Name: "value"}, e.tree, known)
	if err != nil {
		return 0, fmt.Errorf("value %q: %w", e.text, err)
	}
	f, ok := starlark.AsFloat(v)
	switch {
	case !ok:
		return 0, fmt.Errorf("value %q is %s, not a number", e.text, v.Type())
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, fmt.Errorf("value %q is %g", e.text, f)
	}
	return f, nil
}

func (e Expression) String() string { return e.text }

// odd matches what cannot be in a name.
var odd = regexp.MustCompile(`\W`)

// simulated adds what a simulated run printed and measured under names that end in suffix.
func (f Figures) simulated(r *sim.Result, suffix string) error {
	t := &r.Tenants[0]
	spans := make([]Span, len(t.Kernels))
	for i := range t.Kernels {
		k := &t.Kernels[i]
		spans[i] = Span{Launched: float64(k.End - k.Launch), Ran: float64(k.End - k.Start)}
	}
	return f.Add(t.Log, spans, suffix)
}

// Span is the core cycles that a launch took: since it was launched, and since it began.
type Span struct{ Launched, Ran float64 }

// Figures are the values of the names in expressions.
type Figures map[string]float64

// Add adds the lines that a run printed and the cycles of its launches, under names that end in suffix.
func (f Figures) Add(log []string, launches []Span, suffix string) error {
	for _, line := range log {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "RESULT" {
			continue
		}
		v, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return fmt.Errorf("the program printed %q: a figure is a number", line)
		}
		f[odd.ReplaceAllString(words[1], "_")+suffix] = v
	}
	skip, sum := skipped(log), 0.0
	for i, k := range launches {
		if i >= skip {
			sum += k.Launched
		}
		f["last"+suffix] = k.Ran
	}
	f["cycles"+suffix] = sum
	return nil
}

// skipped is how many of a program's first launches do not count: it prints "RESULT skip N".
func skipped(log []string) int {
	n := 0
	for _, line := range log {
		if rest, ok := strings.CutPrefix(line, "RESULT skip "); ok {
			if v, err := strconv.Atoi(rest); err == nil {
				n = v
			}
		}
	}
	return n
}
