package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

func copyLine() ins {
	return ins{Instr: isa.Instr{Kind: isa.AsyncCopy, Unit: isa.LDST, Space: isa.Global, Cache: isa.CacheGlobal, Width: 4}}
}

func wait(g isa.Groups) ins {
	return ins{Instr: isa.Instr{Kind: isa.Await, Unit: isa.INT, Groups: g}}
}

// A warp that has copied two groups, the second long after the first, waits for as many groups as the wait says, and for no
// load beside them.
func TestAwaitsGroupsOfCopies(t *testing.T) {
	commit := ins{Instr: isa.Instr{Kind: isa.Commit, Unit: isa.INT}}
	for _, c := range []struct {
		name     string
		list     []ins
		at       int    // the instruction behind the wait
		from, to uint64 // cycles from the issue of instruction 0, a copy that takes 1,000
	}{
		{"all", []ins{copyLine(), commit, copyLine(), commit, wait(isa.Groups{}), exit()}, 5, 1000, 1060},
		{"all but one", []ins{copyLine(), commit, wait(isa.Groups{Spare: 1}), exit()}, 3, 1, 20},
		{"all but two of one", []ins{copyLine(), commit, wait(isa.Groups{Spare: 2}), exit()}, 3, 1, 20},
		{"no group yet", []ins{copyLine(), wait(isa.Groups{}), exit()}, 2, 1, 20},
		{"all that is open, too", []ins{copyLine(), wait(isa.Groups{Open: true}), exit()}, 2, 1000, 1060},
		{"a load beside", []ins{load(isa.Global, isa.CacheGlobal, 1), commit, wait(isa.Groups{}), exit()}, 3, 1, 20},
	} {
		b := newBench(t, func(*sheets.Machine) {})
		b.delay = 1000
		g := oneWarp(c.list...)
		g.addr = lanes(0x1000, 4)
		at := b.issues(g)
		if got := at[c.at] - at[0]; got < c.from || got > c.to {
			t.Errorf("%s: went on after %d cycles, want %d to %d", c.name, got, c.from, c.to)
		}
	}
}
