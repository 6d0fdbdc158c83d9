package figure

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette: Okabe and Ito, "Color universal design" (2008), told apart by people
// with any of the common colour-vision deficiencies; its yellow is too light for lines.
func palette(i int) color.Color {
	all := [colors]color.RGBA{
		{0x00, 0x72, 0xb2, 0xff},
		{0xe6, 0x9f, 0x00, 0xff},
		{0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff},
		{0x56, 0xb4, 0xe9, 0xff},
		{0xd5, 0x5e, 0x00, 0xff},
		{0x33, 0x33, 0x33, 0xff},
		{0x99, 0x99, 0x99, 0xff},
	}
	return all[i%colors]
}

// colors is how many the palette has. Series beyond them differ in dashes, shapes or hatching.
const colors = 8

func grey(level uint8) color.Color { return color.Gray{Y: level} }

// lineStyle tells series apart by colour, and by dashes too for black-and-white print.
func lineStyle(i int) draw.LineStyle {
	dashes := [...][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {5, 1.5, 1.5, 1.5}, {8, 3}}
	return draw.LineStyle{Color: palette(i), Width: 1.2, Dashes: dashes[i%len(dashes)]}
}

func glyphStyle(i int) draw.GlyphStyle {
	shapes := [...]draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.SquareGlyph{},
		draw.PyramidGlyph{},
		draw.CrossGlyph{},
		draw.RingGlyph{},
		draw.BoxGlyph{},
		draw.TriangleGlyph{},
		draw.PlusGlyph{},
	}
	return draw.GlyphStyle{Color: palette(i), Radius: 2, Shape: shapes[(i+i/colors)%len(shapes)]}
}

// filled says that series are areas and not lines or points.
func (p *Panel) filled() bool { return p.Kind == Bars || p.Kind == Stacked }

func (f *Figure) draw(c draw.Canvas, l *layout) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	top := c.Max.Y - margin
	for _, line := range l.title {
		s := style(big)
		s.XAlign = draw.XCenter
		c.FillText(s, vg.Point{X: c.Center().X, Y: top}, line)
		top -= lineStep + 1
	}
	if len(l.title) > 0 {
		top -= 4
	}
	bottom := c.Min.Y + margin
	for i := len(l.note) - 1; i >= 0; i-- {
		s := style(small)
		s.Color, s.YAlign = grey(80), draw.YBottom
		c.FillText(s, vg.Point{X: c.Min.X + margin, Y: bottom}, l.note[i])
		bottom += lineStep
	}
	if len(l.note) > 0 {
		bottom += 3
	}
	panels := f.colored()
	if l.shared {
		panels[0].legend(&c, c.Min.X+margin, top, l.width-2*margin)
		top -= lineStep*vg.Length(l.legend) + 2
	}
	x := c.Min.X + margin
	for i := range panels {
		area := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: bottom},
			Max: vg.Point{X: x + l.panels[i], Y: top},
		}}
		panels[i].draw(area, l)
		x += l.panels[i] + gap
	}
}

// colored gives a series the same colour in every panel: names are numbered as they
// first appear.
func (f *Figure) colored() []Panel {
	panels := slices.Clone(f.Panels)
	var seen []string
	for i := range panels {
		p := &panels[i]
		p.colors = make([]int, len(p.Series))
		for j := range p.Series {
			name := p.Series[j].Name
			if name == "" {
				p.colors[j] = j
				continue
			}
			if !slices.Contains(seen, name) {
				seen = append(seen, name)
			}
			p.colors[j] = slices.Index(seen, name)
		}
	}
	return panels
}

func (p *Panel) draw(c draw.Canvas, l *layout) {
	width := c.Max.X - c.Min.X
	if p.Title != "" {
		s := style(normal)
		s.XAlign = draw.XCenter
		c.FillText(s, vg.Point{X: c.Center().X, Y: c.Max.Y}, p.Title)
	}
	if l.titled {
		c.Max.Y -= lineStep + 3
	}
	if !l.shared {
		p.legend(&c, c.Min.X, c.Max.Y, width)
		c.Max.Y -= lineStep * vg.Length(l.legend)
	}
	if l.legend > 0 {
		c.Max.Y -= 3
	}
	pl := plot.New()
	p.axes(pl, width)
	if p.Kind == Heat {
		c.Max.X -= scaleWidth
		h := newHeat(p)
		pl.Add(h)
		pl.Draw(c)
		h.scale(pl.DataCanvas(c))
		return
	}
	pl.Add(gridLines{})
	p.add(pl)
	if p.RefLine != nil {
		pl.Add(refLine(*p.RefLine))
	}
	p.bounds(pl)
	pl.Draw(c)
}

// legend draws the entries in rows from the top, centred.
func (p *Panel) legend(c *draw.Canvas, left, top, width vg.Length) {
	names := p.names()
	for _, row := range legendRows(names, width) {
		used := vg.Length(0)
		for _, i := range row {
			used += entryWidth(names[i])
		}
		x := left + max(0, (width-used)/2)
		for _, i := range row {
			p.swatch(c, i, x, top-lineStep/2)
			s := style(small)
			s.YAlign = draw.YCenter
			c.FillText(s, vg.Point{X: x + swatch + 3, Y: top - lineStep/2}, names[i])
			x += entryWidth(names[i])
		}
		top -= lineStep
	}
}

// swatch is a series' sign in the legend, centred on y.
func (p *Panel) swatch(c *draw.Canvas, i int, x, y vg.Length) {
	i = p.colors[i]
	switch {
	case p.filled():
		box := vg.Rectangle{Min: vg.Point{X: x + 4, Y: y - 3}, Max: vg.Point{X: x + swatch, Y: y + 3}}
		fill(c, box, i)
	case p.Kind == Scatter:
		c.DrawGlyphNoClip(glyphStyle(i), vg.Point{X: x + swatch/2, Y: y})
	default:
		c.StrokeLine2(lineStyle(i), x, y, x+swatch, y)
	}
}

// axes sets fonts, labels and ticks.
func (p *Panel) axes(pl *plot.Plot, width vg.Length) {
	pl.X.Label.Text, pl.Y.Label.Text = p.XLabel, p.YLabel
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Label.TextStyle.Font = style(normal).Font
		a.Tick.Label.Font = style(small).Font
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.5, 0.5
		a.Tick.Length, a.Padding = 3, 2
		a.Tick.Marker = plot.TickerFunc(niceTicks)
	}
	if names := p.categories(); len(names) > 0 {
		pl.X.Tick.Length = 2
		turned := p.upright(width)
		pl.X.Tick.Marker = nameTicks(names, p.every(width), turned)
		pl.X.LineStyle.Width, pl.X.Padding = 0, 0 // bars draw their own base line
		if turned {
			pl.X.Tick.Label.Rotation = math.Pi / 2
			pl.X.Tick.Label.XAlign, pl.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
		}
	}
	if p.Kind == Heat {
		pl.Y.LineStyle.Width = 0
		pl.X.Tick.Length, pl.Y.Tick.Length = 0, 0
		if p.XNames == nil {
			pl.X.Tick.Marker = plot.ConstantTicks{}
		}
		rows := slices.Clone(p.YNames)
		slices.Reverse(rows)
		pl.Y.Tick.Marker = nameTicks(rows, 1, false)
	}
}

// nameTicks are names at whole numbers; turned ones keep their distance by a space.
func nameTicks(names []string, every int, turned bool) plot.ConstantTicks {
	t := make(plot.ConstantTicks, 0, len(names))
	for i, n := range names {
		if turned {
			n += " "
		}
		if i%every == 0 {
			t = append(t, plot.Tick{Value: float64(i), Label: n})
		}
	}
	return t
}

// add puts the data on the axes.
func (p *Panel) add(pl *plot.Plot) {
	if p.filled() {
		pl.Add(&bars{p})
		return
	}
	for i := range p.Series {
		pts := p.points(&p.Series[i])
		pl.Add(&curve{pts: pts, i: p.colors[i], points: p.Kind == Scatter, marks: p.Kind == Lines && len(pts) <= 20})
	}
}

// points of a series, x first.
func (p *Panel) points(s *Series) plotter.XYs {
	ys := s.Y
	if p.Kind == Sorted {
		ys = slices.Sorted(slices.Values(ys))
	}
	pts := make(plotter.XYs, len(ys))
	for i, y := range ys {
		pts[i] = plotter.XY{X: float64(i + 1), Y: y}
		if p.Kind != Sorted {
			pts[i].X = s.X[i]
		}
	}
	return pts
}

// bounds settles the axes' ranges after the data is known.
func (p *Panel) bounds(pl *plot.Plot) {
	if p.RefLine != nil {
		pl.Y.Min, pl.Y.Max = min(pl.Y.Min, *p.RefLine), max(pl.Y.Max, *p.RefLine)
	}
	room := (pl.Y.Max - pl.Y.Min) * 0.05
	if pl.Y.Max > 0 || !p.filled() {
		pl.Y.Max += room
	}
	if pl.Y.Min != 0 && (!p.filled() || pl.Y.Min < 0) {
		if low := pl.Y.Min - room; low >= 0 || pl.Y.Min < 0 {
			pl.Y.Min = low
		} else {
			pl.Y.Min = 0
		}
	}
	if p.YMin != nil {
		pl.Y.Min = *p.YMin
	}
	if p.YMax != nil {
		pl.Y.Max = *p.YMax
	}
	if pl.Y.Max <= pl.Y.Min { // all the same, or a bound beyond the data
		if p.YMax != nil && p.YMin == nil {
			pl.Y.Min = pl.Y.Max - 1
		} else {
			pl.Y.Max = pl.Y.Min + 1
		}
	}
	if pl.X.Max <= pl.X.Min {
		pl.X.Min, pl.X.Max = pl.X.Min-0.5, pl.X.Max+0.5
	}
}

// niceTicks gives about five marks at 1, 2 or 5 times a power of ten.
func niceTicks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(step*m) <= 6 {
			step *= m
			break
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9; k++ {
		out = append(out, plot.Tick{Value: k * step, Label: tickLabel(k*step, digits)})
	}
	return out
}

func tickLabel(v float64, digits int) string {
	for _, s := range []struct {
		least  float64
		suffix string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= s.least {
			if s.suffix == "k" {
				s.least = 1e3
			}
			return strconv.FormatFloat(v/s.least, 'g', 4, 64) + s.suffix
		}
	}
	if digits > 6 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v+0, 'f', digits, 64)
}
