package paper

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// linked is a run of a program alone with so many transfers and so much managed memory.
func linked(transfers uint64, bytes uint64) *sim.Result {
	value := func(name string, n uint64) sim.Value { return sim.Value{Desc: stat.Desc{Name: name}, N: n} }
	return &sim.Result{
		Complete: true,
		Tenants:  []sim.Tenant{{Name: "alone", ManagedBytes: bytes, Executions: 1, Cycles: 1000, ThreadInsts: 6400}},
		Tables: []sim.Counters{{Owner: "link", Tenant: "alone", Values: []sim.Value{
			value("transfers", transfers), value("bytes", 64), value("wait_cycles", 5*transfers),
		}}},
	}
}

// Who asks most of the link for its memory when alone goes first under a scheme with demand, and is App-1:
// here the second program, which makes half the transfers, of a quarter of the memory.
func TestDemand(t *testing.T) {
	b := tiny(t)
	mix := b.Study.list.Set("pairs").Mixes[0]
	scheme := Scheme{Name: "STATIC", Mode: "mps", Demand: true}
	scheme.Memory.Unified.Link = "static"
	if _, err := b.mixSpec(&mix, &scheme, ""); !errors.Is(err, errPending) || len(b.want) != 2 {
		t.Fatalf("%v, %d runs wanted; want those of two programs alone", err, len(b.want))
	}
	results := []*sim.Result{linked(100, 4<<20), linked(50, 1<<20)}
	for i, job := range b.want {
		b.have[key(&job.Spec)] = &lab.Outcome{Job: job, Result: results[i]}
	}
	spec, err := b.mixSpec(&mix, &scheme, "")
	if err != nil || spec.Sharing.Memory.Unified.High != 1 {
		t.Errorf("application %d goes first, %v", spec.Sharing.Memory.Unified.High, err)
	}
	order, err := b.byDemand(&spec)
	if err != nil || !slices.Equal(order, []int{1, 0}) {
		t.Errorf("order %v, %v", order, err)
	}
	// Three quarters of its transfers for its memory at a tenth of its intensity are more demand (equation 6): of
	// pathfinder and stream_triad the latter goes first.
	first := b.have[key(&b.want[0].Spec)].Result
	*first = *linked(150, 4<<20)
	first.Tenants[0].Cycles /= 10
	if order, err = b.byDemand(&spec); err != nil || !slices.Equal(order, []int{0, 1}) {
		t.Errorf("order %v, %v", order, err)
	}
	first.Complete = false
	if _, err := b.mixSpec(&mix, &scheme, ""); err == nil {
		t.Error("a program that did not end is profiled")
	}
}

// Metrics of unified memory, and what they are where nothing is known.
func TestUnifiedMetrics(t *testing.T) {
	r := linked(100, 4<<20)
	for name, want := range map[string]float64{
		"transfers per MB": 25, "link intensity": 16000, "link delay": 5, "time": 1000, "evicted pages": math.NaN(),
	} {
		got := metrics()[name].of(r, 0)
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
	if x := geometricMean([]float64{4, 1, math.NaN(), 0}); math.Abs(x-2) > 1e-12 {
		t.Errorf("geometric mean %g of 4 and 1", x)
	}
	out := &Reproduced{Measures: map[string]Measure{}, Figure: &Figure{Metric: "time"}}
	out.gains("a/b", "set", []float64{50, 10}, []float64{100, 0}, metrics()["time"])
	if m := out.Measures["time a/b set mean"]; m.Value != -50 || m.N != 1 || m.Of != 2 {
		t.Errorf("half the time: %+v", m)
	}
	if m := out.Measures["speed a/b set mean"]; math.Abs(m.Value-100) > 1e-9 {
		t.Errorf("twice the speed: %+v", m)
	}
	// A quarter of the pages and four times as many are as many in the geometric mean, which is the dissertation's.
	out.Figure.Metric = "evicted pages"
	out.gains("a/b", "set", []float64{10, 40}, []float64{40, 10}, metrics()["evicted pages"])
	if m := out.Measures["evicted pages a/b set mean"]; math.Abs(m.Value) > 1e-9 {
		t.Errorf("evicted pages: %+v", m)
	}
}
