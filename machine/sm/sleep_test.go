package sm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// A warp that sleeps t ns issues again after t ns of the core clock (qv100: 1132 MHz), whether idle cycles are skipped
// or not; other warps issue meanwhile, and the stall's cause is named.
func TestSleep(t *testing.T) {
	for ns, want := range map[uint32]uint64{1000: 1132, 50: 57, 1_000_000: 1_132_000} {
		for _, every := range []bool{false, true} {
			g := oneWarp(ins{Instr: isa.Instr{Kind: isa.Sleep, Unit: isa.INT}}, alu(isa.IntAdd, isa.INT, 0), exit())
			g.geo.Threads, g.geo.Warps = 64, 2
			g.nanos = []uint32{ns, 0}
			var at [2][3]uint64
			g.trace = func(_, warp, pc int, now uint64) { at[warp][pc] = now }
			b := newBench(t, nil)
			b.most = 2_000_000
			b.prof = make([]PC, 3)
			b.run(g, 1, every)
			if got := at[0][1] - at[0][0]; got != want {
				t.Errorf("%d ns, every tick %v: %d cycles, want %d", ns, every, got, want)
			}
			if got := at[1][1] - at[1][0]; got > 20 {
				t.Errorf("%d ns: the other warp waits %d cycles", ns, got)
			}
			if got := b.prof[1].Stall[Asleep]; got != want-1 {
				t.Errorf("%d ns: %d cycles asleep in the profile, want %d", ns, got, want-1)
			}
		}
	}
}

// An operand that comes while the warp sleeps does not wake it.
func TestSleepThroughALoad(t *testing.T) {
	sleep := ins{Instr: isa.Instr{Kind: isa.Sleep, Unit: isa.INT}}
	g := oneWarp(load(isa.Global, isa.CacheAll, 0), sleep, alu(isa.IntAdd, isa.INT, 1, 0), exit())
	g.addr, g.nanos = lanes(0x1000, 4), []uint32{1000}
	at := newBench(t, nil).issues(g)
	if got := at[2] - at[1]; got != 1132 {
		t.Errorf("%d cycles, want 1132 (%v)", got, slices.Clone(at))
	}
}
