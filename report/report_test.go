package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/parquet-go/parquet-go"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func share(x float64) *float64 { return &x }

// epoch is a tenant's part of one, with one counter.
func epoch(ipc float64, name string, n uint64) sim.EpochTenant {
	e := sim.EpochTenant{SMs: 40, Channels: 16, IPC: ipc}
	for _, c := range sim.Columns() {
		x := uint64(0)
		if c.Name == name {
			x = n
		}
		e.Counts = append(e.Counts, x)
	}
	return e
}

// sample is a small result with something of everything.
func sample() *sim.Result {
	return &sim.Result{
		Version: sim.ResultVersion, SpecHash: "abc", Complete: true, Cycles: 2000, Seconds: 2e-6,
		Spec: sim.Spec{
			Machine: "qv100", Sharing: sim.Sharing{Mode: "bp", Name: "bp"}, Epoch: 1000, Timeline: true, Profile: true,
			Apps: []sim.App{{Name: "triad"}, {Name: "cp"}},
		},
		Tenants: []sim.Tenant{
			{
				Name: "triad", SMs: 40, Channels: 16, Window: sim.Window{Of: sim.OfExecutions, Start: 5, End: 2000},
				Cycles: 1995, Runs: 1, Executions: 1,
				ThreadInsts: 1000, IPC: 123.456, Slowdown: 2, L1HitRate: share(0.5), LLCHitRate: share(0.25),
				BandwidthGBs: 300, Faults: 3, EnergyJ: 0.0012,
				Progress: "executions", Time: sim.Time{Kernels: 1290, Copies: 100, Gaps: 605}, Log: []string{"hello"},
				Kernels: []sim.Kernel{
					{
						Name: "k", Start: 10, End: 900, CTAsPerSM: 8, Theoretical: 0.5, Achieved: 0.25,
						ThreadInsts: 890,
						WarpInsts:   30, Roof: "DRAM", RoofShare: 0.75, TopStall: "memory",
					},
					{Name: "k2", Start: 500, End: 1200, CTAsPerSM: 1, Roof: "issue", Overlapped: true},
					{
						Name: "k", Start: 1200, End: 1300, CTAsPerSM: 8, Theoretical: 0.5, Achieved: 0.5, Roof: "issue",
						RoofShare: 0.1,
					},
					{Name: "late", Start: 1900, End: 2100},
				},
			},
			{
				Name: "cp", SMs: 40, Channels: 32, SharedChannels: true, Window: sim.Window{Of: sim.OfRun, End: 2000},
				Cycles: 2000, Executions: 0.5,
				ThreadInsts: 3000, IPC: 1000.4, Slowdown: 1.25, L1HitRate: share(1), BandwidthGBs: 0.001,
				EnergyJ: 0.0005, Time: sim.Time{Gaps: 2000},
			},
		},
		Outside: &sim.Outside{ThreadInsts: 1000, EnergyJ: 0.0002},
		Metrics: &sim.Metrics{STP: 1.3, ANTT: 1.625, HS: 0.615, Fairness: 0.625, AloneIPC: []float64{246.9, 1250}},
		Checks: []sim.Check{
			{App: "triad", What: "check(c)", OK: true},
			{App: "cp", What: "check(d)", Msg: "index 3: 1 != 2"},
		},
		Energy: &sim.Energy{
			Total: 0.002, Outside: 0.0002, Nobody: 0.0001,
			Parts: []sim.EnergyPart{{Name: "sm", J: 0.001}, {Name: "noc_request", J: 0.0001}, {
				Name: "noc_reply",
				J:    0.0002,
			}, {Name: "dram", J: 0.0003}, {Name: "static", J: 0.0004}},
		},
		Epochs: []sim.Epoch{
			{
				Cycle: 1000, ChannelBytes: []uint64{64, 0},
				Tenants: []sim.EpochTenant{epoch(0.005, "thread_insts", 5), epoch(0, "dram_bytes", 64)},
			},
			{
				Cycle: 2000, ChannelBytes: []uint64{0, 7},
				Tenants: []sim.EpochTenant{epoch(0, "thread_insts", 7), epoch(0, "dram_bytes", 0)},
			},
		},
		Spans: []sim.Span{
			{Track: "kernels/triad", Name: "k", Start: 10, End: 900},
			{Track: "kernels/triad", Name: "k2", Start: 500, End: 1200},
			{Track: "SM 00", Name: "triad", Start: 0, End: 2000},
			{Track: "copies", Name: "fill", Start: 0, End: 10, Tenant: 1},
		},
		Decisions: []sim.Decision{
			{
				Policy: "ugpu", Cycle: 1000, Begun: 1000, Why: []string{"cp is slow"}, Changed: true,
				// Read back, samples and plans are what package json makes of them.
				Sample: map[string]any{"cycle": 1000.0, "apps": []any{
					map[string]any{"name": "triad", "sms": 41.0},
					map[string]any{"name": "cp", "sms": 39.0},
				}},
				Plan: map[string]any{"apps": []any{
					map[string]any{"name": "triad", "sms": 40.0},
					map[string]any{"name": "cp", "sms": 40.0},
				}},
				After: []control.Share{
					{Name: "triad", Alloc: control.Alloc{SMs: 40, Groups: 4}},
					{Name: "cp", Alloc: control.Alloc{SMs: 40, Groups: 4}},
				},
				Before: []control.Share{
					{Name: "triad", Alloc: control.Alloc{SMs: 41, Groups: 4}},
					{Name: "cp", Alloc: control.Alloc{SMs: 39, Groups: 4}},
				},

				SMs: []sim.SMMove{{SM: 40, From: "triad", To: "cp", How: "drain", Start: 1000, End: 1500, CTAs: 3}},
				Groups: []sim.GroupMove{{
					Group: 10, From: "triad", To: "cp", Start: 1000, Handed: 1200, Touched: 5,
					Swept: 6, Gained: 7, Waiting: 8,
				}},
			},
			{Cycle: 2000, Why: []string{"settled"}},
		},
		Stalls: []sim.Stall{
			{Kernel: "k", File: "kernel.ptx", Line: 12, Cause: "memory", Cycles: 500},
			{Kernel: "k", File: "kernel.ptx", Line: 12, Cause: "none", Issues: 9},
			{Kernel: "k", File: "kernel.ptx", Line: 14, Cause: "dependency", Cycles: 30, Issues: 0},
			{Tenant: 1, Kernel: "other", File: "kernel.ptx", Line: 40, Cause: "barrier", Cycles: 70},
		},
		Tables: []sim.Counters{{
			Owner: "dram", Tenant: "cp",
			Values: []sim.Value{{Desc: stat.Desc{Name: "reads", Unit: "requests"}, N: 4}},
		}},
		Wall: sim.Wall{Seconds: 0.5, CyclesPerS: 4000, WarpInstsPerS: 2.5e6},
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v); got:\n%s\nwant:\n%s", file, err, got, want)
	}
}

func TestTables(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, sample(), false); err != nil {
		t.Fatal(err)
	}
	partial := sample()
	partial.Complete, partial.Why, partial.Metrics, partial.Energy, partial.Checks = false, "interrupted", nil, nil, nil
	partial.Tenants = partial.Tenants[:1]
	b.WriteString("----\n")
	if err := Table(&b, partial, false); err != nil {
		t.Fatal(err)
	}
	sliced := sample()
	sliced.Tenants[1].SharedSMs = true
	sliced.Contexts = &sim.Contexts{Turns: 1, CTAs: 2820, Bytes: 31_400_000, Cycles: sliced.Cycles / 4}
	b.WriteString("----\n")
	if err := Table(&b, sliced, false); err != nil {
		t.Fatal(err)
	}
	functional := sample()
	functional.Spec.Functional = true
	b.WriteString("----\n")
	if err := Table(&b, functional, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "tables.txt", b.Bytes())
	b.Reset()
	if err := Table(&b, sample(), true); err != nil {
		t.Fatal(err)
	}
	golden(t, "wide.txt", b.Bytes())
}

// with is a sample under another sharing mode.
func with(name string, stp, antt, fair float64) *sim.Result {
	r := sample()
	r.Spec.Sharing.Name = name
	r.Metrics.STP, r.Metrics.ANTT, r.Metrics.Fairness = stp, antt, fair
	return r
}

func TestComparison(t *testing.T) {
	var b bytes.Buffer
	partial := with("cut", 9, 0.1, 1)
	partial.Complete, partial.Metrics = false, nil
	if err := Comparison(&b, []*sim.Result{
		with("bp", 1.3, 1.6, 0.6), with("mps", 1.5, 1.8, 0.6), nil,
		partial,
	}, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.txt", b.Bytes())
	if v := Verdict([]*sim.Result{with("a", 1, 2, 0.5), partial}, nil); !strings.Contains(v, "no verdict") {
		t.Errorf("verdict %q from one complete run", v)
	}
	for _, c := range []struct {
		second float64
		want   string
	}{{1.0099, "STP: tie of a, b (1.010 to 1.000, less than 1 % apart)"}, {
		1.0201,
		"STP: b wins with 1.020, 2.0 % better than a",
	}} {
		if v := Verdict([]*sim.Result{with("a", 1, 2, 0.5), with("b", c.second, 1.5, 0.5)}, nil); !strings.HasPrefix(v,
			c.want) {
			t.Errorf("verdict %q, want %q", v, c.want)
		}
	}
	more := with("more", 1, 1, 1)
	more.Tenants[0].ThreadInsts = 1250
	if u := Unequal([]*sim.Result{sample(), more}); !strings.Contains(u,
		"unequal work (the runs differ in thread instructions of triad by 20 %)") {
		t.Errorf("%q", u)
	}
	if u := Unequal([]*sim.Result{sample(), sample()}); u != "" {
		t.Errorf("equal work is called %q", u)
	}
	swapped := sample()
	slices.Reverse(swapped.Tenants)
	if u := Unequal([]*sim.Result{sample(), swapped}); u != "" {
		t.Errorf("equal work in another order is called %q", u)
	}
	swapped.Tenants[0].CPU = &sim.TenantCPU{Insts: 4000}
	onCPU := sample()
	onCPU.Tenants[1].CPU = &sim.TenantCPU{Insts: 3000}
	if u := Unequal([]*sim.Result{onCPU, swapped}); !strings.Contains(u, "(the runs differ in CPU instructions of "+
		"cp by 25 %)") {
		t.Errorf("work on CPU cores: %q", u)
	}
	want := "STP: tie of a, b (1.000); ANTT: b wins with 1.500, 25.0 % better than a; fairness: tie of a, b (0.500)"
	if v := Verdict([]*sim.Result{with("a", 1, 2, 0.5), with("b", 1, 1.5, 0.5)}, nil); v != want {
		t.Errorf("verdict %q", v)
	}
	named := Verdict([]*sim.Result{with("alone", 1, 2, 0.5), with("alone", 1, 1.5, 0.5)}, []string{"flat", "cache"})
	if !strings.Contains(named, "ANTT: cache wins with 1.500, 25.0 % better than flat") {
		t.Errorf("verdict %q of runs with names", named)
	}
	other := with("b", 1, 1.5, 0.5)
	other.Tenants[0].Name = "other"
	if v := Verdict([]*sim.Result{with("a", 1, 2, 0.5), other}, nil); !strings.Contains(v, "the runs have different "+
		"app") {
		t.Errorf("verdict %q of runs of different applications", v)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	for _, err := range []error{EpochsCSV(&b, r), CountersCSV(&b, r), ComparisonCSV(&b, []*sim.Result{r, nil})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "rows.csv", b.Bytes())
}

func TestParquetReadsBack(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	r.Wall.Version = "v1.2.3"
	if err := EpochsParquet(&b, r); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[struct {
		Cycle       uint64 `parquet:"cycle"`
		Tenant      string `parquet:"tenant"`
		ThreadInsts uint64 `parquet:"thread_insts"`
		DRAMBytes   uint64 `parquet:"dram_bytes"`
	}](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"spec_hash": "abc", "heddle": "v1.2.3", "unit.dram_gb_per_s": "GB/s",
		"unit.thread_insts": "instructions",
	} {
		if got, ok := f.Lookup(key); !ok || got != want {
			t.Errorf("metadata %s: %q, want %q", key, got, want)
		}
	}
	if len(rows) != 4 || rows[1].Tenant != "cp" || rows[1].DRAMBytes != 64 || rows[2].ThreadInsts != 7 ||
		rows[2].Cycle != 2000 {
		t.Errorf("got %+v", rows)
	}
}

func TestTimelineIsATrace(t *testing.T) {
	var b bytes.Buffer
	if err := Timeline(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatalf("%v in\n%s", err, b.Bytes())
	}
	lanes := map[int][]traceEvent{}
	names := map[string]bool{}
	var ipc []float64
	for _, e := range trace.TraceEvents {
		if e.Phase == "C" && e.Name == "triad IPC" {
			ipc = append(ipc, e.TS, e.Args["IPC"].(float64))
		}
		if e.Phase == "X" {
			lanes[e.TID] = append(lanes[e.TID], e)
		}
		if e.Name == "thread_name" {
			names[e.Args["name"].(string)] = true
		}
	}
	if !slices.Equal(ipc, []float64{0, 0.005, 1, 0}) { // from the begins of epochs on, in us
		t.Errorf("counter track of IPC: %v", ipc)
	}
	for tid := range lanes { // the policy's bars are TestTimelineTellsOfThePolicy's
		if lanes[tid][0].PID == pidPolicy {
			delete(lanes, tid)
		}
	}
	if len(lanes) != 4 || !names["triad"] || !names["triad (2)"] || !names["SM 00"] || !names["copies"] {
		t.Errorf("%d lanes named %v", len(lanes), names)
	}
	for tid, l := range lanes { // events of a thread must nest; here they must not even touch
		for i := 1; i < len(l); i++ {
			if l[i].TS < l[i-1].TS+l[i-1].Dur {
				t.Errorf("thread %d: %+v overlaps %+v", tid, l[i], l[i-1])
			}
		}
	}
	for _, e := range trace.TraceEvents {
		if e.Name == "k2" && (e.TS != 0.5 || e.Dur != 0.7) { // 1 GHz: 500 cycles are 0.5 us
			t.Errorf("k2 at %g for %g us", e.TS, e.Dur)
		}
	}
}

func TestProfileWorksWithGoToolPprof(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stalls.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Profile(f, sample()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 4 || p.Sample[0].Value[0] != 500 || p.Sample[0].Label["cause"][0] != "memory" {
		t.Errorf("samples %+v", p.Sample)
	}
	go1, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command(go1, "tool", "pprof", "-top", "-lines", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"500", "k kernel.ptx:12", "other kernel.ptx:40"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("go tool pprof -top does not show %q:\n%s", want, out)
		}
	}
}

// TestProfileNamesSources: a PTX line stands inlined in the line of the source that its .loc
// names, files have the application's folder, and samples their tenant.
func TestProfileNamesSources(t *testing.T) {
	dir := t.TempDir()
	ptx := `.version 6.4
.entry k() {
	.loc	1 5 0
	mov.u32 %r1, 1;
	add.u32 %r1, %r1, 1;
	.loc	1 7 3, function_name $L__info, inlined_at 1 9 1
	ret;
}
.entry other() {
	ret;
}
	.file	1 "./kernel.cu"
`
	if err := os.WriteFile(filepath.Join(dir, "kernel.ptx"), []byte(ptx), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sample()
	r.Spec.Apps[0].Path, r.Spec.Apps[1].Path = dir, dir
	r.Stalls = []sim.Stall{
		{Kernel: "k", File: "kernel.ptx", Line: 5, Cause: "memory", Cycles: 500},
		{Kernel: "k", File: "kernel.ptx", Line: 7, Cause: "memory", Cycles: 5},
		{Tenant: 1, Kernel: "other", File: "kernel.ptx", Line: 10, Cause: "memory", Cycles: 3},
	}
	var b bytes.Buffer
	if err := Profile(&b, r); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sample {
		text := s.Label["tenant"][0]
		for _, l := range s.Location[0].Line {
			text += fmt.Sprintf(" %s:%d", strings.TrimPrefix(l.Function.Filename, dir+"/"), l.Line)
		}
		got = append(got, text)
	}
	want := []string{"triad kernel.ptx:5 kernel.cu:5", "triad kernel.ptx:7 kernel.cu:7", "cp kernel.ptx:10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	back := sample()
	back.Spec, back.Stalls = r.Spec, nil
	if err := readStalls(b.Bytes(), back); err != nil || !reflect.DeepEqual(back.Stalls, r.Stalls) {
		t.Errorf("%v: %+v", err, back.Stalls)
	}
}

func TestDirAppearsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "one")
	d, err := BeginDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path(), "saved.bin"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the directory exists before Commit")
	}
	if err := d.Commit(sample()); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(sim.ResultFiles(), "saved.bin") {
		if _, err := os.Stat(filepath.Join(path, f)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(path, sim.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	var back sim.Result
	if err := json.Unmarshal(text, &back); err != nil || back.Tenants[0].IPC != 123.456 || back.Metrics.STP != 1.3 {
		t.Errorf("%v, %+v", err, back)
	}
	// A second result replaces Heddle's files, not the user's.
	if err := os.WriteFile(filepath.Join(path, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	second := sample()
	second.Spec.Timeline, second.Cycles = false, 77
	if d, err = BeginDir(path); err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(second); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(path, "timeline.json")); err == nil {
		t.Error("a stale timeline.json stays")
	}
	for _, f := range []string{"notes.txt", "saved.bin"} {
		if _, err := os.Stat(filepath.Join(path, f)); err != nil {
			t.Errorf("%s is lost: %v", f, err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("leftovers beside the result: %v, %v", left, err)
	}
}

func TestDirRefusesForeignOnes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := BeginDir(dir); err == nil ||
		!strings.Contains(err.Error(), "is not empty and holds no earlier result") {
		t.Errorf("got %v", err)
	}
	d, err := BeginDir(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Abort(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("Abort leaves %v, %v", left, err)
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{"bp-bs": "bp-bs", "a/b c": "a-b-c", "..": "run", "": "run"} {
		if got := FileName(in); got != want {
			t.Errorf("FileName(%q) = %q, want %q", in, got, want)
		}
	}
}

// A tenant without kernels, such as one on CPU cores, has no table of them.
func TestNoKernelsNoTable(t *testing.T) {
	x := sim.Tenant{Cycles: 100, Time: sim.Time{Gaps: 1}}
	if rows, _ := KernelRows(&x); len(rows) > 0 {
		t.Errorf("rows %v", rows)
	}
}

// Runs of one application alone are compared by their time, where all did the same work to the end.
func TestVerdictOfRunsAlone(t *testing.T) {
	one := func(name string, seconds float64) *sim.Result {
		r := with(name, 1, 1, 1)
		r.Tenants, r.Metrics, r.Seconds = r.Tenants[:1], nil, seconds
		r.Spec.Length = sim.Length{}
		return r
	}
	budget, more, functional := one("b", 1), one("b", 1), one("b", 0)
	budget.Spec.Length.MaxCycles = 1000
	more.Tenants[0].ThreadInsts *= 2
	functional.Spec.Functional = true
	for want, b := range map[string]*sim.Result{
		"time: a wins with 2 ms, 20.0 % better than b":                   one("b", 2.5e-3),
		"time: tie of a, b (2 ms to 2.01 ms, less than 1 % apart)":       one("b", 2.01e-3),
		"no verdict: the runs did different amounts of work":             more,
		"no verdict: it needs two complete runs of applications that s":  budget,
		"no verdict: it needs two complete runs of applications that sh": functional,
	} {
		if v := Verdict([]*sim.Result{one("a", 2e-3), b}, nil); !strings.HasPrefix(v, want) {
			t.Errorf("verdict %q, want %q", v, want)
		}
	}
}
