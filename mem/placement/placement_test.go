package placement

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A draw names one of the groups with the fewest pages, each as often as the others, and never
// one that has more.
func TestLeastRandomDrawsAmongTies(t *testing.T) {
	v := &View{Groups: []int{0, 1, 2, 3, 4, 5, 6, 7}, Pages: []int{3, 2, 4, 2, 2, 9, 2, 3}}
	got := make([]int, 8)
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		v.Draw = r.Uint64()
		got[leastRandom(v)]++
	}
	for i, n := range got {
		if v.Pages[i] > 2 && n > 0 || v.Pages[i] == 2 && (n < 900 || n > 1100) {
			t.Errorf("group %d with %d pages was drawn %d of 4000 times", i, v.Pages[i], n)
		}
	}
}

func TestPlacement(t *testing.T) {
	cases := []struct {
		policy string
		view   View
		want   int
	}{
		{"round-robin", View{Groups: []int{0, 1, 2}, Pages: []int{0, 0, 0}, Turn: 4, Near: -1}, 1},
		{"round-robin", View{Groups: []int{2}, Pages: []int{9}, Turn: 4, Near: 0}, 0},
		{"least", View{Groups: []int{1, 3, 5}, Pages: []int{4, 2, 2}, Turn: 8, Near: 1}, 1},
		{"first-touch", View{Groups: []int{1, 3, 5}, Pages: []int{4, 2, 2}, Turn: 8, Near: 5}, 2},
		{"first-touch", View{Groups: []int{1, 3, 5}, Pages: []int{4, 2, 2}, Turn: 8, Near: 4}, 2},
		{"first-touch", View{Groups: []int{1, 3}, Pages: []int{4, 2}, Turn: 0, Near: -1}, 0},
		// NPB 14/15 is above 0.9, 13/15 is not, and neither is 9/10.
		{"lab", View{Groups: []int{1, 3, 5}, Pages: []int{5, 5, 4}, Turn: 14, Near: 3}, 1},
		{"lab", View{Groups: []int{1, 3, 5}, Pages: []int{5, 5, 3}, Turn: 13, Near: 3}, 2},
		{"lab", View{Groups: []int{1, 3}, Pages: []int{5, 4}, Turn: 9, Near: 1}, 1},
		{"lab", View{Groups: []int{1, 3, 5}, Pages: []int{5, 3, 3}, Turn: 11, Near: 5}, 2},
		{"lab", View{Groups: []int{1, 3, 5}, Pages: []int{5, 3, 3}, Turn: 11, Near: 1}, 1},
		{"lab-lowest", View{Groups: []int{1, 3, 5}, Pages: []int{5, 3, 3}, Turn: 11, Near: 5}, 1},
		{"lab", View{Groups: []int{1, 3}, Pages: []int{0, 0}, Turn: 0, Near: 3}, 1},
		{"lab", View{Groups: []int{0, 1, 2, 3, 4}, Pages: []int{2, 2, 2, 2, 1}, Turn: 9, Near: 0}, 4},
		{"lab", View{Groups: []int{1, 3}, Pages: []int{5, 5}, Turn: 11, Near: -1}, 1},
	}
	for _, c := range cases {
		e, ok := ByName(c.policy)
		if !ok {
			t.Fatalf("no policy %s", c.policy)
		}
		p, err := e.Make(Machine{Threshold: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		if got := p(&c.view); got != c.want {
			t.Errorf("%s %+v: choice %d, want %d", c.policy, c.view, got, c.want)
		}
	}
	if _, ok := ByName("random"); ok {
		t.Error("an unknown policy was found")
	}
	for name, lacks := range map[string]string{"lab": "vm.lab_threshold", "module": "noc.modules"} {
		e, _ := ByName(name)
		if _, err := e.Make(Machine{Threshold: 1.5, Groups: 8}); err == nil || !strings.Contains(err.Error(), lacks) {
			t.Errorf("%s without %s: %v", name, lacks, err)
		}
	}
}
