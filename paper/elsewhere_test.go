package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/report/measures"
)

// A figure of a scale of its own is not measured at others, whose reports quote what was left of it, or
// say how to measure it.
func TestFiguresOfAnotherScale(t *testing.T) {
	s := &Study{
		Name:    "mine",
		Scales:  []Scale{{Name: "quick", Budget: 10, Period: 5}, {Name: "long", Budget: 1000, Period: 500}},
		Figures: []Figure{{Name: "one", Title: "One"}, {Name: "two", Title: "At length", Scale: "long", Own: true}},
	}
	figures := []*Figure{&s.Figures[0], &s.Figures[1]}
	for i, want := range [][2]int{{1, 1}, {2, 0}} {
		if here, elsewhere := s.At(&s.Scales[i], figures); len(here) != want[0] || len(elsewhere) != want[1] {
			t.Errorf("scale %s: %d figures here and %d elsewhere, want %v", s.Scales[i].Name, len(here), len(elsewhere),
				want)
		}
	}
	b := &Book{Study: s, Scale: &s.Scales[0]}
	dir := t.TempDir()
	quick := filepath.Join(dir, "quick")
	text, err := b.quote(quick, "results/quick")
	if err != nil || !strings.Contains(text, "`heddle reproduce mine/two --scale long` measures it") {
		t.Fatalf("%v in\n%s", err, text)
	}
	for name, content := range map[string]string{
		"two.csv": "mix,stp\nA_B,1.5\n", "two" + measures.Suffix: "row,name,value,n,of,text,expected,verdict,mixes\n" +
			"about,simulator,,,,0123456789abcdef,,,\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "long"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "long", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err = b.quote(quick, "results/quick"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## At length", "1000 cycles per run, policies decide every 500", "Simulator " +
			"0123456789ab.", "(results/long/two.svg)",
		"| mix | stp |\n|---|---|\n| A_B | 1.5 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "One") {
		t.Errorf("a figure of this scale is quoted:\n%s", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "long", "two.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.quote(quick, "results/quick"); err == nil || !strings.Contains(err.Error(), "two.csv: it is empty") {
		t.Errorf("an empty file: %v", err)
	}
}
