package facts

import (
	"path/filepath"

	"github.com/heddle-sim/heddle/sim"
)

// moves has the machines whose pages and lines move on other ways than a policy of shared/ takes: unified memory under
// each runtime, pages that follow their accesses, copies of lines, two tiers, and copies beside kernels.
//
//heddle:table
func moves(root string) (all []Case, err error) {
	path := func(name string) string { return filepath.Join(root, "apps", name) }
	small := map[string]string{"n": "128", "steps": "3"}
	unified := func(u sim.Unified) sim.Sharing {
		u.All = true
		return sim.Sharing{Mode: "alone", Memory: sim.Memory{Unified: u}}
	}
	fast := map[string]string{"uvm.fault": "1"} // us
	today := unified(sim.Unified{Runtime: "driver-today", Capacity: "100/125"})
	public := unified(sim.Unified{Runtime: "uvmsmart-compat", Capacity: "100/110"})
	together := sim.Memory{Unified: sim.Unified{All: true, Capacity: "75%", Link: "rr"}}
	sparse := []sim.App{{Path: path("micro/spmv")}}
	for _, m := range []struct {
		name, machine string
		set           map[string]string
		sharing       sim.Sharing
		apps          []sim.App
	}{
		{"unified/lru", "uvm", fast, unified(sim.Unified{Capacity: "100/125"}), nil},
		{"unified/lru4k", "uvm", fast, unified(sim.Unified{
			Capacity: "100/150", PrefetchOver: "none", Evict: "lru4k",
		}), nil},
		{"unified/remote", "uvm", fast, unified(sim.Unified{
			Capacity: "100/125", Migrate: "always", Evict: "lfu", Ts: 40,
		}), sparse},
		{"unified/dirty", "uvm", fast, unified(sim.Unified{Capacity: "100/125", WriteBack: "dirty"}), nil},
		{"unified/smart", "uvm", fast, unified(sim.Unified{Capacity: "100/150", Smart: true}), sparse},
		{"unified/driver-today", "uvm", fast, today, nil},
		{"unified/public", "uvm", fast, public, nil},
		{"unified/zero-copy", "uvm", fast, unified(sim.Unified{
			Runtime: "uvmsmart-compat", Capacity: "100/125", Migrate: "always", Evict: "lfu", Ts: 40,
		}), sparse},
		{"unified/two", "uvm", fast, sim.Sharing{Mode: "mps", Memory: together}, []sim.App{
			{Path: path("rodinia-like/hotspot"), Args: small}, {Path: path("micro/spmv")},
		}},
		{"homes/migrate", "nuba", map[string]string{
			"vm.placement": "round-robin", "vm.home_interval": "3000", "vm.first_touch": "true", "vm.fault": "0",
		}, sim.Sharing{Mode: "alone", Memory: sim.Memory{Pages: "migrate"}}, nil},
		{"homes/replicate", "nuba", map[string]string{
			"vm.placement": "round-robin", "vm.home_interval": "3000", "vm.first_touch": "true", "vm.fault": "0",
		}, sim.Sharing{Mode: "alone", Memory: sim.Memory{Pages: "replicate"}}, nil},
		{"replication/full", "nuba", map[string]string{
			"sm.read_only_loads": "true", "vm.fault": "0",
		}, sim.Sharing{Mode: "alone", Memory: sim.Memory{Replication: "full"}}, nil},
		{"replication/copies", "nuba-mcm", map[string]string{
			"llc.flush": "copies", "sm.read_only_loads": "true", "vm.fault": "0",
		}, sim.Sharing{Mode: "alone", Memory: sim.Memory{Replication: "full"}}, nil},
		{"modules", "nuba-mcm-mem", map[string]string{"vm.fault": "0"}, sim.Sharing{Mode: "alone"}, nil},
		{"halves", "h100", nil, sim.Sharing{Mode: "mps"}, []sim.App{
			{Path: path("micro/triad"), Repeat: true}, {Path: path("rodinia-like/hotspot"), Args: small},
		}},
		{"tiers", "hydrogen", nil, sim.Sharing{Mode: "mps"}, []sim.App{
			{Name: "mcf", CPU: &sim.CPU{Model: "mcf", Copies: 2, Instructions: 20_000}},
			{Path: path("micro/triad"), Args: map[string]string{"n": "65536"}, Repeat: true},
		}},
		{"copies", "qv100", nil, sim.Sharing{Mode: "mps"}, []sim.App{
			{Path: path("micro/triad"), Args: map[string]string{"n": "65536"}, Repeat: true},
			{Path: path("rodinia-like/bfs"), Repeat: true},
			{Path: path("rodinia-like/streamcluster"), Repeat: true},
		}},
	} {
		apps := m.apps
		if apps == nil {
			apps = []sim.App{{Path: path("rodinia-like/hotspot"), Args: small}}
		}
		for i := range apps {
			if a := &apps[i]; a.Name == "" {
				a.Name = filepath.Base(a.Path)
			}
		}
		s := sim.Spec{
			Machine: m.machine, Set: m.set, Seed: 1, Sharing: m.sharing, Epoch: 2500, Apps: apps,
			Length: sim.Length{MaxCycles: 150_000, Budget: true},
		}
		all = append(all, run("moves/"+m.name, s))
	}
	return all, nil
}
