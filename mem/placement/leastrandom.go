package placement

import "slices"

// leastRandom takes a pseudo-random one of the groups that hold the fewest pages of
// the tenant. A driver hands frames out in the order of faults, not of addresses: with
// the lowest group for a tie, arrays whose size is a multiple of the groups all begin
// in the same one, and what is read of each of them at a time lies in few channels.
func leastRandom(v *View) int {
	least, ties := slices.Min(v.Pages), 0
	for _, n := range v.Pages {
		if n == least {
			ties++
		}
	}
	skip := int(v.Draw % uint64(ties))
	for i, n := range v.Pages {
		if n != least {
			continue
		}
		if skip == 0 {
			return i
		}
		skip--
	}
	return 0 // not reached: one of the ties was drawn
}

func leastRandomEntry() Entry {
	return Entry{
		Name:   "least-random",
		What:   "a page goes to the least used of the tenant's channel groups; a random one of equally used ones",
		Source: "UGPU paper, section 4.4, a reading", Make: always(leastRandom), Again: leastRandom,
	}
}
