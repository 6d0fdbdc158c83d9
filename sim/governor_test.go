package sim_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"heddle/control"
	"heddle/sheets"
	"heddle/sim"
)

// unequal is a memory-bound and a compute-bound application on a small machine,
// under a policy that looks every few thousand cycles.
func unequal(mode string) sim.Spec {
	memory := app("micro/triad", map[string]string{"n": "120000", "passes": "2"})
	compute := app("parboil-like/cp", map[string]string{"n": "64", "atoms": "100"})
	s := sim.Spec{
		Machine: "ugpu", Set: map[string]string{"sm.count": "40"}, Seed: 1, Apps: []sim.App{memory, compute},
		Sharing: sim.Sharing{Mode: mode, Epoch: 6000}, Length: sim.Length{MaxCycles: 60_000, Budget: true}, Timeline: true,
	}
	return s
}

// Whatever moves, the applications compute the same, the run is the same with and
// without idle skipping, and the log agrees with the sums.
func TestPoliciesMoveAndNothingIsLost(t *testing.T) {
	for _, mode := range []string{"ugpu", "ugpu-soft", "ugpu-ori", "bp-cd"} {
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
					t.Errorf("%s: group %d was handed over at %d, before the decision at %d", mode, g.Group, g.Handed, g.Start)
				}
			}
		}
		if sms != m.SMs || groups != m.Groups || touched != m.PagesTouched || gained != m.PagesGained {
			t.Errorf("%s: the decisions tell of %d SMs, %d groups, %d and %d pages; the sum of %+v", mode, sms, groups, touched, gained, m)
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

// A recorded sample gives the plan that was carried out: policies replay.
func TestDecisionsReplay(t *testing.T) {
	r := run(t, unequal("ugpu"))
	p, err := sim.PolicyOf(&r.Spec.Sharing, sheet(t, r.Spec), 8)
	if err != nil {
		t.Fatal(err)
	}
	var history []control.Sample
	for _, d := range r.Decisions {
		history = append(history, d.Sample)
		if len(d.Plan.Why) > 0 && strings.HasPrefix(d.Plan.Why[0], "the last repartition") {
			continue
		}
		a, _ := json.Marshal(p(history))
		b, _ := json.Marshal(d.Plan)
		if string(a) != string(b) {
			t.Errorf("cycle %d: replayed %s\nwas %s", d.Cycle, a, b)
		}
	}
}

func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*sim.Spec)
		want   string
	}{
		{func(s *sim.Spec) { s.Machine = "qv100" }, "does not translate"},
		{func(s *sim.Spec) { s.Sharing.Params = control.Params{"delta_sm": 3} }, "delta_sms"},
		{func(s *sim.Spec) { s.Sharing.Mode = "bp" }, "static"},
	} {
		s := unequal("ugpu")
		c.change(&s)
		if _, err := sim.Run(context.Background(), s, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %q", err, c.want)
		}
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
