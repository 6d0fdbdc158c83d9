package placement

import "slices"

// Least takes the group that holds the fewest pages of the tenant (least-first
// of NUBA, section 4; also UGPU, section 4: new pages go to the least used
// channel). The lowest group wins a tie.
func Least(v *View) int {
	best := 0
	for i, n := range v.Pages {
		if n < v.Pages[best] {
			best = i
		}
	}
	return best
}

// leastNear does the same, but the group of the SM that touched the page wins a tie.
func leastNear(v *View) int {
	best := Least(v)
	if i, ok := slices.BinarySearch(v.Groups, v.Near); ok && v.Pages[i] == v.Pages[best] {
		return i
	}
	return best
}

func leastEntry() Entry {
	return Entry{
		Name:   "least",
		What:   "a page goes to the least used of the tenant's channel groups; the lowest of equally used ones",
		Source: "UGPU paper, section 4.3", Make: always(Least),
	}
}
