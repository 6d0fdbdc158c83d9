package placement

import (
	"slices"
	"testing"
)

// Two modules of three groups: pages stay in the module that touches them, where they take turns; a
// full group is left out, and who has no home goes round-robin.
func TestModule(t *testing.T) {
	place := module(3)
	v := &View{Groups: []int{0, 1, 2, 3, 4, 5}, Pages: make([]int, 6)}
	put := func(home int) int {
		v.Near = home
		i := place(v)
		v.Pages[i]++
		v.Turn++
		return v.Groups[i]
	}
	var got []int
	for _, home := range []int{4, 5, 0, 3, 4, 2, -1} {
		got = append(got, put(home))
	}
	if want := []int{3, 4, 0, 5, 3, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("pages went to groups %v, want %v", got, want)
	}
	v = &View{Groups: []int{0, 1, 2, 5}, Pages: []int{1, 1, 1, 7}, Near: 3, Turn: 2}
	if g := v.Groups[place(v)]; g != 5 {
		t.Errorf("with one group left in the module: %d, want 5", g)
	}
	v = &View{Groups: []int{0, 1, 2}, Pages: []int{1, 1, 1}, Near: 3, Turn: 5}
	if g := v.Groups[place(v)]; g != 2 {
		t.Errorf("with none left there: %d, want 2", g)
	}
}
