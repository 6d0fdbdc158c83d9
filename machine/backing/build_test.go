package backing

import (
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/sheets"
)

// HAShCache's priority of the CPU is in the scheduler of its cache, and not in that of the memory behind it.
func TestHAShCachePrioritisesInTheFastTier(t *testing.T) {
	for policy, want := range map[string][hybrid.NumTiers]dram.Sched{
		"hashcache": {hybrid.Fast: dram.PrIS, hybrid.Slow: dram.FRFCFS},
		"none":      {dram.FRFCFSPriorHit, dram.FRFCFS},
	} {
		m, _, err := sheets.Resolve("hydrogen", map[string]string{"memory.hybrid.policy": policy})
		if err != nil {
			t.Fatal(err)
		}
		b := &builder{Parts: &Parts{Sheet: m, Apps: []App{{Side: hybrid.CPU}, {Side: hybrid.GPU}}}}
		for tier, d := range [hybrid.NumTiers]*sheets.DRAM{&m.Memory.Fast.Device, &m.DRAM} {
			cfg, err := b.tierChannel(tier, d)
			if err != nil || cfg.Sched != want[tier] {
				t.Errorf("%s: tier %d is scheduled by %v, %v", policy, tier, cfg.Sched, err)
			}
			if cfg.Sched == dram.PrIS && !reflect.DeepEqual(cfg.Urgent, []bool{true, false, true, true}) {
				t.Errorf("%s: urgent are %v", policy, cfg.Urgent)
			}
		}
	}
}
