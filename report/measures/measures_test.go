package measures

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A file that is read has every field that was written, to the last bit of a number.
func TestRoundTrip(t *testing.T) {
	x := 1.0 / 3
	want := &File{
		Study: "ugpu", Figure: "fig10", Title: `STP, "all" mixes`, Scale: "standard", Machine: "ugpu",
		Set: map[string]string{"sm.count": "40", "vm.page": "4096"}, Simulator: "abc", Budget: 1 << 40, Period: 5000,
		Models: []string{"one", "two"}, Measures: map[string]Measure{"stp A mean": {x, 3, 50}, "b": {-1e-9, 1, 1}},
		Second: map[string]Measure{"stp A mean": {2, 3, 50}},
		Claims: []Claim{
			{"a", "A is, at most, 3", "3 % ± 1", &x, "3 of 50", "holds"}, {ID: "b", Verdict: "not measured"},
		},
		Problems: []string{"a run failed:\nline 2"}, Runs: 12, Missing: 5, Ran: map[string]int{"abc": 4, "def": 3},
	}
	path := filepath.Join(t.TempDir(), "fig10"+Suffix)
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// Each damage is named with file and line.
func TestDamage(t *testing.T) {
	head := strings.Join(columns(), ",") + "\n"
	for _, c := range []struct{ text, says string }{
		{"", ":1: the first line does not name the columns"},
		{"a,b\n1,2\n", ":1: the first line does not name the columns"},
		{head + "about,study,,,,x,,,\nabout,color,,,,x,,,\n", `:3: there is no fact "color"`},
		{head + "other,a,1,,,,,,\n", `:2: there is no kind of row "other"`},
		{head + "measure,a,1,1,,,,,\n", `:2: strconv.Atoi: parsing ""`},
		{head + "measure,a,much,1,1,,,,\n", `:2: strconv.ParseFloat: parsing "much"`},
		{head + "claim,a,much,,,,,,\n", `:2: strconv.ParseFloat: parsing "much"`},
		{head + "about,runs,-,,,,,,\n", `:2: strconv.Atoi: parsing "-"`},
		{head + "measure,a,1\n", "record on line 2: wrong number of fields"},
	} {
		path := filepath.Join(t.TempDir(), "x"+Suffix)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.text, err, c.says)
		}
	}
}
