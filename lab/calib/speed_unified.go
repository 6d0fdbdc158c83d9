package calib

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/heddle-sim/heddle/sim"
)

// scarce is the share of their data that programs have device memory for, beside all of it.
const scarce = "75%"

// unified measures programs with all of their data in device memory, and with a part of it, on one core.
func unified(w io.Writer, apps string) error {
	fmt.Fprintf(w, "## Unified memory\n\nPrograms on the machine `uvm` with all of their data in device memory, and "+
		"with device memory for %s of it, on one core, loading of the programs included: the best of two runs "+
		"each, in turns.\n\n| | in memory: M warp insts/s | k cycles/s | oversubscribed: M warp insts/s | "+
		"k cycles/s | pages that came | cost of a warp instruction |\n|---|---|---|---|---|---|---|\n", scarce)
	programs := []string{"rodinia-like/bfs", "rodinia-like/hotspot", "polybench/2dconv", "polybench/atax"}
	ways := []sim.Unified{{}, {All: true, Capacity: scarce}}
	for _, program := range programs {
		var best [2]Speed
		var came uint64
		for n := range 2 * len(ways) {
			way := n % len(ways)
			spec := sim.Spec{
				Machine: "uvm", Seed: 1, Sharing: sim.Sharing{Memory: sim.Memory{Unified: ways[way]}},
				Apps: []sim.App{{
					Name: filepath.Base(program), Path: filepath.Join(apps, program),
					Args: map[string]string{"size": "standard"},
				}},
			}
			begun := cpuSeconds()
			r, err := sim.Run(context.Background(), spec, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			b, took := &best[way], cpuSeconds()-begun
			if b.CPU == 0 {
				b.CPU = math.Inf(1)
			}
			b.Cycles, b.WarpInsts, b.CPU = r.Cycles, r.Tenants[0].WarpInsts, min(b.CPU, took)
			came = 0
			for i := range r.Managed {
				came += r.Managed[i].Migrated
			}
		}
		in, over := &best[0], &best[1]
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.2f | %.1f | %d | %.2f times |\n", filepath.Base(program),
			in.InstsPerS()/1e6, in.CyclesPerS()/1e3,
			over.InstsPerS()/1e6, over.CyclesPerS()/1e3, came, in.InstsPerS()/over.InstsPerS())
	}
	fmt.Fprintln(w)
	return nil
}
