package placement

import "slices"

// firstTouch takes the group of the SM that touched the page first (NUBA, section 4). A page that was not
// touched yet, or whose group is full or not the tenant's, is placed round-robin.
func firstTouch(v *View) int {
	if i, ok := slices.BinarySearch(v.Groups, v.Near); ok {
		return i
	}
	return roundRobin(v)
}

func firstTouchEntry() Entry {
	return Entry{
		Name: "first-touch", What: "a page goes to the channel group nearest to the SM that touches it first",
		Source: "MCM-GPU, ISCA 2017", Make: always(firstTouch),
	}
}
