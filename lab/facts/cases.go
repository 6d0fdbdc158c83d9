package facts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab/calib"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Way is a way to simulate a case. No way may change a fact of a program without data races.
type Way struct {
	NoSkip   bool
	Lockstep bool // cycle by cycle, without strides
	Cores    int  // of the computer; 0: one
}

// cores are those beside the first.
func (w *Way) cores() *stride.Cores {
	if w.Cores <= 1 {
		return nil
	}
	return stride.NewCores(w.Cores - 1)
}

// Case is a run to compare.
type Case struct {
	Name string
	Run  func(w Way) (Facts, error)
}

// Cases lists all of them, in groups whose names begin alike: the timing reference set
// ("calib/"), the examples ("examples/"), ten applications under every sharing mode
// ("shared/"), random machines ("random/"), pages and lines on their other ways ("moves/"). root is the folder of the
// repository.
func Cases(root string) ([]Case, error) {
	var all []Case
	for _, list := range []func(string) ([]Case, error){calibration, examples, shared, random, moves} {
		cases, err := list(root)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

func calibration(root string) (all []Case, err error) {
	dir := filepath.Join(root, "apps", "calib")
	specs, err := calib.ReadSpecs(dir)
	if err != nil {
		return nil, err
	}
	for _, config := range []string{"cold", "base", "sm20"} {
		set, err := calib.Overrides(config)
		if err != nil {
			return nil, err
		}
		m, _, err := sheets.Resolve("qv100", set)
		if err != nil {
			return nil, err
		}
		for _, s := range specs {
			all = append(all, Case{"calib/" + config + "/" + s.Name, func(w Way) (Facts, error) {
				o, err := calib.Run(dir, s, m, machine.Options{Every: w.NoSkip, Lockstep: w.Lockstep, Cores: w.cores()})
				if err != nil {
					return nil, err
				}
				return OfCalibration(o), nil
			}})
		}
	}
	return all, nil
}

// run is a case of a Spec.
func run(name string, s sim.Spec) Case {
	return Case{name, func(w Way) (Facts, error) {
		s.NoSkip, s.Lockstep, s.Cores = w.NoSkip, w.Lockstep, w.cores()
		s.Timeline, s.Profile = true, true
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			return nil, err
		}
		return Of(r), nil
	}}
}

func examples(root string) (all []Case, err error) {
	files, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		f, err := runfile.Load(path, runfile.Overrides{})
		if err != nil {
			return nil, err
		}
		for _, s := range f.Specs {
			all = append(all, run("examples/"+filepath.Base(path)+"/"+s.Sharing.Name, s))
		}
	}
	return all, nil
}

// pairs are ten applications: each beside another one, the first compute-bound.
func pairs() [][2]string {
	return [][2]string{
		{"parboil-like/cp", "micro/triad"},
		{"sdk-like/matrixmul", "rodinia-like/bfs"},
		{"rodinia-like/hotspot", "polybench/atax"},
		{"parboil-like/sgemm", "micro/spmv"},
		{"rodinia-like/pathfinder", "sdk-like/blackscholes"},
	}
}

// shared has the pairs under every sharing mode, each on a machine that has it.
func shared(root string) (all []Case, err error) {
	for _, mode := range []struct {
		machine string
		sharing sim.Sharing
	}{
		{"qv100", sim.Sharing{Mode: "mps"}},
		{"ugpu", sim.Sharing{Mode: "mps", Name: "mps-translated"}},
		{"qv100", sim.Sharing{Mode: "bp"}},
		{"ugpu", sim.Sharing{Mode: "bp-bs"}},
		{"ugpu", sim.Sharing{Mode: "bp-sb"}},
		{"qv100", sim.Sharing{Mode: "slices", SMs: []int{60, 20}, Groups: []int{8, 24}}},
		{"a100", sim.Sharing{Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"}}},
		{"qv100", sim.Sharing{Mode: "timeslice", Quantum: 3000}},
		{"ugpu", sim.Sharing{Mode: "timeslice", Name: "timeslice-translated", Quantum: 3000}},
		{"qv100", sim.Sharing{Mode: "smk"}},
		{"ugpu", sim.Sharing{Mode: "smk", Name: "smk-translated"}},
		{"ugpu", sim.Sharing{Mode: "ugpu", Epoch: 5000}},
		{"ugpu", sim.Sharing{Mode: "ugpu", Name: "ugpu-tail", Epoch: 5000, Params: control.Params{"sm_only_tail": 1}}},
		{"ugpu", sim.Sharing{Mode: "ugpu-soft", Epoch: 5000}},
		{"ugpu", sim.Sharing{Mode: "ugpu-ori", Epoch: 5000}},
		{"ugpu", sim.Sharing{Mode: "ugpu-qos", Epoch: 5000}},
		{"ugpu", sim.Sharing{Mode: "bp-cd", Epoch: 5000}},
		{"qv100", sim.Sharing{Mode: "smqos", Epoch: 2500}},
		{"fermi", sim.Sharing{Mode: "spart", Epoch: 2500}},
		{"fermi", sim.Sharing{Mode: "rollover", Epoch: 2500}},
	} {
		name := mode.sharing.Name
		if name == "" {
			name = mode.sharing.Mode
		}
		for _, p := range pairs() {
			s := sim.Spec{
				Machine: mode.machine, Seed: 1, Sharing: mode.sharing, Epoch: 2500,
				Length: sim.Length{MaxCycles: 30_000, Budget: true},
			}
			for i, path := range p {
				a := sim.App{Name: filepath.Base(path), Path: filepath.Join(root, "apps", path)}
				if i == 0 && slices.Contains([]string{"ugpu-qos", "smqos", "spart", "rollover"}, mode.sharing.Mode) {
					a.QoS = 500
				}
				s.Apps = append(s.Apps, a)
			}
			all = append(all, run("shared/"+name+"/"+s.Apps[0].Name+"_"+s.Apps[1].Name, s))
		}
	}
	return all, nil
}

// machines is the number of random machines.
const machines = 60

func random(root string) (all []Case, err error) {
	for seed := range uint64(machines) {
		s := Random(rand.New(rand.NewPCG(seed, 0)), filepath.Join(root, "apps"))
		all = append(all, run(fmt.Sprintf("random/%03d/%s", seed, s.Sharing.Mode), s))
	}
	return all, nil
}
