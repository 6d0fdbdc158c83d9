package vm

import "slices"

// placeFirstTouch takes the group of the SM that touched the page first (NUBA, section 4). A page that was not
// touched yet, or whose group is full or not the tenant's, is placed round-robin.
func placeFirstTouch(v *View) int {
	if i, ok := slices.BinarySearch(v.Groups, v.Home); ok {
		return i
	}
	return placeRoundRobin(v)
}
