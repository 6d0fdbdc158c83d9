package machine

import (
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// tiny makes the hydrogen machine one of few sets, with a remap cache that does not hold them.
func tiny(policy, mode string) func(*sheets.Machine) {
	return func(m *sheets.Machine) {
		h := &m.Memory.Hybrid
		h.Policy, h.Mode, h.Capacity, h.Remap, h.TokPeriod = policy, mode, 512<<10, 1<<10, 10_000
		if policy == "sets" {
			h.Policy, h.Partition = "hydrogen", "sets"
		}
		h.Tok = 20
		m.LLC.Sets = 8
		m.DRAM.Rows, m.DRAM.Capacity = 32, 16<<20
		m.Map.Row = m.Map.Row[:5]
		m.VM.Page = 4096
	}
}

var tierPolicies = [][2]string{
	{"none", "cache"},
	{"none", "flat"},
	{"waypart", "cache"},
	{"hydrogen", "cache"},
	{"hydrogen", "flat"},
	{"hashcache", "cache"},
	{"profess", "cache"},
	{"sets", "cache"},
	{"sets", "flat"},
}

// tiered is a run of two applications on the hydrogen machine.
func tiered(t *testing.T, o Options, change func(*sheets.Machine)) *rig {
	t.Helper()
	r := newRig(t, "hydrogen", o, change, tenant("a", upTo(3)), tenant("b", between(3, 6)))
	_, checkA := r.scale(0, 150_000, mem.Device)
	_, checkB := r.scale(1, 90_000, mem.Device)
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	checkA()
	checkB()
	if _, err := r.g.Run(r.g.Now() + 100_000); err != nil {
		t.Fatal(err)
	}
	r.g.SyncCounters()
	return r
}

// Under every policy and mode: idle skipping changes nothing, what the LLC
// asks for is what the controller is asked, and what the controller sends is what the tiers do.
func TestTiersConserve(t *testing.T) {
	for _, c := range tierPolicies {
		change := tiny(c[0], c[1])
		r := tiered(t, Options{}, change)
		every := tiered(t, Options{Every: true}, change)
		for tenant := range 2 {
			a, b := stat.Set(r.g.Tables).Sums(tenant), stat.Set(every.g.Tables).Sums(tenant)
			for i, x := range r.g.Tables {
				for k := range x.Desc {
					if a[i][k] != b[i][k] {
						t.Errorf("%v: %s.%s of tenant %d is %d, and %d without idle skipping", c, x.Owner,
							x.Desc[k].Name, tenant, a[i][k], b[i][k])
					}
				}
			}
		}
		sum := func(name string) (n uint64) {
			f, err := stat.Set(r.g.Tables).Find(name)
			if err != nil {
				t.Fatal(err)
			}
			for row := range 4 {
				n += f.Of(row)
			}
			return n
		}
		for ours, theirs := range map[string]string{
			"hybrid.fast_reads": "dram_fast.reads", "hybrid.fast_writes": "dram_fast.writes",
			"hybrid.slow_reads": "dram.reads", "hybrid.slow_writes": "dram.writes",
		} {
			if a, b := sum(ours), sum(theirs); a != b {
				t.Errorf("%v: %s is %d and %s %d", c, ours, a, theirs, b)
			}
		}
		if sum("hybrid.reads") == 0 || sum("hybrid.writes") == 0 || sum("hybrid.slow_reads") == 0 ||
			sum("hybrid.table_reads") == 0 {
			t.Errorf("%v: too little happens to be a test", c)
		}
		if n := r.g.fabric.Slab.Live(); n != 0 {
			t.Errorf("%v: %d requests in flight after the kernels", c, n)
		}
	}
}

// Once everything has its size, a cycle of a machine with two tiers allocates nothing.
func TestTiersAllocateNothing(t *testing.T) {
	r := newRig(t, "hydrogen", Options{}, tiny("hydrogen", "cache"), tenant("a", upTo(6)))
	r.scale(0, 2_000_000, mem.Device)
	if _, err := r.g.Run(100_000); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(3, func() {
		if _, err := r.g.Run(r.g.Now() + 2_000); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%.0f allocations in 2000 cycles", n)
	}
	if r.g.Running() == 0 {
		t.Error("the kernel ended before the measurement")
	}
}

// chaseBesideScale runs a program that chases pointers on the CPU beside a kernel, to their ends.
func (r *rig) chaseBesideScale() {
	r.t.Helper()
	x, err := r.g.CPUs.Execute(0, []cpu.Program{{Source: &chase{lines: 20_000, step: 64}, Insts: 20_000}})
	if err != nil {
		r.t.Fatal(err)
	}
	_, check := r.scale(1, 60_000, mem.Device)
	for r.g.Running() > 0 || !x.Done {
		if _, err := r.g.Run(r.g.Now() + 10_000); err != nil {
			r.t.Fatal(err)
		}
	}
	check()
	r.g.SyncCounters()
}

// Where sets are divided, pages have the colors of who they belong to: blocks of the GPU are in sets of
// its own and in shared channels only, nothing is swapped or found misplaced, and the CPU has all else.
func TestSetsAreDividedByPages(t *testing.T) {
	r := newRig(t, "hydrogen", Options{}, tiny("sets", "cache"), &sharing.Tenant{Name: "cpu", Cores: []int{0}},
		tenant("gpu", upTo(6)))
	r.chaseBesideScale()
	for tenant, name := range []string{"the CPU", "the GPU"} {
		for _, counter := range []string{"hybrid.swaps", "hybrid.swaps_skipped", "hybrid.invalidations"} {
			if n := r.counted(tenant, counter); n != 0 {
				t.Errorf("%s of %s is %d", counter, name, n)
			}
		}
		mine, others := "hybrid.hits_gpu_ways", "hybrid.hits_dedicated"
		if tenant == 0 {
			mine, others = others, mine
		}
		if r.counted(tenant, mine) == 0 || r.counted(tenant, others) != 0 {
			t.Errorf("%s hits %d times in its own sets (%s), and %d times in those of the other", name,
				r.counted(tenant, mine), mine, r.counted(tenant, others))
		}
	}
	if err := r.g.Tiers().CanSplit(); err == nil {
		t.Error("sets can be divided anew, though pages would have to be copied")
	}
}

// CPU cores and SMs share the memory: their addresses lie in it and apart, each is of its own
// class, and skipping changes nothing.
func TestTiersWithCPU(t *testing.T) {
	change := func(m *sheets.Machine) {
		tiny("hydrogen", "cache")(m)
		m.CPU.L1.Sets, m.CPU.L2.Sets = 8, 8
	}
	var sums [2][]stat.Sums
	for i, o := range []Options{{}, {Every: true}} {
		r := newRig(t, "hydrogen", o, change, &sharing.Tenant{Name: "cpu", Cores: []int{0}}, tenant("gpu", upTo(6)))
		r.chaseBesideScale()
		for tenant := range 2 {
			sums[i] = append(sums[i], stat.Set(r.g.Tables).Sums(tenant))
		}
		if i > 0 {
			continue
		}
		// Misses of the CPU always migrate, those of the GPU as it has tokens; both hit.
		if n := r.counted(0, "hybrid.bypasses"); n != 0 {
			t.Errorf("%d misses of the CPU passed by", n)
		}
		if r.counted(1, "hybrid.bypasses") == 0 || r.counted(1, "hybrid.migrations") == 0 ||
			r.counted(0, "hybrid.migrations") == 0 || r.counted(0, "hybrid.swaps") == 0 {
			t.Error("too little happens to be a test")
		}
	}
	if !reflect.DeepEqual(sums[0], sums[1]) {
		t.Error("idle skipping changes the counters")
	}
}
