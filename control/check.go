package control

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/stat"
)

// Check checks policies before any of them runs: names, settings, parameters and the fields of their samples. kind
// finds a counter by its name, such as sm.thread_insts. There is an error for each policy that is wrong; it names the
// file, the field and what to write instead.
func Check(entries []Entry, kind func(counter string) (stat.Kind, error)) error {
	var errs []error
	seen := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		c := entryCheck{entry: e, kind: kind}
		err := c.all()
		if err == nil && seen[e.Name] {
			err = errors.New("another policy in All has this name too: give each policy a name of its own")
		}
		seen[e.Name] = true
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: policy %q: %w", c.place(err), e.Name, err))
		}
	}
	return errors.Join(errs...)
}

// entryCheck checks one policy.
type entryCheck struct {
	entry *Entry
	kind  func(counter string) (stat.Kind, error)
}

func (c *entryCheck) all() error {
	for _, check := range []func() error{c.head, c.files, c.params, c.functions} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// head checks the texts and lists of the entry.
func (c *entryCheck) head() error {
	e := c.entry
	switch {
	case e.Name == "":
		return errors.New("Entry has no Name: give the name that run files use")
	case e.Source == "" || e.What == "":
		return errors.New("Entry has no Source or no What: name the paper, and say in a sentence what the policy does")
	case e.Period == 0 && len(e.On) == 0 && e.Epoch == "":
		return errors.New("it would never decide: give Entry a Period in core cycles, or events in On")
	case e.Make == nil:
		return errors.New("Entry has no Make: give the function that makes the policy, as in Of((&state{}).decide)")
	}
	var names []string
	for _, s := range Settings() {
		names = append(names, s.Name)
	}
	for _, s := range e.Settings {
		if !slices.Contains(names, s) {
			return fmt.Errorf("Settings names %q, which does not exist: machines have %s", s, strings.Join(names, ", "))
		}
	}
	if e.Epoch != "" && !slices.ContainsFunc(e.Params, func(q Param) bool { return q.Name == e.Epoch }) {
		return fmt.Errorf("Epoch names %q, which is not in Params: add the parameter", e.Epoch)
	}
	return nil
}

// files looks for the sources that identify what the policy does.
func (c *entryCheck) files() error {
	for i, f := range c.entry.SourceFiles() {
		switch _, err := sources.ReadFile(f); {
		case err != nil && i == 0:
			return fmt.Errorf("there is no file control/%s: the file of a policy has its name, with _ for -", f)
		case err != nil:
			return fmt.Errorf("Files names %s, which is not in package control", f)
		}
	}
	return nil
}

// params checks the parameters that the entry declares.
func (c *entryCheck) params() error {
	seen := map[string]bool{}
	for i := range c.entry.Params {
		q := &c.entry.Params[i]
		most := q.most()
		switch {
		case q.Name == "" || q.Unit == "" || q.Doc == "":
			return fmt.Errorf("parameter %q lacks a Name, a Unit or a Doc: give all three", q.Name)
		case seen[q.Name]:
			return fmt.Errorf("Params has %q twice: give each parameter a name of its own", q.Name)
		case q.choicesWrong(c.entry.Choices):
			return fmt.Errorf("parameter %s has %d Choices: declare it Whole, from 0 to %d", q.Name,
				len(c.entry.Choices[q.Name]), len(c.entry.Choices[q.Name])-1)
		case !(q.Least <= most):
			return fmt.Errorf("parameter %s: Least %g is above Most %g", q.Name, q.Least, most)
		case q.Default == 0 && slices.Contains(c.entry.OfMachine, q.Name):
		case !(q.Default >= q.Least && q.Default <= most):
			return fmt.Errorf("parameter %s has no Default in its range: it is %g (0 where it is left out), the range "+
				"is %g to %g", q.Name, q.Default, q.Least, most)
		case q.Whole && q.Default != math.Trunc(q.Default):
			return fmt.Errorf("parameter %s is Whole, and its Default is %g: give a whole number", q.Name, q.Default)
		}
		seen[q.Name] = true
	}
	return nil
}

// functions calls the entry's functions with the default parameters, and checks the samples of the policy that they
// make.
func (c *entryCheck) functions() (err error) {
	e := c.entry
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panics with its default parameters: %v", p)
		}
	}()
	undeclared := ""
	get := func(name string) float64 {
		i := slices.IndexFunc(e.Params, func(q Param) bool { return q.Name == name })
		if i < 0 {
			undeclared = name
			return 0
		}
		return e.Params[i].Default
	}
	if e.Check != nil {
		if err := e.Check(get); err != nil {
			return fmt.Errorf("its Check refuses its own default parameters: %w", err)
		}
	}
	if e.Start != nil {
		e.Start(get)
	}
	p := e.Make(anyMachine(), get)
	switch {
	case undeclared != "":
		return fmt.Errorf("it reads parameter %q, which is not in Params: declare it there", undeclared)
	case p == nil:
		return errors.New("Make returns nil: return a policy, as in Of((&state{}).decide)")
	}
	return eachField(p, c.field)
}

// field looks for the counters of a sample's field.
func (c *entryCheck) field(f sampleField) error {
	if f.counter == onlyFiles {
		return nil
	}
	wrong := func(err error) error {
		return &fieldError{f.in, f.field, err.Error()}
	}
	if owner, _, _ := strings.Cut(f.counter, "."); f.kernels != nil && owner != "kernel" {
		return wrong(fmt.Errorf("reads %s, but the counters of a kernel are called kernel.NAME", f.counter))
	}
	for _, name := range []string{f.counter, f.over} {
		if name == "" {
			continue
		}
		kind, err := c.kind(name)
		if err != nil {
			return wrong(fmt.Errorf("reads %s: %w", name, err))
		}
		if f.over != "" && kind != stat.Sum {
			return wrong(fmt.Errorf("is a ratio, and %s does not sum up: name two counters that do", name))
		}
	}
	return nil
}

// place is the file of the policy and, if an error concerns a field that is found in it, the line.
func (c *entryCheck) place(err error) string {
	files := c.entry.SourceFiles()
	var field *fieldError
	if errors.As(err, &field) {
		for _, name := range files {
			text, err := sources.ReadFile(name)
			if line := field.line(string(text)); err == nil && line > 0 {
				return fmt.Sprintf("control/%s:%d", name, line)
			}
		}
	}
	return "control/" + files[0]
}

// fieldError is the error of a field of a sample.
type fieldError struct {
	in    reflect.Type // the struct it is in
	field reflect.StructField
	what  string // continues "field X"
}

func (e *fieldError) Error() string {
	name := e.field.Name
	if e.in.Name() != "" {
		name = e.in.Name() + "." + name
	}
	return "field " + name + " " + e.what
}

// line is where a Go text declares the field, by its name and its tag; 0: nowhere.
func (e *fieldError) line(text string) int {
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) > 1 && words[0] == e.field.Name && strings.Contains(line, string(e.field.Tag)) &&
			strings.Contains(line, strings.TrimPrefix(e.field.Type.String(), "control.")) {
			return i + 1
		}
	}
	return 0
}
