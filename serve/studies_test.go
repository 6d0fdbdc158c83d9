package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/report/measures"
)

// TestStudies: figures of one folder are a study, wherever it lies below a root; what else lies
// there is none; a figure that changes is read again.
func TestStudies(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "p", "results", "quick")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("fig10.csv", "a\n")
	one := 1.0
	figure := func(name, title string, problems []string, claims ...measures.Claim) {
		t.Helper()
		f := measures.File{
			Study: "p", Figure: name, Title: title, Scale: "quick", Machine: "m", Claims: claims, Problems: problems,
		}
		if err := f.Write(filepath.Join(dir, name+measures.Suffix)); err != nil {
			t.Fatal(err)
		}
	}
	gain := 12.25
	figure("fig10", "Ten <b>", []string{"x: failed"},
		measures.Claim{ID: "a", Text: "A is <i>fast</i>", Expects: "10 %", Value: &gain, Mixes: "3", Verdict: "holds"},
		measures.Claim{ID: "b", Expects: "up", Mixes: "-", Verdict: "not measured"})
	write("fig10.svg", `<svg xmlns="http://www.w3.org/2000/svg"/>`)
	write("fig9.csv", "a\n")
	figure("fig9", "", nil, measures.Claim{ID: "c", Expects: "up", Value: &one, Mixes: "3", Verdict: "holds"})
	write("sweep.csv", "a\n")
	write("sweep"+measures.Suffix, "a\n1\n")
	write("cut.csv", "a\n")
	write("cut"+measures.Suffix, "row,name,value,n,of,text,expected,verdict,mixes\nabout,study,,,")
	x := newSite(t, root)
	x.fresh()
	if n := x.list("").Total; n != 0 {
		t.Errorf("%d results", n)
	}
	get := func() (all []Study) {
		t.Helper()
		if err := json.Unmarshal(x.get("/api/studies").Body.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := get()
	if len(all) != 1 || all[0].Name != "p" || all[0].Figures != 2 || all[0].Problems != 1 || all[0].Place != dir ||
		!slices.Equal(all[0].Verdicts, []verdict{{"holds", 2}, {"not measured", 1}}) {
		t.Fatalf("%+v", all)
	}
	page := x.get("/study?id=" + all[0].ID).Body.String()
	for _, want := range []string{
		`alt="Ten &lt;b&gt;"`, "<h2>fig10</h2>", "A is &lt;i&gt;fast&lt;/i&gt;", "12.2", "2 holds, 1 not measured", "1 runs failed",
		"<h2>fig9</h2>", "Not measured yet.", "x: failed",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Index(page, "<h2>fig9") > strings.Index(page, "<h2>fig10") {
		t.Error("figure 10 comes before figure 9")
	}
	id := identity(filepath.Join(dir, "fig10"+measures.Suffix))
	if w := x.get("/figure?id=" + id); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/svg+xml" ||
		!strings.Contains(page, "figure?id="+id) {
		t.Errorf("the drawing: %d %s", w.Code, w.Body)
	}
	undrawn := identity(filepath.Join(dir, "fig9"+measures.Suffix))
	for _, path := range []string{"/study?id=x", "/figure?id=x", "/figure?id=" + undrawn} {
		if w := x.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	figure("fig9", "", nil)
	x.fresh()
	if all = get(); len(all) != 1 || !slices.Equal(all[0].Verdicts, []verdict{{"holds", 1}, {"not measured", 1}}) {
		t.Errorf("after a change: %+v", all)
	}
}

// TestByNumbers: names count as people do.
func TestByNumbers(t *testing.T) {
	want := []string{"fig2", "fig4", "fig4gtx", "fig10", "fig12a", "fig12b", "logs", "logs-bfs"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, byNumbers)
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}
