package silicon

import (
	"context"
	"strings"
	"testing"
)

// TestCountsOneApplication: the counts of a kernel that the compiler leaves as it is agree.
func TestCountsOneApplication(t *testing.T) {
	set, err := OpenCounts(".")
	if err != nil {
		t.Fatal(err)
	}
	var some []*Count
	for _, c := range set.Counts {
		if c.App == "apps/rodinia-like/bfs" {
			some = append(some, c)
		}
	}
	set.Counts = some
	got, err := set.Count(context.Background(), Options{Jobs: 1})
	if err != nil || len(got) != 2 {
		t.Fatalf("%d results, %v", len(got), err)
	}
	for i := range got {
		if r := &got[i]; r.Err != "" || r.Error() < -0.3 || r.Error() > 0.3 {
			t.Errorf("%s: silicon %g, Heddle %g %s", r.Name, r.Silicon, r.Heddle, r.Err)
		}
	}
}

func TestDamagedCounts(t *testing.T) {
	head := strings.Join(countColumns(), ",") + "\n"
	for _, c := range []struct{ text, want string }{
		{"a\n", "counts.csv:1: wrong number of fields: a row has the 5 cells "},
		{"a,b,c,d,e\n", "counts.csv:1: the first line names the columns: " + strings.Join(countColumns(), ",")},
		{head + "b,apps/x,k,0,s\n", `counts.csv:2: warp_insts "0": give a number above 0`},
		{head + "b,apps/x,k\n", "counts.csv:2: wrong number of fields"},
	} {
		_, err := readCounts("counts.csv", strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.text, err, c.want)
		}
	}
}
