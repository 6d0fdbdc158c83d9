package sim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// Who touches pages is told when asked for, changes nothing else, and needs addresses that are
// translated.
func TestTouches(t *testing.T) {
	spec := sim.Spec{
		Machine: "ugpu", Seed: 1, Apps: []sim.App{{Name: "a", Path: "../apps/micro/vecadd"}},
		Set: map[string]string{"vm.first_touch": "true", "vm.fault": "1"},
	}
	plain := run(t, spec)
	spec.Touches = true
	r := run(t, spec)
	if plain.Touches != nil || plain.Cycles != r.Cycles {
		t.Errorf("unasked: %v; %d cycles, %d with touches counted", plain.Touches, plain.Cycles, r.Cycles)
	}
	pages, homes, shared := uint64(0), uint64(0), uint64(0)
	for i, n := range r.Touches.BySMs {
		if pages += n; i > 0 {
			shared += n
		}
	}
	for _, row := range r.Touches.Homes {
		for _, n := range row {
			homes += n
		}
	}
	if pages == 0 || pages != r.Tenants[0].Faults || homes < pages || shared == 0 || homes > pages+shared*79 {
		t.Errorf("%d pages, %d of them shared, %d faults, %d by home and partition", pages, shared,
			r.Tenants[0].Faults, homes)
	}
	spec.Machine, spec.Set = "qv100", nil
	if _, err := sim.Run(context.Background(), spec, nil); err == nil ||
		!strings.Contains(err.Error(), "does not translate addresses (vm.enabled)") {
		t.Errorf("on qv100: %v", err)
	}
}
