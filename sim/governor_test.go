package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// unequal is a memory-bound and a compute-bound application on a small machine,
// under a policy that looks every few thousand cycles.
func unequal(mode string) sim.Spec {
	memory := app("micro/triad", map[string]string{"n": "120000", "passes": "2"})
	compute := app("parboil-like/cp", map[string]string{"n": "64", "atoms": "100"})
	s := sim.Spec{
		Machine: "ugpu", Set: map[string]string{"sm.count": "40"}, Seed: 1, Apps: []sim.App{memory, compute},
		Sharing: sim.Sharing{Mode: mode, Epoch: 6000}, Length: sim.Length{
			MaxCycles: 60_000,
			Budget:    true,
		}, Timeline: true,
	}
	return s
}

// Whatever moves, the applications compute the same, the run is the same with and
// without idle skipping, and the log agrees with the sums.
func TestPoliciesMoveAndNothingIsLost(t *testing.T) {
	for _, mode := range few("ugpu", "ugpu-soft", "ugpu-ori", "bp-cd") {
		spec := unequal(mode)
		r := run(t, spec)
		if len(r.Checks) == 0 {
			t.Fatalf("%s: no application ended, so nothing was checked", mode)
		}
		m := r.Moved
		if m == nil || m.Repartitions == 0 || m.SMs == 0 || (mode != "bp-cd") != (m.Groups > 0) {
			t.Fatalf("%s: moved %+v", mode, m)
		}
		every := spec
		every.NoSkip = true
		if text(t, r) != text(t, run(t, every)) {
			t.Errorf("%s: idle skipping changes the result", mode)
		}
		sms, groups, touched, gained := 0, 0, uint64(0), uint64(0)
		for _, d := range r.Decisions {
			sms, groups = sms+len(d.SMs), groups+len(d.Groups)
			for _, g := range d.Groups {
				touched, gained = touched+g.Touched, gained+g.Gained
				if g.Handed > 0 && g.Handed <= g.Start {
					t.Errorf("%s: group %d was handed over at %d, before the decision at %d", mode, g.Group, g.Handed,
						g.Start)
				}
			}
		}
		if sms != m.SMs || groups != m.Groups || touched != m.PagesTouched || gained != m.PagesGained {
			t.Errorf("%s: the decisions tell of %d SMs, %d groups, %d and %d pages; the sum of %+v", mode, sms, groups,
				touched, gained, m)
		}
		if mode == "ugpu" && m.Commands*128 < m.MoveBytes {
			t.Errorf("%d MIGRATION commands cannot have copied %d bytes", m.Commands, m.MoveBytes)
		}
		owners(t, mode, r)
	}
}

// owners checks that the timeline gives every SM and channel group to somebody all
// the time, without overlaps.
func owners(t *testing.T, mode string, r *sim.Result) {
	t.Helper()
	end := map[string]uint64{}
	for _, s := range r.Spans {
		if !strings.HasPrefix(s.Track, "SM ") && !strings.HasPrefix(s.Track, "channels ") {
			continue
		}
		if s.Start != end[s.Track] {
			t.Errorf("%s: %s belongs to nobody, or to two, from %d to %d", mode, s.Track, end[s.Track], s.Start)
		}
		end[s.Track] = s.End
	}
	if len(end) != 40+8 {
		t.Errorf("%s: %d tracks of owners, want 48", mode, len(end))
	}
	for track, at := range end {
		if at != r.Cycles {
			t.Errorf("%s: %s ends at %d of %d", mode, track, at, r.Cycles)
		}
	}
}

// The samples of a run, written and read again, give its plans: policies replay.
func TestDecisionsReplay(t *testing.T) {
	for _, mode := range few("ugpu", "ugpu-ori", "bp-cd", "ugpu-qos") {
		spec := unequal(mode)
		spec.Sharing.Epoch = 3000
		if mode == "ugpu-qos" {
			spec.Apps[1].QoS = 300
		}
		r := run(t, spec)
		if len(r.Decisions) != 20 {
			t.Fatalf("%s: %d decisions, want 20", mode, len(r.Decisions))
		}
		var samples, plans []any
		for _, d := range r.Decisions {
			samples, plans = append(samples, d.Sample), append(plans, d.Plan)
		}
		e, err := control.Find(r.Decisions[0].Policy)
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.New(control.FromSheet(sheet(t, spec), 8, 4), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := control.Replay(e, p, "samples", marshal(t, samples))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := marshal(t, again), marshal(t, plans); !bytes.Equal(got, want) {
			t.Errorf("%s: replayed\n%s\nwas\n%s", mode, got, want)
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Whoever only looks changes nothing, however often.
func TestObserverChangesNothing(t *testing.T) {
	for _, mode := range few("mps", "bp", "ugpu", "smk", "timeslice") {
		spec := unequal(mode)
		spec.Sharing.Epoch = 0
		if mode == "ugpu" {
			spec.Sharing.Epoch = 6000
		}
		if mode == "timeslice" {
			spec.Sharing.Quantum = 5000
		}
		for _, c := range []struct {
			cycles  uint64
			periods []uint64
		}{{3000, []uint64{1}}, {20_000, []uint64{77, 6000}}} {
			spec.Length.MaxCycles, spec.Sharing.Policies = c.cycles, nil
			want := run(t, spec)
			for _, period := range c.periods {
				spec.Sharing.Policies = []sim.Governor{{Policy: "observe", Period: period}}
				got := run(t, spec)
				seen := 0
				for _, d := range got.Decisions {
					if d.Policy == "observe" {
						seen++
					}
				}
				if seen != int(c.cycles/period) {
					t.Errorf("%s: %d samples with a period of %d", mode, seen, period)
				}
				got.Spec, got.Policies = want.Spec, want.Policies
				if text(t, got) != text(t, want) {
					t.Errorf("%s: looking every %d cycles changes the result", mode, period)
				}
			}
		}
	}
}

func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*sim.Spec)
		want   string
	}{
		{func(s *sim.Spec) { s.Machine = "qv100" }, "divides its 32 channels into none: write set: {map.groups: 8}"},
		{func(s *sim.Spec) { s.Machine, s.Sharing.Mode = "qv100", "ugpu-ori" }, "does not translate"},
		{func(s *sim.Spec) { s.Sharing.Params = control.Params{"delta_sm": 3} }, "delta_sms"},
		{func(s *sim.Spec) { s.Sharing.Mode = "bp" }, "static"},
		{
			func(s *sim.Spec) { s.Sharing.Policies = []sim.Governor{{Policy: "cd-search"}} },
			"policies ugpu and cd-search both set sms",
		},
		{
			func(s *sim.Spec) { s.Sharing.Policies = []sim.Governor{{Policy: "ugpu"}} },
			"sharing mode ugpu brings policy ugpu: leave it out of policies",
		},
		{func(s *sim.Spec) {
			s.Sharing = sim.Sharing{Mode: "smk", Policies: []sim.Governor{{Policy: "cd-search"}}}
		}, "all applications share all SMs"},
		{
			func(s *sim.Spec) { s.Sharing = sim.Sharing{Mode: "mps", Policies: []sim.Governor{{Policy: "ugpu"}}} },
			"all applications share all channels",
		},
		{
			func(s *sim.Spec) { s.Sharing.Memory.Pages = "rewrite" },
			"write the mode in its long form (mode: slices, policies: [ugpu])",
		},
		{func(s *sim.Spec) { s.Sharing.Memory.Placement = "nowhere" }, "vm.placement"},
		{func(s *sim.Spec) { inInstances(s, "smqos") }, "policy smqos sets sms, gating, but an instance of " +
			"sharing mode mig"},
		{func(s *sim.Spec) { inInstances(s, "ugpu") }, "policy ugpu sets sms, groups, but an instance of sharing " +
			"mode mig"},
	} {
		s := unequal("ugpu")
		c.change(&s)
		if _, err := sim.Run(context.Background(), s, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
	}
}

// inInstances has a policy govern two MIG instances, which do not tile the machine: 38 SMs are nobody's.
func inInstances(s *sim.Spec, policy string) {
	s.Machine, s.Set = "a100", nil
	s.Sharing = sim.Sharing{
		Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"}, Policies: []sim.Governor{{Policy: policy}},
	}
}

func sheet(t *testing.T, s sim.Spec) *sheets.Machine {
	t.Helper()
	m, _, err := sheets.Resolve(s.Machine, s.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
