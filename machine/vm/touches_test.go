package vm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// touched makes tables of a small machine: 70 SMs, so that a set has two words, and 2 channels of
// 64 pages.
func touched(t *testing.T) (*Tables, *Touches) {
	t.Helper()
	s := &sheets.Machine{Name: "touched"}
	s.SM.Count = 70
	s.DRAM.Channels, s.DRAM.BankGroups, s.DRAM.Banks, s.DRAM.Ranks, s.DRAM.RowBytes = 2, 4, 4, 1, 2048
	s.DRAM.Capacity = 2 * 64 * 4096
	s.LLC.SlicesPerChannel, s.LLC.Line = 1, 128
	s.VM.Page, s.VM.Levels, s.VM.Placement = 4096, 4, "first-touch"
	s.Map.Kind = "page"
	m, err := addrmap.New(s)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := NewTables(s, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	return tab, NewTouches(s, tab, NewConfig(s, 1).Near)
}

// Three pages: one of SM 0 alone, one of SMs 1, 34 and 35, at the home of the last two, and one
// of all SMs. Frames that are given back keep their counts and begin anew.
func TestTouchesByHand(t *testing.T) {
	tab, x := touched(t)
	tab.Freed = func(_ mem.TenantID, frames []uint64) { x.Freed(frames) }
	if err := tab.Reserve(0, 0, 3*4096); err != nil {
		t.Fatal(err)
	}
	page := func(vpn uint64, home int) uint64 {
		ppn, err := tab.MapPage(0, vpn, home)
		if err != nil {
			t.Fatal(err)
		}
		return ppn
	}
	a, b, c := page(0, 0), page(1, 1), page(2, 1)
	x.Note(a, 0)
	x.Note(a, 0)
	for _, sm := range []int{1, 34, 35} {
		x.Note(b, sm)
	}
	for sm := range 70 {
		x.Note(c, sm)
	}
	check := func(what string) {
		t.Helper()
		degree, homes := x.Counts()
		want := make([]uint64, 70)
		want[0], want[2], want[69] = 1, 1, 1
		if !slices.Equal(degree, want) {
			t.Errorf("%s: pages by SMs %v", what, degree)
		}
		if !slices.Equal(homes[0], []uint64{1, 0}) || !slices.Equal(homes[1], []uint64{2, 2}) {
			t.Errorf("%s: homes by partitions %v", what, homes)
		}
	}
	check("while they are mapped")
	check("asked again")
	tab.Unmap(0, 0, 3*4096)
	check("given back")
	if err := tab.Reserve(0, 0, 4096); err != nil {
		t.Fatal(err)
	}
	x.Note(page(0, 0), 5)
	if degree, homes := x.Counts(); degree[0] != 2 || homes[0][0] != 2 {
		t.Errorf("another page in the frame: %v, %v", degree[:3], homes)
	}
}

// What is off takes no note.
func TestNoTouches(*testing.T) {
	var x *Touches
	x.Note(1, 2)
	x.Freed([]uint64{1})
}
