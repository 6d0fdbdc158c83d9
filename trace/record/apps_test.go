package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/record"
)

// app is an application at a size that takes a fraction of a second.
type app struct {
	path string
	args map[string]string
}

var tiny = map[string]string{"size": "tiny"}

func apps(t testing.TB) (out []app) {
	paths, err := filepath.Glob("../../apps/*/*/app.star")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d applications found: %v", len(paths), err)
	}
	for _, p := range paths {
		out = append(out, app{filepath.Dir(p), tiny})
	}
	return out
}

// simulate runs one application alone.
func simulate(t testing.TB, machine string, a app, recording string, functional bool) *sim.Result {
	t.Helper()
	r, err := sim.Run(context.Background(), sim.Spec{
		Machine: machine, Apps: []sim.App{{Name: "app", Path: a.path, Args: a.args}}, Seed: 1,
		Functional: functional, Record: recording, Profile: true, Timeline: true, Epoch: 5000,
	}, nil)
	if err != nil {
		t.Fatalf("%s on %s: %v", a.path, machine, err)
	}
	return r
}

// same compares everything two results say but the checks, which a replay cannot
// make, the log and what identifies the run.
func same(t *testing.T, what string, a, b *sim.Result) {
	t.Helper()
	text := func(r *sim.Result) (out [][]byte) {
		c := *r
		c.Spec, c.Checks, c.Wall, c.SpecHash = sim.Spec{}, nil, sim.Wall{}, ""
		c.Tenants = append([]sim.Tenant(nil), r.Tenants...)
		for i := range c.Tenants {
			c.Tenants[i].Log = nil
		}
		for _, part := range []any{&c, c.Epochs, c.Spans, c.Stalls} {
			b, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
		return out
	}
	x, y := text(a), text(b)
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			at := 0
			for at < min(len(x[i]), len(y[i])) && x[i][at] == y[i][at] {
				at++
			}
			from := max(0, at-60)
			t.Errorf("%s: part %d differs:\n%s\n%s", what, i, x[i][from:min(len(x[i]), at+100)],
				y[i][from:min(len(y[i]), at+100)])
			return
		}
	}
	if a.Cycles == 0 && !a.Spec.Functional {
		t.Errorf("%s: nothing was simulated", what)
	}
}

// dependent are the applications whose control flow depends on timing: CTAs insert
// into one hash table, and who comes first probes less.
var dependent = map[string]bool{"pageviewcount": true}

// A replay takes the cycles of the execution and counts the same, on the machine of
// the recording and on another with the same sm.ptxas; how the recording was made does not matter. Where
// the program depends on timing, that holds on the machine it was recorded on.
func TestReplayIsExecution(t *testing.T) {
	for _, a := range apps(t) {
		name := filepath.Base(a.path)
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			timed, functional := filepath.Join(dir, "timed"), filepath.Join(dir, "functional")
			volta := simulate(t, "qv100", a, timed, false)
			simulate(t, "qv100", a, functional, true)
			if dependent[name] {
				same(t, "qv100", volta, simulate(t, "qv100", app{path: timed}, "", false))
				return
			}
			if read(t, timed).Digest(t) != read(t, functional).Digest(t) {
				t.Error("the timed and the functional recording differ")
			}
			same(t, "qv100", volta, simulate(t, "qv100", app{path: functional}, "", false))
			unrolled := filepath.Join(dir, "unrolled") // where the assembler's code counts
			simulate(t, "a100", a, unrolled, true)
			same(t, "h100", simulate(t, "h100", a, "", false), simulate(t, "h100", app{path: unrolled}, "", false))
			same(t, "ugpu", simulate(t, "ugpu", a, "", false), simulate(t, "ugpu", app{path: functional}, "", false))
			st, err := os.Stat(timed)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d warp instructions, %d bytes", volta.Tenants[0].WarpInsts, st.Size())
		})
	}
}

func read(t testing.TB, path string) *record.Recording {
	t.Helper()
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
