package sheets

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// profilesPath is the one field of Machine that is a table.
const profilesPath = "mig.profiles"

// field is one number of a Machine, as its struct tags describe it.
type field struct {
	path  string // "dram.timing.cl"
	unit  string
	doc   string
	opt   string // what leaving it out means; "": it must be given
	whole string // section that may be left out as a whole; ""
	index []int  // for reflect
}

func (f field) value(m *Machine) reflect.Value {
	return reflect.ValueOf(m).Elem().FieldByIndex(f.index)
}

func (f field) profileValue(p *Profile) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByIndex(f.index)
}

// schema lists every number of a Machine in the order of the struct. Callers do
// not change the list.
var schema = sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[Machine](), "", nil) })

// profileSchema lists the numbers of one MIG profile.
func profileSchema() []field { return fieldsOf(reflect.TypeFor[Profile](), "", nil) }

func fieldsOf(t reflect.Type, prefix string, index []int) []field {
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		path := prefix + sf.Tag.Get("yaml")
		switch {
		case sf.Type.Kind() == reflect.Struct:
			inner := fieldsOf(sf.Type, path+".", at)
			for k := range inner {
				if sf.Tag.Get("optional") != "" {
					inner[k].whole = path
				}
			}
			out = append(out, inner...)
		case path == profilesPath:
			out = append(out, field{path: path, opt: "none", index: at})
		case sf.Tag.Get("unit") != "":
			out = append(out, field{
				path: path, unit: sf.Tag.Get("unit"), doc: sf.Tag.Get("doc"),
				opt: sf.Tag.Get("opt"), index: at,
			})
		}
	}
	return out
}

// lookup finds a field by its full path.
func lookup(path string) (field, bool) {
	for _, f := range schema() {
		if f.path == path {
			return f, true
		}
	}
	return field{}, false
}

// children lists the names one level below a section ("" is the top).
func children(fields []field, section string) []string {
	if section != "" {
		section += "."
	}
	var out []string
	for _, f := range fields {
		rest, ok := strings.CutPrefix(f.path, section)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, ".")
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// setNode stores a YAML value in a field, checking its type.
func setNode(v reflect.Value, n *yamldoc.Node, path string) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if n.Kind != yamldoc.Int {
			return n.Errorf("%s must be a whole number, not %s", path, n.Found())
		}
		v.SetInt(n.Int)
	case reflect.Float64:
		if n.Kind != yamldoc.Int && n.Kind != yamldoc.Float {
			return n.Errorf("%s must be a number, not %s", path, n.Kind)
		}
		v.SetFloat(n.Float)
	case reflect.String:
		if n.Kind != yamldoc.Text {
			return n.Errorf("%s must be text, not %s", path, n.Kind)
		}
		v.SetString(n.Raw)
	case reflect.Bool:
		if n.Kind != yamldoc.Bool {
			return n.Errorf("%s must be true or false, not %s", path, n.Kind)
		}
		v.SetBool(n.Bool)
	case reflect.Array, reflect.Slice:
		if n.Kind != yamldoc.List {
			return n.Errorf("%s must be a list, not %s", path, n.Kind)
		}
		if v.Kind() == reflect.Array && len(n.Items) != v.Len() {
			return n.Errorf("%s needs %d values, not %d", path, v.Len(), len(n.Items))
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		}
		for i, it := range n.Items {
			if err := setNode(v.Index(i), it, path); err != nil {
				return err
			}
		}
	default:
		return n.Errorf("%s has a type the sheets do not use", path)
	}
	return nil
}

// Apply overrides one number: path as `heddle inspect machine` prints it, with or
// without a leading "machine.", value as text (lists separated by commas). The
// machine should be validated after the last override.
func Apply(m *Machine, path, value string) error {
	path = strings.TrimPrefix(path, "machine.")
	f, ok := lookup(path)
	if !ok || f.path == profilesPath {
		return fmt.Errorf("no number %q in a machine%s", path, suggestPath(path))
	}
	if err := setText(f.value(m), strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%s (%s: %s): %w", f.path, f.unit, f.doc, err)
	}
	return nil
}

// suggestPath names the nearest path, or the fields of the section when the
// section exists.
func suggestPath(path string) string {
	var all []string
	for _, f := range schema() {
		if f.path != profilesPath {
			all = append(all, f.path)
		}
	}
	if s := yamldoc.Nearest(path, all); s != "" {
		return "; did you mean " + s + "?"
	}
	section, _, _ := strings.Cut(path, ".")
	if names := children(schema(), section); len(names) > 0 {
		return "; " + section + " has: " + strings.Join(names, ", ")
	}
	return "; sections: " + strings.Join(children(schema(), ""), ", ")
}

func setText(v reflect.Value, s string) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || x != x || x-x != 0 { // neither NaN nor infinite
			return fmt.Errorf("%q is not a number", s)
		}
		v.SetFloat(x)
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		if s != "true" && s != "false" {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		v.SetBool(s == "true")
	case reflect.Array, reflect.Slice:
		return setTexts(v, s)
	default:
		return fmt.Errorf("it cannot be set")
	}
	return nil
}

func setTexts(v reflect.Value, s string) error {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	var parts []string
	if strings.TrimSpace(s) != "" {
		parts = strings.Split(s, ",")
	}
	if v.Kind() == reflect.Array && len(parts) != v.Len() {
		return fmt.Errorf("%d values separated by commas are needed, not %d", v.Len(), len(parts))
	}
	list := reflect.MakeSlice(reflect.SliceOf(v.Type().Elem()), len(parts), len(parts))
	for i, p := range parts {
		if err := setText(list.Index(i), strings.TrimSpace(p)); err != nil {
			return err
		}
	}
	if v.Kind() == reflect.Array {
		reflect.Copy(v, list)
		return nil
	}
	if len(parts) == 0 {
		list = reflect.Zero(v.Type())
	}
	v.Set(list)
	return nil
}

// override applies a set of overrides in order of path, so that errors do not
// depend on map order.
func override(m *Machine, prov *Provenance, set map[string]string) error {
	paths := make([]string, 0, len(set))
	for p := range set {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, p := range paths {
		if err := Apply(m, p, set[p]); err != nil {
			return err
		}
		prov.overridden(strings.TrimPrefix(p, "machine."))
	}
	return nil
}

// Paths lists the path of every number that Apply accepts.
func Paths() []string {
	var out []string
	for _, f := range schema() {
		if f.path != profilesPath {
			out = append(out, f.path)
		}
	}
	return out
}
