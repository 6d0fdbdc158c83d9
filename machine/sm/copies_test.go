package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

func copyLine() ins {
	return ins{Instr: isa.Instr{
		Kind: isa.AsyncCopy, Unit: isa.LDST, Space: isa.Global, Cache: isa.CacheGlobal, Width: 4,
	}}
}

func wait(g isa.Groups) ins {
	return ins{Instr: isa.Instr{Kind: isa.Await, Unit: isa.INT, Groups: g}}
}

// A warp that has copied groups waits for all but as many as the wait spares, and for no load beside them.
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

// A load that does not look into the L1 keeps the load/store unit for as long as its lines take at the tags: 32 lines,
// four of them a cycle, hold up a load from shared memory 24 cycles less than one a cycle.
func TestPassesTheTags(t *testing.T) {
	wait := func(tags int) uint64 {
		b := newBench(t, func(m *sheets.Machine) {
			m.L1D.Tags, m.L1D.MissQueue, m.SM.CollectorsShared, m.SM.CollectAll = tags, 64, false, false
		})
		g := oneWarp(load(isa.Global, isa.CacheGlobal, 1), load(isa.Shared, isa.CacheAll, 2),
			alu(isa.IntAdd, isa.INT, 3, 2), exit())
		g.addr = lanes(0x1000, 132)
		at := b.issues(g)
		return at[2] - at[1]
	}
	if one, four := wait(1), wait(4); one-four != 24 {
		t.Errorf("the load from shared memory takes %d cycles behind 32 lines at one a cycle, %d at four; want 24 less",
			one, four)
	}
}
