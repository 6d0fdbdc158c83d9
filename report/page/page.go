// Package page makes one HTML file from one or several results: it works from a file:// address and loads nothing. A
// reader must know two types. Run is a result and its name on the page. view (view.go) is the input of the page's
// template and script.
package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/sim"
)

// Run is one result on the page.
type Run struct {
	Label  string // as short as distinguishes the runs
	Result *sim.Result
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// uPlot 1.6.32, MIT licence (uplot/LICENSE), draws the curves.
//
//go:embed uplot/uPlot.iife.min.js
var plotJS string

//go:embed uplot/uPlot.min.css
var plotCSS string

// WriteFile makes the page of the runs at path. It appears whole or not at all.
func WriteFile(path string, runs []Run) error {
	body, err := Render(runs)
	if err != nil {
		return err
	}
	return scratch.WriteWhole(path, body)
}

// Render makes the page. The same runs give the same bytes.
func Render(runs []Run) ([]byte, error) {
	if len(runs) == 0 {
		return nil, errors.New("report: no runs")
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	v := newView(runs)
	data, err := json.Marshal(v.charts) // escapes <, so that it cannot end its element
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	v.Data = template.JS(data)
	v.Script, v.Plot = template.JS(pageJS), template.JS(plotJS)
	v.Style = template.CSS(plotCSS + pageCSS)
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}
