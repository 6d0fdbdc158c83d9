package addrmap

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

// TestSetsOfSlice: the consecutive lines of a slice fall into all sets of its LLC evenly, on every sheet's machine.
func TestSetsOfSlice(t *testing.T) {
	for _, name := range sheets.Names() {
		s, _, err := sheets.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Memory.Given() {
			continue
		}
		m, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		set, err := NewSetIndex(s.LLC.Index, s.LLC.Sets)
		if err != nil {
			t.Fatal(err)
		}
		line := bits.TrailingZeros(uint(s.LLC.Line))
		used := make([]int, s.LLC.Sets)
		size := uint64(m.Slices() * s.LLC.Sets * 16 * s.LLC.Line)
		for a := uint64(0); a < size; a += uint64(s.LLC.Line) {
			if m.Slice(a) == 5%m.Slices() {
				used[set.Of(m.Local(a)>>line)]++
			}
		}
		if least, most := slices.Min(used), slices.Max(used); least != 16 || most != 16 {
			t.Errorf("%s: the sets of a slice get %d to %d of its consecutive lines, want 16 each", name, least, most)
		}
	}
}
