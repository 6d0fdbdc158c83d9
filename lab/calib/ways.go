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

// ways compares a simulation by execution and from a recording, on one core and on two.
func ways(w io.Writer, dir string, specs []*Spec) error {
	set, err := Overrides("base")
	if err != nil {
		return err
	}
	m, _, err := sheets.Resolve("qv100", set)
	if err != nil {
		return err
	}
	fmt.Fprint(w, `## Executed and replayed, on one core and on two

Milliseconds by the clock, the best of five runs each in turns; the results are the same bits. On two cores PTX
has SMs and memory on a core each (`+"`machine/lookahead_cycle.go`"+`; the memory side a cycle ahead, or a stride), a recording the SMs
of a stride on both (`+"`machine/lookahead_sm.go`"+`). In brackets the share of cycles in which the second core had work: where few
had, the ratio is the noise of the computer.

| kernel | executed | on two cores | replayed | on two cores | replay faster by | on two cores |
|---|---|---|---|---|---|---|
`)
	logs, n := [2]float64{}, 0
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		best, shared, err := fastest(dir, s, m)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		fmt.Fprintf(w, "| %s | %.1f | %.1f (%.0f %%) | %.1f | %.1f (%.0f %%) | %.2f | %.2f |\n", s.Name, 1e3*best[0][0],
			1e3*best[0][1], 100*shared[0],
			1e3*best[1][0], 1e3*best[1][1], 100*shared[1], best[0][0]/best[1][0], best[0][1]/best[1][1])
		for i := range logs {
			logs[i] += math.Log(best[0][i] / best[1][i])
		}
		n++
	}
	fmt.Fprintf(w, "\nGeometric means: a replay is %.2f times as fast as execution on one core, %.2f times on two.\n\n",
		math.Exp(logs[0]/float64(n)), math.Exp(logs[1]/float64(n)))
	return nil
}

// fastest is the least time in seconds of a kernel, executed and replayed, on one core
// and on two, and the share of cycles in which the second had work.
func fastest(dir string, s *Spec, m *sheets.Machine) (best [2][2]float64, shared [2]float64, err error) {
	rec, done, err := recorded(dir, s)
	if err != nil {
		return best, shared, err
	}
	defer func() { err = errors.Join(err, done()) }()
	for i := range best {
		best[i] = [2]float64{math.Inf(1), math.Inf(1)}
	}
	for range 5 {
		for i, instead := range []func(isa.Grid) (isa.Grid, error){
			func(g isa.Grid) (isa.Grid, error) { return g, nil },
			func(isa.Grid) (isa.Grid, error) { return rec.Grid(0), nil },
		} {
			for k := range best[i] {
				o, err := RunInstead(dir, s, m, machine.Options{Cores: k + 1}, instead)
				if err != nil {
					return best, shared, err
				}
				best[i][k] = min(best[i][k], o.Wall)
				shared[i] = float64(o.GPU.TwoCoreCycles()) / float64(o.Cycles)
			}
		}
	}
	return best, shared, nil
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
