package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
