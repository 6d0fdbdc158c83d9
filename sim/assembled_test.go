package sim

import (
	"context"
	"path/filepath"
	"testing"
)

// What the assembler makes of a kernel is counted the same with and without timing, and computes what the PTX does:
// the applications check their results. Without it (sm.ptxas) their instructions are those of qv100.
func TestAssembled(t *testing.T) {
	for _, app := range []string{
		"micro/reduction", "sdk-like/blackscholes", "sdk-like/matrixmul", "polybench/atax", "rodinia-like/hotspot",
		"dnn/lstm",
	} {
		t.Run(filepath.Base(app), func(t *testing.T) {
			counts := func(machine string, functional bool, set map[string]string) map[string]uint64 {
				t.Helper()
				res, err := Run(context.Background(), Spec{
					Machine: machine, Set: set, Functional: functional, Seed: 1,
					Apps: []App{{
						Name: "a", Path: filepath.Join("..", "apps", app), Args: map[string]string{"size": "tiny"},
					}},
					Sharing: Sharing{Mode: "alone"},
				}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range res.Checks {
					if !c.OK {
						t.Errorf("%s: %s: %+v", machine, app, c)
					}
				}
				n := map[string]uint64{}
				for _, k := range res.Tenants[0].Kernels {
					n[k.Name] += k.WarpInsts
				}
				return n
			}
			timed, functional := counts("h100", false, nil), counts("h100", true, nil)
			for k, n := range functional {
				if timed[k] != n {
					t.Errorf("%s: %d warp instructions with timing, %d without", k, timed[k], n)
				}
			}
			off, volta := counts("h100", true, map[string]string{"sm.ptxas": "false"}), counts("qv100", true, nil)
			for k, n := range volta {
				if off[k] != n || functional[k] == n {
					t.Errorf("%s: %d warp instructions of the PTX, %d on h100 without the assembler, %d with it", k, n,
						off[k], functional[k])
				}
			}
		})
	}
}
