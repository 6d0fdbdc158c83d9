package sim

import (
	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/stat"
)

// source is the source of a run's samples: the machine's counters, and those of the table "app", which no component
// counts.
type source struct {
	r        *run
	table    *stat.Table
	counters stat.Set
}

// Counters of the table "app".
const (
	appBusy = iota
	appDRAM
	appAsked
	appAsking
	appFootprint
	appCTAWarps
	appSIMD8
	appCPUInsts
	appCPUCycles
)

// AppCounters describes the counters of an application that belong to no component.
func AppCounters() []stat.Desc {
	return []stat.Desc{
		appBusy: {Name: "busy_cycles", Unit: "cycles", Doc: "core cycles in which the application had a kernel on " +
			"the GPU"},
		appDRAM: {
			Name: "dram_bytes", Unit: "bytes",
			Doc: "bytes read from and written to DRAM for the application, without migrations",
		},
		appAsked: {
			Name: "dram_asked_bytes", Unit: "bytes",
			Doc: "bytes read from and written to DRAM for the application, by channels in which no page was moving",
		},
		appAsking: {
			Name: "dram_asking_cycles", Unit: "cycles",
			Doc: "core cycles in which a channel had requests of the application and no page was moving there, over " +
				"all channels",
		},
		appFootprint: {
			Name: "footprint_bytes", Unit: "bytes",
			Doc: "device memory of the application, page tables included; 0 without translation", Kind: stat.Gauge,
		},
		appCTAWarps: {
			Name: "cta_warps", Unit: "warps",
			Doc: "warps of a CTA of the application's oldest kernel on the GPU; 0: no kernel", Kind: stat.Gauge,
		},
		appSIMD8: {
			Name: "simd8_insts", Unit: "instructions", Doc: "thread instructions of the application on the GPU / 8",
		},
		appCPUInsts: {Name: "cpu_insts", Unit: "instructions", Doc: "instructions retired by the application's CPU " +
			"cores"},
		appCPUCycles: {
			Name: "cpu_cycles", Unit: "cycles",
			Doc: "cycles of the CPU's clock, counted for the first application only; 0 on machines without CPU cores",
		},
	}
}

// simd8 is the number of lanes of an instruction of the GPUs in Hydrogen's objective.
const simd8 = 8

func newSource(r *run) *source {
	t := stat.NewTable("app", AppCounters(), 1, len(r.apps))
	return &source{r: r, table: t, counters: append(stat.Set{t}, r.gpu.Tables...)}
}

// Find implements control.Source.
func (s *source) Find(name string) (stat.Counter, error) { return s.counters.Find(name) }

// settle brings the counters that are counted lazily up to the current cycle.
func (s *source) settle() {
	gpu := s.r.gpu
	gpu.SyncCounters()
	clock := &s.r.sheet.Clock
	s.table.Row(0, 0)[appCPUCycles] = uint64(float64(gpu.Now()) * s.r.sheet.CPU.Clock / clock.Core)
	for i := range s.r.apps {
		row := s.table.Row(0, i)
		thread := gpu.Instructions(i)
		row[appSIMD8], row[appCPUInsts] = thread/simd8, gpu.CPUs.Instructions(i)
		row[appBusy], row[appFootprint], row[appCTAWarps] = gpu.Busy(i), gpu.Footprint(i), 0
		if open := s.r.col.open[i]; len(open) > 0 {
			row[appCTAWarps] = uint64(open[0].k.Geo.Warps)
		}
		for _, t := range gpu.Tables {
			if t.Owner == "dram" {
				access := uint64(s.r.sheet.DRAM.Access)
				row[appDRAM] = (t.Sum(i, dram.CReadBursts) + t.Sum(i, dram.CWriteBursts)) * access
				row[appAsked] = t.Sum(i, dram.CAskedBursts) * access
				row[appAsking] = uint64(float64(t.Sum(i, dram.CAskingClocks)) * clock.Core / clock.DRAM)
			}
		}
	}
}

// clock is the frame's part of a sample.
func (s *source) clock(now, epoch uint64) control.Clock {
	gpu := s.r.gpu
	down, _ := gpu.Sharing.Powering()
	c := control.Clock{
		Cycle: now, Epoch: epoch, Moving: !gpu.Sharing.NothingMoves(),
		GatedSMs: gpu.Sharing.Gated(), SMsGating: down,
	}
	if !s.r.spec.Sharing.together() {
		c.IdleSMs = s.r.sheet.SM.Count - c.GatedSMs
		for _, t := range s.r.gpu.Tenants {
			c.IdleSMs -= len(t.SMs)
		}
	}
	return c
}

// Held implements control.Source.
func (s *source) Held(app int) control.Held {
	t, a := s.r.gpu.Tenants[app], s.r.apps[app]
	h := control.Held{
		Name: a.spec.Name, SMs: len(t.SMs), Groups: len(t.Groups), QoS: a.qos(),
		Ended: a.done && !a.live && !s.r.wants(a, s.r.gpu.Now()) && len(s.r.col.open[app]) == 0,
	}
	h.SMsLeaving, h.SMsArriving = s.r.gpu.Sharing.Moving(app)
	return h
}

// target is what the applications have when all moves that have begun are over, and the number of SMs that are
// powered down then.
func (s *source) target() sharing.Target {
	gpu := s.r.gpu
	down, _ := gpu.Sharing.Powering()
	t := sharing.Target{Gated: gpu.Sharing.Gated() + down}
	for i, x := range gpu.Tenants {
		leaving, arriving := gpu.Sharing.Moving(i)
		t.Shares = append(t.Shares, sharing.Share{SMs: len(x.SMs) + arriving - leaving, Groups: len(x.Groups)})
	}
	return t
}
