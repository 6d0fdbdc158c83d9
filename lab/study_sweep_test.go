package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Points of a sweep share the machines they have in common, planning is told of and can be ended.
func TestSweepPlans(t *testing.T) {
	dir := t.TempDir()
	app, err := filepath.Abs("../apps/micro/triad")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"run.yaml": "machine: qv100\napps:\n  - {name: t, path: " + app + "}\n",
		"s.yaml": "run: run.yaml\nvary:\n  - {machine.llc.latency: [100, 200]}\n" +
			"  - {apps.t.args.n: [1000, 2000, 3000]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	file := filepath.Join(dir, "s.yaml")
	s, err := LoadSweep(context.Background(), file, runfile.Overrides{}, func(done, of int) {
		if told++; done != told || of != 6 {
			t.Errorf("point %d: told %d of %d", told, done, of)
		}
	})
	if err != nil || told != 6 {
		t.Fatalf("%d told, %v", told, err)
	}
	for i, p := range s.Points {
		if same := p.File.Machine == s.Points[i/3*3].File.Machine; !same || p.File.Machine.LLC.Latency != 100+i/3*100 {
			t.Errorf("point %d: machine shared: %v, latency %d", i, same, p.File.Machine.LLC.Latency)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = LoadSweep(ctx, file, runfile.Overrides{}, func(int, int) { cancel() })
	if !errors.Is(err, sim.ErrStopped) {
		t.Errorf("cancelled: %v", err)
	}
}

// A path names a policy by its name and a sharing entry by its mode, however the run file writes them, and what a
// path does not find is said with what there is.
func TestSweepPaths(t *testing.T) {
	app, err := filepath.Abs("../apps/micro/triad")
	if err != nil {
		t.Fatal(err)
	}
	apps := "machine: ugpu\napps: [{name: t, path: " + app + "}, {name: u, path: " + app + "}]\n"
	short := apps + "sharing: [{mode: slices, name: mine}, bp]\npolicies: [ugpu]\n"
	long := apps + "sharing: [{mode: slices, policies: [{policy: ugpu, period: 5000}]}]\n"
	bare := apps + "sharing: [ugpu]\n"
	for _, c := range []struct{ run, path, want string }{
		{short, "policies.ugpu.period", ""},
		{short, "policies.0.period", ""},
		{long, "sharing.slices.policies.ugpu.period", ""},
		{long, "sharing.0.policies.0.period", ""},
		{bare, "sharing.ugpu.period", ""},
		{bare, "sharing.ugpu.epoch", ""}, // its earlier name
		{long, "policies.ugpu.period", "the run file has no list policies; the policies of a sharing entry are " +
			"varied by sharing.NAME.policies.ugpu.period, the period and parameters of its mode's own policy by " +
			"sharing.NAME.period"},
		{bare, "sharing.ugpu.policies.ugpu.period", "no list sharing.ugpu.policies; the period and parameters of the " +
			"mode's own policy are varied by sharing.ugpu.period and sharing.ugpu.params.PARAMETER"},
		{short, "policies.hydrogen.period", `no entry "hydrogen" in the list policies, which has ugpu`},
		{short, "sharing.policies.ugpu.period", `no entry "policies" in the list sharing, which has mine, bp`},
	} {
		dir := t.TempDir()
		vary := "run: run.yaml\nvary: [{" + c.path + ": [20000, 30000]}]\n"
		for name, text := range map[string]string{"run.yaml": c.run, "s.yaml": vary} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := LoadSweep(t.Context(), filepath.Join(dir, "s.yaml"), runfile.Overrides{}, nil)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.path, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		for i, p := range s.Points {
			sharing := p.File.Specs[0].Sharing
			period := sharing.Epoch
			if len(sharing.Policies) == 1 {
				period = sharing.Policies[0].Period
			}
			if period != uint64(20000+10000*i) {
				t.Errorf("%s: point %d has %+v", c.path, i, sharing)
			}
		}
	}
}

// A point that is no run file is wrong at the value that makes it so, or where the run file itself is.
func TestSweepBlames(t *testing.T) {
	app, err := filepath.Abs("../apps/micro/triad")
	if err != nil {
		t.Fatal(err)
	}
	run := "machine: ugpu\napps: [{name: t, path: " + app + "}]\npolicies: [{policy: ugpu, period: 5000}]\n"
	for _, c := range []struct{ run, vary, want string }{
		{run, "{seed: [1]}, {policies.ugpu.perod: [1]}", `s.yaml:2:`},
		{run, "{seed: [1]}, {policies.ugpu.perod: [1]}", `with seed=1, policies.ugpu.perod=1: unknown key "perod"`},
		{run, "{policies.ugpu.perod: [1]}, {seed: [1]}", `s.yaml:2:31: `},
		{run, "{sharing: [bq]}", `s.yaml:2:19: `},
		{strings.Replace(run, "period", "perod", 1), "{seed: [1]}", `run.yaml:3:27: unknown key "perod"`},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"run.yaml": c.run, "s.yaml": "run: run.yaml\nvary: [" + c.vary + "]\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := LoadSweep(t.Context(), filepath.Join(dir, "s.yaml"), runfile.Overrides{}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.vary, err, c.want)
		}
	}
}
