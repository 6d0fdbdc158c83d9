package sim_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

var topologies = flag.Int("topologies", 9, "random machines of several topologies TestRandomTopologies tries")

// narrow is what may be small or unusual about a machine of several hops.
var narrow = []struct {
	path   string
	values []string
}{
	{"noc.flit", []string{"8", "16", "32", "64"}},
	{"noc.in_queue", []string{"1", "2", "18"}},
	{"noc.out_queue", []string{"1", "2", "16"}},
	{"noc.vcs", []string{"1", "2", "3"}},
	{"noc.latency", []string{"1", "4"}},
	{"noc.radix", []string{"4", "8", "16"}},
	{"noc.write_size", []string{"0", "16"}},
	{"clock.noc", []string{"700", "1400", "2000"}},
	{"clock.llc", []string{"700", "1400", "2000"}},
	{"llc.mshrs", []string{"2", "4", "192"}},
	{"llc.merge", []string{"1", "4"}},
	{"llc.ways", []string{"2", "16"}},
	{"llc.sets", []string{"2", "48"}},
	{"llc.in_queue", []string{"1", "64"}},
	{"llc.miss_queue", []string{"1", "32"}},
	{"llc.to_dram", []string{"1", "64"}},
	{"llc.from_dram", []string{"1", "64"}},
	{"llc.out_queue", []string{"1", "8"}},
	{"llc.latency", []string{"0", "119"}},
	{"llc.fill", []string{"home", "local"}},
	{"llc.write_alloc", []string{"lazy", "fetch"}},
	{"l1d.mshrs", []string{"8", "128"}},
	{"l1d.miss_queue", []string{"1", "16"}},
	{"dram.queue", []string{"2", "64"}},
	{"dram.return", []string{"1", "16"}},
	{"vm.walkers", []string{"1", "64"}},
	{"vm.placement", []string{"round-robin", "least", "first-touch"}},
	{"vm.page", []string{"4096", "2097152"}},
}

// randomTopology is one or two applications on a machine of one of the topologies, with a few
// odd numbers.
func randomTopology(r *rand.Rand) sim.Spec {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	s := sim.Spec{
		Machine: one("nuba", "nuba", "nuba-smside", "nuba-smside", "nuba-mem", "nuba-mcm", "nuba-mcm-mem"),
		Seed:    r.Uint64N(100), Epoch: 1000, Set: map[string]string{},
	}
	s.Watchdog, s.Length.MaxCycles = 400_000, 3_000_000
	s.Sharing.Mode = "alone"
	for i := range 1 + r.IntN(2) {
		path := one("micro/triad", "micro/histogram", "micro/spmv", "micro/randomaccess", "micro/reduction",
			"rodinia-like/bfs", "rodinia-like/hotspot", "polybench/atax", "rodinia-like/btree")
		s.Apps = append(s.Apps, sim.App{
			Name: fmt.Sprint("app", i), Path: "../apps/" + path, Args: map[string]string{"size": "tiny"},
		})
		if i > 0 {
			s.Sharing.Mode = one("mps", "smk")
		}
	}
	for _, n := range narrow {
		if r.IntN(4) == 0 && (n.path != "llc.fill" || !strings.HasSuffix(s.Machine, "-mem")) {
			s.Set[n.path] = one(n.values...)
		}
	}
	if s.Set["noc.radix"] == "4" {
		s.Set["noc.vcs"] = "1"
	}
	switch s.Machine {
	case "nuba":
		s.Set["noc.partitions"] = one("2", "8", "16", "32")
		s.Set["llc.slices_per_channel"] = one("1", "2", "4")
	case "nuba-mcm", "nuba-mcm-mem":
		s.Set["noc.modules"], s.Set["noc.ring_queue"] = one("2", "4"), one("1", "2", "16")
		s.Set["noc.ring"], s.Set["dram.channels"] = one("5", "100", "720"), "32"
		if s.Machine == "nuba-mcm" {
			s.Set["noc.partitions"] = one("4", "16", "32")
		}
	}
	if sheet := s.Machine; (sheet == "nuba" || sheet == "nuba-mcm") && r.IntN(2) == 0 {
		if s.Sharing.Memory.Replication = "full"; r.IntN(2) == 0 {
			s.Sharing.Memory.Replication = ""
			s.Sharing.Policies = []sim.Governor{{Policy: "mdr", Period: 500}}
		}
	}
	s.Set["sm.count"] = one("32", "64")
	return s
}

// narrowL3 is what may be small or unusual about a GPU's own L3.
var narrowL3 = []struct {
	path   string
	values []string
}{
	{"l3.banks", []string{"1", "2", "4", "16"}},
	{"l3.sets", []string{"1", "3", "256"}},
	{"l3.ways", []string{"2", "16"}},
	{"l3.latency", []string{"0", "20"}},
	{"l3.port", []string{"32", "64"}},
	{"l3.mshrs", []string{"8", "256"}},
	{"l3.merge", []string{"1", "8"}},
	{"l3.in_queue", []string{"1", "32"}},
	{"l3.miss_queue", []string{"1", "32"}},
	{"l3.out_queue", []string{"1", "32"}},
	{"noc.in_queue", []string{"12", "512"}},
	{"noc.out_queue", []string{"1", "512"}},
	{"noc.kind", []string{"local", "crossbar"}},
	{"llc.mshrs", []string{"8", "192"}},
	{"llc.sets", []string{"2", "512"}},
	{"llc.out_queue", []string{"1", "8"}},
	{"memory.hybrid.policy", []string{"none", "hydrogen"}},
	{"memory.hybrid.partition", []string{"ways", "sets"}},
	{"vm.page", []string{"4096", "2097152"}},
}

// randomLevels is one or two applications, one of which may run on CPU cores, on a machine whose GPU has
// an L3.
func randomLevels(r *rand.Rand) sim.Spec {
	s := randomTopology(r)
	s.Machine, s.Set = "hydrogen", map[string]string{}
	s.Sharing = sim.Sharing{Mode: "alone"}
	for _, n := range narrowL3 {
		if r.IntN(3) == 0 {
			s.Set[n.path] = n.values[r.IntN(len(n.values))]
		}
	}
	if s.Set["noc.kind"] == "local" { // it has one virtual channel, and sectors are packets
		s.Set["noc.vcs"], s.Set["noc.whole_lines"] = "1", "false"
	}
	if s.Set["memory.hybrid.policy"] == "none" {
		delete(s.Set, "memory.hybrid.partition")
	}
	if len(s.Apps) > 1 {
		s.Sharing.Mode = "mps"
	}
	if r.IntN(3) == 0 {
		s.Apps = append(s.Apps[:1], sim.App{Name: "cpu", CPU: &sim.CPU{Model: "mcf", Copies: 2, Instructions: 3000}})
	}
	return s
}

// following has the pages of a random machine follow their accesses; false where they cannot.
func following(s *sim.Spec, r *rand.Rand) bool {
	if s.Machine != "nuba" && s.Machine != "nuba-mcm" {
		return false
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range s.Apps { // some dozens of pages, used more than once
		path, args := "micro/triad", map[string]string{"n": "8192", "passes": "6"}
		switch r.IntN(4) {
		case 0:
			path, args = "rodinia-like/hotspot", map[string]string{"n": "96", "steps": "8"}
		case 1:
			path, args = "polybench/2mm", map[string]string{"n": "96"}
		case 2:
			path, args = "rodinia-like/bfs", map[string]string{"n": "3000"}
		}
		s.Apps[i].Path, s.Apps[i].Args = "../apps/"+path, args
	}
	s.Sharing.Memory.Pages = one("migrate", "replicate", "replicate")
	s.Set["vm.home_interval"], s.Set["vm.home_pages"] = one("300", "1000", "3000"), one("1", "8", "300")
	s.Set["vm.home_moves"], s.Set["vm.copy_lines"] = one("1", "2", "8"), one("1", "16", "256")
	s.Set["vm.driver_cycles"], s.Set["vm.fault"] = one("0", "10", "1000"), one("0", "0.5")
	s.Set["vm.first_touch"] = one("true", "false", "false")
	s.Set["l1d.sets"], s.Set["l1d.ways"] = "1", one("1", "4") // every access is a request
	if delete(s.Set, "vm.page"); r.IntN(3) == 0 {
		s.Set["vm.page"], s.Set["vm.copy_lines"] = "2097152", "256" // some pages, of 16384 lines
	}
	if s.Machine == "nuba-mcm" { // with less these programs take millions of cycles wherever their pages are
		s.Set["noc.ring"] = one("100", "720")
	}
	return true
}

// Whatever the topology and however small the queues: programs end, with the right results, and
// visiting everything in every cycle changes nothing.
func TestRandomTopologies(t *testing.T) {
	n := *topologies
	if testing.Short() {
		n = (n + 2) / 3
	}
	for seed := range uint64(n) {
		random := randomTopology
		if seed%3 == 2 {
			random = randomLevels
		}
		s := random(rand.New(rand.NewPCG(seed, 7)))
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sameEitherWay(t, s) })
	}
}

// sameEitherWay runs a machine with and without idle skipping: its programs are to end, right, and alike. It returns
// the result.
func sameEitherWay(t *testing.T, s sim.Spec) (first *sim.Result) {
	t.Helper()
	of := func(s sim.Spec) string {
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatalf("%v\n%+v", err, s)
		}
		checked := len(s.Apps)
		if s.Apps[checked-1].CPU != nil {
			checked--
		}
		if len(r.Checks) < checked || r.Cycles >= s.Length.MaxCycles {
			t.Fatalf("%d checks of %d programs in %d cycles of %+v", len(r.Checks), len(s.Apps), r.Cycles, s)
		}
		for _, c := range r.Checks {
			if !c.OK {
				t.Errorf("%+v on %+v", c, s)
			}
		}
		if first == nil {
			first = r
		}
		return text(t, r)
	}
	want := of(s)
	every := s
	every.NoSkip = true
	if of(every) != want {
		t.Errorf("idle skipping changes the result of %+v", s)
	}
	return first
}

// The same where pages follow their accesses, in partitions and modules, with pages of either size, small queues,
// replication of lines and two applications: pages that move, or are copied while they are read and written, lose
// nothing.
func TestRandomFollowing(t *testing.T) {
	n := (*topologies + 1) / 2
	if testing.Short() {
		n = 1
	}
	moved := map[string]uint64{}
	for seed := uint64(0); n > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 19))
		s := randomTopology(r)
		if !following(&s, r) {
			continue
		}
		n--
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for _, c := range sameEitherWay(t, s).Tables {
				for _, v := range c.Values {
					if c.Owner == "homes" {
						moved[v.Name] += v.N
					}
				}
			}
		})
	}
	t.Log(moved)
	if testing.Short() {
		return
	}
	if moved["migrations"] == 0 || moved["copies"] == 0 || moved["collapses"] == 0 {
		t.Errorf("pages have done too little: %v", moved)
	}
}
