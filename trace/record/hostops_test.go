package record_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/record"
)

// All operations of a host program come back in their order and at their time:
// streams, events, both ends of managed memory, allocations that change.
func TestHostOperations(t *testing.T) {
	a := app{path: "testdata/hostops"}
	dir := t.TempDir()
	timed, functional := filepath.Join(dir, "timed.rec"), filepath.Join(dir, "functional.rec")
	executed := map[string]*sim.Result{}
	for _, m := range []string{"qv100", "ugpu", "fermi"} {
		executed[m] = simulate(t, m, a, "", false)
	}
	same(t, "recording changes the run", executed["ugpu"], simulate(t, "ugpu", a, timed, false))
	if r := simulate(t, "qv100", a, functional, true); len(r.Checks) != 1 || !r.Checks[0].OK {
		t.Fatalf("checks %+v", r.Checks)
	}
	if read(t, timed).Digest(t) != read(t, functional).Digest(t) {
		t.Error("the timed and the functional recording differ")
	}
	for m, want := range executed {
		same(t, m, want, simulate(t, m, app{path: timed}, "", false))
	}
	again := filepath.Join(dir, "again.rec")
	same(t, "functional replay", simulate(t, "qv100", a, "", true), simulate(t, "qv100", app{path: timed}, again, true))
	if read(t, timed).Digest(t) != read(t, again).Digest(t) {
		t.Error("a recording of a replay is another one")
	}
}

// Recordings share a machine, and repeat, like the applications they are of.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	var real, recorded []sim.App
	for i, path := range []string{"testdata/hostops", "../../apps/micro/triad"} {
		rec := filepath.Join(dir, filepath.Base(path))
		simulate(t, "qv100", app{path: path}, rec, true)
		real = append(real, sim.App{Name: "app", Path: path, Repeat: i == 1})
		recorded = append(recorded, sim.App{Name: "app", Path: rec, Repeat: i == 1})
	}
	var results []*sim.Result
	for _, apps := range [][]sim.App{real, recorded} {
		r, err := sim.Run(context.Background(), sim.Spec{
			Machine: "qv100", Apps: apps,
			Sharing: sim.Sharing{Mode: "mps"}, Seed: 1, Epoch: 5000,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if results[0].Tenants[1].Runs < 2 {
		t.Errorf("%d runs of the repeating application", results[0].Tenants[1].Runs)
	}
	same(t, "two tenants", results[0], results[1])
}

// device_synchronize brings what the kernel has written back to the host, with the public simulator's set: the same
// while it is recorded, and in the replay of a recording with and without time.
func TestSynchronize(t *testing.T) {
	dir := t.TempDir()
	spec := func(path, recording string, functional bool) sim.Spec {
		return sim.Spec{
			Machine: "uvm", Apps: []sim.App{{Name: "app", Path: path}}, Seed: 1, Record: recording,
			Functional: functional,
			Sharing:    sim.Sharing{Memory: sim.Memory{Unified: sim.Unified{Runtime: "uvmsmart-compat"}}},
		}
	}
	of := func(s sim.Spec) *sim.Result {
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	timed, functional := filepath.Join(dir, "timed.rec"), filepath.Join(dir, "functional.rec")
	want := of(spec("testdata/synchronize", "", false))
	returned := uint64(0)
	for _, x := range want.Tables {
		for _, v := range x.Values {
			if x.Owner == "uvm" && v.Name == "returned_pages" {
				returned += v.N
			}
		}
	}
	if returned != 3*16 {
		t.Errorf("%d pages come back, want those of a vector at each of three waits", returned)
	}
	same(t, "recording changes the run", want, of(spec("testdata/synchronize", timed, false)))
	of(spec("testdata/synchronize", functional, true))
	for _, rec := range []string{timed, functional} {
		same(t, "replay of "+filepath.Base(rec), want, of(spec(rec, "", false)))
	}
}

// What cannot be recorded or replayed is refused, and leaves nothing.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	rec, target := filepath.Join(dir, "rec"), filepath.Join(dir, "target")
	triad := sim.App{Name: "app", Path: "../../apps/micro/triad"}
	simulate(t, "qv100", app{path: triad.Path}, rec, true)
	repeated, with := triad, sim.App{Path: rec, Args: map[string]string{"n": "4"}}
	repeated.Repeat = true
	managed := sim.Sharing{Memory: sim.Memory{Unified: sim.Unified{All: true}}}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		spec sim.Spec
		ctx  context.Context
		want string
	}{
		{"two applications", sim.Spec{Apps: []sim.App{triad, triad}, Record: target}, nil, "single application"},
		{"repeating", sim.Spec{Apps: []sim.App{repeated}, Record: target}, nil, "runs once"},
		{
			"a budget",
			sim.Spec{Apps: []sim.App{triad}, Record: target, Length: sim.Length{MaxCycles: 100, Budget: true}},
			nil, "runs once",
		},
		{
			"cut short",
			sim.Spec{Apps: []sim.App{triad}, Record: target, Length: sim.Length{MaxCycles: 100}},
			nil,
			"not finished",
		},
		{"interrupted", sim.Spec{Apps: []sim.App{triad}, Record: target}, stopped, "interrupted"},
		{
			"interrupted without time",
			sim.Spec{Apps: []sim.App{triad}, Record: target, Functional: true},
			stopped,
			"interrupted",
		},
		{
			"no such folder",
			sim.Spec{Apps: []sim.App{triad}, Record: filepath.Join(dir, "none", "x")},
			nil,
			"no such file",
		},
		{"arguments", sim.Spec{Apps: []sim.App{with}}, nil, "takes no arguments"},
		{
			"device memory made managed",
			sim.Spec{Apps: []sim.App{{Path: rec}}, Sharing: managed},
			nil,
			"record it with memory.unified.all",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spec.Machine = "uvm"
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			if _, err := sim.Run(c.ctx, c.spec, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
				t.Errorf("%v, %v: only the first recording should be there", list, err)
			}
		})
	}
}

// A damaged page is found when it is needed, with and without time, and is bad input
// rather than an internal error.
func TestDamagedPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec")
	simulate(t, "qv100", app{path: "../../apps/micro/triad"}, path, true)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[40] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, functional := range []bool{false, true} {
		_, err := sim.Run(context.Background(), sim.Spec{
			Machine: "qv100", Apps: []sim.App{{Path: path}},
			Functional: functional,
		}, nil)
		if err == nil || !strings.Contains(err.Error(), "damaged") || host.Classify(err) != host.BadInput {
			t.Errorf("functional %v: %v, class %d", functional, err, host.Classify(err))
		}
	}
	if err := os.Truncate(path, int64(len(b)-10)); err != nil {
		t.Fatal(err)
	}
	var own *host.Error
	if _, err := record.Load(path); !errors.As(err, &own) || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("a file that was cut: %v", err)
	}
}
