package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// rooflineView is the kernels of a run between what the machine's SMs can issue and what its
// DRAM can move (Williams et al., "Roofline", CACM 2009): thread instructions per core
// cycle over thread instructions per byte of DRAM traffic.
type rooflineView struct {
	Drawing template.HTML // SVG
	Note    string
	Table   table
}

// roofPoint is a kernel's launches together.
type roofPoint struct {
	tenant       int
	name         string
	insts, bytes uint64
	cycles       uint64
}

func (p *roofPoint) intensity() float64 { return float64(p.insts) / float64(p.bytes) }
func (p *roofPoint) rate() float64      { return float64(p.insts) / float64(p.cycles) }

// rooflineOf draws the kernels that moved bytes; nil where none did, or the machine is not known.
func rooflineOf(r *sim.Result) *rooflineView {
	points := roofPoints(r)
	m, _, err := sheets.FromEntries(r.Machine.Name, r.Machine.Numbers)
	if len(points) == 0 || err != nil {
		return nil
	}
	c := control.FromSheet(m, 1, m.DRAM.Channels)
	issue := c.IPCMax * float64(c.SMs)
	perCycle := c.MemBytes*float64(c.Channels)/c.CoreHz + m.FastPeak() // both tiers' bytes are counted together
	d := newLogPlot(points, issue, perCycle)
	v := &rooflineView{
		Drawing: d.svg(points, issue, perCycle),
		Note: fmt.Sprintf("The roof is the whole machine's: %s thread instructions per core cycle, %s bytes of DRAM "+
			"per core cycle; they meet at %s instructions per byte. Kernels that moved no bytes, and kernels that "+
			"ran beside "+
			"others of their application, are not in it.",
			number(issue), number(perCycle), number(issue/perCycle)),
		Table: table{Head: []string{"kernel", "application", "instructions per byte", "IPC", "of the roof there"}},
	}
	for i := range points {
		p := &points[i]
		v.Table.Rows = append(v.Table.Rows, []string{
			p.name, r.Tenants[p.tenant].Name, number(p.intensity()), number(p.rate()),
			percent(p.rate() / min(issue, p.intensity()*perCycle)),
		})
	}
	return v
}

// roofPoints are kernels by application and name in the order of first ends. Launches at the same time as others of
// their application are left out, because the bytes of each are not known. Kernels that moved no bytes have no place
// on the drawing.
func roofPoints(r *sim.Result) (out []roofPoint) {
	at := map[string]int{}
	for i := range r.Tenants {
		for k := range r.Tenants[i].Kernels {
			x := &r.Tenants[i].Kernels[k]
			if x.Overlapped || x.ThreadInsts == 0 || x.End <= x.Start {
				continue
			}
			key := fmt.Sprint(i, " ", x.Name)
			n, ok := at[key]
			if !ok {
				n = len(out)
				at[key] = n
				out = append(out, roofPoint{tenant: i, name: report.Plain(x.Name)})
			}
			p := &out[n]
			p.insts, p.bytes, p.cycles = p.insts+x.ThreadInsts, p.bytes+x.DRAMBytes, p.cycles+x.End-x.Start
		}
	}
	return slices.DeleteFunc(out, func(p roofPoint) bool { return p.bytes == 0 })
}

// logPlot maps powers of ten to the pixels of a drawing.
type logPlot struct {
	x0, x1, y0, y1 float64 // powers of ten at the edges
}

// Pixels of the drawing and its margins.
const (
	roofWidth, roofHeight         = 760.0, 340.0
	roofLeft, roofTop             = 74.0, 12.0
	roofInnerWidth, roofInnerHigh = roofWidth - roofLeft - 24, roofHeight - roofTop - 48
)

func newLogPlot(points []roofPoint, issue, perCycle float64) *logPlot {
	d := &logPlot{
		x0: math.Log10(issue / perCycle), x1: math.Log10(issue / perCycle),
		y0: math.Log10(issue), y1: math.Log10(issue),
	}
	for i := range points {
		x, y := math.Log10(points[i].intensity()), math.Log10(points[i].rate())
		d.x0, d.x1, d.y0, d.y1 = min(d.x0, x), max(d.x1, x), min(d.y0, y), max(d.y1, y)
	}
	d.x0, d.x1, d.y0, d.y1 = math.Floor(d.x0-0.2), math.Ceil(d.x1+0.2), math.Floor(d.y0-0.2), math.Ceil(d.y1+0.05)
	return d
}

func (d *logPlot) x(v float64) float64 {
	return roofLeft + roofInnerWidth*(math.Log10(v)-d.x0)/(d.x1-d.x0)
}

func (d *logPlot) y(v float64) float64 {
	return roofTop + roofInnerHigh*(1-(math.Log10(v)-d.y0)/(d.y1-d.y0))
}

func (d *logPlot) svg(points []roofPoint, issue, perCycle float64) template.HTML {
	var b strings.Builder
	line := func(x1, y1, x2, y2 float64, style string) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`, x1, y1, x2, y2, style)
	}
	text := func(x, y float64, style, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" %s>%s</text>`, x, y, style, template.HTMLEscapeString(s))
	}
	fmt.Fprintf(&b, `<svg class="roofline" viewBox="0 0 %g %g" role="img" aria-label="roofline">`, roofWidth, roofHeight)
	bottom, right := roofTop+roofInnerHigh, roofLeft+roofInnerWidth
	for p := d.x0; p <= d.x1; p++ {
		x := d.x(math.Pow(10, p))
		line(x, roofTop, x, bottom, `stroke="#e4e4e4"`)
		text(x, bottom+16, `text-anchor="middle"`, number(math.Pow(10, p)))
	}
	for p := d.y0; p <= d.y1; p++ {
		y := d.y(math.Pow(10, p))
		line(roofLeft, y, right, y, `stroke="#e4e4e4"`)
		text(roofLeft-6, y+4, `text-anchor="end"`, number(math.Pow(10, p)))
	}
	text(roofLeft+roofInnerWidth/2, roofHeight-6, `text-anchor="middle"`, "thread instructions per byte of DRAM traffic")
	fmt.Fprintf(&b, `<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">thread instructions per core cycle</text>`,
		roofTop+roofInnerHigh/2)
	ridge := issue / perCycle
	from := max(math.Pow(10, d.x0), math.Pow(10, d.y0)/perCycle)
	roof := `stroke="#333" stroke-width="1.8"`
	line(d.x(from), d.y(from*perCycle), d.x(ridge), d.y(issue), roof)
	line(d.x(ridge), d.y(issue), right, d.y(issue), roof)
	for i := range points {
		p := &points[i]
		x, y := d.x(p.intensity()), d.y(p.rate())
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="5" fill="%s"><title>%s: %s instructions per byte, IPC %s</title></circle>`,
			x, y, palette(p.tenant), template.HTMLEscapeString(p.name), number(p.intensity()), number(p.rate()))
		if len(points) <= 12 {
			text(x+8, y+4, ``, p.name)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}
