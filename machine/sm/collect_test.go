package sm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

// A scheduler has four register banks, each of which gives two operands a cycle, the first in
// the cycle in which the instruction gets its collector: one that reads none is a cycle ahead of
// those that read one or two of a bank, three or four take a cycle more, and a register counts once.
func TestRegisterBanks(t *testing.T) {
	for _, c := range []struct {
		src  []uint16
		want uint64 // issue of the multiply-add to that of its dependent
	}{
		{nil, 9},
		{[]uint16{4}, 10},
		{[]uint16{4, 5, 6}, 10},
		{[]uint16{4, 8, 5}, 10},
		{[]uint16{4, 8, 12}, 11},
		{[]uint16{4, 8, 8}, 10},
		{[]uint16{4, 8, 12, 16}, 11},
		{[]uint16{4, 8, 12, 16, 20}, 12},
	} {
		for _, all := range []bool{true, false} {
			b := newBench(t, func(m *sheets.Machine) { m.SM.CollectAll = all })
			at := b.issues(oneWarp(alu(isa.IntMad, isa.INT, 0, c.src...), alu(isa.IntMad, isa.INT, 1, 0), exit()))
			want := c.want
			if !all { // no banks
				want = 10
			}
			if got := at[1] - at[0]; got != want {
				t.Errorf("reads of %v, all %v: dependent issue after %d cycles, want %d", c.src, all, got, want)
			}
		}
	}
}

// Special functions start every eighth cycle. Of nine, one is in the unit, the second before
// it, the third and the fourth in the scheduler's collectors and the fifth in the latch before
// them; each later one issues when the unit takes one more. The fifth gets the collector of the
// third, which comes before that of the fourth, and so do the others: the fourth is the last.
func TestCollectorsQueue(t *testing.T) {
	list := make([]ins, 0, 10)
	for i := range uint16(9) {
		list = append(list, alu(isa.Special, isa.SFU, i, 16+i))
	}
	b := newBench(t, nil)
	var ready []uint32
	b.each = func(uint64) {
		if wp := &b.s.pipe.warps.slot[0]; wp.state == running || wp.state == finishing {
			ready = slices.Clone(wp.ready[:9])
		}
	}
	at := b.issues(oneWarp(append(list, alu(isa.TimeOther, isa.INT, 9, 3), exit())...))
	for i, want := range []uint64{0, 1, 2, 3, 4, 11, 19, 27, 35} {
		if at[i]-at[0] != want {
			t.Errorf("instruction %d issued %d cycles after the first, want %d", i, at[i]-at[0], want)
		}
	}
	for i, want := range []uint32{0, 8, 16, 64, 24, 32, 40, 48, 56} {
		if ready[i]-ready[0] != want {
			t.Errorf("instruction %d done %d cycles after the first, want %d", i, ready[i]-ready[0], want)
		}
	}
}

// While special functions hold a scheduler's collectors an addition waits for one, and the next
// special function gets it first, as its class asks first. The other schedulers' additions wait
// behind the older one; their special functions do not.
func TestClassesAsk(t *testing.T) {
	list := make([]ins, 0, 10)
	for i := range uint16(5) {
		list = append(list, alu(isa.Special, isa.SFU, i, 16+i))
	}
	list = append(list, alu(isa.IntAdd, isa.INT, 5, 21), alu(isa.Special, isa.SFU, 6, 22),
		alu(isa.IntAdd, isa.INT, 7, 5))
	at := newBench(t, nil).issues(oneWarp(append(list, exit())...))
	// The addition issues in cycle 5. In cycle 11 the fifth special function gets the collector,
	// in 19 the sixth, which could issue in 11, and in 27 the addition: one cycle after issue
	// without the queue.
	if got := at[7] - at[5]; got != 27-6+9 {
		t.Errorf("the addition's dependent issues after %d cycles, want %d (%v)", got, 27-6+9, at)
	}
}

// An integer unit ends one instruction in a cycle: a move, which takes one cycle, waits for the
// cycle after that in which an addition of four, begun three cycles earlier, ends.
func TestUnitEndsOne(t *testing.T) {
	at := newBench(t, nil).issues(oneWarp(alu(isa.IntAdd, isa.INT, 0, 8), alu(isa.FpAdd, isa.SP, 1, 9),
		alu(isa.FpMul, isa.SP, 2, 10), alu(isa.TimeOther, isa.INT, 3, 11), alu(isa.TimeOther, isa.INT, 4, 3), exit()))
	if at[3]-at[0] != 3 {
		t.Fatalf("the move issues %d cycles after the addition, want 3", at[3]-at[0])
	}
	if got := at[4] - at[3]; got != 7 {
		t.Errorf("the move's dependent issues after %d cycles, want 7", got)
	}
}

// What comes from the interconnect passes the SM's queue of answers, whether it looked into the
// L1 or not; what hits in the L1 does not.
func TestReturnLatency(t *testing.T) {
	var use [2][3]uint64
	for n := range use {
		for i, cache := range []isa.Cache{isa.CacheAll, isa.CacheGlobal} {
			g := oneWarp(load(isa.Global, cache, 0, 2), load(isa.Global, isa.CacheAll, 1, 0),
				alu(isa.IntAdd, isa.INT, 3, 1), exit())
			g.addr = lanes(0x1000, 4)
			at := newBench(t, func(m *sheets.Machine) { m.L1D.ReturnLatency = n }).issues(g)
			use[n][i] = at[1] - at[0]
			if cache == isa.CacheAll {
				use[n][2] = at[2] - at[1]
			}
		}
	}
	if want := [3]uint64{use[0][0] + 1, use[0][1] + 1, 24}; use[1] != want || use[0][2] != 24 {
		t.Errorf("load to use %v without the queue, %v with it: want %v", use[0], use[1], want)
	}
}
