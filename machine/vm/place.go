package vm

import (
	"fmt"
	"strconv"
)

// View is what a placement policy sees when a page needs a frame: only the
// tenant's groups that have a free frame.
type View struct {
	Groups []int // channel groups, ascending
	Pages  []int // pages the tenant has in each of them
	Turn   int   // pages the tenant has placed so far
	Home   int   // group nearest to the SM that touched the page; -1: no SM did
}

// Place chooses a group: the result is an index into v.Groups, which is not empty.
type Place func(v *View) int

// PlaceByName finds a policy by its name in a machine sheet. The threshold is LAB's, from 0 to
// 1, and taken as the decimal number it is written as; the others have none.
func PlaceByName(name string, threshold float64) (Place, error) {
	switch name {
	case "", "round-robin":
		return placeRoundRobin, nil
	case "least":
		return placeLeast, nil
	case "first-touch":
		return placeFirstTouch, nil
	case "lab":
		t, err := ParseThreshold(strconv.FormatFloat(threshold, 'f', -1, 64))
		if err != nil {
			return nil, fmt.Errorf("vm.lab_threshold: %w", err)
		}
		return LAB(t), nil
	}
	return nil, fmt.Errorf("vm.placement %q: use round-robin, least, first-touch, lab or module", name)
}
