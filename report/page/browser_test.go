package page

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/heddle-sim/heddle/internal/browser"
)

var shot = flag.String("shot", "", "write a screenshot of the page to this PNG file")

// open shows a page of the runs.
func open(t *testing.T, runs []Run) *browser.Page {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := WriteFile(path, runs); err != nil {
		t.Fatal(err)
	}
	v := browser.Open(t, 1280, 900, "file://"+path)
	v.Do(chromedp.WaitReady("body[data-ready=yes]"))
	return v
}

// painted counts the pixels of a canvas that have exactly a colour.
func painted(v *browser.Page, canvas, color string) int {
	return browser.Eval[int](v, fmt.Sprintf(`(() => {
		const c = document.querySelector(%q), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		const want = [1, 3, 5].map((i) => parseInt(%q.slice(i, i + 2), 16));
		let n = 0;
		for (let i = 0; i < d.length; i += 4) if (d[i] === want[0] && d[i+1] === want[1] && d[i+2] === want[2]) n++;
		return n;
	})()`, canvas, color))
}

// drag presses the mouse at one fraction of an element's width and releases it at another.
func drag(v *browser.Page, element string, from, to float64) {
	browser.Eval[bool](v, fmt.Sprintf(`(document.querySelector(%q).scrollIntoView({block: "center"}), true)`, element))
	box := browser.Eval[[]float64](v,
		fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`, element))
	y := box[1] + box[3]/2
	at := func(f float64) float64 { return box[0] + f*box[2] }
	v.Do(
		chromedp.MouseEvent(chromedp.MouseMoved, at(from), y),
		chromedp.MouseEvent(chromedp.MousePressed, at(from), y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, at((from+to)/2), y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, at(to), y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, at(to), y, chromedp.ButtonLeft),
	)
}

func TestInABrowser(t *testing.T) {
	v := open(t, []Run{fromDisk(t, "dynamic", moving()), fromDisk(t, "static", still())})
	v.FullShot(*shot)
	if cut := browser.Eval[string](v, `[...document.querySelectorAll(".wide")].filter((e) => e.scrollWidth > e.clientWidth)
		.map((e) => e.innerText.slice(0, 60)).join("; ")`); cut != "" {
		t.Errorf("tables are cut on the right: %s", cut)
	}
	for _, canvas := range []string{
		"#owners-0 canvas", "#ipc-0 canvas", "#bandwidth-0 canvas", "#owners-1 canvas",
		"#ipc-1 canvas",
	} {
		for i := range 2 {
			if n := painted(v, canvas, palette(i)); n < 100 {
				t.Errorf("%s: %d pixels in the colour of tenant %d", canvas, n, i)
			}
		}
	}
	for i, c := range []string{"#009e73", "#56b4e9", "#d55e00"} { // gained, in background, touched
		if n := painted(v, "#pages-0 canvas", c); n < 50 {
			t.Errorf("pages: %d pixels in colour %d", n, i)
		}
	}
	// SM 3's row: the first owner, hatched, the second owner.
	row := browser.Eval[[]int](v, `(() => {
		const c = document.querySelector("#owners-0 canvas"), w = c.width - 94, g = c.getContext("2d");
		const kinds = (lo, hi) => { const d = g.getImageData(70 + lo * w, 33, (hi - lo) * w, 4).data;
			let a = 0, b = 0, white = 0;
			for (let i = 0; i < d.length; i += 4) {
				if (d[i] === 0 && d[i+1] === 0x72) a++;
				if (d[i] === 0xe6 && d[i+1] === 0x9f) b++;
				if (d[i] > 250 && d[i+2] > 250) white++; }
			return [a, b, white].map((n) => Math.round(400 * n / d.length)); };
		return [...kinds(0.02, 0.23), ...kinds(0.26, 0.39), ...kinds(0.41, 0.98)];
	})()`)
	if row[0] < 90 || row[1] != 0 || row[3] > 70 || row[5] < 20 || row[7] < 90 || row[6] != 0 {
		t.Errorf("SM 3, percent of first owner, second owner and white before, during and after its move: %v", row)
	}
	if text := browser.Eval[string](v, `document.querySelector("#run-0 .metrics").innerText`); !strings.Contains(text,
		"123.4") || !strings.Contains(text, "1.371") {
		t.Errorf("the tables say %q", text)
	}
	v.Silent()
}

func TestZoomAndHover(t *testing.T) {
	v := open(t, []Run{fromDisk(t, "dynamic", moving()), fromDisk(t, "static", still())})
	rangeOf := func(run int) []float64 {
		return browser.Eval[[]float64](v, fmt.Sprintf(`document.getElementById("run-%d").group.range`, run))
	}
	near := func(got []float64, lo, hi float64) bool {
		return len(got) == 2 && got[0] > lo-50 && got[0] < lo+50 && got[1] > hi-50 && got[1] < hi+50
	}
	third := func() int { // the red of SM 3's row a tenth from the left: who owned it at cycle 400, or 2100 when zoomed
		return browser.Eval[int](v,
			`(() => { const c = document.querySelector("#owners-0 canvas"); return c.getContext("2d").getImageData(70 + 0.1 * (c.width - 94), 34, 1, 1).data[0]; })()`)
	}
	before := third()
	drag(v, "#ipc-0 .u-over", 0.5, 0.75)
	if got := rangeOf(0); !near(got, 2000, 3000) {
		t.Errorf("after the drag over the IPC plot the run shows cycles %v", got)
	}
	for _, plot := range []string{"ipc-0", "bandwidth-0", "pages-0"} {
		if got := browser.Eval[[]float64](v,
			fmt.Sprintf(`(() => { const s = document.getElementById(%q).uplot.scales.x; return [s.min, s.max]; })()`,
				plot)); !near(got, 2000, 3000) {
			t.Errorf("%s shows cycles %v: plots of a run zoom together", plot, got)
		}
	}
	if after := third(); before != 0x00 || after != 0xe6 {
		t.Errorf("the owners' map did not zoom: SM 3's red is %#x before and %#x after, want that of the first and "+
			"the second tenant", before, after)
	}
	if got := rangeOf(1); got[0] != 0 || got[1] != 4000 {
		t.Errorf("the other run shows %v: it must not zoom along", got)
	}
	browser.Eval[bool](v, `document.querySelector("#owners-0 canvas").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}))`)
	if got := rangeOf(0); got[0] != 0 || got[1] != 4000 {
		t.Errorf("after the double click the run shows %v", got)
	}
	drag(v, "#owners-0 canvas", 0.5, 0.8)
	if got := rangeOf(0); got[0] < 1500 || got[1] > 3500 {
		t.Errorf("after the drag over the map the run shows %v", got)
	}
	tip := browser.Eval[string](v, `(() => {
		document.getElementById("run-0").group.reset();
		const c = document.querySelector("#owners-0 canvas"), r = c.getBoundingClientRect();
		c.dispatchEvent(new MouseEvent("mousemove",
			{clientX: r.left + 70 + 0.3 * (r.width - 94), clientY: r.top + 34}));
		const tip = document.querySelector("#owners-0 .tip");
		return tip.hidden ? "hidden" : tip.textContent;
	})()`)
	if !strings.HasPrefix(tip, "SM 03 at cycle 1") || !strings.HasSuffix(tip, ": draining (PVC), 1000 to 1600") {
		t.Errorf("the tip says %q", tip)
	}
	rows := browser.Eval[[]int](v, `(() => {
		const box = document.querySelector("#run-0 input.only");
		const seen = () => [...document.querySelectorAll("#decisions-0 tbody tr")]
			.filter((r) => r.offsetHeight > 0).length;
		const all = seen(); box.click(); return [all, seen()];
	})()`)
	if rows[0] != 3 || rows[1] != 1 {
		t.Errorf("%d decisions are shown, %d of them where something moved", rows[0], rows[1])
	}
	v.Silent()
}
