package hybrid

// Owners are the ways of a set that each class may fill, a bit each.
type Owners struct {
	Of        [numClasses]uint16
	Dedicated uint16 // ways in channels that only the CPU uses
}

// View is a set as a policy sees it when a request has looked it up.
type View struct {
	Now   uint64
	Set   uint64
	Block uint32 // number over all sets
	Class Class  // class of the requester
	Write bool   // it is a write-back of the cache above
	Stays bool   // its block may not move for it: it is a write-back, and only reads migrate
	Again bool   // the policy was asked about it before
	Slow  int    // channel of the slow tier the block's first unit lies in

	Valid, Dirty, Busy uint16 // ways; busy ones take part in a transfer
	Owners             Owners

	order recency
	ways  int
}

// Victim is the way of a mask to fill next: an empty one, else the least recently used one; -1 if the mask is empty.
func (v *View) Victim(mask uint16) int {
	if way := v.order.least(mask&^v.Valid, v.ways); way >= 0 {
		return way
	}
	return v.order.least(mask, v.ways)
}

// fill is the choice of the victim of a mask, which waits if all of it is busy, and passes by
// if there is none or the block may not move.
func (v *View) fill(mask uint16) Choice {
	if v.Stays || mask == 0 {
		return Choice{Way: Bypass}
	}
	if way := v.Victim(mask &^ v.Busy); way >= 0 {
		return Choice{Set: uint32(v.Set), Way: way}
	}
	return Choice{Way: Wait}
}

// Dirties says whether the data in a way would have to be written back.
func (v *View) Dirties(way int) bool { return v.Valid&v.Dirty>>way&1 != 0 }

// Action says what happens to a block that was hit.
type Action uint8

// The actions.
const (
	Keep   Action = iota
	Drop          // it leaves the fast tier after the access
	Swap          // it changes places with another way
	Assign        // as Swap, at once and without cost, for comparison
)

// Choice says where the block of a miss goes: a way, or none of them.
type Choice struct {
	Set uint32 // differs from the block's own where sets are chained
	Way int
}

// Values of a Choice that name no way.
const (
	Bypass = -1 // the block stays in the slow tier
	Wait   = -2 // all ways that it might take are in transfers: ask again
)

// Policy chooses which way a miss fills, if any, and which hits move a block. It is asked
// once for each request that finds its set's entry, keeps its own state, and sees nothing of
// the controller but views.
type Policy interface {
	// Owners are the ways of a set that each class may fill. They change only when the policy
	// is reconfigured.
	Owners(set uint64) Owners
	// Hit gets a request that finds its block in a way; a swap names the other way.
	Hit(v *View, way int) (Action, int)
	// Miss gets a request whose block is in the slow tier. Its choice is Bypass where
	// the block may not move (View.Stays).
	Miss(v *View) Choice
}

// Entry describes a policy.
type Entry struct{ Name, What, Source string }

// Policies lists them, by the names that sheets use.
func Policies() []Entry {
	const hydrogen = "Li and Gao, Hydrogen, SC 2024"
	return []Entry{
		{"none", "every miss fills the least recently used way", hydrogen + ", section V"},
		{"waypart", "CPU and GPU have separate ways and separate channels", hydrogen + ", section V"},
		{
			"hydrogen",
			"capacity and bandwidth divided independently, swaps within the fast memory, tokens for the GPU's " +
				"migrations",
			hydrogen + ", section IV",
		},
		{
			"hashcache", "chained sets of one way; the CPU goes first in channels, and passes the cache where it is " +
				"clean",
			"Patil and Govindarajan, HAShCache, TACO 2017",
		},
		{
			"profess", "a migration must gain more accesses than it costs (MDM); the side that suffers most is " +
				"preferred (RSM)",
			"Knyaginin et al., ProFess, HPCA 2018",
		},
		{
			"profess-lru", "profess with the least recently used way as victim instead of MDM's choice",
			hydrogen + ", section VI-A",
		},
	}
}

// watcher is a policy that keeps more with the entries in the remap cache.
type watcher interface {
	// leaves is called when the entries of n sets leave the remap cache.
	leaves(first, n uint64)
}

// dirtWatcher is a policy that wants to know which blocks are dirty.
type dirtWatcher interface {
	dirtied(block uint32, dirty bool)
}

// tableReader is a policy that wants to know which blocks are in ways, or keeps the links of
// chained sets.
type tableReader interface{ reads(t *table, m *transfers) }

// bypasser is a policy that sends reads to the slow tier before they are looked up.
type bypasser interface {
	passes(now uint64, block uint32, class Class) bool
}
