package addrmap

import "testing"

// TestGroupedPage: of 40 channels in 8 groups, frame 11 is the second of group 3, whose channels are 3, 11, 19, 27 and
// 35. Its lines follow the 32 of the group's first frame, so they begin with the third of the five.
func TestGroupedPage(t *testing.T) {
	m := compile(t, grouped(40, 8, "none"))
	const frame = 11
	lines, slices := map[int]int{}, map[int]int{}
	for i := range 32 {
		l := m.Decode(frame<<12 | uint64(i)<<7)
		if want := 3 + 8*((32+i)%5); int(l.Channel) != want {
			t.Fatalf("line %d is in channel %d, want %d", i, l.Channel, want)
		}
		lines[int(l.Channel)]++
		slices[int(l.Slice)]++
	}
	for ch := 3; ch < 40; ch += 8 {
		if n := lines[ch]; n < 6 || n > 7 {
			t.Errorf("%d lines in channel %d, want 6 or 7 of 32 over five", n, ch)
		}
	}
	if len(slices) != 10 {
		t.Errorf("the page is in %d slices, want both of five channels", len(slices))
	}
	if a := m.PageAddr(3, 1, 4096); a != frame<<12 {
		t.Errorf("the second page of group 3 is at %#x, want %#x", a, frame<<12)
	}
}

// TestGroupedNeedsGroups: without groups, or with one, a page cannot choose any.
func TestGroupedNeedsGroups(t *testing.T) {
	for _, groups := range []int{0, 1, 3} {
		s := grouped(40, 8, "none")
		s.Map.Groups = groups
		if _, err := New(s); err == nil {
			t.Errorf("%d groups gave no error", groups)
		}
	}
}
