package dram_test

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
)

// TestPageClocks: what a bank group's 256 bytes of a page take on sheet ugpu (tRP 7, tRCD 7, tRAS 15, tCCDL 2, CL + BL
// 8, CWL + BL 2), where a command clock is four data clocks of 128 bits and a line passes in 8 of them. UGPU's section
// 4.5 adds up 14 + 14 ns + 16 data clocks and rounds them to 40 GPU cycles.
func TestPageClocks(t *testing.T) {
	m, _, err := sheets.Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	literal := *m
	literal.DRAM.Migration = "literal"
	at := func(group int, row, col uint32) dram.Loc {
		return dram.Loc{BankGroup: uint8(group), Bank: 1, Row: row, Col: col}
	}
	beside := func(col uint32) dram.Loc { return dram.Loc{Bank: 2, Row: 7, Col: col} }
	type read struct {
		at  uint64
		ch  int
		loc dram.Loc
	}
	others := func(groups int) (list []read) { // rows of other pages, open in both channels
		for g := range groups {
			list = append(list, read{10, 0, at(g, 6, 0)}, read{10, 1, at(g, 8, 0)})
		}
		return list
	}
	same := []read{{10, 0, at(0, 5, 0)}, {10, 1, at(0, 9, 0)}}
	for _, c := range []struct {
		name     string
		sheet    *sheets.Machine
		reads    []read
		groups   int
		last     uint64 // clocks from clock 50 until the last line has arrived
		cycles   int    // of the GPU in those, rounded
		commands string // from clock 50 on
	}{
		{
			"both rows closed: tRCD + 16 data clocks", m, nil, 1, 7 + 4, 35,
			"50:0:ACT 50:1:ACT 57:MIG0 59:MIG1",
		},
		{
			"both rows open to others: tRP + tRCD + 16 data clocks", m, others(1), 1, 7 + 7 + 4, 57,
			"50:0:PREpb 50:1:PREpb 57:0:ACT 57:1:ACT 64:MIG2 66:MIG3",
		},
		{
			"both rows open: 16 data clocks", m, same, 1, 4, 13,
			"50:MIG2 52:MIG3",
		},
		{
			"40 GPU cycles for each line, rows besides", &literal, others(1), 1, 7 + 7 + 13 + 13, 127,
			"50:0:PREpb 50:1:PREpb 57:0:ACT 57:1:ACT 64:MIG2 77:MIG3",
		},
		{
			"four bank groups: rows open at once, two clocks of the command bus for each of eight lines", m, nil, 4,
			7 + 16, 73,
			"50:0:ACT 50:1:ACT 52:0:ACT 52:1:ACT 54:0:ACT 54:1:ACT 56:0:ACT 56:1:ACT " +
				"57:MIG0 59:MIG1 61:MIG2 63:MIG3 65:MIG4 67:MIG5 69:MIG6 71:MIG7",
		},
		{
			"a read of another bank group passes beside, by the source's own TSV set", m,
			[]read{{10, 0, at(2, 7, 0)}, {56, 0, at(2, 7, 1)}},
			1, 7 + 4, 35,
			"50:0:ACT 50:1:ACT 56:0:RD 57:MIG1 59:MIG2",
		},
		{
			"a read of the same bank group has its path for the last two clocks of nine", m,
			[]read{{10, 0, beside(0)}, {51, 0, beside(1)}},
			1, 1 + 8 + 4, 41,
			"50:0:ACT 50:1:ACT 51:0:RD 59:MIG1 61:MIG2",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			timing := dram.MigrationTiming{
				Clocks: c.sheet.MigrationClocks(), LineBursts: c.sheet.MigrationLine(), Crossbar: true, Queue: 32,
				MaxWait: 256,
			}
			r := newRig(t, config(t, &c.sheet.DRAM), 8, timing, true)
			from, done, left := 0, uint64(0), c.groups
			for now := uint64(1); now < 400; now++ {
				for _, q := range c.reads {
					if q.at == now && !r.ch[q.ch].Push(now, q.loc, false, 1, 0, 0) {
						t.Fatal("refused")
					}
				}
				if now == 50 {
					from = len(r.log)
					for g := range c.groups {
						r.stack.Push(now, dram.Migration{
							Src: 0, Dst: 1, From: at(g, 5, 4), To: at(g, 9, 8), Lines: 2, ID: int32(g),
						})
					}
				}
				r.tick(now)
				for _, ok := r.stack.Pop(); ok; _, ok = r.stack.Pop() {
					done, left = now, left-1
				}
			}
			got := strings.Join(r.log[from:], " ")
			cycles := int(float64(done-50)*m.Clock.Core/m.Clock.DRAM + 0.5)
			if left != 0 || done != 50+c.last || cycles != c.cycles || !strings.HasPrefix(got, c.commands) {
				t.Errorf("%d left, the last done after %d clocks (%d of the GPU), want %d (%d)\n%s\nwant %s", left,
					done-50, cycles, c.last, c.cycles, got, c.commands)
			}
			r.violations()
		})
	}
}
