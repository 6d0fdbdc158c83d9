package addrmap

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/sheets"
)

const bigPage = 2 << 20

func sheet(t *testing.T, page string) *sheets.Machine {
	t.Helper()
	s, _, err := sheets.Resolve("ugpu", map[string]string{"vm.page": page})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestUgpuBigPages: with 2 MB pages the channel is [23:21] and bits 12 to 20 hold
// what 15 to 23 held; with 4 KB pages the map is as printed.
func TestUgpuBigPages(t *testing.T) {
	m := compile(t, sheet(t, "2097152"))
	addr := uint64(5)<<24 | 6<<21 | 5<<18 | 9<<14 | 2<<12 | 1<<11 | 3<<9 | 2<<7
	want := Loc{Row: 5<<3 | 5, Col: 9<<1 | 1, Channel: 2*8 + 6, BankGroup: 3, Bank: 2}
	want.Slice = want.Channel*2 + 1
	if got := m.Decode(addr); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !m.PageInGroup(bigPage) || !m.Invertible() {
		t.Errorf("2 MB page in one group: %v, invertible: %v", m.PageInGroup(bigPage), m.Invertible())
	}
	printed, small := compile(t, ugpu()), compile(t, sheet(t, "4096"))
	for a := uint64(0); a < 1<<34; a += 1<<27 + 4097*128 {
		got, want := small.Decode(a), printed.Decode(a)
		want.Slice = want.Channel*2 + want.Col&1 // the sheet's slice bit is 11
		if got != want {
			t.Fatalf("%#x: %+v, want %+v", a, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { roundTrip(t, "ugpu 2 MB", m) })
}

// TestBigPagesTileMemory: all 2 MB pages of all groups fill the capacity once, and
// a page has every stack and bank group, at the same offsets in every group: so a
// move from group to group stays within each stack and bank group.
func TestBigPagesTileMemory(t *testing.T) {
	s := sheet(t, "2097152")
	m := compile(t, s)
	per := uint64(s.DRAM.Capacity) / bigPage / uint64(m.Groups())
	seen := map[uint64]bool{}
	for g := range m.Groups() {
		for i := range per {
			a := m.PageAddr(g, i, bigPage)
			if a%bigPage != 0 || a+bigPage > uint64(s.DRAM.Capacity) || seen[a] {
				t.Fatalf("page %d of group %d is at %#x: unaligned, outside memory or given twice", i, g, a)
			}
			seen[a] = true
			for off := uint64(0); off < bigPage; off += bigPage/8 + 384 {
				if l := m.Decode(a + off); m.GroupOf(int(l.Channel)) != g {
					t.Fatalf("page %#x of group %d: offset %#x is in channel %d", a, g, off, l.Channel)
				}
			}
		}
	}
	from, to := m.PageAddr(1, 77, bigPage), m.PageAddr(6, 500, bigPage)
	for off := uint64(0); off < bigPage; off += 128 {
		a, b := m.Decode(from+off), m.Decode(to+off)
		if a.Channel/8 != b.Channel/8 || a.BankGroup != b.BankGroup || a.Channel == b.Channel {
			t.Fatalf("offset %#x moves from %+v to %+v", off, a, b)
		}
	}
}

// TestConventional: a page spans every channel of whatever groups a slice owns, each
// address stays within them, and no two share a place.
func TestConventional(t *testing.T) {
	for _, page := range []string{"4096", "2097152"} {
		full, err := Conventional(sheet(t, page))
		if err != nil {
			t.Fatal(err)
		}
		if full.PageInGroup(4096) || !full.Invertible() || full.Groups() != 8 {
			t.Fatalf("page in group %v, invertible %v, groups %d", full.PageInGroup(4096), full.Invertible(),
				full.Groups())
		}
		for k := 1; k <= 8; k++ {
			own := seq(8-k, 7)
			m, err := full.Restrict(own)
			if err != nil {
				t.Fatal(err)
			}
			// Several 4 KB pages: 32 lines do not divide evenly over 12, 20 or 28 channels.
			count := map[uint16]int{}
			for a := uint64(0); a < 64*4096; a += 128 {
				count[m.Decode(a).Channel]++
			}
			if len(count) != 4*k {
				t.Errorf("%d groups: pages span %d channels", k, len(count))
			}
			for c, n := range count {
				if m.GroupOf(int(c)) < 8-k || n < 2048/(4*k)*3/4 || n > 2048/(4*k)*5/4+1 {
					t.Errorf("%d groups: channel %d gets %d of 2048 lines", k, c, n)
				}
			}
			rapid.Check(t, func(t *rapid.T) {
				if l := roundTrip(t, "conventional", m); m.GroupOf(int(l.Channel)) < 8-k {
					t.Fatalf("%d groups: %+v", k, l)
				}
			})
		}
	}
}

// TestConventionalElsewhere: a map that spreads pages already is its own; one that
// does not and has no second map is an error.
func TestConventionalElsewhere(t *testing.T) {
	s := qv100(32, 2, "ipoly")
	s.VM.Page = 4096
	m, err := Conventional(s)
	if err != nil {
		t.Fatal(err)
	}
	own := compile(t, s)
	for a := uint64(0); a < 1<<20; a += 160 {
		if m.Decode(a) != own.Decode(a) {
			t.Fatalf("%#x: %+v, the machine's own map gives %+v", a, m.Decode(a), own.Decode(a))
		}
	}
	u := ugpu()
	u.VM.Page = 4096
	if _, err := Conventional(u); err == nil || !strings.Contains(err.Error(), "give map_conventional") {
		t.Errorf("got %v", err)
	}
}
