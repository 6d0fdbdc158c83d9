package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

// A fence whose scope has a latency keeps its warp for that long after its issue, whatever its store takes if that is
// less; one for the CTA is then free. Without latencies every fence waits for the store, whatever its scope.
func TestFenceTakesItsTime(t *testing.T) {
	for _, c := range []struct {
		fence     [2]int
		scope     isa.Scope
		from, to  uint64 // cycles from the issue of the fence to that of the next instruction
		storeFast uint64 // round trip of the store
	}{
		{[2]int{673, 1247}, isa.GPUScope, 673, 675, 100},
		{[2]int{673, 1247}, isa.SystemScope, 1247, 1249, 100},
		{[2]int{673, 1247}, isa.CTAScope, 1, 3, 100},
		{[2]int{673, 1247}, isa.GPUScope, 890, 930, 900},
		{[2]int{}, isa.GPUScope, 90, 130, 100},
		{[2]int{}, isa.CTAScope, 90, 130, 100},
	} {
		b := newBench(t, func(m *sheets.Machine) { m.SM.Fence = c.fence })
		b.delay = c.storeFast
		g := oneWarp(store(isa.Global, 0), ins{Instr: isa.Instr{Kind: isa.Fence, Unit: isa.LDST, Scope: c.scope}},
			alu(isa.IntAdd, isa.INT, 1), exit())
		g.addr = lanes(0x1000, 4)
		at := b.issues(g)
		if got := at[2] - at[1]; got < c.from || got > c.to {
			t.Errorf("fence %v, scope %d, store %d: the next instruction issued after %d cycles, want %d to %d",
				c.fence, c.scope, c.storeFast, got, c.from, c.to)
		}
	}
}

// What an atomic keeps the load/store unit for, as an H100 measured: 5 cycles for a line of four sectors, 1 for a
// reduction of one sector, 2 where its result is read, and twice as long for two operands.
func TestAtomicKeepsTheUnit(t *testing.T) {
	c := ldstConfig{atomicSector: 1, atomicSingle: 1}
	old := ldstConfig{atomicSector: 1}
	for _, x := range []struct {
		cfg     *ldstConfig
		kind    isa.Kind
		change  isa.Change
		sectors int
		want    uint64
	}{
		{&c, isa.Reduce, isa.Whole, 4, 5},
		{&c, isa.Reduce, isa.Float, 1, 1},
		{&c, isa.Atomic, isa.Whole, 1, 2},
		{&c, isa.Atomic, isa.Whole, 4, 5},
		{&c, isa.Atomic, isa.Compare, 4, 10},
		{&c, isa.Atomic, isa.Compare, 1, 2},
		{&old, isa.Reduce, isa.Whole, 1, 2},
		{&old, isa.Atomic, isa.Whole, 4, 5},
	} {
		if got := x.cfg.atomic(&memOp{kind: x.kind, change: x.change}, x.sectors); got != x.want {
			t.Errorf("kind %d, change %d, %d sectors: %d cycles, want %d", x.kind, x.change, x.sectors, got, x.want)
		}
	}
}
