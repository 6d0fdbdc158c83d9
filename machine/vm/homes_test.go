package vm

import (
	"fmt"
	"testing"
)

// steps writes what a policy decides: page>home, or page+copies.
func steps(list []HomeStep) string {
	out := ""
	for _, s := range list {
		if s.Home >= 0 {
			out += fmt.Sprintf("%d>%d ", s.Page, s.Home)
		} else {
			out += fmt.Sprintf("%d+%v ", s.Page, s.Copies)
		}
	}
	return out
}

// uses are pages at home in partition 0 with the given requests of four partitions.
func uses(counts ...[]uint8) (list []PageUse) {
	for _, c := range counts {
		list = append(list, PageUse{Counts: c})
	}
	return list
}

// A page goes to who has accessed it most, when these are 32 requests and twice those of its home.
func TestMigrateByCount(t *testing.T) {
	for _, c := range []struct {
		what  string
		pages []PageUse
		most  int
		want  string
	}{
		{"its home alone", uses([]uint8{255, 0, 0, 0}), 9, ""},
		{"another alone", uses([]uint8{0, 0, 32, 0}), 9, "0>2 "},
		{"too few", uses([]uint8{0, 0, 31, 0}), 9, ""},
		{"twice the home's", uses([]uint8{20, 40, 0, 0}), 9, "0>1 "},
		{"less than twice", uses([]uint8{20, 39, 0, 0}), 9, ""},
		{"full counters", uses([]uint8{127, 255, 255, 0}), 9, "0>1 "},
		{"two full counters, one the home's", uses([]uint8{255, 255, 0, 0}), 9, ""},
		{
			"the greatest difference first, and no more than the driver takes",
			uses([]uint8{0, 40, 0, 0}, []uint8{10, 90, 0, 0}, []uint8{0, 0, 0, 40}), 2, "1>1 0>1 ",
		},
	} {
		s := HomeSample{Partitions: 4, Pages: c.pages, Most: c.most, Carried: 99}
		if got := steps(migrateByCount(&s)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	home := uses([]uint8{16, 32, 8, 8})
	home[0].Home = 1
	if got := steps(migrateByCount(&HomeSample{Partitions: 4, Pages: home, Most: 9, Carried: 99})); got != "" {
		t.Errorf("a page at home with its first user: %q", got)
	}
}

// A page nobody writes gets copies where it is read, of two partitions on, as long as there is room.
func TestReplicatePages(t *testing.T) {
	written := uses([]uint8{90, 90, 90, 90})
	written[0].Written = true
	copied := uses([]uint8{0, 0, 8, 7})
	copied[0].Copied = []bool{false, true, false, false}
	for _, c := range []struct {
		what  string
		pages []PageUse
		room  int
		want  string
	}{
		{"one reader", uses([]uint8{7, 200, 7, 0}), 9, ""},
		{"its home and another", uses([]uint8{8, 8, 7, 0}), 9, "0+[1] "},
		{"others", uses([]uint8{0, 8, 0, 9}), 9, "0+[1 3] "},
		{"written", written, 9, ""},
		{"a copy more", copied, 9, "0+[2] "},
		{"all have one", uses([]uint8{255, 0, 0, 0}), 9, ""},
		{
			"the most requests first, while there is room",
			uses([]uint8{9, 9, 9, 9}, []uint8{8, 0, 50, 0}, []uint8{8, 8, 0, 0}), 4, "1+[2] 0+[1 2 3] ",
		},
		{"no room", uses([]uint8{9, 9, 9, 9}, []uint8{8, 8, 0, 0}), 2, ""},
	} {
		s := HomeSample{Partitions: 4, Pages: c.pages, Room: c.room, Most: 9, Carried: 99}
		if got := steps(replicatePages(&s)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// A plan has no more pages than the partitions they leave and reach carry in an interval; what does not fit lets the
// next ones go first.
func TestPlansAreBounded(t *testing.T) {
	pages := uses([]uint8{0, 90, 0, 0}, []uint8{0, 80, 0, 0}, []uint8{0, 0, 70, 0}, []uint8{0, 0, 0, 60})
	for carried, want := range []string{"", "0>1 ", "0>1 1>1 ", "0>1 1>1 2>2 ", "0>1 1>1 2>2 3>3 "} {
		s := HomeSample{Partitions: 4, Pages: pages, Most: 9, Carried: carried}
		if got := steps(migrateByCount(&s)); got != want {
			t.Errorf("%d pages leave and reach a partition: %q, want %q", carried, got, want)
		}
	}
	pages = uses([]uint8{0, 90, 0, 0}, []uint8{0, 80, 0, 0}, []uint8{0, 0, 70, 0})
	pages[1].Home, pages[2].Home = 2, 3
	s := HomeSample{Partitions: 4, Pages: pages, Most: 9, Carried: 1} // partition 1 gets one page, partition 2 another
	if got, want := steps(migrateByCount(&s)), "0>1 2>2 "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	pages = uses([]uint8{9, 9, 9, 9}, []uint8{9, 9, 9, 0})
	pages[1].Home = 3
	s = HomeSample{Partitions: 4, Pages: pages, Room: 99, Most: 9, Carried: 2}
	if got, want := steps(replicatePages(&s)), "0+[1 2] 1+[0 1] "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
