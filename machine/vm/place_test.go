package vm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// order is the groups of a tenant's pages in the order of their placement.
func order(t *testing.T, placement string, seed, pages int, tenant mem.TenantID) (out []int) {
	t.Helper()
	s := sheet(4096)
	s.VM.Placement, s.VM.PlacementSeed = placement, seed
	tab := tables(t, s, 2)
	mustMap(t, tab, tenant, base, uint64(pages)*4096)
	for p := range uint64(pages) {
		out = append(out, tab.frames.Pool(frameOf(t, tab, tenant, page4k(p))))
	}
	return out
}

// The choice depends on seed and tenant and on nothing else; groups stay as even as with least,
// whose choice every eighth page repeats.
func TestLeastRandomPlacement(t *testing.T) {
	a := order(t, "least-random", 1, 512, 0)
	if !slices.Equal(a, order(t, "least-random", 1, 512, 0)) {
		t.Error("the same seed gives other groups")
	}
	if slices.Equal(a, order(t, "least-random", 2, 512, 0)) || slices.Equal(a, order(t, "least-random", 1, 512, 1)) {
		t.Error("another seed or tenant gives the same groups")
	}
	strided := func(groups []int) (n [8]int) { // of every eighth page, as arrays of 8 pages begin
		for i := 0; i < len(groups); i += 8 {
			n[groups[i]]++
		}
		return n
	}
	all := make([]int, 8)
	for _, g := range a {
		all[g]++
	}
	if lo, hi := slices.Min(all), slices.Max(all); hi-lo > 2 { // nodes of the table count, too
		t.Errorf("pages per group %v", all)
	}
	old := order(t, "least", 1, 512, 0)
	if n := strided(old); slices.Max(n[:]) < 60 {
		t.Errorf("least puts every eighth page into groups %v: this test tests nothing", n)
	}
	if n := strided(a); slices.Max(n[:]) > 20 || slices.Min(n[:]) == 0 {
		t.Errorf("every eighth page is in groups %v, eight each would be even", n)
	}
}

// Pages that move to equally filled groups go to any of them, too.
func TestLeastRandomMoves(t *testing.T) {
	for _, placement := range []string{"least", "least-random"} {
		s := sheet(4096)
		s.VM.Placement, s.VM.PlacementSeed = placement, 1
		tab := tables(t, s, 1)
		if err := tab.SetGroups(0, []int{0}); err != nil {
			t.Fatal(err)
		}
		mustMap(t, tab, 0, base, 64*4096)
		first := [8]int{}
		for p := uint64(0); p < 64; p += 4 { // four pages fill four empty groups evenly
			for k := range uint64(4) {
				id, err := tab.BeginMove(0, page4k(p+k), 0xf0)
				if err != nil {
					t.Fatal(err)
				}
				if k == 0 {
					first[tab.frames.Pool(tab.MoveOf(id).To)]++
				}
				tab.EndMove(id)
			}
		}
		if random := placement == "least-random"; random == (first[4] == 16) || random && slices.Max(first[4:]) > 10 {
			t.Errorf("%s: the first of four pages went to groups %v", placement, first)
		}
	}
}

func TestPlacementDoesNotAllocate(t *testing.T) {
	s := sheet(4096)
	s.VM.Placement = "least-random"
	tab := tables(t, s, 1)
	mustMap(t, tab, 0, base, 4096)
	if n := testing.AllocsPerRun(100, func() {
		ppn, err := tab.TakeFrame(0)
		if err != nil {
			t.Fatal(err)
		}
		tab.GiveFrames(0, []uint64{ppn}[:1])
	}); n > 1 { // the slice of this test's own
		t.Errorf("%v allocations for a frame", n)
	}
}
