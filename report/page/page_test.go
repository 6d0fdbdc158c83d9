package page

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// moving is a run of two applications on 8 SMs and 4 channel groups, in which
// SM 3 and group 1 change hands at cycle 1000.
func moving() *sim.Result {
	r := &sim.Result{
		Version: sim.ResultVersion, SpecHash: "0123456789abcdef", Complete: true, Cycles: 4000, Seconds: 4e-6,
		Spec: sim.Spec{Machine: "ugpu", Sharing: sim.Sharing{Mode: "ugpu"}, Epoch: 500, Timeline: true, Profile: true},
		Tenants: []sim.Tenant{
			{
				Name: "PVC", SMs: 3, Channels: 12, Cycles: 4000, Runs: 1, IPC: 123.4, Slowdown: 1.75,
				L1HitRate: share(0.5), LLCHitRate: share(0.25), BandwidthGBs: 310.5, EnergyJ: 0.002,
				Kernels: []sim.Kernel{{Name: "pvc_map"}, {Name: "fill"}},
			},
			{
				Name: "DXTC", SMs: 5, Channels: 4, Cycles: 4000, Runs: 2, IPC: 987.6, Slowdown: 1.25,
				Kernels: []sim.Kernel{{Name: "compress"}, {Name: "fill"}},
			},
		},
		Metrics: &sim.Metrics{STP: 1.371, ANTT: 1.512, HS: 0.661, Fairness: 0.714, AloneIPC: []float64{215.9, 1234}},
		Energy: &sim.Energy{Total: 0.0042, Parts: []sim.EnergyPart{{Name: "sm", J: 0.002}, {
			Name: "static",
			J:    0.0022,
		}}},
		Warnings: []string{"an epoch is short"},
		Moved: &sim.Moved{
			Decisions: 3, Repartitions: 1, SMs: 1, Drained: 1, Groups: 1, PagesTouched: 11,
			PagesSwept: 22, PagesGained: 33,
		},
		Stalls: []sim.Stall{
			{Kernel: "pvc_map", File: "k.ptx", Line: 3, Cause: "memory", Cycles: 75},
			{Kernel: "pvc_map", File: "k.ptx", Line: 4, Cause: "barrier", Cycles: 25},
			{Tenant: 1, Kernel: "compress", File: "k.ptx", Line: 9, Cause: "dependency", Cycles: 50},
			{Tenant: 1, Kernel: "fill", File: "k.ptx", Line: 20, Cause: "memory", Cycles: 5},
		},
		Decisions: []sim.Decision{
			{
				Cycle: 1000, Changed: true,
				Policy: "ugpu", Begun: 1000,
				Sample: &control.Sample{Clock: control.Clock{Cycle: 1000, Epoch: 1}, Apps: []control.App{
					{
						Held: control.Held{Name: "PVC", SMs: 4, Groups: 2}, Cycles: 1000, Insts: 120000,
						LLCAccesses: 400,
						LLCHits:     100,
					},
					{Held: control.Held{Name: "DXTC", SMs: 4, Groups: 2}},
				}},
				Before: shares(4, 2, 4, 2), After: shares(3, 3, 5, 1),
				Why: []string{"PVC <b>is</b> memory-bound: degree 3.2"},
				SMs: []sim.SMMove{{
					SM: 3, From: "PVC", To: "DXTC", How: "drain", Start: 1000, End: 1600, CTAs: 2,
					Bytes: 4096,
				}},
				Groups: []sim.GroupMove{{
					Group: 2, From: "DXTC", To: "PVC", Start: 1000, Handed: 1300, Emptied: 2500,
					Touched: 11, Swept: 22, Gained: 33,
				}},
			},
			{Cycle: 2000, Why: []string{"settled"}},
			{Cycle: 3000, Why: []string{"settled"}},
		},
	}
	none := make([]uint64, len(sim.Columns()))
	for c := uint64(500); c <= 4000; c += 500 {
		r.Epochs = append(r.Epochs, sim.Epoch{Cycle: c, Tenants: []sim.EpochTenant{
			{SMs: 4, Channels: 8, IPC: 100 + float64(c)/100, BandwidthGBs: 300, Counts: none}, {
				SMs: 4, Channels: 8,
				IPC: 900, BandwidthGBs: 20, Counts: none,
			},
		}})
	}
	own := func(track string, tenant int) {
		r.Spans = append(r.Spans, sim.Span{Track: track, Name: r.Tenants[tenant].Name, End: 4000, Tenant: tenant})
	}
	for _, sm := range []string{"SM 00", "SM 01", "SM 02"} {
		own(sm, 0)
	}
	for _, sm := range []string{"SM 04", "SM 05", "SM 06", "SM 07"} {
		own(sm, 1)
	}
	own("channels 0", 0)
	own("channels 1", 0)
	own("channels 3", 1)
	r.Spans = append(r.Spans,
		sim.Span{Track: "SM 03", Name: "PVC", Start: 0, End: 1000}, sim.Span{
			Track: "SM 03", Name: "draining",
			Start: 1000, End: 1600,
		}, sim.Span{Track: "SM 03", Name: "DXTC", Start: 1600, End: 4000, Tenant: 1},
		sim.Span{Track: "channels 2", Name: "DXTC", Start: 0, End: 1000, Tenant: 1}, sim.Span{
			Track: "channels 2",
			Name:  "draining", Start: 1000, End: 1300, Tenant: 1,
		}, sim.Span{
			Track: "channels 2", Name: "PVC",
			Start: 1300, End: 4000,
		},
	)
	return r
}

func share(x float64) *float64 { return &x }

// still is a run under a static mode: no decisions, no owners of groups, cut short.
func still() *sim.Result {
	r := moving()
	r.Spec.Sharing = sim.Sharing{Mode: "smk", Name: "half"}
	r.Contexts = &sim.Contexts{CTAs: 55, Bytes: 6400, Cycles: 1000}
	r.Decisions, r.Moved, r.Metrics, r.Stalls = nil, nil, nil, nil
	r.Complete, r.Why = false, "interrupted"
	var spans []sim.Span
	for _, s := range r.Spans {
		if strings.HasPrefix(s.Track, "SM ") && s.Track != "SM 03" {
			spans = append(spans, s)
		}
	}
	r.Spans = spans
	return r
}

// fromDisk writes a result as heddle run does and reads it back: the page is made
// from directories alone.
func fromDisk(t *testing.T, label string, r *sim.Result) Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), label)
	d, err := report.BeginDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(r); err != nil {
		t.Fatal(err)
	}
	back, err := report.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return Run{Label: label, Result: back}
}

func TestPageSaysWhatTheResultSays(t *testing.T) {
	runs := []Run{fromDisk(t, "dynamic", moving()), fromDisk(t, "static", still())}
	text, err := Render(runs)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Render(runs)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the same runs gave another page (%v)", err)
	}
	for _, want := range []string{
		"<td>PVC</td><td>3</td><td>12</td><td>4000</td><td>0</td><td>123.4</td><td>215.9</td><td>1.75</td><td>50.0 " +
			"%</td><td>25.0 %</td><td>310.5</td>",
		"<td>1.371</td><td>1.512</td>", "4.2 mJ",
		"warning: an epoch is short",
		"PVC: cycles 1000, groups 2, insts 120000, llc accesses 400, llc hits 100, sms 4", "DXTC: groups 2, sms 4",
		"PVC: 4 → 3 SMs, 2 → 3 groups", "PVC: 4 → 3 SMs, 2 → 3 groups",
		"PVC &lt;b&gt;is&lt;/b&gt; memory-bound",
		"1 SM in 600 cycles", "1 channel group in 1500 cycles",
		"pages: 11 touched, 22 in background, 33 gained, 0 waiting",
		"SM 3: PVC → DXTC by drain at 1000, 600 cycles; 2 CTAs, 4096 bytes of context",
		"NOT COMPLETE: interrupted", "half (smk)", "<td>0</td><td>55</td><td>6400</td><td>1000</td><td>25.0 %</td>",
		"2 runs compared", "no verdict: it needs two complete runs of applications that share a machine",
		"memory 75.0 %", "memory 9.1 %", // of PVC, and of DXTC with the kernel that both launched
		"No owners of channel groups are recorded", "Kernels of PVC", "<th>nearest roof</th>",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, bad := range []string{"src=", "href=\"http", "url(http", "@import", "ZgotmplZ"} {
		if bytes.Contains(text, []byte(bad)) {
			t.Errorf("the page has %q: it must need nothing but itself", bad)
		}
	}
}

// TestFunctionalRunsHaveNoTime: a page must not show an IPC of zero where there is none.
func TestFunctionalRunsHaveNoTime(t *testing.T) {
	r := moving()
	r.Spec.Functional, r.Epochs, r.Spans, r.Stalls, r.Decisions, r.Moved = true, nil, nil, nil, nil, nil
	r.Tenants[0].WarpInsts = 4711
	text, err := Render([]Run{fromDisk(t, "functional", r)})
	if err != nil {
		t.Fatal(err)
	}
	for want, in := range map[string]bool{
		"executed without timing": true, "<td>4711</td>": true, "<th>IPC</th>": false,
		"IPC over time": false,
	} {
		if bytes.Contains(text, []byte(want)) != in {
			t.Errorf("the page says %q: want %v", want, in)
		}
	}
}

func TestChartsKeepOrder(t *testing.T) {
	c := newChart(Run{"x", moving()})
	var names []string
	for _, tr := range c.Tracks {
		names = append(names, tr.Name)
	}
	want := "SM 00,SM 01,SM 02,SM 03,SM 04,SM 05,SM 06,SM 07,channels 0,channels 1,channels 2,channels 3"
	if got := strings.Join(names, ","); got != want {
		t.Errorf("tracks %s", got)
	}
	if got, err := json.Marshal(c.Tracks[3].Spans); err != nil ||
		string(got) != `[{"start":0,"end":1000,"tenant":0},{"start":1000,"end":1600,"tenant":0,"state":"draining"},{"start":1600,"end":4000,"tenant":1}]` {
		t.Errorf("%v, SM 3: %s", err, got)
	}
}

func TestWriteFileIsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(filepath.Join(dir, "a.html"), nil); err == nil {
		t.Error("a page of no runs")
	}
	if err := WriteFile(filepath.Join(dir, "no", "a.html"), []Run{{"x", still()}}); err == nil ||
		!strings.Contains(err.Error(), "no") {
		t.Errorf("a missing folder: %v", err)
	}
	if err := WriteFile(filepath.Join(dir, "a.html"), []Run{{"x", still()}}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "a.html" {
		t.Errorf("%v, %v", left, err)
	}
}

// shares are those of PVC and DXTC: SMs, groups, SMs, groups.
func shares(n ...int) []control.Share {
	return []control.Share{
		{Name: "PVC", Alloc: control.Alloc{SMs: n[0], Groups: n[1]}},
		{Name: "DXTC", Alloc: control.Alloc{SMs: n[2], Groups: n[3]}},
	}
}

// Each SM that changes hands, is powered down or wakes is a line with its cost; what could
// not begin is one, too.
func TestMovesOfGatedSMs(t *testing.T) {
	_, list := moves(&sim.Decision{
		Cycle: 1000, Left: []string{"DXTC: +1 SM"},
		SMs: []sim.SMMove{
			{SM: 3, From: "PVC", Gate: true, How: "switch", Start: 1000, End: 1600, CTAs: 2, Bytes: 4096},
			{SM: 4, To: "PVC", How: "wake", Start: 1000, End: 2000},
			{SM: 5, To: "DXTC", How: "idle", Start: 1000},
		},
	})
	want := []string{
		"SM 3: PVC → gated by switch at 1000, 600 cycles; 2 CTAs, 4096 bytes of context",
		"SM 4: gated → PVC by wake at 1000, 1000 cycles; 0 CTAs, 0 bytes of context",
		"SM 5: nobody → DXTC by idle at 1000, unfinished at the end of the run; 0 CTAs, 0 bytes of context",
		"not begun, because what it gives was still changing hands: DXTC: +1 SM",
	}
	if !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
}
