package calib

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/trace/record"
)

// ways compares a simulation by execution and from a recording.
func ways(w io.Writer, dir string, specs []*Spec) error {
	set, err := Overrides("base")
	if err != nil {
		return err
	}
	m, _, err := sheets.Resolve("qv100", set)
	if err != nil {
		return err
	}
	cores := runtime.NumCPU()
	fmt.Fprintf(w, `## Executed and replayed, on one core and on several

Milliseconds by the clock, the best of five runs each in turns; the results are the same bits. The computer has %d
cores. RATIONALE.md says which part of a simulation runs on several.

| kernel | executed | on all cores | faster by | replayed | on all cores | faster by | replay by execution |
|---|---|---|---|---|---|---|---|
`, cores)
	var logs [3]float64
	n := 0.0
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		t, err := fastest(dir, s, m, cores)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		ratios := [...]float64{
			t.executed[0] / t.executed[1], t.replayed[0] / t.replayed[1], t.executed[0] / t.replayed[0],
		}
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.2f | %.1f | %.1f | %.2f | %.2f |\n", s.Name, 1e3*t.executed[0],
			1e3*t.executed[1], ratios[0], 1e3*t.replayed[0], 1e3*t.replayed[1], ratios[1], ratios[2])
		for i, r := range ratios {
			logs[i] += math.Log(r)
		}
		n++
	}
	for i := range logs {
		logs[i] = math.Exp(logs[i] / n)
	}
	fmt.Fprintf(w, "\nGeometric means: on all cores execution is %.2f times as fast as on one, and a replay %.2f "+
		"times. On one core\na replay is %.2f times as fast as execution.\n\n", logs[0], logs[1], logs[2])
	return nil
}

// times are the least times of a kernel in seconds, on one core and on all of the computer.
type times struct{ executed, replayed [2]float64 }

// fastest measures a kernel.
func fastest(dir string, s *Spec, m *sheets.Machine, cores int) (best times, err error) {
	rec, done, err := recorded(dir, s)
	if err != nil {
		return best, err
	}
	defer func() { err = errors.Join(err, done()) }()
	first := [2]float64{math.Inf(1), math.Inf(1)}
	best = times{first, first}
	for range 5 {
		for i, o := range []machine.Options{{}, {Cores: stride.NewCores(cores - 1)}} {
			for _, way := range []struct {
				best    *float64
				instead func(isa.Grid) (isa.Grid, error)
			}{
				{&best.executed[i], func(g isa.Grid) (isa.Grid, error) { return g, nil }},
				{&best.replayed[i], func(isa.Grid) (isa.Grid, error) { return rec.Grid(0), nil }},
			} {
				o, err := RunInstead(dir, s, m, o, way.instead)
				if err != nil {
					return best, err
				}
				*way.best = min(*way.best, o.Wall)
			}
		}
	}
	return best, nil
}

// recorded is a recording of a kernel, in a file that done removes.
func recorded(dir string, s *Spec) (rec *record.Recording, done func() error, err error) {
	temp, err := os.MkdirTemp("", "heddle-calib-")
	if err != nil {
		return nil, nil, err
	}
	done = func() error { return os.RemoveAll(temp) }
	file := filepath.Join(temp, "kernel.heddle")
	if err = recordTo(file, dir, s); err == nil {
		rec, err = record.Open(file)
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return rec, func() error { return errors.Join(rec.Close(), os.RemoveAll(temp)) }, nil
}

// recordTo executes a kernel without timing and records it.
func recordTo(file, dir string, s *Spec) error {
	w, err := record.Create(file, s.Name)
	if err != nil {
		return err
	}
	g, err := Grid(dir, s)
	if err == nil {
		g, err = w.Grid(s.Kernel, g)
	}
	if err == nil {
		_, err = emulate.Run(g, 0)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}
