package sim_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/sim"
)

// BenchmarkApps is the simulator's speed on whole applications, on one core and on two: warp instructions and
// simulated cycles per second.
func BenchmarkApps(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { benchmarkApps(b, workers) })
	}
}

func benchmarkApps(b *testing.B, workers int) {
	for _, app := range []struct {
		path string
		args map[string]string
	}{
		{"parboil-like/cp", map[string]string{"n": "512", "atoms": "100"}},
		{"sdk-like/matrixmul", map[string]string{"size": "standard"}},
		{"sdk-like/blackscholes", map[string]string{"size": "standard"}},
		{"rodinia-like/hotspot", map[string]string{"n": "512"}},
		{"micro/triad", map[string]string{"n": "1048576"}},
		{"polybench/atax", map[string]string{"size": "standard"}},
		{"micro/spmv", map[string]string{"size": "standard"}},
		{"rodinia-like/bfs", map[string]string{"size": "standard"}},
	} {
		b.Run(filepath.Base(app.path), func(b *testing.B) {
			spec := sim.Spec{
				Machine: "qv100",
				Apps:    []sim.App{{Path: filepath.Join("../apps", app.path), Args: app.args}}, Seed: 1,
				Cores: stride.NewCores(workers - 1),
			}
			var cycles, insts, seconds float64
			b.ReportAllocs()
			for b.Loop() {
				r, err := sim.Run(context.Background(), spec, nil)
				if err != nil {
					b.Fatal(err)
				}
				cycles += float64(r.Tenants[0].BusyCycles)
				insts += float64(r.Tenants[0].WarpInsts)
				seconds += r.Wall.Seconds
			}
			b.ReportMetric(insts/seconds/1e6, "Mwarp-insts/s")
			b.ReportMetric(cycles/seconds/1e3, "kcycles/s")
		})
	}
}

// BenchmarkHydrogen is a mix of the Hydrogen paper, eight CPU programs beside one on the GPU: instructions of
// CPU cores and threads per second of the computer, and what an access of a core costs with all of the machine.
func BenchmarkHydrogen(b *testing.B) {
	spec := sim.Spec{Machine: "hydrogen", Seed: 1, Length: sim.Length{MaxCycles: 100_000, Budget: true}}
	for _, model := range []string{"gcc", "mcf", "lbm", "roms"} {
		spec.Apps = append(spec.Apps, sim.App{Name: model, CPU: &sim.CPU{Model: model, Copies: 2}})
	}
	spec.Apps = append(spec.Apps, app("rodinia-like/backprop", nil))
	var insts, threads, seconds, cycles float64
	b.ReportAllocs()
	for b.Loop() {
		r, err := sim.Run(context.Background(), spec, nil)
		if err != nil {
			b.Fatal(err)
		}
		for i := range r.Tenants {
			threads += float64(r.Tenants[i].ThreadInsts)
			insts += float64(r.Tenants[i].Insts() - r.Tenants[i].ThreadInsts)
		}
		seconds += r.Wall.Seconds
		cycles += float64(r.Cycles)
	}
	b.ReportMetric(insts/seconds/1e6, "Mcpu-insts/s")
	b.ReportMetric(threads/seconds/1e6, "Mthread-insts/s")
	b.ReportMetric(cycles/seconds/1e3, "kcycles/s")
}

// BenchmarkOversubscribed is applications with all their data in device memory, and with three quarters of it: a
// warp instruction is to cost at most twice as much of the time of one core of the computer.
func BenchmarkOversubscribed(b *testing.B) {
	for _, path := range []string{"rodinia-like/bfs", "rodinia-like/hotspot", "polybench/atax", "polybench/2dconv"} {
		for _, capacity := range []string{"", "75%"} {
			b.Run(filepath.Base(path)+"/"+cmp.Or(capacity, "all"), func(b *testing.B) {
				spec := sim.Spec{
					Machine: "uvm", Seed: 1, Apps: []sim.App{app(path, map[string]string{"size": "standard"})},
				}
				if capacity != "" {
					spec.Sharing.Memory.Unified = sim.Unified{All: true, Capacity: capacity}
				}
				var insts, seconds float64
				for b.Loop() {
					r, err := sim.Run(context.Background(), spec, nil)
					if err != nil {
						b.Fatal(err)
					}
					insts += float64(r.Tenants[0].WarpInsts)
					seconds += r.Wall.Seconds
				}
				b.ReportMetric(insts/seconds/1e6, "Mwarp-insts/s")
			})
		}
	}
}
