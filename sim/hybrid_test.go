package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sim"
)

// hydrogen is a run of one application on a small hydrogen machine, whose memory a policy
// divides every few thousand cycles.
func hydrogen(set map[string]string) sim.Spec {
	s := sim.Spec{
		Machine: "hydrogen", Seed: 1,
		Apps: []sim.App{app("micro/triad", map[string]string{"n": "120000", "passes": "2"})},
		Set: map[string]string{
			"memory.hybrid.capacity": "8388608", "dram.rows": "128", "map.row": "19,20,21,22,23,24,25",
			"memory.hybrid.tok_period": "10000", "memory.hybrid.tok": "100",
		},
		Sharing: sim.Sharing{Mode: "alone", Policies: []sim.Governor{{
			Policy: "hydrogen",
			Params: control.Params{"epoch": 10_000, "phase": 100_000, "tok_max": 200, "tok_step": 50},
		}}},
		Length: sim.Length{MaxCycles: 200_000, Budget: true},
	}
	for k, v := range set {
		s.Set[k] = v
	}
	return s
}

// The policy's plans are carried out: every epoch of the CPU's cycles it has a sample, of
// what the GPU did, and what it asks for is held from then on. Skipping changes nothing.
func TestHydrogenDividesMemory(t *testing.T) {
	for _, reconfigure := range few("lazy", "ideal") {
		spec := hydrogen(map[string]string{"memory.hybrid.reconfigure": reconfigure})
		r := run(t, spec)
		if len(r.Checks) == 0 || len(r.Decisions) < 5 {
			t.Fatalf("%s: %d checks, %d decisions", reconfigure, len(r.Checks), len(r.Decisions))
		}
		for i, d := range r.Decisions {
			p := d.Plan.(*control.HydrogenPlan)
			if d.Refused != "" || d.Changed != (d.Begun == d.Cycle) || p.Cap < 1 || p.Cap > 3 {
				t.Fatalf("%s: decision %d: %+v", reconfigure, i, d)
			}
			// 10 000 cycles of 3.2 GHz are 4281.25 of 1.37 GHz.
			if d.Cycle != uint64(4281*(i+1)) {
				t.Errorf("%s: decision %d at cycle %d", reconfigure, i, d.Cycle)
			}
			if !strings.Contains(d.Why[0], "weighted IPC") || strings.Contains(d.Why[0], "weighted IPC 0:") {
				t.Errorf("%s: decision %d: %s", reconfigure, i, d.Why)
			}
		}
		if testing.Short() {
			continue
		}
		every := spec
		every.NoSkip = true
		if text(t, r) != text(t, run(t, every)) {
			t.Errorf("%s: idle skipping changes the result", reconfigure)
		}
	}
}

// What a policy's parameters say of its start is in force from the first cycle, as if the machine said so; its samples
// count cycles of the CPU. It cannot say of the memory what the machine does not.
func TestHydrogenStarts(t *testing.T) {
	numbersOnly(t)
	at := control.Params{"cap": 1, "bw": 0, "tok": 0}
	byParams, plain := hydrogen(nil), run(t, hydrogen(nil))
	for k, v := range at {
		byParams.Sharing.Policies[0].Params[k] = v
	}
	bySheet := run(t, hydrogen(map[string]string{
		"memory.hybrid.cap": "1", "memory.hybrid.bw": "0", "memory.hybrid.tok": "0",
	}))
	r := run(t, byParams)
	decided := func(r *sim.Result, i int) string {
		out, err := json.Marshal(r.Decisions[i])
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for i := range r.Decisions {
		got, want := decided(r, i), decided(bySheet, i)
		if got != want || i == 0 && got == decided(plain, i) {
			t.Fatalf("decision %d: %s, started by the machine %s", i, got, want)
		}
		if p := r.Decisions[i].Plan.(*control.HydrogenPlan); p.Cycle != uint64(10_000*(i+1)) {
			t.Errorf("decision %d: cycle %d of the CPU", i, p.Cycle)
		}
	}
	byParams.Sharing.Policies[0].Params["ways"] = 8
	if _, err := sim.Run(context.Background(), byParams, nil); err == nil ||
		!strings.Contains(err.Error(), "ways = 8, and the memory of machine hydrogen has 4") {
		t.Error(err)
	}
}

// Flat memory is both tiers: a program finds room in it that it does not find in the slow tier alone, and its
// data stay right wherever they lie.
func TestFlatMemoryIsBothTiers(t *testing.T) {
	for _, c := range []struct {
		mode string
		fits bool
	}{{"cache", false}, {"flat", true}} {
		spec := hydrogen(map[string]string{
			"memory.hybrid.mode": c.mode, "memory.hybrid.capacity": "1048576", "dram.capacity": "1048576",
			"dram.rows": "2", "map.row": "19", "vm.page": "4096",
		})
		spec.Apps = []sim.App{app("micro/triad", map[string]string{"n": "120000", "passes": "1"})} // 1.44 MB
		spec.Length = sim.Length{}
		r, err := sim.Run(context.Background(), spec, nil)
		if c.fits && (err != nil || !r.Complete || len(r.Checks) == 0 || !r.Checks[0].OK) {
			t.Errorf("%s: %v", c.mode, err)
		}
		if !c.fits && err == nil {
			t.Errorf("%s: 1.44 MB fit into 1 MB", c.mode)
		}
	}
}

// The memory is divided between CPU programs and kernels that run together, by what both do.
func TestHydrogenDividesBetweenCPUAndGPU(t *testing.T) {
	spec := hydrogen(nil)
	spec.Sharing.Mode = ""
	spec.Apps = append(spec.Apps, sim.App{Name: "mcf", CPU: &sim.CPU{Model: "mcf", Copies: 2, Divide: 128}})
	spec.Length.MaxCycles = 60_000
	r := run(t, spec)
	if len(r.Decisions) < 5 {
		t.Fatalf("%d decisions", len(r.Decisions))
	}
	for _, d := range r.Decisions {
		s, err := json.Marshal(d.Sample)
		if err != nil || d.Refused != "" || strings.Contains(string(s), "null") {
			t.Errorf("%+v: %s %v", d, s, err)
		}
	}
}

// A plan that repeats what is held changes nothing: tokens saved while the GPU did nothing are there when it comes.
func TestHydrogenRepeatsItself(t *testing.T) {
	numbersOnly(t)
	spec := hydrogen(nil)
	spec.Sharing.Mode = ""
	spec.Apps = append(spec.Apps, sim.App{Name: "mcf", CPU: &sim.CPU{Model: "mcf", Copies: 2, Divide: 128}})
	spec.Apps[0].Arrive, spec.Length.MaxCycles = 40_000, 70_000
	fixed := control.Params{"epoch": 10_000, "phase": 100_000, "cap_step": 0, "bw_step": 0, "tok_step": 0}
	spec.Sharing.Policies[0].Params = fixed
	r := run(t, spec)
	for _, d := range r.Decisions {
		if d.Changed || d.Begun > 0 {
			t.Errorf("cycle %d: a plan like the one before changes something", d.Cycle)
		}
	}
	spec.Sharing.Policies = nil
	none := run(t, spec)
	for i, own := range r.Tenants {
		n := &none.Tenants[i]
		if own.DRAMBytes != n.DRAMBytes || own.Insts() != n.Insts() || own.MovedBytes != n.MovedBytes {
			t.Errorf("%s: %d bytes, %d moved, %d instructions; without a policy %d, %d, %d", own.Name, own.DRAMBytes,
				own.MovedBytes, own.Insts(), n.DRAMBytes, n.MovedBytes, n.Insts())
		}
	}
}

// What the run's end cuts is on the timeline, executions on CPU cores too, and no gap.
func TestTimelineOfWhatIsCut(t *testing.T) {
	spec := hydrogen(nil)
	spec.Sharing.Mode, spec.Timeline = "", true
	spec.Apps = append(spec.Apps, sim.App{Name: "mcf", CPU: &sim.CPU{Model: "mcf", Divide: 128}})
	spec.Length.MaxCycles = 3000
	r := run(t, spec)
	last := map[string]uint64{}
	for _, s := range r.Spans {
		last[s.Track] = max(last[s.Track], s.End)
	}
	for i, track := range []string{"kernels/triad", "cores/mcf"} {
		if last[track] != r.Cycles || r.Tenants[i].Time.Cut == 0 {
			t.Errorf("%s ends at %d of %d: %+v", track, last[track], r.Cycles, r.Tenants[i].Time)
		}
	}
	if c := r.Tenants[1].Time.Cut; c != r.Cycles {
		t.Errorf("mcf ran in %d of %d cycles", c, r.Cycles)
	}
}

// Machines whose memory cannot be divided refuse, with the number of the sheet that says so.
func TestHydrogenNeedsAHybridMemory(t *testing.T) {
	for _, c := range []struct {
		machine, path, want string
		set                 map[string]string
	}{
		{"qv100", "dram.channels", "machine qv100 has none", nil},
		{
			"hydrogen", "memory.hybrid.partition", "machine hydrogen divides its fast memory by sets",
			map[string]string{"memory.hybrid.partition": "sets"},
		},
		{
			"hydrogen", "memory.hybrid.policy", "memory.hybrid.policy profess of machine hydrogen keeps them fixed",
			map[string]string{"memory.hybrid.policy": "profess"},
		},
		{
			"hydrogen", "memory.hybrid.tokens", "machine hydrogen has memory.hybrid.tokens share",
			map[string]string{"memory.hybrid.tokens": "share"},
		},
	} {
		spec := hydrogen(c.set)
		if spec.Machine = c.machine; c.machine != "hydrogen" {
			spec.Set = nil
		}
		_, err := sim.Run(context.Background(), spec, nil)
		var lacks *sim.Lacks
		if err == nil || !errors.As(err, &lacks) || lacks.Path != c.path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %s", c.machine, c.set, err, c.want)
		}
	}
}
