package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

func TestCompare(t *testing.T) {
	// One application at half speed, one at a quarter.
	m, err := Compare([]string{"a", "b"}, []float64{50, 10}, []float64{100, 40})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %g, want %g", what, got, want)
		}
	}
	near("STP", m.STP, 0.75)
	near("ANTT", m.ANTT, 3)
	near("HS", m.HS, 2.0/6)
	near("fairness", m.Fairness, 0.5)
	for _, c := range [][2][]float64{
		{{0, 1}, {1, 1}},
		{{1, 1}, {1, 0}},
		{{1}, {1, 1}},
		{{math.NaN(), 1}, {1, 1}},
		{{math.Inf(1), 1}, {1, 1}},
	} {
		if m, err := Compare([]string{"a", "b"}[:len(c[0])], c[0], c[1]); err == nil {
			t.Errorf("Compare(%v, %v) = %+v, want an error", c[0], c[1], m)
		}
	}
	_, err = Compare([]string{"a", "b"}, []float64{1, 0}, []float64{1, 1})
	if nothing := (*Nothing)(nil); !errors.As(err, &nothing) || nothing.App != "b" {
		t.Errorf("%v: b executed nothing, and who asks for that cannot tell", err)
	}
}

// Progress counts instructions where every complete execution takes the same number of
// them, executions elsewhere, in the shared run and alone.
func TestProgress(t *testing.T) {
	of := func(runs int, insts, cycles, least, most uint64, executions float64) *sim.Tenant {
		x := sim.Executions{Least: least, Most: most, Mean: float64(least+most) / 2}
		return &sim.Tenant{Runs: runs, ThreadInsts: insts, Cycles: cycles, PerExecution: x, Executions: executions}
	}
	for what, c := range map[string]struct {
		shared, alone *sim.Tenant
		unit          string
		s, a          float64
	}{
		"a fixed program":   {of(2, 250, 100, 100, 100, 2.5), of(5, 500, 100, 100, 100, 5), "thread_insts", 2.5, 5},
		"none completed":    {of(0, 50, 100, 0, 0, 0), of(0, 80, 100, 0, 0, 0), "thread_insts", 0.5, 0.8},
		"one completed":     {of(0, 50, 100, 0, 0, 0), of(1, 80, 100, 70, 70, 1.1), "thread_insts", 0.5, 0.8},
		"it varies":         {of(2, 300, 100, 100, 200, 2), of(4, 400, 100, 100, 100, 4), "executions", 0.02, 0.04},
		"alone it is other": {of(2, 300, 100, 150, 150, 2), of(4, 400, 100, 100, 100, 4), "executions", 0.02, 0.04},
		"varies, none here": {of(0, 300, 100, 0, 0, 0), of(4, 600, 100, 100, 200, 4), "executions", 0.02, 0.04},
	} {
		unit, s, a := Progress(c.shared, c.alone)
		if unit != c.unit || math.Abs(s-c.s) > 1e-12 || math.Abs(a-c.a) > 1e-12 {
			t.Errorf("%s: %s %g, alone %g; want %s %g, %g", what, unit, s, a, c.unit, c.s, c.a)
		}
	}
}

// AloneSpec keeps what matters to an application's numbers and drops what does not.
func TestAloneSpec(t *testing.T) {
	s := sim.Spec{
		Machine: "qv100", Seed: 7, Epoch: 100, Sharing: sim.Sharing{Mode: "mps"},
		Apps: []sim.App{{Name: "x", Path: "x"}, {Name: "y", Path: "y", Arrive: 500, Repeat: true, QoS: 3}},
	}
	budget, count := sim.Length{MaxCycles: 900, Budget: true}, sim.Length{Instructions: 50}
	warm := func(l sim.Length) sim.Length { l.Warmup = 600; return l }
	for what, c := range map[string]struct {
		length, want sim.Length
		arrive       uint64
	}{
		"to the end":                  {sim.Length{MaxCycles: 900}, sim.Length{}, 0},
		"to the end, with a warm-up":  {warm(sim.Length{MaxCycles: 900}), warm(sim.Length{}), 500},
		"a budget":                    {budget, budget, 500},
		"a budget with a warm-up":     {warm(budget), warm(budget), 500},
		"instructions":                {count, count, 0},
		"instructions with a warm-up": {warm(count), warm(count), 500},
	} {
		s.Length = c.length
		got := AloneSpec(&s, 1)
		want := sim.Spec{
			Machine: "qv100", Seed: 7, Length: c.want, Sharing: sim.Sharing{Mode: "alone", Name: "alone"},
			Apps: []sim.App{{Name: "alone", Path: "y", Arrive: c.arrive}},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", what, got, want)
		}
	}
}

// Alone an application keeps its managed memory, has all of the link, and no other's share of the memory.
func TestAloneSpecOfUnifiedMemory(t *testing.T) {
	for with, want := range map[sim.Unified]sim.Unified{
		{}:                               {},
		{All: true, Capacity: "100/110"}: {All: true},
		{All: true, Capacity: "1048576"}: {All: true, Capacity: "1048576"},
		{Evict: "tbn", Link: "adaptive", Preserve: true}: {Evict: "tbn"},
		{Link: "static", High: 1}:                        {Migrate: "first-touch"},
		{Evict: "sl", Faults: "high", High: 1}:           {Evict: "sl"},
	} {
		s := sim.Spec{Apps: make([]sim.App, 2), Sharing: sim.Sharing{Memory: sim.Memory{Unified: with}}}
		if got := AloneSpec(&s, 0).Sharing.Memory.Unified; got != want {
			t.Errorf("%+v: %+v, want %+v", with, got, want)
		}
	}
}

func result(hash string) *sim.Result {
	return &sim.Result{
		Version: sim.ResultVersion, SpecHash: hash, Complete: true, Cycles: 7,
		Tenants: []sim.Tenant{{Name: "a", IPC: 2.5}},
	}
}

func TestStoreKeepsAndNoticesDamage(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenStore(dir, "code1")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get("h"); r != nil || err != nil {
		t.Fatalf("empty store: %v, %v", r, err)
	}
	if err := s.Put(result("h")); err != nil {
		t.Fatal(err)
	}
	r, err := s.Get("h")
	if err != nil || r == nil || r.Tenants[0].IPC != 2.5 {
		t.Fatalf("got %+v, %v", r, err)
	}
	other, err := OpenStore(dir, "code2")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := other.Get("h"); r != nil {
		t.Error("another simulator's result is returned")
	}
	_, file := s.path("h")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string]string{
		"cut":     string(text[:len(text)/2]),
		"changed": strings.Replace(string(text), "2.5", "3.5", 1),
		"empty":   "",
		"other":   strings.Replace(string(text), `"version":2`, `"version":3`, 1),
	} {
		if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Get("h"); !errors.Is(err, ErrDamaged) || r != nil {
			t.Errorf("%s: got %v, %v", what, r, err)
		}
	}
	partial := result("p")
	partial.Complete = false
	if s.Put(partial) == nil {
		t.Error("a partial result is kept")
	}
}

func TestStoreSweepsOldLeftovers(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "ab")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(sub, tempPrefix+"1"), filepath.Join(sub, tempPrefix+"2")
	for _, f := range []string{old, young} {
		if err := os.WriteFile(f, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(dir, "c"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the old leftover is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a file that may be in use was removed")
	}
}

// A store that takes nothing is told of once, however many results there are.
func TestFullStore(t *testing.T) {
	store, err := OpenStore(t.TempDir(), "code")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 256 { // no folder for any key
		if err := os.WriteFile(filepath.Join(store.Dir(), fmt.Sprintf("%02x", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	r := Runner{Run: (&fake{}).run, Jobs: 2, Store: store, Keep: true, Warn: func(format string, args ...any) {
		said = append(said, fmt.Sprintf(format, args...))
	}}
	for _, o := range r.All(t.Context(), jobs(t, nil)) {
		if o.Err != nil || o.Result == nil {
			t.Errorf("%s: %v", o.Job.Label, o.Err)
		}
	}
	var once []string
	for _, s := range said {
		if strings.Contains(s, "not kept") {
			once = append(once, s)
		}
	}
	if len(once) != 1 || !strings.Contains(once[0], "result store "+store.Dir()+": not a directory; make room") {
		t.Errorf("said %q", said)
	}
}

// fake simulates: IPC is 100 alone and 60 shared, per application name.
type fake struct {
	mu     sync.Mutex
	alone  int
	shared int
	now    int
	most   int
}

func (f *fake) run(ctx context.Context, spec sim.Spec, watch func(sim.Progress)) (*sim.Result, error) {
	f.mu.Lock()
	ipc := 60.0
	if len(spec.Apps) == 1 {
		f.alone++
		ipc = 100
	} else {
		f.shared++
	}
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.now--; f.mu.Unlock() }()
	time.Sleep(2 * time.Millisecond)
	watch(sim.Progress{Cycle: 1})
	r := &sim.Result{
		Version: sim.ResultVersion, Spec: spec, Complete: true, Cycles: 10,
		Decisions: []sim.Decision{{Cycle: 5}},
	}
	for _, a := range spec.Apps {
		if a.Args["fail"] != "" && len(spec.Apps) == 1 {
			return nil, fmt.Errorf("it broke")
		}
		r.Tenants = append(r.Tenants, sim.Tenant{Name: a.Name, IPC: ipc, ThreadInsts: uint64(10 * ipc), Cycles: 10})
	}
	return r, nil
}

func jobs(t *testing.T, args map[string]string) []Job {
	t.Helper()
	m, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.star"), []byte("def main():\n  pass\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out []Job
	for _, mode := range []string{"bp", "mps", "bp-bs"} {
		out = append(out, Job{Label: mode, Machine: m, Spec: sim.Spec{
			Machine: "qv100", Sharing: sim.Sharing{Mode: mode},
			Apps: []sim.App{
				{Name: "x", Path: dir, Args: map[string]string{"n": "1"}},
				{Name: "y", Path: dir, Args: args, Arrive: 5},
			},
		}})
	}
	return out
}

func TestRunnerSharesAloneRunsAndKeepsOrder(t *testing.T) {
	store, err := OpenStore(t.TempDir(), "c")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	var warnings []string
	r := &Runner{
		Run: f.run, Jobs: 2, Store: store,
		Warn: func(s string, a ...any) { warnings = append(warnings, fmt.Sprintf(s, a...)) },
	}
	list := jobs(t, map[string]string{"n": "2"})
	out := r.All(context.Background(), list)
	if f.alone != 2 || f.shared != 3 || f.most > 2 {
		t.Errorf("%d alone-runs, %d shared, %d at once; want 2, 3, at most 2", f.alone, f.shared, f.most)
	}
	for i, o := range out {
		if o.Err != nil || o.AloneErr != nil || o.Job.Label != list[i].Label ||
			o.Result.Spec.Sharing.Mode != list[i].Label {
			t.Fatalf("outcome %d: %+v", i, o)
		}
		if m := o.Result.Metrics; m == nil || m.STP != 1.2 || o.Result.Tenants[1].Slowdown != 100.0/60 ||
			!reflect.DeepEqual(m.AloneIPC, []float64{100, 100}) {
			t.Errorf("metrics %+v of %+v", m, o.Result.Tenants)
		}
		if len(o.Result.SpecHash) != 64 {
			t.Errorf("spec hash %q", o.Result.SpecHash)
		}
	}
	again := r.All(context.Background(), list)
	if f.alone != 2 || again[0].Result.Metrics == nil {
		t.Errorf("the store was not used: %d alone-runs", f.alone)
	}
	// A damaged entry is recomputed, with a warning.
	files, _ := filepath.Glob(filepath.Join(store.dir, "*", "*.json"))
	if len(files) != 2 {
		t.Fatalf("%d files in the store, want 2", len(files))
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	out = r.All(context.Background(), list[:1])
	if f.alone != 3 || len(warnings) != 1 || out[0].Result.Metrics == nil {
		t.Errorf("%d alone-runs, warnings %q", f.alone, warnings)
	}
}

func TestRunnerKeepsRunSets(t *testing.T) {
	store, err := OpenStore(t.TempDir(), "c")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	todo, kept := 0, 0
	r := &Runner{Run: f.run, Jobs: 2, Store: store, Keep: true, Plan: func(j []Job, k int) { todo, kept = len(j), k }}
	list := jobs(t, map[string]string{"n": "2"})
	list = append(list, list[0])
	out := r.All(context.Background(), list)
	if f.shared != 3 || f.alone != 2 || todo != 5 || kept != 0 {
		t.Errorf("%d shared, %d alone, %d planned, %d kept; want 3, 2, 5, 0", f.shared, f.alone, todo, kept)
	}
	if out[3].Err != nil || out[3].Result.Metrics == nil || out[3].Result.Metrics.STP != 1.2 {
		t.Errorf("the repeated job: %+v", out[3])
	}
	again := r.All(context.Background(), list)
	if f.shared != 3 || f.alone != 2 || todo != 0 || kept != 5 {
		t.Errorf("again: %d shared, %d alone, %d planned, %d kept; want 3, 2, 0, 5", f.shared, f.alone, todo, kept)
	}
	for i, o := range again {
		if o.Err != nil || o.Result.Metrics == nil || o.Result.Spec.Sharing.Mode != list[i].Label {
			t.Errorf("kept outcome %d: %+v", i, o)
		}
	}
	d := again[0].Result.Decisions
	if len(d) != 1 || d[0].Cycle != 5 {
		t.Errorf("decisions %+v were not kept", d)
	}
}

func TestPaceTellsWhatIsLeft(t *testing.T) {
	now := time.Unix(0, 0)
	p := NewPace()
	p.now = func() time.Time { return now }
	job := func(label string, cycles uint64, apps int) Job {
		return Job{Label: label, Spec: sim.Spec{Length: sim.Length{MaxCycles: cycles}, Apps: make([]sim.App, apps)}}
	}
	p.Plan([]Job{job("a", 100, 1), job("b", 100, 1), job("short", 50, 1), job("two", 100, 2)}, 2)
	_, done := p.Start(&Task{Job: Job{Label: "a"}})
	watch, _ := p.Start(&Task{Job: Job{Label: "b"}, Alone: true})
	now = now.Add(30 * time.Second)
	done()
	watch(sim.Progress{Cycle: 50, MaxCycles: 100})
	// 150 of 450 in 30 s
	if got, want := p.Line(), "1 of 4 runs done, 2 kept from before, about 1m0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPaceIsRecent: a run that was fast at first, when the machine idled, is as slow as it is now, and the slowest run
// of several ends last.
func TestPaceIsRecent(t *testing.T) {
	now := time.Unix(0, 0)
	p := NewPace()
	p.now = func() time.Time { return now }
	job := func(label string, cycles uint64) Job {
		return Job{Label: label, Spec: sim.Spec{Length: sim.Length{MaxCycles: cycles}, Apps: make([]sim.App, 1)}}
	}
	p.Plan([]Job{job("a", 1000)}, 0)
	watch, _ := p.Start(&Task{Job: Job{Label: "a"}})
	at := func(seconds int, cycle uint64, perS float64) {
		now = time.Unix(int64(seconds), 0)
		watch(sim.Progress{Cycle: cycle, MaxCycles: 1000, CyclesPerS: perS})
	}
	at(10, 500, 50)
	for s := 11; s <= 110; s++ {
		at(s, 500+uint64(s-10), 1)
	}
	if got, want := p.Left(), 400*time.Second; got.Round(time.Second) != want {
		t.Errorf("%s left, want %s", got, want)
	}
	at(120, 990, 0.1) // for itself it needs 100 s
	if got, want := p.Left(), 100*time.Second; got.Round(time.Second) != want {
		t.Errorf("%s left, want %s", got, want)
	}
	now = now.Add(5 * time.Minute)
	at(500, 990, 0)
	if got := p.Left(); got != 0 {
		t.Errorf("%s left, of a run that stands still", got)
	}
}

// TestPaceOfUnknownLength: a run whose length is not known counts like the others, not as nothing.
func TestPaceOfUnknownLength(t *testing.T) {
	now := time.Unix(0, 0)
	p := NewPace()
	p.now = func() time.Time { return now }
	job := func(label string, cycles uint64) Job {
		return Job{Label: label, Spec: sim.Spec{Length: sim.Length{MaxCycles: cycles}, Apps: make([]sim.App, 1)}}
	}
	p.Plan([]Job{job("a", 1_000_000), job("b", 0), job("c", 0), job("d", 0)}, 0)
	_, done := p.Start(&Task{Job: Job{Label: "a"}})
	p.Start(&Task{Job: Job{Label: "b"}})
	now = now.Add(20 * time.Second)
	done()
	if got, want := p.Left(), time.Minute; got != want {
		t.Errorf("%s left, want %s", got, want)
	}
}

func TestRunnerReportsFailures(t *testing.T) {
	f := &fake{}
	r := &Runner{Run: f.run}
	out := r.All(context.Background(), jobs(t, map[string]string{"fail": "1"})[:1])
	if out[0].Err != nil || out[0].Result.Metrics != nil || out[0].AloneErr == nil ||
		!strings.Contains(out[0].AloneErr.Error(), "y alone: it broke") {
		t.Errorf("got %+v", out[0])
	}
	r.Run = func(context.Context, sim.Spec, func(sim.Progress)) (*sim.Result, error) { panic("index out of range") }
	out = r.All(context.Background(), jobs(t, nil)[:1])
	if !errors.Is(out[0].Err, ErrPanic) || !strings.Contains(out[0].Err.Error(), "index out of range") ||
		out[0].Result != nil {
		t.Errorf("after a panic: %+v", out[0])
	}
	r.Run = f.run
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out = r.All(ctx, jobs(t, nil))
	if !errors.Is(out[2].Err, sim.ErrStopped) || out[2].Result != nil {
		t.Errorf("after an interrupt: %+v", out[2])
	}
}
