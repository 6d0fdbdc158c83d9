package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func app(path string, args map[string]string) sim.App {
	return sim.App{Name: filepath.Base(path), Path: filepath.Join("../apps", path), Args: args}
}

// few returns the first of what a test tries one after the other when tests are to be short, else all: under the race
// detector a simulation takes ten times as long, and another policy starts no other goroutine.
func few[T any](all ...T) []T {
	if testing.Short() {
		return all[:1]
	}
	return all
}

// numbersOnly skips a test that compares the numbers of long runs, where tests are to be short.
func numbersOnly(t *testing.T) {
	if t.Helper(); testing.Short() {
		t.Skip("long runs, of which only numbers are compared")
	}
}

func run(t *testing.T, s sim.Spec) *sim.Result {
	t.Helper()
	r, err := sim.Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if !c.OK {
			t.Fatalf("%s: %s: %s", c.App, c.What, c.Msg)
		}
	}
	return r
}

// text is everything of a result that must not depend on the computer.
func text(t *testing.T, r *sim.Result) string {
	t.Helper()
	c := *r
	c.Wall = sim.Wall{}
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := json.Marshal(r.Epochs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + string(e)
}

var shared = sim.Spec{
	Machine: "qv100", Seed: 1, Epoch: 1000, Apps: []sim.App{app("micro/histogram", nil), app("rodinia-like/bfs", nil)},
	Sharing: sim.Sharing{Mode: "slices", SMs: []int{30, 50}, Groups: []int{12, 20}},
}

// The same Spec gives the same bits, with and without idle skipping, at any ratio of
// clocks.
func TestDeterminism(t *testing.T) {
	for _, set := range few(
		nil,
		map[string]string{"clock.llc": "700"},
		map[string]string{"clock.llc": "2500"},
		map[string]string{"clock.noc": "700"},
		map[string]string{"clock.noc": "2500"},
		map[string]string{"clock.dram": "1500"},
	) {
		s := shared
		s.Set = set
		a, b := text(t, run(t, s)), text(t, run(t, s))
		if a != b {
			t.Errorf("%v: two runs of one Spec differ", set)
		}
		s.NoSkip = true
		if c := text(t, run(t, s)); a != c {
			t.Errorf("%v: idle skipping changes the result:\n%s\n%s", set, a, c)
		}
	}
}

// Epochs add up to the whole.
func TestEpochsAddUp(t *testing.T) {
	r := run(t, shared)
	var allInsts, allBytes, rowInsts, rowBytes uint64
	for i, tenant := range r.Tenants {
		var insts, bytes uint64
		for _, e := range r.Epochs {
			insts += e.Tenants[i].Count("thread_insts")
			bytes += e.Tenants[i].Count("dram_bytes")
		}
		allInsts, allBytes = allInsts+insts, allBytes+bytes
		rowInsts, rowBytes = rowInsts+tenant.ThreadInsts, rowBytes+tenant.DRAMBytes
	}
	if rowInsts += r.Outside.ThreadInsts; allInsts != rowInsts || allInsts == 0 {
		t.Errorf("epochs sum to %d instructions, windows and what is outside to %d", allInsts, rowInsts)
	}
	if rowBytes += r.Outside.DRAMBytes; allBytes != rowBytes || allBytes == 0 {
		t.Errorf("epochs sum to %d bytes, windows and what is outside to %d", allBytes, rowBytes)
	}
	if last := r.Epochs[len(r.Epochs)-1].Cycle; last != r.Cycles {
		t.Errorf("the last epoch ends at %d, the run at %d", last, r.Cycles)
	}
}

// An isolated application does not notice whom it shares the machine with.
func TestIsolatedNeighbour(t *testing.T) {
	one := run(t, shared)
	other := shared
	other.Apps = []sim.App{shared.Apps[0], app("micro/spmv", nil)}
	two := run(t, other)
	if a, b := one.Tenants[0], two.Tenants[0]; a.Cycles != b.Cycles || a.IPC != b.IPC ||
		*a.LLCHitRate != *b.LLCHitRate {
		t.Errorf("beside bfs %+v\nbeside spmv %+v", a, b)
	}
}

// A repeating application runs until the slowest has ended once; a budget lasts
// exactly its cycles.
func TestRepeatAndBudget(t *testing.T) {
	s := sim.Spec{
		Machine: "qv100", Seed: 1, Apps: []sim.App{app("micro/vecadd", nil), app("micro/spmv", nil)},
		Sharing: sim.Sharing{Mode: "mps"},
	}
	s.Apps[0].Repeat = true
	r := run(t, s)
	if r.Tenants[0].Runs < 2 || r.Tenants[1].Runs != 1 || r.Cycles != r.Tenants[1].Window.End {
		t.Errorf("%d and %d runs in %d cycles; the second application took %d", r.Tenants[0].Runs, r.Tenants[1].Runs,
			r.Cycles, r.Tenants[1].Cycles)
	}
	s.Length = sim.Length{MaxCycles: 20_000, Budget: true}
	if r = run(t, s); r.Cycles != 20_000 || !r.Complete {
		t.Errorf("a budget of 20000 cycles took %d, complete: %v", r.Cycles, r.Complete)
	}
}

// A run of so many instructions ends when every application has executed them; its
// numbers are those of the time until then, and who ends before starts again.
func TestInstructions(t *testing.T) {
	const n = 300_000
	s := sim.Spec{
		Machine: "qv100", Seed: 1, Apps: []sim.App{app("micro/vecadd", nil), app("sdk-like/matrixmul", nil)},
		Sharing: sim.Sharing{Mode: "mps"},
	}
	s.Length = sim.Length{Instructions: n}
	r := run(t, s)
	last := uint64(0)
	for _, a := range r.Tenants {
		if over := uint64(2 * 500 * a.IPC); a.ThreadInsts < n || a.ThreadInsts > n+over {
			t.Errorf("%s: %d instructions, want %d and at most %d more", a.Name, a.ThreadInsts, n, over)
		}
		last = max(last, a.Window.End)
	}
	if r.Tenants[0].Runs < 2 || r.Cycles != last || !r.Complete {
		t.Errorf("%d runs of the short application, %d cycles, the slowest took %d, complete %v", r.Tenants[0].Runs,
			r.Cycles, last, r.Complete)
	}
}

// Repeating gives an application's memory back each time, and a neighbour's far
// faults come through while it keeps the machine busy.
func TestRepeatBesideFaults(t *testing.T) {
	s := sim.Spec{
		Machine: "ugpu", Seed: 1, Apps: []sim.App{
			app("micro/triad", map[string]string{"n": "100"}),
			{Name: "ops", Path: "../trace/record/testdata/hostops"},
		},
		Sharing: sim.Sharing{Mode: "mps"}, Length: sim.Length{MaxCycles: 1_000_000},
	}
	s.Apps[0].Repeat = true
	if r := run(t, s); r.Tenants[0].Runs < 50 || r.Tenants[1].Faults == 0 {
		t.Errorf("%d repeats, %d faults", r.Tenants[0].Runs, r.Tenants[1].Faults)
	}
}

// An application that arrives later starts later.
func TestArrival(t *testing.T) {
	s := sim.Spec{
		Machine: "qv100", Seed: 1, Apps: []sim.App{app("micro/vecadd", nil), app("micro/triad", nil)},
		Sharing: sim.Sharing{Mode: "mps"},
	}
	s.Apps[1].Arrive = 7000
	r := run(t, s)
	if k := r.Tenants[1].Kernels[0]; k.Start < 7000 || r.Tenants[1].Cycles >= r.Cycles {
		t.Errorf("arrival at 7000: the kernel began at %d, %d cycles of %d", k.Start, r.Tenants[1].Cycles, r.Cycles)
	}
}

// Every sharing mode divides the machine as it says, and the applications pass
// their checks under it.
func TestSharingModes(t *testing.T) {
	two := []sim.App{app("micro/vecadd", nil), app("micro/reduction", nil)}
	for _, c := range []struct {
		machine string
		mode    sim.Sharing
		sms     []int
		ch      []int
	}{
		{"qv100", sim.Sharing{Mode: "mps", SMs: []int{60, 20}}, []int{60, 20}, []int{32, 32}},
		{"qv100", sim.Sharing{Mode: "bp"}, []int{40, 40}, []int{16, 16}},
		{"ugpu", sim.Sharing{Mode: "bp-bs"}, []int{60, 20}, []int{24, 8}},
		{"ugpu", sim.Sharing{Mode: "bp-sb"}, []int{20, 60}, []int{8, 24}},
		{"qv100", sim.Sharing{Mode: "timeslice", Quantum: 3000}, []int{80, 80}, []int{32, 32}},
		{"a100", sim.Sharing{Mode: "smk"}, []int{108, 108}, []int{40, 40}},
		{"a100", sim.Sharing{Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"}}, []int{42, 28}, []int{20, 10}},
		{"h100", sim.Sharing{Mode: "mig", Profiles: []string{"3g.40gb", "1g.20gb"}}, []int{60, 26}, []int{80, 40}},
	} {
		r := run(t, sim.Spec{Machine: c.machine, Seed: 1, Apps: two, Sharing: c.mode})
		for i := range two {
			if g := r.Tenants[i]; g.SMs != c.sms[i] || g.Channels != c.ch[i] {
				t.Errorf("%s %s: tenant %d has %d SMs and %d channels, want %d and %d", c.machine, c.mode.Mode, i,
					g.SMs, g.Channels, c.sms[i], c.ch[i])
			}
		}
	}
	_, err := sim.Run(context.Background(), sim.Spec{Machine: "qv100", Apps: two, Sharing: sim.Sharing{
		Mode: "slices",
		SMs:  []int{60, 60}, Groups: []int{1, 1},
	}}, nil)
	if err == nil {
		t.Error("120 of 80 SMs were handed out")
	}
}

// program is an application written in Go.
type program func(c *host.Context) error

func (program) Name() string                { return "test" }
func (p program) Run(c *host.Context) error { return p(c) }

// Copies take the link's time, managed memory faults or migrates, and a program
// that never launches anything ends.
func TestHostLink(t *testing.T) {
	const n = 1 << 20
	copyUp := program(func(c *host.Context) error {
		h, err := c.HostArray(host.U8, n, "")
		if err != nil {
			return err
		}
		d, err := c.Malloc(host.U8, n, "")
		if err != nil {
			return err
		}
		return d.CopyFrom(h, nil)
	})
	r := run(t, sim.Spec{Machine: "qv100", Apps: []sim.App{{Name: "copy", Program: copyUp}}})
	want := (1e-6 + n/15.75e9) * 1132e6
	if got := float64(r.Cycles); got < want-2 || got > want+2 {
		t.Errorf("copying 1 MiB over the link took %.0f cycles, want %.0f", got, want)
	}
}

// An interrupted run says so and leaves what it has; a stuck or faulting one too.
func TestEndings(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := sim.Spec{Machine: "qv100", Seed: 1, Apps: []sim.App{app("micro/spmv", map[string]string{"size": "standard"})}}
	r, err := sim.Run(ctx, s, func(p sim.Progress) {
		if p.Cycle > 5000 {
			cancel()
		}
	})
	if !errors.Is(err, sim.ErrStopped) || r == nil || r.Complete || r.Cycles < 5000 {
		t.Errorf("interrupted: %v, %+v", err, r)
	}
	cancel()
	s.Length.MaxCycles = 3000
	r, err = sim.Run(context.Background(), s, nil)
	var u *sim.Unfinished
	if !errors.As(err, &u) || r.Complete || r.Cycles != 3000 {
		t.Errorf("out of cycles: %v, %d cycles", err, r.Cycles)
	}
	fault := program(func(*host.Context) error { return &isa.Fault{Msg: "made up"} })
	if r, err = sim.Run(context.Background(), sim.Spec{Machine: "qv100", Apps: []sim.App{{Name: "f", Program: fault}}},
		nil); err == nil || r.Complete {
		t.Errorf("a failing program ended with %v", err)
	}
	time.Sleep(time.Millisecond) // programs' goroutines have ended: goleak looks
}
