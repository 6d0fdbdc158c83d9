package calib

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
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
	fmt.Fprint(w, `## Executed and replayed

Milliseconds by the clock, the best of five runs each in turns; the results are the same bits. A simulation runs on
one core; more cores of the computer simulate more runs at once (`+"`--jobs`"+`). RATIONALE.md says why one run
uses one core.

| kernel | executed | replayed | replay faster by |
|---|---|---|---|
`)
	logs, n := 0.0, 0
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		best, err := fastest(dir, s, m)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		ratio := best[0] / best[1]
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.2f |\n", s.Name, 1e3*best[0], 1e3*best[1], ratio)
		logs += math.Log(ratio)
		n++
	}
	fmt.Fprintf(w, "\nGeometric mean: a replay is %.2f times as fast as execution.\n\n", math.Exp(logs/float64(n)))
	return nil
}

// fastest is the least time in seconds of a kernel, executed and replayed.
func fastest(dir string, s *Spec, m *sheets.Machine) (best [2]float64, err error) {
	rec, done, err := recorded(dir, s)
	if err != nil {
		return best, err
	}
	defer func() { err = errors.Join(err, done()) }()
	best = [2]float64{math.Inf(1), math.Inf(1)}
	for range 5 {
		for i, instead := range []func(isa.Grid) (isa.Grid, error){
			func(g isa.Grid) (isa.Grid, error) { return g, nil },
			func(isa.Grid) (isa.Grid, error) { return rec.Grid(0), nil },
		} {
			o, err := RunInstead(dir, s, m, machine.Options{}, instead)
			if err != nil {
				return best, err
			}
			best[i] = min(best[i], o.Wall)
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
