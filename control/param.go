package control

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param is one parameter of a policy.
type Param struct {
	Name    string
	Default float64 // the value where a run file gives none; within the range
	Unit    string
	Doc     string
	Whole   bool // only whole numbers
	Least   float64
	Most    float64 // 0: a million
}

// most is the end of the range.
func (q *Param) most() float64 {
	if q.Most == 0 {
		return 1e6
	}
	return q.Most
}

// Params are a policy's parameters by name.
type Params map[string]float64

// check refuses a value that the parameter cannot have. names are its choices, where it has some.
func (q *Param) check(v float64, names []string) error {
	most := q.most()
	if v >= q.Least && v <= most && (!q.Whole || v == math.Trunc(v)) {
		return nil
	}
	allowed := fmt.Sprintf("from %g to %g", q.Least, most)
	switch {
	case len(names) > 0:
		allowed = "give " + choices(names)
	case q.Whole:
		allowed = "a whole number " + allowed
	}
	return fmt.Errorf("%s = %g is out of range: %s (%s: %s)", q.Name, v, allowed, q.Unit, q.Doc)
}

// choices are names with their numbers.
func choices(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%s (%d)", n, i)
	}
	return strings.Join(list, " or ")
}

// ShowDefault is the default of a parameter as tables print it: the name of a choice, or the number.
func (e *Entry) ShowDefault(q *Param) string {
	if names := e.Choices[q.Name]; len(names) > 0 {
		return names[int(q.Default)]
	}
	return fmt.Sprintf("%g", q.Default)
}

// ReadParam reads the value of a parameter from text: a number, or the name of a choice of any policy. New checks
// later whether this policy has the parameter and whether the value is in its range.
func ReadParam(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil {
		return v, nil
	}
	for _, e := range All() {
		names := e.Choices[name]
		if i := slices.Index(names, text); i >= 0 {
			return float64(i), nil
		}
		if len(names) > 0 {
			return 0, fmt.Errorf("%s: give %s, not %q", name, choices(names), text)
		}
	}
	return 0, fmt.Errorf("%s: a number is expected, not %q", name, text)
}

// choicesWrong says that there are names for the parameter which are not those of 0 to its end.
func (q *Param) choicesWrong(all map[string][]string) bool {
	names, has := all[q.Name]
	return has && !(q.Whole && q.Least == 0 && len(names) > 1 && q.most() == float64(len(names)-1))
}
