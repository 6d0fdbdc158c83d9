package dram_test

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
)

// ugpu is the device of the ugpu sheet: 4 KB rows, 64 B per command clock of 440 MHz.
func ugpu() *sheets.DRAM {
	return &sheets.DRAM{
		Channels: 8, Ranks: 1, BankGroups: 4, Banks: 4, Rows: 8192, RowBytes: 4096, Access: 64,
		Queue: 64, DualBus: true, Sched: "frfcfs", Page: "open",
		T: sheets.Timing{
			BL: 1, CL: 14, CWL: 2, RCDRD: 14, RCDWR: 14, RP: 14, RAS: 33, RC: 47, WR: 6, RTP: 4, CCDS: 1, CCDL: 2,
			RRDS: 4, RRDL: 4, WTRS: 3, WTRL: 8, FAW: 20,
		},
	}
}

// copier moves 4 KB pages over four stacks of eight channels: 32 lines, two in
// each bank group of each stack (UGPU Figure 8).
type copier struct {
	rigs  []*rig
	now   uint64
	pages uint32
}

func newCopier(tb testing.TB) *copier {
	c := &copier{now: 1}
	cfg := config(tb, ugpu())
	for range 4 {
		c.rigs = append(c.rigs, newRig(tb, cfg, 8, mig(13), false)) // as literal does: 40 cycles of 1400 MHz
	}
	return c
}

// page moves one page from one channel group to the next and waits for it.
func (c *copier) page() {
	n := c.pages
	c.pages++
	src := int(n % 8)
	left := 0
	for _, r := range c.rigs {
		for g := range 4 {
			at := dram.Loc{BankGroup: uint8(g), Bank: uint8(n / 8 % 4), Row: n / 32 % 8192, Col: 4 * (n % 16)}
			if r.stack.Push(c.now, dram.Migration{Src: src, Dst: (src + 1) % 8, From: at, To: at, Lines: 2}) {
				left++
			}
		}
	}
	for left > 0 {
		next := dram.Never
		for _, r := range c.rigs {
			next = min(next, r.tick(c.now))
			for {
				if _, ok := r.stack.Pop(); !ok {
					break
				}
				left--
			}
		}
		if left == 0 {
			next = c.now + 1 // the next page
		}
		c.now = next
	}
}

func BenchmarkPageCopy(b *testing.B) {
	c := newCopier(b)
	b.ReportAllocs()
	from := c.now
	for b.Loop() {
		c.page()
	}
	b.ReportMetric(float64(c.now-from)/float64(c.pages), "clocks/page")
}

// TestMigrationsDoNotAllocate: nor do the channels beside them.
func TestMigrationsDoNotAllocate(t *testing.T) {
	if invariants.On {
		t.Skip("a broken invariant's message is built on the heap")
	}
	c := newCopier(t)
	for range 100 {
		c.page()
	}
	if n := testing.AllocsPerRun(200, c.page); n != 0 {
		t.Errorf("%g allocations per page", n)
	}
}

// TestPushDuringMigration: builds with the invariants tag stop a caller who writes
// to a line on its way or touches the place it goes to.
func TestPushDuringMigration(t *testing.T) {
	if !invariants.On {
		t.Skip("needs -tags invariants")
	}
	for name, c := range map[string]struct {
		ch    int
		at    dram.Loc
		write bool
		fails bool
	}{
		"read of the source":             {0, dram.Loc{Row: 3, Col: 5}, false, false},
		"write to the source":            {0, dram.Loc{Row: 3, Col: 5}, true, true},
		"write beside the source":        {0, dram.Loc{Row: 3, Col: 8}, true, false},
		"read of the destination":        {1, dram.Loc{Row: 9, Col: 0}, false, true},
		"write beside the destination":   {1, dram.Loc{Row: 9, Col: 4}, true, false},
		"write to another bank's column": {0, dram.Loc{Bank: 1, Row: 3, Col: 5}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config(t, hbm()), 2, mig(13), false)
			r.stack.Push(1, dram.Migration{
				Src: 0, Dst: 1, From: dram.Loc{Row: 3, Col: 4}, To: dram.Loc{Row: 9},
				Lines: 2,
			})
			defer func() {
				if failed := recover() != nil; failed != c.fails {
					t.Errorf("fails: %v, want %v", failed, c.fails)
				}
			}()
			r.ch[c.ch].Push(1, c.at, c.write, 1, 0, 0)
		})
	}
}
