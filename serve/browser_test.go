package serve

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/heddle-sim/heddle/internal/browser"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/live"
	"github.com/heddle-sim/heddle/sim"
)

var shots = flag.String("shots", "", "write screenshots into this folder")

// shot is the file of a screenshot, where some are asked for.
func shot(name string) string {
	if *shots == "" {
		return ""
	}
	return filepath.Join(*shots, name+".png")
}

// busySite has results of all kinds, a sweep that is on its way and one that died.
func busySite(t *testing.T) (x *site, address string, board *live.Board, follow func(cycle uint64)) {
	t.Helper()
	root := t.TempDir()
	x = &site{t: t, dir: t.TempDir()}
	var err error
	if x.store, err = lab.OpenStore(x.dir, "code"); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		mps := result("ugpu", []string{"mps", "bp", "ugpu"}[i%3], uint64(i), "PVC", "DXTC")
		mps.Spec.Set = map[string]string{"memory.unified.capacity": "75%", "llc.latency": fmt.Sprint(100 + i)}
		x.put(mps, alone(mps, 0), alone(mps, 1))
	}
	x.put(result("nuba", "alone", 99, "BFS"))
	dir := filepath.Join(root, "cut")
	if err := errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, sim.ResultFile), []byte(`{"version": 2, "spec`), 0o644)); err != nil {
		t.Fatal(err)
	}
	failed := &lab.Task{
		Hash: "f", Job: lab.Job{Label: "n=-7 <script>alert(1)</script> mps"},
		Err: errors.New("app.star:3: n is negative"),
	}
	if err := x.store.PutFailed(failed); err != nil {
		t.Fatal(err)
	}
	if board, err = live.Open(x.dir, "sweep", "channels.yaml", nil); err != nil {
		t.Fatal(err)
	}
	dead, err := json.Marshal(live.Status{
		Version: live.Version, ID: "dead", Kind: "reproduce", Title: "ugpu/fig10", Host: "node7", Todo: 9, Finished: 4,
		Begun: time.Now().Add(-2 * time.Hour), Updated: time.Now().Add(-time.Hour),
		Running: []live.Run{{Label: "unfinished"}}, Failed: []live.Failure{},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(x.dir, live.Dir, "dead.json"), dead, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	var jobs []lab.Job
	for i := range 12 {
		jobs = append(jobs, lab.Job{Label: fmt.Sprintf("channels=%d PVC+DXTC mps", 8+i), Spec: sim.Spec{
			Length: sim.Length{MaxCycles: 100_000},
		}})
	}
	board.Plan(jobs, 5)
	first, second := &lab.Task{Job: jobs[0]}, &lab.Task{Job: jobs[1], Err: failed.Err}
	watch, _ := board.Start(first)
	_, over := board.Start(second)
	over()
	board.Where("slurm: tasks: 1 run, 3 wait (Priority)")
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if x.s, err = New(ctx, Options{Store: x.dir, Roots: []string{root}}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(x.s)
	t.Cleanup(server.CloseClientConnections)
	x.web = server
	return x, server.URL, board, func(cycle uint64) {
		watch(sim.Progress{Cycle: cycle, MaxCycles: 100_000, CyclesPerS: 2_500})
	}
}

const countRows = `document.querySelectorAll("#results tbody tr").length`

// TestInABrowser loads the page, follows a sweep, searches, and compares runs.
func TestInABrowser(t *testing.T) {
	x, address, board, follow := busySite(t)
	follow(40_000)
	v := browser.Open(t, 1280, 900, address+"/")
	v.Until(`document.body.dataset.ready === "yes" && ` + countRows + ` === 93`)
	v.Until(`document.querySelector(".process .speed")?.textContent.includes("2500 cycles/s, 24 s left")`)
	text := browser.Eval[string](v, `document.querySelector("#processes").innerText`)
	for _, want := range []string{
		"sweep channels.yaml", "1 of 12 runs done, 5 kept from before", "slurm: tasks: 1 run, 3 wait (Priority)",
		"10 wait", "1 failed", "app.star:3: n is negative",
		"reproduce ugpu/fig10", "4 of 9 runs done, died without a word, last heard of",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q of what runs:\n%s", want, text)
		}
	}
	if strings.Contains(text, "unfinished") {
		t.Errorf("what a dead process was at is shown as if it ran:\n%s", text)
	}
	if s := browser.Eval[string](v, `document.querySelector("tr.malformed .state").innerText`); !strings.Contains(s, "malformed") {
		t.Errorf("%q", s)
	}
	if n := browser.Eval[int](v, `document.querySelectorAll("script").length`); n != 1 {
		t.Errorf("%d scripts: one came out of a label", n)
	}
	v.Shot(shot("serve"))

	follow(90_000) // live: the simulation goes on, a result appears
	v.Until(`document.querySelector(".process .speed").textContent.includes("4 s left")`)
	x.put(result("nuba", "alone", 100, "LATEST"))
	v.Until(`document.querySelector("#results tbody tr .apps").innerText === "LATEST"`)
	if err := board.Close(true); err != nil {
		t.Fatal(err)
	}
	v.Until(`document.querySelector(".process.ended") !== null`)
	if browser.Eval[bool](v, `document.querySelector(".process.ended .bar") !== null`) {
		t.Error("what has ended is shown with a bar, as if it ran")
	}

	browser.Eval[bool](v, `(() => { const s = document.getElementById("search"); s.value = "machine:ugpu policy:mps is:shared";
		s.dispatchEvent(new Event("input")); return true; })()`)
	v.Until(countRows + ` === 10 && document.getElementById("count").textContent === "10 of 94"`)
	if s := browser.Eval[string](v, `document.querySelector("#results td[data-name=STP]").innerText`); s != "1.000" {
		t.Errorf("STP %q", s)
	}
	browser.Eval[bool](v, `document.querySelector("#results [data-sort=cycles]").click() || true`)
	v.Until(`document.querySelector("#results td[data-name=cycles]").innerText === "1027"`)
	browser.Eval[bool](v, `(() => { const b = document.querySelectorAll("#results .pick input"); b[0].click(); b[3].click(); return true; })()`)
	if s := browser.Eval[string](v, `document.getElementById("compare").textContent`); s != "compare 2" {
		t.Errorf("%q", s)
	}
	v.Shot(shot("search"))
	v.Silent()
	browser.Eval[bool](v, `document.getElementById("compare").click() || true`)
	v.Until(`document.body?.dataset.ready === "yes" && document.querySelectorAll("#compare tbody tr").length === 2`)
	if browser.Eval[bool](v, `[...document.querySelectorAll(".wide")].some((e) => e.scrollWidth > e.clientWidth)`) {
		t.Error("a table of the comparison is cut on the right")
	}
	v.Shot(shot("compare"))
	browser.Eval[bool](v, `history.back() || true`)
	v.Until(`document.getElementById("search")?.value === "machine:ugpu policy:mps is:shared" && ` + countRows + ` === 10`)
	browser.Eval[bool](v, `document.querySelector("#results .apps a").click() || true`)
	v.Until(`document.body?.dataset.ready === "yes" && document.querySelector("#run-0") !== null`)
}

// TestOnAPhone: nothing is wider than the screen, and what can be touched is large enough.
func TestOnAPhone(t *testing.T) {
	_, address, _, follow := busySite(t)
	follow(40_000)
	v := browser.Open(t, 390, 844, address+"/")
	v.Until(`document.body.dataset.ready === "yes" && ` + countRows + ` === 93`)
	v.Shot(shot("phone"))
	if w := browser.Eval[int](v, `document.documentElement.scrollWidth`); w > 390 {
		wide := browser.Eval[string](v, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 391)
			.slice(0, 5).map((e) => e.outerHTML.slice(0, 90)).join("\n")`)
		t.Errorf("the page is %d wide: %s", w, wide)
	}
	if h := browser.Eval[[]float64](v, `[...document.querySelectorAll("#search, #compare, .pick input")].slice(0, 4)
		.map((e) => e.getBoundingClientRect().height)`); h[0] < 36 || h[1] < 36 || h[2] < 20 {
		t.Errorf("heights of search, compare, check box: %v", h)
	}
	if s := browser.Eval[string](v, `document.querySelector("#results tbody tr").innerText`); !strings.Contains(s, "cycles") &&
		!strings.Contains(s, "malformed") && !strings.Contains(s, "failed") {
		t.Errorf("a result's card says %q", s)
	}
	for _, width := range []int64{320, 600, 800, 901, 1100} {
		v.Do(chromedp.EmulateViewport(width, 800))
		if w := browser.Eval[int64](v, `document.documentElement.scrollWidth`); w > width {
			t.Errorf("on a screen of %d the page is %d wide", width, w)
			v.Shot(shot(fmt.Sprint("wide", width)))
		}
	}
	v.Silent()
}

// TestServerGoesAway: the page says so, and finds it again.
func TestServerGoesAway(t *testing.T) {
	x, address, _, _ := busySite(t)
	v := browser.Open(t, 1000, 700, address+"/")
	v.Until(`document.body.dataset.ready === "yes" && document.getElementById("state").textContent === "live"`)
	if err := x.web.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	x.web.CloseClientConnections()
	v.Until(`document.getElementById("state").textContent.includes("does not answer")`)
	again, err := net.Listen("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	back := httptest.NewUnstartedServer(x.s)
	if err := back.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	back.Listener = again
	back.Start()
	t.Cleanup(back.CloseClientConnections)
	v.Until(`document.getElementById("state").textContent === "live"`)
}

// TestStudyInABrowser opens a study from the list, and sees its figures.
func TestStudyInABrowser(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s, err := New(ctx, Options{Roots: []string{"../paper/ugpu/results/standard"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	v := browser.Open(t, 390, 844, server.URL+"/")
	v.Until(`document.querySelector("#studies a")?.innerText.startsWith("ugpu, scale standard")`)
	v.Shot(shot("studies"))
	browser.Eval[bool](v, `document.querySelector("#studies a").click() || true`)
	v.Until(`document.querySelectorAll("section.figure").length > 5`)
	browser.Eval[bool](v, `document.querySelectorAll("img").forEach((i) => { i.loading = "eager"; }) || true`)
	v.Until(`[...document.images].every((i) => i.complete && i.naturalWidth > 100)`)
	names := browser.Eval[[]string](v, `[...document.querySelectorAll("section.figure")].map((e) => e.id)`)
	four, ten := slices.Index(names, "fig4"), slices.Index(names, "fig10")
	if four < 0 || ten < four {
		t.Errorf("the order of figures: %v", names)
	}
	if w := browser.Eval[int](v, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("the study's page is %d wide", w)
	}
	if twice := browser.Eval[bool](v, `[...document.querySelectorAll("section.figure img")].some(
		(i) => i.parentElement.querySelector("h2").innerText === i.alt)`); twice {
		t.Error("a title stands above a figure that has it already")
	}
	v.Shot(shot("study"))
	v.Silent()
}
