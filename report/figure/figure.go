// Package figure draws results as papers print them: lines, sorted curves, bars, scatter plots and
// heat maps, as SVG, PNG or PDF, with the same bytes for the same data.
//
// A reader must know three types. Figure is the content of one file. Panel is one pair of axes in
// it. Series is one curve or one colour of bars.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/heddle-sim/heddle/internal/scratch"
)

// Figure is one file: panels side by side, a title above and a note below.
type Figure struct {
	Title, Note string
	Panels      []Panel
}

// Panel is one pair of axes.
type Panel struct {
	Title, XLabel, YLabel string
	Kind                  Kind
	Ticks                 []string // the categories of Bars and Stacked
	Series                []Series // of every kind but Heat
	// YMin and YMax bound the y axis, and the colours of Heat; nil: from the data.
	// Bars start at zero unless YMin says otherwise; a bar above YMax is cut off and
	// its value written on it.
	YMin, YMax *float64
	// Grid is the data of Heat: a row per y name, the first at the top, a column per
	// x name. The names may be left out.
	Grid           [][]float64
	XNames, YNames []string
	RefLine        *float64 // a dashed horizontal line at this y, as for "same as the baseline"

	colors []int // of the series, in the palette; set when drawn
}

// Kind says how a panel shows its data.
type Kind int

// The kinds of panels, and what of a Series each uses.
const (
	Lines   Kind = iota // X and Y, joined in the order given
	Sorted              // Y only: each series sorted for itself, over its rank
	Bars                // Y only: a bar per tick, series side by side
	Stacked             // Y only, none negative: series on top of each other
	Heat                // Panel.Grid, with a colour scale and the numbers in the cells
	Scatter             // X and Y
)

// Series is one curve or one colour of bars.
type Series struct {
	Name string
	X, Y []float64
}

// Write draws the figure into path, whose extension (.svg, .png or .pdf) says how.
// The file appears whole or not at all. It is an error if there is nothing to draw,
// if a number is not finite, or if lengths do not match.
func (f *Figure) Write(path string) error {
	if err := f.check(); err != nil {
		return fmt.Errorf("figure %s: %w", path, err)
	}
	body, err := f.render(strings.ToLower(filepath.Ext(path)))
	if err != nil {
		return fmt.Errorf("figure %s: %w", path, err)
	}
	return scratch.WriteWhole(path, body)
}

// dpi of PNGs: good for a screen and for a draft on paper.
const dpi = 200

// pdfLetters hands text to the PDF writer in the code page that it expects,
// Windows 1252; it would take the bytes of UTF-8 for letters.
type pdfLetters struct {
	*vgpdf.Canvas
	missing rune // the first letter that the code page lacks
}

// FillString draws one line of text.
func (c *pdfLetters) FillString(f font.Face, at vg.Point, text string) {
	const dashes = "\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026" // what texts use of 0x80 to 0x9f
	const codes = "\x96\x97\x91\x92\x93\x94\x95\x85"
	var b []byte
	for _, r := range text {
		switch i := slices.Index([]rune(dashes), r); {
		case i >= 0:
			b = append(b, codes[i])
		case r < 0x80 || r >= 0xa0 && r <= 0xff:
			b = append(b, byte(r))
		case c.missing == 0:
			c.missing = r
		}
	}
	c.Canvas.FillString(f, at, string(b))
}

// created matches the date that the PDF writer takes from the wall clock.
var created = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}`)

func (f *Figure) render(ext string) ([]byte, error) {
	l := f.layout()
	var c vg.CanvasSizer
	letters := &pdfLetters{}
	var out io.WriterTo
	switch ext {
	case ".svg":
		s := vgsvg.New(l.width, l.height)
		c, out = s, s
	case ".pdf":
		p := vgpdf.New(l.width, l.height)
		letters.Canvas = p
		c, out = letters, p
	case ".png":
		p := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(l.width, l.height), vgimg.UseDPI(dpi))}
		c, out = p, p
	default:
		return nil, fmt.Errorf("extension %q: know .svg, .png and .pdf", ext)
	}
	f.draw(draw.New(c), l)
	if letters.missing != 0 {
		return nil, fmt.Errorf("a PDF cannot write %q; write it in other words, or make an SVG", letters.missing)
	}
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		return nil, err
	}
	body := b.Bytes()
	if ext == ".pdf" { // same data, same bytes
		body = created.ReplaceAll(body, []byte("/$1 (D:20000101000000"))
	}
	return body, nil
}

func (f *Figure) check() error {
	if len(f.Panels) == 0 {
		return errors.New("it has no panels")
	}
	for i := range f.Panels {
		if err := f.Panels[i].check(); err != nil {
			return fmt.Errorf("panel %d %q: %w", i+1, f.Panels[i].Title, err)
		}
	}
	return nil
}

func (p *Panel) check() error {
	for _, x := range []*float64{p.YMin, p.YMax, p.RefLine} {
		if x != nil && !finite(*x) {
			return fmt.Errorf("a bound or reference line is %g", *x)
		}
	}
	if p.YMin != nil && p.YMax != nil && *p.YMin >= *p.YMax {
		return fmt.Errorf("the y axis goes from %g to %g", *p.YMin, *p.YMax)
	}
	if p.Kind == Heat {
		return p.checkGrid()
	}
	if p.Kind < Lines || p.Kind > Scatter {
		return fmt.Errorf("kind %d does not exist", p.Kind)
	}
	if len(p.Series) == 0 {
		return errors.New("it has no series")
	}
	for i := range p.Series {
		if err := p.checkSeries(&p.Series[i]); err != nil {
			return fmt.Errorf("series %d %q: %w", i+1, p.Series[i].Name, err)
		}
	}
	return nil
}

func (p *Panel) checkSeries(s *Series) error {
	if len(s.Y) == 0 {
		return errors.New("it is empty")
	}
	switch p.Kind {
	case Lines, Scatter:
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("%d x for %d y", len(s.X), len(s.Y))
		}
	case Bars, Stacked:
		if len(s.Y) != len(p.Ticks) {
			return fmt.Errorf("%d values for %d ticks", len(s.Y), len(p.Ticks))
		}
	}
	for i, y := range s.Y {
		if !finite(y) {
			return fmt.Errorf("value %d is %g", i+1, y)
		}
		if p.Kind == Stacked && y < 0 {
			return fmt.Errorf("value %d is %g: what is stacked cannot be negative", i+1, y)
		}
	}
	for i, x := range s.X {
		if !finite(x) {
			return fmt.Errorf("x %d is %g", i+1, x)
		}
	}
	return nil
}

func (p *Panel) checkGrid() error {
	if len(p.Grid) == 0 || len(p.Grid[0]) == 0 {
		return errors.New("the grid is empty")
	}
	if p.YNames != nil && len(p.YNames) != len(p.Grid) {
		return fmt.Errorf("%d row names for %d rows", len(p.YNames), len(p.Grid))
	}
	if p.XNames != nil && len(p.XNames) != len(p.Grid[0]) {
		return fmt.Errorf("%d column names for %d columns", len(p.XNames), len(p.Grid[0]))
	}
	for i, row := range p.Grid {
		if len(row) != len(p.Grid[0]) {
			return fmt.Errorf("row %d has %d columns, the first has %d", i+1, len(row), len(p.Grid[0]))
		}
		for j, v := range row {
			if !finite(v) {
				return fmt.Errorf("row %d, column %d is %g", i+1, j+1, v)
			}
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
