package silicon

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
)

//go:embed page.html
var pageText string

// pageRow is a row as the page shows it.
type pageRow struct {
	*Result
	Error string
	Left  float64 // of the bar, percent of its column; the middle is no error
	Width float64
	Slow  bool // Heddle's figure is above silicon's
}

// Page writes the summary line, scores and rows as one HTML page that loads nothing.
func Page(w io.Writer, last string, results []Result, scores []Score) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"percent": func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
		"num":     func(v float64) string { return fmt.Sprintf("%.4g", v) },
		"missed":  func(s Score) bool { return 100*s.Typical > s.Wanted || s.Failed > 0 },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	var rows []pageRow
	for i := range results {
		r := pageRow{Result: &results[i], Left: 50}
		if r.Err == "" {
			l := logRatio(r.Result)
			r.Error, r.Slow = fmt.Sprintf("%+.1f %%", 100*r.Result.Error()), l > 0
			r.Width = 50 * min(1, math.Abs(l)/math.Log(4)) // the column's end: four times
			if l < 0 {
				r.Left = 50 - r.Width
			}
		}
		rows = append(rows, r)
	}
	return t.Execute(w, struct {
		Last   string
		Scores []Score
		Rows   []pageRow
	}{last, scores, rows})
}
