package sheets

import (
	"strings"
	"testing"
)

func TestEverySheetLoadsWithUnitAndSource(t *testing.T) {
	names := Names()
	if len(names) < 1 {
		t.Fatal("no sheets")
	}
	for _, name := range names {
		m, prov, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Name != name {
			t.Errorf("%s calls itself %q", name, m.Name)
		}
		for _, e := range prov.List(m) {
			if e.Unit == "" || e.Doc == "" || e.Source == "" || e.Reference == "" {
				t.Errorf("%s: %s = %s lacks a unit, a meaning or a source: %+v", name, e.Path, e.Value, e)
			}
		}
	}
}

func TestQV100(t *testing.T) {
	m, prov, err := Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	if m.SM.Count != 80 || m.SM.Units != [6]int{4, 4, 4, 4, 4, 1} || m.DRAM.T.RCDWR != 9 || m.LLC.Index != "ipoly" {
		t.Errorf("got %+v", m)
	}
	e, ok := prov.Lookup("sm.overhead")
	if !ok || e.Source != "measured" || !strings.Contains(e.Reference, "key latencies") {
		t.Errorf("sm.overhead: %+v", e)
	}
}
