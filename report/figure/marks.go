package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// gridLines are light horizontal lines at the ticks, under the data.
type gridLines struct{}

func (gridLines) Plot(c draw.Canvas, pl *plot.Plot) {
	for _, t := range pl.Y.Tick.Marker.Ticks(pl.Y.Min, pl.Y.Max) {
		y := c.Y(pl.Y.Norm(t.Value))
		c.StrokeLine2(draw.LineStyle{Color: grey(225), Width: 0.4}, c.Min.X, y, c.Max.X, y)
	}
}

type refLine float64

func (r refLine) Plot(c draw.Canvas, pl *plot.Plot) {
	if y := c.Y(pl.Y.Norm(float64(r))); c.ContainsY(y) {
		c.StrokeLine2(draw.LineStyle{Color: grey(60), Width: 0.7, Dashes: []vg.Length{3, 2}}, c.Min.X, y, c.Max.X, y)
	}
}

// curve is a series as a line or as points.
type curve struct {
	pts    plotter.XYs
	i      int
	points bool // and no line
	marks  bool // points on the line
}

func (v *curve) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(v.pts) }

func (v *curve) Plot(c draw.Canvas, pl *plot.Plot) {
	at := make([]vg.Point, len(v.pts))
	for i, p := range v.pts {
		at[i] = vg.Point{X: c.X(pl.X.Norm(p.X)), Y: c.Y(pl.Y.Norm(p.Y))}
	}
	if !v.points {
		c.StrokeLines(lineStyle(v.i), c.ClipLinesXY(at)...)
	}
	if v.points || v.marks || len(at) == 1 {
		for _, p := range at {
			c.DrawGlyph(glyphStyle(v.i), p)
		}
	}
}

// bars are grouped or stacked bars.
type bars struct{ p *Panel }

func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for t := range b.p.Ticks {
		sum := 0.0
		for i := range b.p.Series {
			y := b.p.Series[i].Y[t]
			sum += y
			if b.p.Kind == Bars {
				ymin, ymax = min(ymin, y), max(ymax, y)
			}
		}
		if b.p.Kind == Stacked {
			ymax = max(ymax, sum)
		}
	}
	return -0.6, float64(len(b.p.Ticks)) - 0.4, ymin, ymax
}

func (b *bars) Plot(c draw.Canvas, pl *plot.Plot) {
	base := max(0, pl.Y.Min)
	for t := range b.p.Ticks {
		from := base
		if b.p.Kind == Stacked {
			from = 0
		}
		for i := range b.p.Series {
			y := b.p.Series[i].Y[t]
			if b.p.Kind == Stacked {
				b.bar(c, pl, i, float64(t)-0.35, float64(t)+0.35, from, from+y)
				from += y
				continue
			}
			w := 0.8 / float64(len(b.p.Series))
			x := float64(t) - 0.4 + w*float64(i)
			b.bar(c, pl, i, x, x+w, base, y)
		}
	}
	y := c.Y(pl.Y.Norm(base))
	c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: 0.5}, c.Min.X, y, c.Max.X, y)
}

// bar draws one bar between data coordinates, cut off at the axis' ends.
func (b *bars) bar(c draw.Canvas, pl *plot.Plot, i int, x0, x1, y0, y1 float64) {
	clip := func(y float64) vg.Length { return c.Y(pl.Y.Norm(min(max(y, pl.Y.Min), pl.Y.Max))) }
	box := vg.Rectangle{Min: vg.Point{X: c.X(pl.X.Norm(x0)), Y: clip(y0)}, Max: vg.Point{
		X: c.X(pl.X.Norm(x1)),
		Y: clip(y1),
	}}
	if box.Max.Y == box.Min.Y {
		return
	}
	fill(&c, box, b.p.colors[i])
	if box.Max.X-box.Min.X > 4 { // thinner ones would be all edge
		c.SetLineStyle(draw.LineStyle{Color: color.White, Width: 0.3})
		c.Stroke(box.Path())
	}
	if y1 > pl.Y.Max && b.p.Kind == Bars {
		s := style(small - 1)
		s.XAlign, s.YAlign, s.Rotation = draw.XRight, draw.YCenter, math.Pi/2
		s.Color = ink(palette(b.p.colors[i]))
		c.FillText(s, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: box.Max.Y - 1}, fmt.Sprintf("%.3g", y1))
	}
}

// fill fills a box in the way of a series.
func fill(c *draw.Canvas, box vg.Rectangle, i int) {
	c.SetColor(palette(i))
	c.Fill(box.Path())
	hatch(c, box, i/colors%len(hatches), ink(palette(i)))
}

// hatches are the slopes of the lines over boxes; the first has none.
var hatches = [...][]vg.Length{{}, {1}, {-1}, {1, -1}}

// hatch draws lines over a box.
func hatch(c *draw.Canvas, box vg.Rectangle, kind int, on color.Color) {
	const apart = 2.5
	line := draw.LineStyle{Color: on, Width: 0.45}
	width, height := box.Max.X-box.Min.X, box.Max.Y-box.Min.Y
	for _, slope := range hatches[kind] {
		for at := apart/2 - width; at < height; at += apart {
			// The line is at above the bottom on the left, or on the right where it falls.
			x0, x1 := max(0, -at), min(width, height-at)
			if x0 >= x1 {
				continue
			}
			left, right := box.Min.X+x0, box.Min.X+x1
			if slope < 0 {
				left, right = box.Max.X-x0, box.Max.X-x1
			}
			c.StrokeLine2(line, left, box.Min.Y+at+x0, right, box.Min.Y+at+x1)
		}
	}
}

// ink is black or white, whichever is read more easily on a colour.
func ink(on color.Color) color.Color {
	r, g, b, _ := on.RGBA()
	if 0.299*float64(r)+0.587*float64(g)+0.114*float64(b) > 0.52*0xffff {
		return color.Black
	}
	return color.White
}

// scaleWidth is the room of a heat map's colour scale, points.
const scaleWidth = 44

// heat is a grid of coloured cells.
type heat struct {
	grid   [][]float64
	lo, hi float64
}

func newHeat(p *Panel) *heat {
	h := &heat{grid: p.Grid, lo: math.Inf(1), hi: math.Inf(-1)}
	for _, row := range p.Grid {
		for _, v := range row {
			h.lo, h.hi = min(h.lo, v), max(h.hi, v)
		}
	}
	if p.YMin != nil {
		h.lo = *p.YMin
	}
	if p.YMax != nil {
		h.hi = *p.YMax
	}
	if h.hi <= h.lo {
		h.hi = h.lo + 1
	}
	return h
}

// DataRange makes every cell one by one around its index, rows from the top.
func (h *heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(len(h.grid[0])) - 0.5, -0.5, float64(len(h.grid)) - 0.5
}

// color of a value: viridis, whose lightness grows evenly for every reader.
func (h *heat) color(v float64) color.Color {
	stops := [...][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}
	x := min(max((v-h.lo)/(h.hi-h.lo), 0), 1) * float64(len(stops)-1)
	k := min(int(x), len(stops)-2)
	x -= float64(k)
	mix := func(i int) uint8 { return uint8(math.Round(stops[k][i]*(1-x) + stops[k+1][i]*x)) }
	return color.RGBA{mix(0), mix(1), mix(2), 0xff}
}

func (h *heat) Plot(c draw.Canvas, pl *plot.Plot) {
	digits := 2
	if max(math.Abs(h.lo), math.Abs(h.hi)) >= 100 {
		digits = 0
	} else if max(math.Abs(h.lo), math.Abs(h.hi)) >= 10 {
		digits = 1
	}
	for i, row := range h.grid {
		y := float64(len(h.grid) - 1 - i)
		for j, v := range row {
			box := vg.Rectangle{
				Min: vg.Point{X: c.X(pl.X.Norm(float64(j) - 0.5)), Y: c.Y(pl.Y.Norm(y - 0.5))},
				Max: vg.Point{X: c.X(pl.X.Norm(float64(j) + 0.5)), Y: c.Y(pl.Y.Norm(y + 0.5))},
			}
			c.SetColor(h.color(v))
			c.Fill(box.Path())
			number := fmt.Sprintf("%.*f", digits, v)
			if max(math.Abs(h.lo), math.Abs(h.hi)) >= 1e5 || max(math.Abs(h.lo), math.Abs(h.hi)) < 0.05 {
				number = fmt.Sprintf("%.2g", v)
			}
			s := style(small)
			if s.Width(number)+2 > box.Size().X || box.Size().Y < small { // no room: the colour alone
				continue
			}
			s.XAlign, s.YAlign, s.Color = draw.XCenter, draw.YCenter, ink(h.color(v))
			c.FillText(s, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, number)
		}
	}
}

// scale draws the colours and what they mean, right of the cells.
func (h *heat) scale(cells draw.Canvas) {
	const steps = 64
	left := cells.Max.X + 8
	height := cells.Max.Y - cells.Min.Y
	for i := range steps {
		y := cells.Min.Y + height*vg.Length(i)/steps
		box := vg.Rectangle{
			Min: vg.Point{X: left, Y: y},
			Max: vg.Point{X: left + 8, Y: min(y+height/steps+0.3, cells.Max.Y)},
		}
		cells.SetColor(h.color(h.lo + (h.hi-h.lo)*(float64(i)+0.5)/steps))
		cells.Fill(box.Path())
	}
	for _, t := range niceTicks(h.lo, h.hi) {
		y := cells.Min.Y + height*vg.Length((t.Value-h.lo)/(h.hi-h.lo))
		s := style(small)
		s.YAlign = draw.YCenter
		cells.FillText(s, vg.Point{X: left + 10, Y: y}, t.Label)
	}
}
