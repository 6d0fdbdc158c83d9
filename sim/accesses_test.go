package sim_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// smCount is a counter of all SMs, in the window and outside.
func smCount(r *sim.Result, name string) (n uint64) {
	for _, c := range r.Tables {
		for _, v := range c.Values {
			if c.Owner == "sm" && v.Name == name {
				n += v.N
			}
		}
	}
	return n
}

// Of kernels whose accesses alone take time the results are right, the accesses are those of the whole kernels, and it
// does not matter how the simulator goes about it.
func TestAccessesOnly(t *testing.T) {
	apps := []string{
		"rodinia-like/backprop", "parboil-like/tpacf", "rodinia-like/bfs", "rodinia-like/lud",
		"rodinia-like/pathfinder", "rodinia-like/streamcluster", "parboil-like/mri-gridding",
		"parboil-like/sgemm", "polybench/2mm", "dnn/bert-layer",
	}
	if testing.Short() {
		apps = apps[:2]
	}
	for _, app := range apps {
		t.Run(app, func(t *testing.T) {
			s := sim.Spec{
				Machine: "hydrogen", Seed: 1, Sharing: sim.Sharing{Mode: "alone"},
				Apps: []sim.App{{
					Name: "a", Path: filepath.Join("..", "apps", filepath.FromSlash(app)),
					Args: map[string]string{"size": "tiny"},
				}},
			}
			of := func(s sim.Spec) *sim.Result {
				r, err := sim.Run(context.Background(), s, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range r.Checks {
					if !c.OK {
						t.Errorf("%s: %s", c.What, c.Msg)
					}
				}
				if len(r.Checks) == 0 {
					t.Error("nothing was checked")
				}
				return r
			}
			whole := of(s)
			s.Apps[0].AccessesOnly = true
			r := of(s)
			for _, name := range []string{"loads", "stores", "atomics"} {
				if a, b := smCount(r, name), smCount(whole, name); a != b {
					t.Errorf("%d %s, the whole kernels have %d", a, name, b)
				}
			}
			if a, b := r.Tenants[0].WarpInsts, whole.Tenants[0].WarpInsts; a >= b || a == 0 {
				t.Errorf("%d warp instructions of %d", a, b)
			}
			if r.Cycles >= whole.Cycles {
				t.Errorf("%d cycles, the whole kernels take %d", r.Cycles, whole.Cycles)
			}
			want := text(t, r)
			every, lockstep := s, s
			every.NoSkip, lockstep.Lockstep = true, true
			for _, other := range []sim.Spec{every, lockstep} {
				if text(t, of(other)) != want {
					t.Errorf("NoSkip %v, lockstep %v: another result", other.NoSkip, other.Lockstep)
				}
			}
		})
	}
}

// A recording has the same accesses as the program, and takes the same time.
func TestAccessesOfARecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lud.rec")
	s := sim.Spec{
		Machine: "hydrogen", Seed: 1, Sharing: sim.Sharing{Mode: "alone"}, Record: file,
		Apps: []sim.App{{
			Name: "lud", Path: "../apps/rodinia-like/lud", Args: map[string]string{"size": "tiny"},
			AccessesOnly: true,
		}},
	}
	want := run(t, s)
	s.Record, s.Apps[0].Path, s.Apps[0].Args = "", file, nil
	r := run(t, s)
	if r.Cycles != want.Cycles || smCount(r, "loads") != smCount(want, "loads") {
		t.Errorf("%d cycles and %d loads, the program has %d and %d", r.Cycles, smCount(r, "loads"), want.Cycles,
			smCount(want, "loads"))
	}
}

// What copies bring is there at once, whatever the link is: traces of kernels' accesses have no copies.
func TestAccessesOnlyWithoutCopies(t *testing.T) {
	of := func(bandwidth string, only bool) *sim.Result {
		return run(t, sim.Spec{
			Machine: "hydrogen", Set: map[string]string{"host.bandwidth": bandwidth}, Seed: 1,
			Sharing: sim.Sharing{Mode: "alone"},
			Apps: []sim.App{{
				Name: "a", Path: "../apps/rodinia-like/nw", Args: map[string]string{"size": "tiny"},
				AccessesOnly: only,
			}},
		})
	}
	if slow, fast := of("0.01", false), of("1000", false); slow.Cycles <= fast.Cycles {
		t.Fatalf("%d and %d cycles: nw copies nothing", slow.Cycles, fast.Cycles)
	}
	if slow, fast := of("0.01", true), of("1000", true); slow.Cycles != fast.Cycles {
		t.Errorf("%d cycles behind a slow link, %d behind a fast one", slow.Cycles, fast.Cycles)
	}
}
