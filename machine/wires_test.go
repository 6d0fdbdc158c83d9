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
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch f.Kind() {
		case reflect.Struct:
			parts[name] = f
			if f.NumField() > 0 {
				note(f.Addr().Pointer(), name)
			}
		case reflect.Slice:
			note(f.Pointer(), name)
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
				list = append(list, field+" = a function")
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
	if x.driver.Moves != nil && x.driver.Copy != nil && x.tables.Shootdown != nil && x.tables.Freed != nil {
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
