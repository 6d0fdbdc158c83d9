package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// looped is a scripted CTA whose program starts over at its end, for ever.
type looped struct{ scriptedCTA }

func (c *looped) Step(w int, now uint64, s *isa.Step) error {
	pc := int(c.pc[w])
	in := &c.g.code.Instr[pc]
	s.Active, s.Mask, s.Space, s.Next = ^uint32(0), ^uint32(0), in.Space, int32(pc+1)
	if pc+1 == len(c.g.code.Instr) {
		s.Next = 0
	}
	if in.Space != isa.NoSpace {
		base := uint64(w*4096 + pc*128)
		for l := range s.Addr {
			s.Addr[l] = base + uint64(4*l)
		}
	}
	c.pc[w] = s.Next
	return nil
}

type loopGrid struct{ *scripted }

func (g loopGrid) Start(cta int, _ isa.Place) isa.CTA {
	return &looped{scriptedCTA{g: g.scripted, cta: cta, pc: make([]int32, g.geo.Warps)}}
}

// BenchmarkIssue is the cost of the SM's own bookkeeping per warp instruction,
// without executing anything: 64 warps, dependent arithmetic, and the same with a
// shared load and an L1-hitting load in five.
func BenchmarkIssue(b *testing.B) {
	mix := map[string][]ins{
		"alu": {
			alu(isa.FpMad, isa.SP, 0, 0), alu(isa.IntAdd, isa.INT, 1, 1), alu(isa.FpMad, isa.SP, 2, 0),
			alu(isa.TimeOther, isa.INT, 3, 1),
		},
		"mem": {
			alu(isa.FpMad, isa.SP, 0, 4), alu(isa.IntAdd, isa.INT, 1, 1), load(isa.Shared, isa.CacheAll, 2, 1),
			load(isa.Global, isa.CacheAll, 4, 1), alu(isa.TimeOther, isa.INT, 3, 2),
		},
	}
	for _, name := range []string{"alu", "mem"} {
		b.Run(name, func(b *testing.B) {
			m, _, err := sheets.Load("qv100")
			if err != nil {
				b.Fatal(err)
			}
			cfg, err := Derive(m)
			if err != nil {
				b.Fatal(err)
			}
			slab := mem.NewSlab(64)
			table := stat.NewTraffic("sm", Counters(), 1, 1)
			s, err := New(0, cfg, NewScratch(cfg), slab, table, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			g := &scripted{code: program(mix[name]...), geo: isa.Geometry{Threads: 1024, Warps: 32, Regs: 8, CTAs: 2}}
			k := &Kernel{Grid: loopGrid{g}, Code: &g.code, Geo: g.geo}
			for i := range 2 {
				if err := s.Start(k, i, 0); err != nil {
					b.Fatal(err)
				}
			}
			now := uint64(1)
			row := table.Row(0, 0)
			b.ReportAllocs()
			for b.Loop() {
				now = max(now+1, s.Tick(now))
				for s.Out().Len() > 0 {
					h := *s.Out().Head()
					s.Sent(now)
					s.Deliver(h, now)
				}
			}
			n := float64(row[WarpInsts])
			b.ReportMetric(b.Elapsed().Seconds()*1e9/n, "ns/warp-inst")
			b.ReportMetric(n/float64(now), "ipc")
		})
	}
}
