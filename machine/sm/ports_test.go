package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// asked is a TLB that has nothing at first, and an MMU that keeps when it was asked.
type asked struct {
	at    []uint64
	pages []uint64
	have  map[uint64]bool
}

func (a *asked) Lookup(_ mem.TenantID, vpn uint64) (uint64, bool) { return vpn, a.have[vpn] }
func (a *asked) Insert(_ mem.TenantID, vpn, _ uint64)             { a.have[vpn] = true }
func (a *asked) Request(now uint64, _ mem.TenantID, vpn uint64, _ int, _ int32) bool {
	a.at, a.pages = append(a.at, now), append(a.pages, vpn)
	return true
}

// A warp that reads a page per lane asks for all that miss in one cycle, or with ports for so many a cycle.
func TestPortsOfTLB(t *testing.T) {
	for ports, want := range map[int]uint64{0: 0, 1: 31, 4: 7} {
		b := newBench(t, func(m *sheets.Machine) { m.VM.L1Ports = ports })
		a := &asked{have: map[uint64]bool{}}
		b.s.lsu.translation.tlb, b.s.lsu.translation.mmu = a, a
		b.s.lsu.translation.pending = make([]tlbMiss, 64)
		b.s.cfg.translation.pageShift = 12
		b.each = func(now uint64) {
			if now == 200 {
				for _, p := range a.pages {
					b.s.Translated(0, p, p, now+1)
				}
			}
			b.s.wakeAt(now + 1)
		}
		g := oneWarp(load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0), exit())
		g.addr = lanes(0x1000, 4096)
		b.run(g, 1, false)
		if len(a.at) != 32 || a.at[31]-a.at[0] != want {
			t.Errorf("%d ports: %d pages are asked for in cycles %v, want %d cycles", ports, len(a.at), a.at, want)
		}
	}
}
