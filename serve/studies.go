package serve

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/report/measures"
)

// figure is a figure of a paper as heddle reproduce leaves it: NAME.measures.csv, NAME.csv, and NAME.svg unless
// nothing was measured.
type figure struct {
	*measures.File
	Claims []claim

	ID    string
	Drawn bool
	file  string
	when  time.Time
}

// claim is a statement of the paper on a figure, with the measured number, in percent.
type claim measures.Claim

// Measured is the value as the page shows it.
func (c claim) Measured() string {
	if c.Value == nil {
		return "-"
	}
	return strconv.FormatFloat(*c.Value, 'f', 1, 64)
}

// readFigure reads a figure, or returns nil where the file is something else.
func readFigure(path string, when time.Time) *figure {
	kept, err := measures.Read(path)
	if err != nil || kept.Study == "" || kept.Figure == "" || kept.Scale == "" {
		return nil
	}
	kept.Measures, kept.Second = nil, nil // the page shows claims
	_, err = os.Stat(drawing(path))
	f := &figure{File: kept, ID: identity(path), file: path, when: when.UTC(), Drawn: err == nil}
	for _, c := range kept.Claims {
		f.Claims = append(f.Claims, claim(c))
	}
	f.Title = cmp.Or(f.Title, f.Figure)
	return f
}

// drawing is the picture of the figure of a file.
func drawing(file string) string { return strings.TrimSuffix(file, measures.Suffix) + ".svg" }

// Study is the figures of a folder in the list.
type Study struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Scale    string    `json:"scale"`
	Machine  string    `json:"machine"`
	Place    string    `json:"place"`
	When     time.Time `json:"when"` // of the youngest figure
	Figures  int       `json:"figures"`
	Problems int       `json:"problems"` // runs that failed
	Verdicts []verdict `json:"verdicts"`

	figures []*figure // in the order of their names
}

// verdict counts the claims that have it.
type verdict struct {
	Verdict string `json:"verdict"`
	Claims  int    `json:"claims"`
}

// studies puts figures of one folder, study and scale together, the youngest study first.
func studies(figures []*figure) []*Study {
	type key struct{ dir, study, scale string }
	of := map[key]*Study{}
	var out []*Study
	slices.SortFunc(figures, func(a, b *figure) int { return byNumbers(a.file, b.file) })
	for _, f := range figures {
		k := key{filepath.Dir(f.file), f.Study, f.Scale}
		s := of[k]
		if s == nil {
			s = &Study{
				ID: identity(k.dir + "\n" + k.study + "\n" + k.scale), Name: f.Study, Scale: f.Scale,
				Machine: f.Machine, Place: k.dir, Verdicts: []verdict{},
			}
			of[k] = s
			out = append(out, s)
		}
		s.add(f)
	}
	slices.SortStableFunc(out, func(a, b *Study) int { return b.When.Compare(a.When) })
	return out
}

func (s *Study) add(f *figure) {
	s.figures = append(s.figures, f)
	s.Figures++
	s.Problems += len(f.Problems)
	if f.when.After(s.When) {
		s.When = f.when
	}
	for _, c := range f.Claims {
		i := slices.IndexFunc(s.Verdicts, func(v verdict) bool { return v.Verdict == c.Verdict })
		if i < 0 {
			i = len(s.Verdicts)
			s.Verdicts = append(s.Verdicts, verdict{Verdict: c.Verdict})
		}
		s.Verdicts[i].Claims++
	}
	slices.SortFunc(s.Verdicts, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(b.Claims, a.Claims), strings.Compare(a.Verdict, b.Verdict))
	})
}

// byNumbers orders names with the numbers in them as numbers: fig4, fig10, fig12a.
func byNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := run(a), run(b)
		switch {
		case x[0] >= '0' && x[0] <= '9' && y[0] >= '0' && y[0] <= '9':
			n, m := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Or(cmp.Compare(len(n), len(m)), strings.Compare(n, m)); c != 0 {
				return c
			}
		case x != y:
			return strings.Compare(x, y)
		}
		a, b = a[len(x):], b[len(y):]
	}
	return cmp.Compare(len(a), len(b))
}

// run is the longest prefix of digits only, or without digits.
func run(s string) string {
	digit := func(i int) bool { return s[i] >= '0' && s[i] <= '9' }
	n := 1
	for n < len(s) && digit(n) == digit(0) {
		n++
	}
	return s[:n]
}

//go:embed study.html
var studyPage string

var studyTemplate = template.Must(template.New("study").Parse(studyPage))

func (s *Server) listStudies(w http.ResponseWriter, _ *http.Request) {
	out := s.index.allStudies()
	if out == nil {
		out = []*Study{}
	}
	reply(w, out)
}

// study shows the figures of a study, with the paper's claims beside the measured numbers.
func (s *Server) study(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	all := s.index.allStudies()
	i := slices.IndexFunc(all, func(t *Study) bool { return t.ID == id })
	if i < 0 {
		http.Error(w, "there is no study "+id, http.StatusNotFound)
		return
	}
	var body bytes.Buffer
	if err := studyTemplate.Execute(&body, struct {
		*Study
		All []*figure
	}{all[i], all[i].figures}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body.Bytes()) // a client that has gone does not matter
}

// figure is the drawing of a figure.
func (s *Server) figure(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	for _, t := range s.index.allStudies() {
		for _, f := range t.figures {
			if f.ID != id {
				continue
			}
			text, err := os.ReadFile(drawing(f.file))
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "image/svg+xml")
			w.Header().Set("Cache-Control", "no-cache")
			_, _ = w.Write(text) // a client that has gone does not matter
			return
		}
	}
	http.Error(w, "there is no figure "+id, http.StatusNotFound)
}
