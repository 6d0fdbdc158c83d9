package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

// storingCTAs are CTAs of which one fits on an SM: each stores, waits for its store at a fence if fenced, and exits.
func storingCTAs(fenced bool) *scripted {
	list := []ins{store(isa.Global, 0)}
	if fenced {
		list = append(list, ins{Instr: isa.Instr{Kind: isa.Fence, Unit: isa.LDST, Scope: isa.GPUScope}})
	}
	g := oneWarp(append(list, exit())...)
	g.geo.SharedBytes = 60 << 10
	g.addr = lanes(0x1000, 4)
	return g
}

// A warp gives up its place before its stores are acknowledged only where the sheet says so.
func TestEarlyExit(t *testing.T) {
	const trip, ctas = 1000, 3
	var last [2]uint64
	for i, early := range []bool{false, true} {
		b := newBench(t, func(m *sheets.Machine) { m.SM.EarlyExit = early })
		b.delay = trip
		last[i] = b.run(storingCTAs(false), ctas, false)
	}
	if last[0] < ctas*trip {
		t.Errorf("%d CTAs one after the other ended in cycle %d, before their stores were acknowledged", ctas, last[0])
	}
	if last[1] > 200 {
		t.Errorf("%d CTAs that need not wait for their stores took %d cycles", ctas, last[1])
	}
}

// An acknowledgement for a warp that has left is not taken for one of the warp in its place: the first CTA exits behind
// its store, the second waits at a fence for its own.
func TestEarlyExitOwnAcknowledgements(t *testing.T) {
	const trip, atFence, atExit = 1000, 1, 2
	b := newBench(t, func(m *sheets.Machine) { m.SM.EarlyExit = true })
	b.delay = trip
	g := storingCTAs(true)
	g.jump = map[int]int32{}
	g.addr = func(cta, _, _, l int) uint64 {
		g.jump[0] = []int32{atExit, atFence}[cta]
		return uint64(0x1000 + 4*l)
	}
	var stored, passed [2]uint64
	g.trace = func(cta, _, pc int, now uint64) {
		switch pc {
		case 0:
			stored[cta] = now
		case atExit:
			passed[cta] = now
		}
	}
	b.run(g, 2, false)
	if stored[1] > stored[0]+200 {
		t.Fatalf("the second CTA began in cycle %d, after the stores of the first", stored[1])
	}
	if d := passed[1] - stored[1]; d < trip {
		t.Errorf("the second CTA passed its fence %d cycles after its store, which is acknowledged after %d", d, trip)
	}
}
