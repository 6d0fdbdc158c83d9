package sim_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/sim"
)

// A run has the same result on one core of the computer and on several: programs that are executed, alone and side by
// side, with textures, matrix instructions and printed output, recordings and models.
func TestCores(t *testing.T) {
	recorded := filepath.Join(t.TempDir(), "bfs.heddle")
	record := qv100(app("rodinia-like/bfs", args("n", "8192")))
	record.Record = recorded
	run(t, record)
	for name, s := range map[string]sim.Spec{
		"bfs": qv100(app("rodinia-like/bfs", args("n", "8192"))),
		"two": qv100(app("sdk-like/matrixmul", args("n", "256", "m", "256", "k", "64")),
			app("micro/triad", args("n", "65536"))),
		"textures":    qv100(sim.App{Name: "textures", Path: "testdata/texture", Args: args("n", "128")}),
		"matrices":    qv100(app("gemm/tensor", args("m", "512", "n", "1024", "k", "64"))),
		"a model":     qv100(sim.App{Name: "model", Path: "../apps/models/triad.yaml"}),
		"a recording": qv100(sim.App{Name: "bfs", Path: recorded}),
	} {
		if testing.Short() && (name == "matrices" || name == "a model") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := text(t, run(t, s))
			s.Cores = stride.NewCores(3)
			most := 0
			r, err := sim.Run(context.Background(), s, func(p sim.Progress) { most = max(most, p.Cores) })
			if err != nil {
				t.Fatal(err)
			}
			if text(t, r) != want {
				t.Error("on four cores the result is another than on one")
			}
			if most != 4 {
				t.Errorf("%d cores were used", most)
			}
		})
	}
}

// qv100 is a run of applications on the machine whose SMs take strides.
func qv100(apps ...sim.App) sim.Spec { return sim.Spec{Machine: "qv100", Apps: apps, Seed: 1} }

// args are arguments of an application, names and values in turns.
func args(of ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(of); i += 2 {
		m[of[i]] = of[i+1]
	}
	return m
}
