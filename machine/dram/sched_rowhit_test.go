package dram_test

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
)

// TestRowHits: a row is open and, where tRTP (1) is shorter than tCCD_L (3), a conflict's PRE is
// ready before the next hit. Clocks worked out by hand from the timing table.
func TestRowHits(t *testing.T) {
	hit := func(at uint64, col uint32) push { return push{at: at, loc: dram.Loc{Row: 5, Col: col}} }
	conflict := func(at uint64) push { return push{at: at, loc: dram.Loc{Row: 6}} }
	const opened = "10:ACT 17:RD "
	for _, c := range []struct {
		name     string
		list     []push
		commands map[string]string // by scheduler
	}{
		{
			"a conflict after two hits",
			[]push{hit(10, 0), hit(50, 1), hit(50, 2), conflict(51)},
			map[string]string{
				"frfcfs":          "50:RD 51:PREpb 58:ACT 65:RD 75:PREpb 82:ACT 89:RD",
				"frfcfs-rowhit":   "50:RD 53:RD 54:PREpb 61:ACT 68:RD",
				"frfcfs-priorhit": "50:RD 53:RD 54:PREpb 61:ACT 68:RD",
			},
		},
		{
			"a conflict before two hits of its own clock",
			[]push{hit(10, 0), conflict(50), hit(50, 1), hit(50, 2)},
			map[string]string{
				"frfcfs":          "50:RD 51:PREpb 58:ACT 65:RD 75:PREpb 82:ACT 89:RD",
				"frfcfs-rowhit":   "50:RD 53:RD 54:PREpb 61:ACT 68:RD",
				"frfcfs-priorhit": "50:RD 53:RD 54:PREpb 61:ACT 68:RD",
			},
		},
		{
			"a hit after the conflict",
			[]push{hit(10, 0), hit(49, 1), conflict(49), hit(50, 2)},
			map[string]string{
				"frfcfs":          "49:RD 50:PREpb 57:ACT 64:RD 74:PREpb 81:ACT 88:RD",
				"frfcfs-rowhit":   "49:RD 50:PREpb 57:ACT 64:RD 74:PREpb 81:ACT 88:RD",
				"frfcfs-priorhit": "49:RD 52:RD 53:PREpb 60:ACT 67:RD",
			},
		},
	} {
		for sched, want := range c.commands {
			sheet := hbm()
			sheet.T.RTP, sheet.Sched = 1, sched
			if _, got := play(t, config(t, sheet), c.list); got != opened+want {
				t.Errorf("%s, %s: %s, want %s", c.name, sched, got, opened+want)
			}
		}
	}
}
