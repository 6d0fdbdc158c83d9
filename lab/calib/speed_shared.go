package calib

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/heddle-sim/heddle/sim"
)

// sharedRun is a way of running a compute-bound and a memory-bound application that the
// reference set does not measure.
type sharedRun struct {
	what, machine string
	sharing       sim.Sharing
}

func sharedRuns() []sharedRun {
	observer := []sim.Governor{{Policy: "observe", Period: 10_000}}
	return []sharedRun{
		{"MPS", "qv100", sim.Sharing{Mode: "mps"}},
		{"MPS, a policy that looks every 10 K cycles", "qv100", sim.Sharing{Mode: "mps", Policies: observer}},
		{"MPS, translated", "ugpu", sim.Sharing{Mode: "mps"}},
		{"slices (BP), translated", "ugpu", sim.Sharing{Mode: "bp"}},
		{"UGPU, periods of 10 K cycles", "ugpu", sim.Sharing{Mode: "ugpu", Epoch: 10_000}},
		{"SMK", "qv100", sim.Sharing{Mode: "smk"}},
		{"time slicing, turns of 10 K cycles", "qv100", sim.Sharing{Mode: "timeslice", Quantum: 10_000}},
		{"MPS, NUBA's memory-side UBA", "nuba-mem", sim.Sharing{Mode: "mps"}},
		{"MPS, NUBA's SM-side UBA", "nuba-smside", sim.Sharing{Mode: "mps"}},
		{"MPS, NUBA", "nuba", sim.Sharing{Mode: "mps"}},
		{"MPS, NUBA with MDR", "nuba", sim.Sharing{Mode: "mps", Policies: []sim.Governor{{Policy: "mdr"}}}},
		{"MPS, NUBA of four modules", "nuba-mcm", sim.Sharing{Mode: "mps"}},
	}
}

// sharedCycles is how long each of them is simulated.
const sharedCycles = 20_000

// shared measures runs of two applications, on one core.
func shared(w io.Writer, apps string) error {
	fmt.Fprintf(w, "## Shared machines\n\ncp and triad on one machine for %d cycles, on one core, loading of the "+
		"programs included: the best of two runs each, in turns.\n\n"+
		"| | M warp insts/s | k cycles/s | share of cycles in strides |\n|---|---|---|---|\n", sharedCycles)
	runs := sharedRuns()
	best := make([]Speed, len(runs))
	strode := make([]float64, len(runs))
	for range 2 {
		for i, x := range runs {
			spec := sim.Spec{
				Machine: x.machine, Seed: 1, Sharing: x.sharing, Length: sim.Length{
					MaxCycles: sharedCycles,
					Budget:    true,
				},
				Apps: []sim.App{
					{Name: "cp", Path: filepath.Join(apps, "parboil-like/cp"), Args: map[string]string{
						"n":     "480",
						"atoms": "30",
					}},
					{Name: "triad", Path: filepath.Join(apps, "micro/triad"), Args: map[string]string{"n": "524288"}},
				},
			}
			begun := cpuSeconds()
			r, err := sim.Run(context.Background(), spec, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", x.what, err)
			}
			s := Speed{Name: x.what, Cycles: r.Cycles, CPU: cpuSeconds() - begun}
			for t := range r.Tenants {
				s.WarpInsts += r.Tenants[t].WarpInsts
			}
			if best[i].CPU == 0 {
				best[i].CPU = math.Inf(1)
			}
			if s.CPU < best[i].CPU {
				best[i], strode[i] = s, float64(r.Wall.StrideCycles)/float64(r.Cycles)
			}
		}
	}
	for i := range best {
		s := &best[i]
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.0f %% |\n", s.Name, s.InstsPerS()/1e6, s.CyclesPerS()/1e3, 100*strode[i])
	}
	fmt.Fprintln(w)
	return nil
}
