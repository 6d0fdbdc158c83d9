package dram_test

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
)

// TestAskingClocks: from acceptance to the last command, whoever looks and when, and
// not twice where two ask together.
func TestAskingClocks(t *testing.T) {
	for _, look := range []uint64{0, 1, 3} { // every so many clocks; 0: never
		cfg := config(t, hbm())
		cfg.Tenants = 2
		c := dram.New(cfg)
		// RCDRD 7 and CCDL 3: ACT at 10, RD at 17 and 20; the second request's RD at 23 and 26.
		c.Push(10, dram.Loc{Row: 5}, false, 2, 0, 0)
		c.Push(10, dram.Loc{Row: 5, Col: 2}, false, 2, 1, 0)
		for now := uint64(10); now < 200; now++ {
			if now == 100 {
				c.Push(now, dram.Loc{Row: 5, Col: 4}, false, 1, 2, 0) // the row is open
				c.Push(now, dram.Loc{Row: 5, Col: 6}, false, 1, 3, 1)
			}
			c.Tick(now)
			if look > 0 && now%look == 0 {
				c.Sync(now)
			}
			c.Pop()
		}
		c.Sync(200)
		a, b := c.Counters(0), c.Counters(1)
		if a[dram.CAskingClocks] != 17+1 || a[dram.CAskedBursts] != 5 {
			t.Errorf("look %d: first: %d clocks, %d bursts", look, a[dram.CAskingClocks], a[dram.CAskedBursts])
		}
		if b[dram.CAskingClocks] != 1+3 || b[dram.CAskedBursts] != 1 {
			t.Errorf("look %d: second: %d clocks, %d bursts", look, b[dram.CAskingClocks], b[dram.CAskedBursts])
		}
	}
}

// TestAskingLeavesOutMoves: clocks in which a page moves out of or into the channel, and in
// which requests of what is moved are there, count for nobody, nor do their bursts.
func TestAskingLeavesOutMoves(t *testing.T) {
	cfg := config(t, hbm())
	cfg.Tenants, cfg.Movers = 2, 1
	r := newRig(t, cfg, 3, mig(13), true)
	line := func(row uint32) dram.Loc { return dram.Loc{BankGroup: 1, Row: row} }
	for now := uint64(0); now < 200; now++ {
		switch now {
		case 8: // ACT at 8, RD at 15
			for _, c := range r.ch {
				c.Push(now, line(5), false, 1, 0, 0)
			}
		case 10: // both banks are claimed at 10, and free at 17+13, the end of the line
			from, to := dram.Loc{Bank: 1, Row: 5}, dram.Loc{Bank: 1, Row: 9}
			r.stack.Push(now, dram.Migration{Src: 0, Dst: 1, From: from, To: to, Lines: 1})
		case 25:
			r.ch[1].Push(now, line(5), false, 1, 1, 0) // RD at 25
		case 100: // a request of what is moved: ACT at 107 after PRE, RD at 114
			r.ch[2].Push(now, line(6), false, 1, 2, 1)
		case 110:
			r.ch[2].Push(now, dram.Loc{BankGroup: 2, Row: 1}, false, 1, 3, 0) // ACT at 111, RD at 118
		}
		r.tick(now)
		for _, c := range r.ch {
			c.Pop()
		}
	}
	for i, want := range [][2]uint64{
		{11 - 8, 0},
		{11 - 8, 0},
		{16 - 8 + 119 - 115, 1 + 1},
	} {
		n := r.ch[i].Counters(0)
		if got := [2]uint64{n[dram.CAskingClocks], n[dram.CAskedBursts]}; got != want {
			t.Errorf("channel %d: %v clocks and bursts, want %v; %q", i, got, want, r.log)
		}
	}
	if n := r.ch[2].Counters(1)[dram.CAskingClocks]; n != 0 {
		t.Errorf("what is moved asks for %d clocks", n)
	}
	r.violations()
}
