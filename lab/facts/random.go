package facts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// odd is what may be unusual about a machine: queues of one entry, clocks in any ratio,
// latencies of nothing.
var odd = map[string][]string{
	"clock.noc": {"700", "1000", "2800"}, "clock.llc": {"700", "1000", "2300"}, "clock.dram": {"350", "850", "1107"},

	"sm.schedulers": {"1", "2", "4"}, "sm.policy": {"gto", "lrr"}, "sm.ctas": {"2", "8", "16"}, "sm.issue_width": {
		"1",
		"2",
	},
	"sm.collectors": {"4", "8", "16"}, "sm.collectors_shared": {"true", "false"}, "sm.atomic_wait": {
		"true",
		"false",
	}, "sm.late_redirect": {"true", "false"}, "sm.fetch_rate": {"1", "4"}, "sm.fetch_width": {"1", "2"},

	"l1d.latency": {"1", "5", "60"}, "l1d.mshrs": {"8", "256"}, "l1d.merge": {"1", "8"}, "l1d.miss_queue": {
		"1", "2",
		"8",
	}, "l1d.sets": {"1", "16"},
	"l1d.skip_global": {"true", "false"}, "l1d.write_port": {"true", "false"}, "l1d.write_alloc": {
		"none",
		"lazy",
	}, "l1d.flush_each": {"true", "false"},

	"noc.in_queue": {"4", "16", "64", "512"}, "noc.out_queue": {"2", "16"}, "noc.latency": {
		"1", "3",
		"20",
	}, "noc.flit": {"16", "64"}, "noc.vcs": {"1", "2", "4"}, "noc.iterations": {
		"1",
		"2",
	}, "noc.kind": {"crossbar", "local"},

	"llc.latency": {"0", "1", "30", "40", "160"}, "llc.hit_latency": {"1", "10"}, "llc.mshrs": {
		"4",
		"192",
	}, "llc.merge": {"1", "4"}, "llc.in_queue": {"1", "64"}, "llc.miss_queue": {"1", "32"},
	"llc.out_queue": {"1", "8"}, "llc.sets": {"8", "64"}, "llc.ways": {"4", "24", "48"}, "llc.write_alloc": {
		"lazy",
		"fetch",
	}, "llc.repl": {"lru", "fifo"},

	"dram.queue": {"2", "16", "64"}, "dram.page": {"open", "closed"}, "dram.return": {
		"1",
		"16",
	}, "dram.extra_latency": {"0", "100"},

	"vm.page": {"4096", "2097152"}, "vm.l1_entries": {"4", "64"}, "vm.l1_misses": {"1", "12"}, "vm.l2_entries": {
		"32",
		"512",
	}, "vm.l2_ports": {"1", "2"}, "vm.l2_banks": {"1", "2"}, "vm.walkers": {"1", "8"}, "vm.walk_cache": {"0", "16"},
	"vm.placement":   {"round-robin", "least", "least-random", "first-touch"},
	"vm.gain_share":  {"true", "false"},
	"vm.sweep_pages": {"0", "4", "64"}, "vm.driver_turns": {"true", "false"}, "vm.copy_lines": {"1", "256"},
	"vm.driver_cycles": {"0", "1000"},
}

// Random makes a run of one to five applications, from the folder of applications, on a machine with a few unusual
// numbers.
func Random(r *rand.Rand, apps string) sim.Spec {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	s := sim.Spec{
		Machine: one("qv100", "fermi", "a100", "ugpu", "ugpu"), Seed: r.Uint64N(100),
		Epoch: 500 + r.Uint64N(3000), Set: map[string]string{},
	}
	s.Length = sim.Length{MaxCycles: 8000 + r.Uint64N(20_000), Budget: true}
	n := 1 + r.IntN(3) + r.IntN(2)*r.IntN(3)
	models := r.IntN(4) == 0
	for i := range n {
		a := sim.App{Path: filepath.Join(apps, one("micro/triad", "micro/histogram", "micro/spmv", "micro/randomaccess",
			"micro/reduction", "rodinia-like/bfs", "rodinia-like/hotspot",
			"sdk-like/matrixmul", "polybench/atax", "parboil-like/sgemm", "rodinia-like/btree", "lonestar-like/sssp"))}
		if models {
			a.Path = filepath.Join(apps, one("models/random.yaml", "models/shared-gemm.yaml", "models/stencil.yaml",
				"models/triad.yaml", "models/zipf.yaml"))
		}
		a.Name = fmt.Sprint(strings.TrimSuffix(filepath.Base(a.Path), ".yaml"), i)
		s.Apps = append(s.Apps, a)
	}
	s.Sharing.Mode = "alone"
	if n > 1 {
		s.Sharing.Mode = one("mps", "bp", "ugpu", "ugpu-soft", "ugpu-ori", "bp-cd", "ugpu-qos", "timeslice", "smk")
	}
	switch s.Sharing.Mode {
	case "alone", "mps", "bp", "smk":
	case "timeslice":
		s.Sharing.Quantum = 500 + r.Uint64N(5000)
	case "ugpu-qos":
		s.Apps[r.IntN(n)].QoS = 100
		fallthrough
	default: // a policy moves pages
		s.Machine, s.Sharing.Epoch = "ugpu", 2000+r.Uint64N(6000)
	}
	for _, k := range slices.Sorted(maps.Keys(odd)) {
		if r.IntN(4) == 0 {
			s.Set[k] = one(odd[k]...)
		}
	}
	if r.IntN(3) == 0 {
		s.Set["dram.refresh"], s.Set["dram.timing.rfc"], s.Set["dram.timing.refi"] = "true", "100", one("400", "3000")
	}
	if v := s.Set["noc.vcs"]; v == "2" || v == "4" {
		s.Set["noc.kind"] = "crossbar" // the local one has no virtual channels
	}
	if s.Set["vm.l2_entries"] == "32" && s.Set["vm.l2_banks"] == "" {
		s.Set["vm.l2_banks"] = "2" // as many as sets
	}
	if s.Machine != "a100" { // whose MIG slices need all of its SMs
		s.Set["sm.count"] = one("8", "16", "40")
	}
	return s
}
