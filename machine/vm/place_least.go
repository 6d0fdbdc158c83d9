package vm

import "slices"

// placeLeast takes the group that holds the fewest pages of the tenant (least-first
// of NUBA, section 4; also UGPU, section 4: new pages go to the least used
// channel). The lowest group wins a tie.
func placeLeast(v *View) int {
	best := 0
	for i, n := range v.Pages {
		if n < v.Pages[best] {
			best = i
		}
	}
	return best
}

// placeLeastNear does the same, but the group of the SM that touched the page wins a tie.
func placeLeastNear(v *View) int {
	best := placeLeast(v)
	if i, ok := slices.BinarySearch(v.Groups, v.Home); ok && v.Pages[i] == v.Pages[best] {
		return i
	}
	return best
}
