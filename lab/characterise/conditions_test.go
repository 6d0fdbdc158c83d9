package characterise

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// Triad has four thread blocks of 256 threads, eight of which fit on an SM, and moves each of its lines once.
func TestConditionsOfTriad(t *testing.T) {
	list := run(t, Options{Size: "tiny"}, "micro/triad")
	c := list[0].Conditions
	if len(c.Kernels) != 1 || c.Kernels[0] != (Waves{"triad", 4, 8, 4.0 / (80 * 8), 1, 1}) {
		t.Errorf("kernels %+v", c.Kernels)
	}
	if math.Abs(c.Sweeps-1) > 1e-9 || c.Walking == 0 || c.Walkers == 0 || c.Ports == 0 || c.Imbalance < 1 {
		t.Errorf("%+v: want one sweep, and some translation", c)
	}
	if want := []string{"triad has 0.01 waves"}; !slices.Equal(c.Warnings, want) {
		t.Errorf("warnings %q, want %q", c.Warnings, want)
	}
	var text bytes.Buffer
	if err := Text(&text, list, seeds(t)); err != nil || !strings.Contains(text.String(), c.Warnings[0]) {
		t.Errorf("%v: no %q in\n%s", err, c.Warnings[0], text.String())
	}
	// Stopped in its only launch, it is told of all the same.
	o := Options{Size: "tiny", Cycles: 3000, Args: map[string]string{"n": "409600"}}
	c = run(t, o, "micro/triad")[0].Conditions
	if c.Cycles != 3000 || len(c.Kernels) != 1 || c.Kernels[0].CTAs != 1600 || c.Kernels[0].Waves != 2.5 ||
		c.Sweeps >= 1 || !strings.HasSuffix(strings.Join(c.Warnings, " "), "of the footprint") {
		t.Errorf("stopped: %+v", c)
	}
}

// One walker for 80 SMs bounds a run, and a machine without translation has no walks.
func TestTranslationBounds(t *testing.T) {
	one := map[string]string{"vm.walkers": "1", "vm.walk_cache": "0"}
	c := run(t, Options{Size: "tiny", Set: one}, "parboil-like/lbm")[0].Conditions
	if c.Walkers < bounding || !slices.Contains(c.Warnings, "page walkers bound") {
		t.Errorf("one walker: %+v", c)
	}
	c = run(t, Options{Size: "tiny", Set: map[string]string{"vm.enabled": "false"}}, "parboil-like/lbm")[0].Conditions
	if c.Walking != 0 || c.Walkers != 0 || c.Ports != 0 || c.Imbalance < 1 {
		t.Errorf("without translation: %+v", c)
	}
}

// Each limit warns of what is beyond it and of nothing else.
func TestWarnings(t *testing.T) {
	sound := Conditions{
		Kernels:   []Waves{{Kernel: "long", Waves: 2, Share: 0.91}, {Kernel: "short", Waves: 0.1, Share: 0.09}},
		Imbalance: 1.25, Fullest: 0.9, Ports: 0.8, Walkers: 0.8, Sweeps: 1,
	}
	for _, x := range []struct {
		change func(*Conditions)
		want   string
	}{
		{func(*Conditions) {}, ""},
		{func(c *Conditions) { c.Kernels = []Waves{{"long", 199, 1, 1.99, 1, 0.1}} }, "long has 1.99 waves"},
		{func(c *Conditions) { c.Imbalance = 1.5 }, "the fullest channel has 1.50 times the mean"},
		{func(c *Conditions) { c.Imbalance, c.Fullest = 3, 0.3 }, ""},
		{func(c *Conditions) { c.Ports = 0.81 }, "L2 TLB ports bound"},
		{func(c *Conditions) { c.Walkers = 0.81 }, "page walkers bound"},
		{func(c *Conditions) { c.Sweeps = 0.5 }, "0.50 sweeps of the footprint"},
		{func(c *Conditions) { c.Sweeps = 0 }, ""}, // not known
	} {
		c := sound
		x.change(&c)
		if got := strings.Join(c.warn(), "; "); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Four channels of a burst a clock over 600 clocks: 300, 100, 0 and 0 bursts are three times the mean on one, half of
// its peak; launches of a kernel and size count together, and their shares are those of time.
func TestConditionsByHand(t *testing.T) {
	m, _, err := sheets.Resolve("ugpu", map[string]string{"clock.dram": "1400"})
	if err != nil {
		t.Fatal(err)
	}
	channels, moved := [][]uint64{{200, 100}, {0, 100}, {0, 0}, {0, 0}}, [][]uint64{{0, 0}, {900, 0}}
	values := []sim.Value{{Desc: stat.Desc{Name: "read_bursts"}}, {Desc: stat.Desc{Name: "write_bursts"}}}
	r := &sim.Result{
		Tenants: []sim.Tenant{{
			Name: "a", SMs: 2, BusyCycles: 600, DRAMBytes: 400 << 20,
			Kernels: []sim.Kernel{
				{Name: "one", CTAs: 12, CTAsPerSM: 2, Start: 0, End: 100},
				{Name: "two", CTAs: 2, CTAsPerSM: 1, Start: 100, End: 200},
				{Name: "one", CTAs: 12, CTAsPerSM: 2, Start: 200, End: 400},
			},
		}},
		Unfinished: [][]sim.Kernel{{{Name: "two", CTAs: 4, CTAsPerSM: 1, Start: 400, End: 500}}},
		Tables: []sim.Counters{
			{Owner: "dram", Tenant: "a", Values: values, Instances: channels},
			{Owner: "dram", Tenant: "a", Moved: true, Values: values, Instances: moved},
			{Owner: "dram", Tenant: sim.OutsideWindows, Values: values},
		},
	}
	c := newConditions(r, m, &Profile{Memory: &Memory{Bytes: 100 << 20, Allocated: 200 << 20}})
	if c.Imbalance != 3 || math.Abs(c.Fullest-0.5) > 1e-9 || c.Sweeps != 4 {
		t.Errorf("%+v: want three times the mean, half of the peak, four sweeps", c)
	}
	part := Profile{Memory: &Memory{Bytes: 100 << 20, Allocated: 200 << 20}, Skipped: "in part"}
	if x := newConditions(r, m, &part); !x.AtMost || x.Sweeps != 2 {
		t.Errorf("%+v: observed in part, it may touch all that is allocated", x)
	}
	if want := []Waves{{"one", 12, 2, 3, 2, 0.6}, {"two", 2, 1, 1, 1, 0.2}, {"two", 4, 1, 2, 1, 0.2}}; !slices.Equal(
		c.Kernels, want) {
		t.Errorf("%+v, want %+v", c.Kernels, want)
	}
}
