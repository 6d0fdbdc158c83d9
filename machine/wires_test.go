package machine

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// wires lists what each part of a machine knows of others: the fields of a part that
// point to another part, share its slice of components, or are functions.
func wires(g *GPU) (list []string) {
	v := reflect.ValueOf(g).Elem()
	names := map[uintptr]string{} // where something lies, or what is pointed to
	note := func(at uintptr, name string) {
		if _, known := names[at]; !known {
			names[at] = name
		}
	}
	parts := map[string]reflect.Value{}
	for _, of := range []reflect.Value{v.FieldByName("Sharing"), v} { // Sharing's parts, and those of the machine
		for i := range of.NumField() {
			f, name := of.Field(i), of.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				parts[name] = f
				if f.NumField() > 0 {
					note(f.Addr().Pointer(), name)
				}
			case reflect.Slice:
				if of == v {
					note(f.Pointer(), name)
				}
			}
		}
	}
	for _, owner := range []string{"sms", "memory", "translation", "fabric"} { // who owns what others share
		p := parts[owner]
		for i := range p.NumField() {
			f, name := p.Field(i), owner+"."+p.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				note(f.Addr().Pointer(), name)
			case reflect.Slice:
				if f.Len() > 0 {
					note(f.Pointer(), name)
				}
			case reflect.Pointer:
				if !f.IsNil() {
					note(f.Pointer(), name)
				}
			}
		}
	}
	for name, p := range parts {
		for i := range p.NumField() {
			f, field := p.Field(i), name+"."+p.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Func:
				if !f.IsNil() {
					list = append(list, field+" = a function")
				}
			case reflect.Pointer, reflect.Slice:
				if f.IsNil() {
					continue
				}
				if what, known := names[f.Pointer()]; known && what != field {
					list = append(list, field+" = "+what)
				}
			}
		}
	}
	x := &g.translation
	if x.Driver.Moves != nil && x.Driver.Copy != nil && x.Tables.Shootdown != nil && x.Tables.Freed != nil {
		list = append(list, "translation.driver, translation.tables = functions")
	}
	slices.Sort(list)
	return list
}

// The wires of the machine, those of connect.go and no others. A new one is a new
// dependency between two parts: it belongs into the list when it has a good reason.
func TestWires(t *testing.T) {
	got := strings.Join(wires(pair(t, Options{}, nil).g), "\n") + "\n"
	const path = "testdata/wires.txt"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the machine's wires are not those of %s:\n%s", path, diff(string(want), got))
	}
}

// order has the parts that know others, lowest first. Each knows those before it alone: what is above hands a part
// below a callback, or registers where its answers go.
var order = []string{
	"fabric", "memory", "translation", "pageCopies", "host",
	"holdings", "Contexts", "groups", "mover", "evictor", "TimeSlices", "Replicas", "Dispatch", "Sharing",
	"sms", "CPUs", "strides", "Watchdog",
}

// TestWiresRunDown holds the order of parts.
func TestWiresRunDown(t *testing.T) {
	for _, w := range wires(pair(t, Options{}, nil).g) {
		from, to, _ := strings.Cut(w, " = ")
		from, _, _ = strings.Cut(from, ".")
		if a, b := slices.Index(order, from), slices.Index(order, to); b > a {
			if a < 0 {
				t.Errorf("%s: part %s has no place in the order", w, from)
			} else {
				t.Errorf("%s runs up", w)
			}
		}
	}
}

func diff(want, got string) string {
	var s strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, x := range w {
		if !slices.Contains(g, x) {
			fmt.Fprintln(&s, "-", x)
		}
	}
	for _, x := range g {
		if !slices.Contains(w, x) {
			fmt.Fprintln(&s, "+", x)
		}
	}
	return s.String()
}
