package paper

import (
	"reflect"
	"testing"
)

// An outline says of a study what the whole study says.
func TestOutline(t *testing.T) {
	for _, n := range Names() {
		s, err := Load(n)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Outline(n)
		if err != nil {
			t.Fatal(err)
		}
		if o.Title != s.Title || !reflect.DeepEqual(o.Scales, s.Scales) || !reflect.DeepEqual(o.Figures, s.Figures) ||
			!reflect.DeepEqual(o.claims, s.claims) || len(o.Figures) == 0 || len(o.claims) == 0 {
			t.Errorf("the outline of %s is not what the study says", n)
		}
	}
	if _, err := Outline("no-such-study"); err == nil {
		t.Error("an unknown study has an outline")
	}
}

// TestOutlineIsQuick compares allocations, which do not depend on what else the computer does: the list of studies took
// seconds when it read each machine of each study.
func TestOutlineIsQuick(t *testing.T) {
	cost := func(read func(string) (*Study, error)) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := read("uvm"); err != nil {
				t.Error(err)
			}
		})
	}
	if whole, outline := cost(Load), cost(Outline); outline > 0.8*whole {
		t.Errorf("an outline takes %.0f allocations, the whole study %.0f", outline, whole)
	}
}
