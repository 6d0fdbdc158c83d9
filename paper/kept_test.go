package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/report/measures"
)

// What Write left of a figure is read again, its claims are held against its numbers anew, and nothing else of it
// changes.
func TestKept(t *testing.T) {
	s, err := Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	figures, err := s.Select("fig10")
	if err != nil {
		t.Fatal(err)
	}
	scale, err := s.Scale("standard")
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(s, scale, nil, "../apps", nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := Kept(dir, figures); err == nil || !strings.Contains(err.Error(), "simulate them once") {
		t.Errorf("an empty folder: %v", err)
	}
	b.Code = "abc"
	r := &Reproduced{
		Figure: figures[0], Columns: []string{"mix", "stp"}, Rows: [][]string{{"A_B", "1.3"}},
		Measures: map[string]Measure{"stp UGPU/BP mean": {Value: 30, N: 10, Of: 10}}, Problems: []string{"C_D failed"},
		Asked: 5, Missing: 2, Simulators: map[string]int{"abc": 3},
	}
	r.Draw.Panels = []figure.Panel{{Kind: figure.Sorted, Series: []figure.Series{{Name: "UGPU", Y: []float64{1.3}}}}}
	if err := b.Write(dir, r); err != nil {
		t.Fatal(err)
	}
	kept, err := Kept(dir, figures)
	const gain = "stp UGPU/BP mean"
	if err != nil || len(kept) != 1 || kept[0].Measures[gain] != r.Measures[gain] ||
		len(kept[0].Problems) != 1 || strings.Join(kept[0].kept(), "") != strings.Join(r.kept(), "") ||
		kept[0].Rows[0][1] != "1.3" {
		t.Fatalf("%+v, %v", kept, err)
	}
	name := filepath.Join(dir, "fig10"+measures.Suffix)
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	stale := strings.Replace(string(before), ",holds,", ",contradicts,", 1)
	if stale == string(before) {
		t.Fatalf("no claim holds in\n%s", before)
	}
	if err := os.WriteFile(name, []byte(stale), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Rejudge(b, dir, kept); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(name); err != nil || string(after) != string(before) {
		t.Errorf("%s, %v; before %s", after, err, before)
	}
	if lines, err := b.Earlier(kept); err != nil || len(lines) > 0 {
		t.Errorf("nothing has changed, but: %q, %v", lines, err)
	}
	kept[0].was.Set = map[string]string{"sm.count": "7"}
	kept[0].was.Budget = 12
	lines, err := b.Earlier(kept)
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "fig10. ") ||
		!strings.Contains(lines[0], ": sm.count was 7 and is now as in the sheet") ||
		!strings.Contains(lines[0], "the length in cycles was 12 and is now ") {
		t.Errorf("%q, %v", lines, err)
	}
	if err := Rejudge(b, dir, kept); err != nil {
		t.Fatal(err)
	}
	if again, err := Kept(dir, figures); err != nil || again[0].was.Set["sm.count"] != "7" ||
		again[0].was.Budget != 12 {
		t.Errorf("judging anew changed the conditions of the numbers: %+v, %v", again[0].was, err)
	}
	other := *figures[0]
	other.Name = "other"
	b.Code = "def"
	if err := b.Write(dir, &Reproduced{
		Figure: &other, Columns: []string{"x"}, Measures: r.Measures, Draw: r.Draw,
	}); err != nil {
		t.Fatal(err)
	}
	// Figures of two simulators stand in one report. Each keeps its hash when it is judged anew, and the report tells.
	if kept, err = Kept(dir, []*Figure{figures[0], &other}); err != nil {
		t.Fatal(err)
	}
	b.Code = "" // nothing is simulated
	if err := Rejudge(b, dir, kept); err != nil {
		t.Fatal(err)
	}
	if kept, err = Kept(dir, []*Figure{figures[0], &other}); err != nil {
		t.Fatal(err)
	}
	if got := b.simulators(kept); !strings.Contains(got, "abc measured fig10; def measured the other figures.") {
		t.Errorf("the report says %q", got)
	}
	if got := b.simulators(kept[:1]); got != "Simulator abc (hash of its sources).\n\n" {
		t.Errorf("a report of one simulator says %q", got)
	}
}
