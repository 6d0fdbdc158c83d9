package figure

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes in points: a panel is as wide as a column of a two-column paper, and wider
// when it has many categories.
const (
	column     = 252
	page       = 516
	plotHeight = 150
	margin     = 6
	gap        = 10
	big        = 10 // title
	normal     = 8  // axis and panel titles
	small      = 7  // ticks, legend, note
	lineStep   = 9.5
	swatch     = 16
)

// layout is where things go; all lengths in points.
type layout struct {
	width, height vg.Length
	panels        []vg.Length // widths
	title         []string    // wrapped
	note          []string
	titled        bool // some panel has a title
	shared        bool // one legend for all panels
	legend        int  // rows of the tallest legend
	ticks         vg.Length
}

// style is plain: the PDF writer does not find the bold faces.
func style(size float64) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	return text.Style{
		Color: color.Black, Font: f, XAlign: draw.XLeft, YAlign: draw.YTop,
		Handler: plot.DefaultTextHandler,
	}
}

// narrowest is how much of the width lines take by the font's own measure: what a browser without it
// shows instead, DejaVu Sans, is up to a seventh wider.
const narrowest = 0.85

// textWidth is the width of one line.
func textWidth(s string, size float64) vg.Length { return style(size).Width(s) }

func (f *Figure) layout() *layout {
	l := &layout{}
	for i := range f.Panels {
		w := f.Panels[i].width()
		l.panels = append(l.panels, w)
		l.width += w
	}
	l.width += gap*vg.Length(len(l.panels)-1) + 2*margin
	inner := l.width - 2*margin
	l.title = wrap(f.Title, big, inner*narrowest)
	l.note = wrap(f.Note, small, inner*narrowest)
	l.shared = f.sharedLegend()
	tallest := 0.0
	for i := range f.Panels {
		p := &f.Panels[i]
		if !l.shared {
			l.legend = max(l.legend, len(legendRows(p.names(), l.panels[i])))
		}
		l.titled = l.titled || p.Title != ""
		l.ticks = max(l.ticks, p.tickDepth(l.panels[i]))
		if p.Kind == Heat {
			tallest = max(tallest, float64(len(p.Grid))*12)
		}
	}
	if l.shared {
		l.legend = len(legendRows(f.Panels[0].names(), inner))
	}
	if l.titled {
		tallest = max(tallest, plotHeight) + lineStep
	}
	l.height = vg.Length(max(plotHeight, tallest)) + l.ticks + 2*margin +
		vg.Length(lineStep*float64(len(l.title)+len(l.note)+l.legend)+24)
	return l
}

// width of a panel: many categories need room.
func (p *Panel) width() vg.Length {
	switch p.Kind {
	case Bars, Stacked:
		bars := len(p.Ticks)
		if p.Kind == Bars {
			bars = len(p.Ticks) * (len(p.Series) + 1)
		}
		return min(max(column, 40+vg.Length(bars)*6), page)
	case Heat:
		return min(max(column, 90+vg.Length(len(p.Grid[0]))*22), page)
	}
	return column
}

// categories are the names under the x axis, if it has names.
func (p *Panel) categories() []string {
	switch p.Kind {
	case Bars, Stacked:
		return p.Ticks
	case Heat:
		return p.XNames
	}
	return nil
}

// slot is about the room that one category has under the axis.
func (p *Panel) slot(width vg.Length) vg.Length {
	left := vg.Length(40)
	if p.Kind == Heat {
		left = 45 + longest(p.YNames)
	}
	return (width - left) / vg.Length(max(1, len(p.categories())))
}

func longest(names []string) (w vg.Length) {
	for _, n := range names {
		w = max(w, textWidth(n, small))
	}
	return w
}

// upright says that names must stand on their heads to fit beside each other.
func (p *Panel) upright(width vg.Length) bool {
	return longest(p.categories())+3 > p.slot(width)
}

// every n-th name is written where even upright ones would overlap.
func (p *Panel) every(width vg.Length) int {
	n := 1
	for vg.Length(n)*p.slot(width) < small+0.5 {
		n++
	}
	return n
}

// tickDepth is what names under the axis need beyond one line.
func (p *Panel) tickDepth(width vg.Length) vg.Length {
	if len(p.categories()) > 0 && p.upright(width) {
		return longest(p.categories())
	}
	return 0
}

// names are what the legend lists: nothing where one unnamed or lone series needs none.
func (p *Panel) names() []string {
	var out []string
	if p.Kind == Heat {
		return nil
	}
	for i := range p.Series {
		out = append(out, p.Series[i].Name)
	}
	if len(out) == 1 && (out[0] == "" || out[0] == p.YLabel || out[0] == p.Title) {
		return nil
	}
	return out
}

// sharedLegend says that all panels show the same series in the same colours.
func (f *Figure) sharedLegend() bool {
	for i := range f.Panels {
		p := &f.Panels[i]
		if p.Kind == Heat || p.filled() != f.Panels[0].filled() || !slices.Equal(p.names(), f.Panels[0].names()) {
			return false
		}
	}
	return len(f.Panels) > 1
}

// legendRows breaks entries into rows no wider than width.
func legendRows(names []string, width vg.Length) [][]int {
	var rows [][]int
	used := vg.Length(0)
	for i, n := range names {
		w := entryWidth(n)
		if len(rows) == 0 || used+w > width {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		used += w
	}
	return rows
}

func entryWidth(name string) vg.Length { return swatch + 3 + textWidth(name, small) + 10 }

// wrap breaks a text at spaces; a line break in it stays one.
func wrap(s string, size float64, width vg.Length) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var out []string
	for para := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(para) {
			if line != "" && textWidth(line+" "+word, size) > width {
				out = append(out, line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		out = append(out, line)
	}
	return out
}
