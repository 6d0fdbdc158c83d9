package page

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// A point for each page and time: two pages of one application and one of another, three rows of colours
// by their owners; and what is written is what is read.
func TestAccesses(t *testing.T) {
	r := still()
	first := r.Tenants[0].Name
	r.Tenants = append(r.Tenants[:1:1], sim.Tenant{Name: "second"})
	r.Cycles = 1000
	r.Touches = &sim.Touches{Accesses: []sim.PageAccess{
		{Cycle: 100, Tenant: 0, Page: 7, N: 4},
		{Cycle: 1000, Tenant: 0, Page: 9, N: 2},
		{Cycle: 1000, Tenant: 1, Page: 7, N: 1},
	}}
	v := accessesOf(r)
	for _, want := range []string{
		`<rect x="75" y="495"`, `<rect x="795" y="330"`, `<rect x="795" y="165"`,
		`fill="` + palette(1) + `" opacity="0.47"`, `fill="` + palette(0) + `" opacity="1.00"`,
	} {
		if !bytes.Contains([]byte(v.Drawing), []byte(want)) {
			t.Errorf("no %s in %s", want, v.Drawing)
		}
	}
	var text bytes.Buffer
	if err := report.AccessesCSV(&text, r); err != nil {
		t.Fatal(err)
	}
	if want := "cycle,tenant,page,accesses\n100," + first + ",7,4\n"; !bytes.HasPrefix(text.Bytes(), []byte(want)) {
		t.Errorf("%s\nwant %s first", text.Bytes(), want)
	}
	run := fromDisk(t, "accesses", r)
	if !reflect.DeepEqual(run.Result.Touches.Accesses, r.Touches.Accesses) {
		t.Errorf("read %v, written %v", run.Result.Touches, r.Touches)
	}
	r.Touches.Accesses = nil
	if accessesOf(r) != nil {
		t.Error("drawn without any")
	}
}
