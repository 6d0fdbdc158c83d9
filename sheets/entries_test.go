package sheets

import (
	"reflect"
	"testing"
)

// Every shipped machine, and one with overrides, is what its list of numbers makes by
// way of a sheet.
func TestFromEntries(t *testing.T) {
	for _, name := range Names() {
		for _, set := range []map[string]string{nil, {"llc.latency": "123", "clock.core": "1001.5"}} {
			m, prov, err := Resolve(name, set)
			if err != nil {
				t.Fatal(err)
			}
			back, from, err := FromEntries(m.Name, prov.List(m))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			again, _, err := Parse("again.yaml", Write(back, from))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			m.Description = ""
			if !reflect.DeepEqual(m, again) {
				t.Errorf("%s %v: another machine is read", name, set)
			}
		}
	}
	if _, _, err := FromEntries("x", []Entry{{Path: "llc.colour", Value: "1"}}); err == nil {
		t.Error("an unknown number is taken")
	}
}
