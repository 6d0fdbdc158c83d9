package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var keep = flag.String("keep", "", "leave the figures of the tests in this directory, to look at")

func ptr(x float64) *float64 { return &x }

// wave gives n values between 0.5 and 1.5 that are neither sorted nor equal.
func wave(n int, phase float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1 + 0.5*math.Sin(float64(i)*1.7+phase)
	}
	return out
}

func rank(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i) * 1e6
	}
	return out
}

func names(n int, format string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

// every has a figure of each kind, with few and with many categories.
func every() map[string]*Figure {
	systems := func(n int) []Series {
		return []Series{
			{Name: "BP", Y: wave(n, 0)},
			{Name: "BP-BS", Y: wave(n, 1)},
			{Name: "CD-Search", Y: wave(n, 2)},
			{Name: "UGPU", Y: wave(n, 3)},
		}
	}
	curves := []Series{
		{Name: "UGPU", X: rank(30), Y: wave(30, 0)},
		{Name: "BP", X: rank(30), Y: wave(30, 2)},
		{Name: "MPS", X: rank(12), Y: wave(12, 4)},
	}
	grid := make([][]float64, 6)
	for i := range grid {
		grid[i] = wave(9, float64(i))
	}
	return map[string]*Figure{
		"curves": {
			Title: "Throughput over time and over workloads",
			Note: "Scale quick: 5 million cycles and 20 workload mixes. The note is long enough that it must be " +
				"broken into two lines somewhere here, at a space of course, so that nothing is cut off at the right " +
				"edge.", Panels: []Panel{
				{
					Title: "(a) over time", XLabel: "core cycle", YLabel: "IPC, normalised", Series: curves,
					RefLine: ptr(1),
				},
				{
					Title: "(b) sorted", XLabel: "workload, by rank", YLabel: "STP, normalised", Kind: Sorted,
					Series: systems(40), YMin: ptr(0),
				},
			},
		},
		"bars": {Panels: []Panel{{
			Title: "STP", YLabel: "STP, normalised to BP", Kind: Bars,
			Ticks: []string{"compute", "mixed", "memory", "GMEAN"}, Series: systems(4), RefLine: ptr(1),
			YMax: ptr(1.4),
		}}},
		"many": {Title: "Fifty mixes", Panels: []Panel{{
			YLabel: "STP", Kind: Bars, Ticks: names(50, "PVC_DXTC%02d"),
			Series: systems(50),
		}}},
		"crowd": {Panels: []Panel{{
			YLabel: "STP", Kind: Bars, Ticks: names(150, "mix%03d"),
			Series: []Series{{Name: "UGPU", Y: wave(150, 1)}},
		}}},
		"stacked": {Panels: []Panel{{
			YLabel: "energy, mJ", Kind: Stacked, Ticks: names(8, "mix %d"),
			Series: systems(8),
		}, {
			YLabel: "one negative", Kind: Bars, Ticks: []string{"a", "b"},
			Series: []Series{{Name: "gain", Y: []float64{-3, 5}}},
		}}},
		"heat": {Panels: []Panel{{
			Title: "slowdown", XLabel: "with", Kind: Heat, Grid: grid,
			XNames: names(9, "application%d"), YNames: names(6, "app %d"),
		}}},
		"scatter": {Panels: []Panel{{XLabel: "bandwidth, GB/s", YLabel: "IPC", Kind: Scatter, Series: curves}}},
	}
}

func TestEveryKindInEveryFormat(t *testing.T) {
	for name, f := range every() {
		dir := t.TempDir()
		if *keep != "" {
			dir = *keep
		}
		for _, ext := range []string{".svg", ".png", ".pdf"} {
			path := filepath.Join(dir, name+ext)
			var texts [2][]byte
			for i := range texts { // the second time over the first
				if err := f.Write(path); err != nil {
					t.Fatal(err)
				}
				var err error
				if texts[i], err = os.ReadFile(path); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(texts[0], texts[1]) {
				t.Errorf("%s%s: the same data gave other bytes", name, ext)
			}
			readable(t, name+ext, texts[0])
		}
	}
}

// readable checks that a file is of its kind and not blank.
func readable(t *testing.T, name string, text []byte) {
	t.Helper()
	switch filepath.Ext(name) {
	case ".svg":
		for d := xml.NewDecoder(bytes.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
		}
	case ".pdf":
		if !bytes.HasPrefix(text, []byte("%PDF-")) || !bytes.Contains(text, []byte("%%EOF")) {
			t.Errorf("%s is not a PDF", name)
		}
	case ".png":
		img, err := png.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, g, b, _ := palette(0).RGBA()
		blue := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if r1, g1, b1, _ := img.At(x, y).RGBA(); r1 == r && g1 == g && b1 == b {
					blue++
				}
			}
		}
		if blue < 50 && !strings.HasPrefix(name, "heat") {
			t.Errorf("%s: only %d pixels in the first series' colour", name, blue)
		}
	}
}

// TestWhatIsDrawn reads the SVG: every name is written, bars stand where they must.
func TestWhatIsDrawn(t *testing.T) {
	svg := func(f *Figure) string {
		path := filepath.Join(t.TempDir(), "f.svg")
		if err := f.Write(path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	all := every()
	for name, want := range map[string][]string{
		"curves":  {">UGPU<", ">MPS<", ">(a) over time<", ">workload, by rank<", ">10M<"},
		"bars":    {">compute<", ">GMEAN<", ">CD-Search<", ">1.5<"}, // 1.5 is cut off at 1.4 and says so
		"many":    {">PVC_DXTC00 <", ">PVC_DXTC49 <"},
		"heat":    {">application8 <", ">app 5<", ">1.00<"},
		"stacked": {">one negative<", ">−2<"},
	} {
		text := strings.ReplaceAll(svg(all[name]), ">-", ">−")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s.svg does not say %s", name, w)
			}
		}
	}
	crowd := svg(all["crowd"])
	if n := strings.Count(crowd, ">mix"); n < 30 || n > 80 {
		t.Errorf("%d of 150 names are written: they are thinned to what is readable, evenly", n)
	}
	if a, b := svg(all["scatter"]),
		svg(&Figure{Panels: []Panel{{Kind: Scatter, Series: []Series{{X: []float64{1}, Y: []float64{2}}}}}}); a == b {
		t.Error("other data gave the same picture")
	}
}

// TestLettersOfPDF: the writer knows one code page; it must not write others wrongly.
func TestLettersOfPDF(t *testing.T) {
	titled := func(s string) *Figure {
		return &Figure{Title: s, Panels: []Panel{{Kind: Sorted, Series: []Series{{Y: []float64{1, 2}}}}}}
	}
	dir := t.TempDir()
	for i, s := range []string{"3 × 5 µs – “so”", "3 × 5 µs - so"} {
		if err := titled(s).Write(filepath.Join(dir, fmt.Sprint(i, ".pdf"))); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if err := titled("a → b").Write(filepath.Join(dir, "f.pdf")); err == nil || !strings.Contains(err.Error(), "'→'") {
		t.Errorf("an arrow: %v", err)
	}
	if err := titled("a → b").Write(filepath.Join(dir, "f.svg")); err != nil {
		t.Errorf("an arrow in SVG: %v", err)
	}
}

func TestSortedSortsACopy(t *testing.T) {
	y := []float64{3, 1, 2}
	p := Panel{Kind: Sorted, Series: []Series{{Y: y}}}
	pts := p.points(&p.Series[0])
	if pts[0].Y != 1 || pts[2].Y != 3 || pts[2].X != 3 || y[0] != 3 {
		t.Errorf("points %v of %v", pts, y)
	}
}

func TestBadFigures(t *testing.T) {
	bad := map[string]*Figure{
		"no panels":   {},
		"no series":   {Panels: []Panel{{}}},
		"it is empty": {Panels: []Panel{{Series: []Series{{Name: "a"}}}}},
		"2 x for 1 y": {Panels: []Panel{{Series: []Series{{X: []float64{1, 2}, Y: []float64{1}}}}}},
		"1 values for 2 ticks": {Panels: []Panel{{
			Kind: Bars, Ticks: []string{"a", "b"},
			Series: []Series{{Y: []float64{1}}},
		}}},
		"value 2 is NaN": {Panels: []Panel{{
			Kind:   Sorted,
			Series: []Series{{Y: []float64{1, math.NaN()}}},
		}}},
		"x 1 is +Inf": {Panels: []Panel{{Series: []Series{{
			X: []float64{math.Inf(1)},
			Y: []float64{1},
		}}}}},
		"cannot be negative": {Panels: []Panel{{
			Kind: Stacked, Ticks: []string{"a"},
			Series: []Series{{Y: []float64{-1}}},
		}}},
		"the grid is empty":      {Panels: []Panel{{Kind: Heat}}},
		"row 2 has 2 columns":    {Panels: []Panel{{Kind: Heat, Grid: [][]float64{{1}, {1, 2}}}}},
		"row 1, column 1 is NaN": {Panels: []Panel{{Kind: Heat, Grid: [][]float64{{math.NaN()}}}}},
		"3 row names for 1 rows": {Panels: []Panel{{Kind: Heat, Grid: [][]float64{{1}}, YNames: names(3, "%d")}}},
		"the y axis goes from 2 to 1": {Panels: []Panel{{
			YMin: ptr(2), YMax: ptr(1),
			Series: []Series{{X: []float64{1}, Y: []float64{1}}},
		}}},
		"kind 77 does not exist": {Panels: []Panel{{Kind: 77, Series: []Series{{Y: []float64{1}}}}}},
	}
	for want, f := range bad {
		dir := t.TempDir()
		err := f.Write(filepath.Join(dir, "f.svg"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f.svg") {
			t.Errorf("got %v, want the file's name and %q", err, want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left", want, left)
		}
	}
	f := every()["bars"]
	for path, want := range map[string]string{
		"f.jpeg":                          "know .svg, .png and .pdf",
		filepath.Join("missing", "f.svg"): "missing",
	} {
		if err := f.Write(filepath.Join(t.TempDir(), path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// TestOddData: what the axes must survive.
func TestOddData(t *testing.T) {
	for name, p := range map[string]Panel{
		"one point":  {Series: []Series{{X: []float64{3}, Y: []float64{5}}}},
		"all equal":  {Kind: Sorted, Series: []Series{{Y: []float64{2, 2, 2}}}},
		"all zero":   {Kind: Bars, Ticks: []string{"a"}, Series: []Series{{Y: []float64{0}}}},
		"negative":   {Kind: Bars, Ticks: []string{"a"}, Series: []Series{{Y: []float64{-5}}}},
		"tiny":       {Kind: Heat, Grid: [][]float64{{1e-9}}},
		"huge":       {Kind: Sorted, Series: []Series{{Y: []float64{1e15, 2e15}}}},
		"bound past": {Kind: Sorted, Series: []Series{{Y: []float64{1, 2}}}, YMin: ptr(10)},
		"no ticks?":  {Kind: Bars, Ticks: []string{""}, Series: []Series{{Y: []float64{1}}}},
	} {
		f := Figure{Panels: []Panel{p}}
		path := filepath.Join(t.TempDir(), "f.svg")
		if err := f.Write(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Inf")) {
			t.Errorf("%s: %v, or not a number in the file", name, err)
		}
	}
}

// TestOneColourPerName: a system must not change its colour from panel to panel.
func TestOneColourPerName(t *testing.T) {
	f := Figure{Panels: []Panel{
		{Series: []Series{{Name: "UGPU"}, {Name: "BP"}}},
		{Series: []Series{{Name: "MPS"}, {Name: "UGPU"}, {}}},
	}}
	if got := fmt.Sprint(f.colored()[0].colors, f.colored()[1].colors); got != "[0 1] [2 0 2]" {
		t.Errorf("colours %s", got)
	}
}

// TestManySeries: series that share a colour differ in hatching, in bars and in the legend.
func TestManySeries(t *testing.T) {
	lines := func(n int) int {
		p := Panel{Kind: Bars, Ticks: []string{"a"}}
		for i := range n {
			p.Series = append(p.Series, Series{Name: fmt.Sprint("s", i), Y: []float64{float64(i + 1)}})
		}
		path := filepath.Join(t.TempDir(), "f.svg")
		if err := (&Figure{Title: "many", Panels: []Panel{p}}).Write(path); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("stroke-width:0.45"))
	}
	if n := lines(colors); n != 0 {
		t.Errorf("%d lines over %d series of different colours", n, colors)
	}
	if one, two := lines(colors+1), lines(2*colors+1); one == 0 || two <= one {
		t.Errorf("%d lines over series %d, %d with series %d", one, colors+1, two, 2*colors+1)
	}
}
