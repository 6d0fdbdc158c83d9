package checker

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
)

func device() Device {
	return Device{Ranks: 2, Sids: 1, Groups: 2, Banks: 2, Rules: []Rule{
		{Level: "Bank", Prev: []string{"ACT"}, Next: []string{"RD", "WR"}, Min: 5},
		{Level: "BankGroup", Prev: []string{"RD"}, Next: []string{"RD"}, Min: 4},
		{Level: "Rank", Prev: []string{"RD"}, Next: []string{"RD"}, Min: 2},
		{Level: "Rank", Prev: []string{"RD"}, Next: []string{"RD"}, Min: 6, Sibling: true},
		{Level: "Rank", Prev: []string{"ACT"}, Next: []string{"ACT"}, Min: 20, Window: 2},
		{Level: "Rank", Prev: []string{"PREpb", "PREab"}, Next: []string{"REFab"}, Min: 3},
	}, ReadDelay: 3, WriteDelay: 1, Burst: 2}
}

type step struct {
	at   uint64
	cmd  dram.Cmd
	loc  dram.Loc
	want string // part of the violation this command must cause; none when empty
}

func at(rank, group, bank uint8, row uint32) dram.Loc {
	return dram.Loc{Rank: rank, BankGroup: group, Bank: bank, Row: row}
}

func all(rank uint8) dram.Loc {
	return dram.Loc{Rank: rank, BankGroup: dram.AllBanks, Bank: dram.AllBanks}
}

// TestEveryCheck breaks each rule by one clock, beside the same stream one clock
// later, which is fine.
func TestEveryCheck(t *testing.T) {
	for name, steps := range map[string][]step{
		"bank":    {{10, dram.ACT, at(0, 0, 0, 1), ""}, {14, dram.RD, at(0, 0, 0, 1), "4 clocks after ACT"}},
		"bank ok": {{10, dram.ACT, at(0, 0, 0, 1), ""}, {15, dram.RD, at(0, 0, 0, 1), ""}},
		"group": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{10, dram.RD, at(0, 0, 0, 1), ""},
			{13, dram.RD, at(0, 0, 0, 1), "BankGroup needs 4"},
		},
		"other group ok": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{2, dram.ACT, at(0, 1, 0, 1), ""},
			{10, dram.RD, at(0, 0, 0, 1), ""},
			{12, dram.RD, at(0, 1, 0, 1), ""},
		},
		"rank": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{2, dram.ACT, at(0, 1, 0, 1), ""},
			{10, dram.RD, at(0, 0, 0, 1), ""},
			{11, dram.RD, at(0, 1, 0, 1), "Rank needs 2"},
		},
		"sibling": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{2, dram.ACT, at(1, 0, 0, 1), ""},
			{10, dram.RD, at(0, 0, 0, 1), ""},
			{15, dram.RD, at(1, 0, 0, 1), "needs 6"},
		},
		"sibling ok": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{2, dram.ACT, at(1, 0, 0, 1), ""},
			{10, dram.RD, at(0, 0, 0, 1), ""},
			{16, dram.RD, at(1, 0, 0, 1), ""},
		},
		"window": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{5, dram.ACT, at(0, 0, 1, 1), ""},
			{20, dram.ACT, at(0, 1, 0, 1), "needs 20"},
		},
		"window ok": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{5, dram.ACT, at(0, 0, 1, 1), ""},
			{6, dram.ACT, at(1, 0, 0, 1), ""},
			{21, dram.ACT, at(0, 1, 0, 1), ""},
		},
		"row":          {{1, dram.ACT, at(0, 0, 0, 1), ""}, {9, dram.RD, at(0, 0, 0, 2), "its row is not open"}},
		"closed":       {{9, dram.WR, at(0, 0, 0, 2), "its row is not open"}},
		"open twice":   {{1, dram.ACT, at(0, 0, 0, 1), ""}, {9, dram.ACT, at(0, 0, 0, 2), "row 1 is open"}},
		"nothing open": {{1, dram.PRE, at(0, 0, 0, 1), "no row is open"}},
		"auto": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{9, dram.RDA, at(0, 0, 0, 1), ""},
			{20, dram.RD, at(0, 0, 0, 1), "its row is not open"},
		},
		"refresh open": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{50, dram.REFab, all(0), "a row is open in sid 0 group 0 bank 0"},
		},
		"refresh early": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{50, dram.PREA, all(0), ""},
			{52, dram.REFab, all(0), "2 clocks after PREab"},
		},
		"refresh ok": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{2, dram.ACT, at(1, 0, 0, 1), ""},
			{50, dram.PREA, all(0), ""},
			{53, dram.REFab, all(0), ""},
		},
		"command bus": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{9, dram.RD, at(0, 0, 0, 1), ""},
			{9, dram.ACT, at(1, 0, 0, 1), "RD has the command bus"},
		},
		"data bus": {
			{1, dram.ACT, at(0, 0, 0, 1), ""},
			{9, dram.RD, at(0, 0, 0, 1), ""},
			{11, dram.WR, at(0, 0, 0, 1), "its data at 12 meets that of RD"},
		},
	} {
		c := New(device())
		for i, s := range steps {
			before := len(c.Violations())
			c.Command(s.at, s.cmd, s.loc)
			got := strings.Join(c.Violations()[before:], "; ")
			if (s.want == "") != (got == "") || !strings.Contains(got, s.want) {
				t.Errorf("%s, step %d: violations %q, want %q", name, i, got, s.want)
			}
		}
	}
}

func TestEdgesAndPlaces(t *testing.T) {
	d := device()
	d.DualBus, d.HalfCycle, d.Rules = true, true, nil
	c := New(d)
	c.Command(1, dram.ACT, at(0, 0, 0, 1))
	c.Command(3, dram.RD, at(0, 0, 0, 1))
	c.Command(3, dram.ACT, at(0, 1, 0, 1)) // two buses
	c.Command(4, dram.PRE, at(0, 0, 0, 1)) // either edge
	if len(c.Violations()) != 0 {
		t.Fatalf("violations %q", c.Violations())
	}
	c.Command(6, dram.ACT, at(0, 0, 0, 2))
	if v := c.Violations(); len(v) != 1 || !strings.Contains(v[0], "falling edge") {
		t.Errorf("violations %q, want a falling edge", v)
	}
	c = New(device())
	c.Command(1, dram.ACT, at(0, 2, 0, 1))
	if v := c.Violations(); len(v) != 1 || !strings.Contains(v[0], "no such place") {
		t.Errorf("violations %q, want no such place", v)
	}
}

func TestRefreshCount(t *testing.T) {
	d := device()
	d.Ranks, d.Refi = 1, 100
	c := New(d)
	c.Command(120, dram.REFab, all(0))
	c.Finish(350, 2)
	if len(c.Violations()) != 0 {
		t.Errorf("one of three refreshes with a slack of 2: %q", c.Violations())
	}
	c.Finish(450, 2)
	if len(c.Violations()) != 1 {
		t.Errorf("one of four refreshes with a slack of 2: %q", c.Violations())
	}
}
