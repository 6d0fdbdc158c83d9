package record_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/record"
)

// workloads are the applications the speed is measured on: arithmetic, shared
// memory, streaming, irregular accesses.
func workloads() []app {
	standard := map[string]string{"size": "standard"}
	return []app{
		{"../../apps/parboil-like/cp", map[string]string{"n": "256", "atoms": "100"}},
		{"../../apps/sdk-like/matrixmul", map[string]string{"n": "256"}},
		{"../../apps/rodinia-like/hotspot", map[string]string{"n": "256"}},
		{"../../apps/micro/triad", map[string]string{"n": "262144"}},
		{"../../apps/polybench/2dconv", map[string]string{"n": "512"}},
		{"../../apps/micro/spmv", standard},
		{"../../apps/rodinia-like/bfs", standard},
	}
}

// timed measures warp instructions per second of whole simulated runs.
func timed(b *testing.B, path string, args map[string]string) {
	var insts, seconds float64
	b.ReportAllocs()
	for b.Loop() {
		r, err := sim.Run(context.Background(), sim.Spec{
			Machine: "qv100", Apps: []sim.App{{Path: path, Args: args}}, Seed: 1,
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
		insts += float64(r.Tenants[0].WarpInsts)
		seconds += r.Wall.Seconds
	}
	b.ReportMetric(insts/seconds/1e6, "Mwarp-insts/s")
}

// BenchmarkExecute runs applications on the machine by executing PTX.
func BenchmarkExecute(b *testing.B) {
	for _, a := range workloads() {
		b.Run(filepath.Base(a.path), func(b *testing.B) { timed(b, a.path, a.args) })
	}
}

// BenchmarkReplay runs the same from recordings.
func BenchmarkReplay(b *testing.B) {
	for _, a := range workloads() {
		b.Run(filepath.Base(a.path), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "rec")
			simulate(b, "qv100", a, path, true)
			timed(b, path, nil)
		})
	}
}

// BenchmarkStep is the replay alone, without a machine.
func BenchmarkStep(b *testing.B) {
	for _, a := range workloads() {
		b.Run(filepath.Base(a.path), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "rec")
			simulate(b, "qv100", a, path, true)
			r := read(b, path)
			s := &isa.Step{}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				for i := range r.Launches() {
					n += walk(b, r, i, s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/warp-inst")
		})
	}
}

// BenchmarkRecord is functional execution with and without recording.
func BenchmarkRecord(b *testing.B) {
	for _, a := range workloads() {
		for _, on := range []string{"without", "with"} {
			b.Run(filepath.Base(a.path)+"/"+on, func(b *testing.B) {
				path := ""
				if on == "with" {
					path = filepath.Join(b.TempDir(), "rec")
				}
				var insts, seconds float64
				for b.Loop() {
					r := simulate(b, "qv100", a, path, true)
					insts += float64(r.Tenants[0].WarpInsts)
					seconds += r.Wall.Seconds
				}
				b.ReportMetric(insts/seconds/1e6, "Mwarp-insts/s")
			})
		}
	}
}

// walk steps every warp of a launch to its end and returns the number of steps.
func walk(t testing.TB, r *record.Recording, launch int, s *isa.Step) (n int) {
	g := r.Grid(launch)
	geo := g.Geometry()
	for i := range geo.CTAs {
		c := g.Start(i, isa.Place{})
		for w := range geo.Warps {
			for s.Next = c.PC(w); s.Next >= 0; n++ {
				if err := c.Step(w, 0, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.Release()
	}
	return n
}
