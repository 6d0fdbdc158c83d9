package hybrid

// recency is the order in which the ways of a set were used, four bits each, the last one
// lowest.
type recency uint64

// inOrder is the order of unused ways, which are filled from the first on.
func inOrder(ways, first int) (r recency) {
	for w := range ways {
		r |= recency((first+ways-1-w)%ways) << (4 * w)
	}
	return r
}

// untouched is the order of ways of a set before anything was there. Sets begin with different ways. Ways lie in
// channels: if all sets filled the same way first, a stream would lie in one channel at a time.
func untouched(set uint64, ways int) recency {
	return inOrder(ways, int(weight(set, 0)>>32%uint64(ways)))
}

// use makes a way the one used last.
func (r recency) use(way int) recency {
	at := 0
	for int(r>>at&15) != way {
		at += 4
	}
	low := recency(1)<<at - 1
	return r&^(low<<4|15) | r&low<<4 | recency(way)
}

// least is the least recently used of the ways in a mask, of a number of ways; -1 of none.
func (r recency) least(mask uint16, ways int) int {
	for at := 4 * (ways - 1); at >= 0; at -= 4 {
		if w := int(r >> at & 15); mask>>w&1 != 0 {
			return w
		}
	}
	return -1
}
