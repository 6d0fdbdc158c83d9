package hybrid

// rsmPeriod is the number of requests of a class between two updates of its slowdown. Of rsmShare sets, each class has
// one for itself alone.
const (
	rsmPeriod = 128 << 10
	rsmShare  = 64
)

// rsm is the relative slowdown monitor of ProFess: the hit rate of a class in sets that only it may fill over that in
// shared sets (a), and the swaps of its blocks over those that it has caused (b). Both rise with its slowdown. They
// are smoothed by an eighth.
type rsm struct {
	class [numClasses]struct {
		hits, requests   [2]uint64 // in shared sets and in its own, in this period
		causing, meeting uint64    // swaps it has caused, and that moved blocks of it
		periods          uint64
		a, b             float64
	}
}

// private is the class a set belongs to alone; false for most.
func private(set uint64) (Class, bool) {
	x := (set + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	k := x >> 40 % rsmShare
	return Class(k), k < uint64(numClasses)
}

// request counts a request, and updates the slowdown of its class at the end of an interval.
func (m *rsm) request(set uint64, c Class, hit bool) {
	x, own := &m.class[c], 0
	if p, ok := private(set); ok && p == c {
		own = 1
	} else if ok {
		return // another's
	}
	x.requests[own]++
	if hit {
		x.hits[own]++
	}
	if x.requests[0]+x.requests[1] < rsmPeriod {
		return
	}
	// One more of each, so that there is no division by 0.
	mine := float64(x.hits[1]+1) / float64(x.requests[1]+1)
	all := float64(x.hits[0]+1) / float64(x.requests[0]+1)
	m.smooth(c, mine/all, float64(x.meeting+1)/float64(x.causing+1))
	x.hits, x.requests, x.causing, x.meeting = [2]uint64{}, [2]uint64{}, 0, 0
}

func (m *rsm) smooth(c Class, a, b float64) {
	x := &m.class[c]
	if x.periods++; x.periods == 1 {
		x.a, x.b = a, b
		return
	}
	x.a += (a - x.a) / 8
	x.b += (b - x.b) / 8
}

// swap counts a migration that a class causes in place of a block of another, or of itself.
func (m *rsm) swap(c, victim Class) {
	m.class[c].causing++
	m.class[c].meeting++
	if victim != c {
		m.class[victim].meeting++
	}
}

// advice is the monitor's answer to a migration that would replace another class's block.
type advice uint8

const (
	decide advice = iota // by the expected accesses of both blocks
	forbid
	vacant // as if nothing were there
)

// rsmMargin is the factor from which a class counts as worse off.
const rsmMargin = 1 + 1.0/32

// advise compares the class that wants to migrate a block with the owner of the block that would make room. Without
// two finished periods there is nothing to compare.
func (m *rsm) advise(c, owner Class) advice {
	x, o := &m.class[c], &m.class[owner]
	switch {
	case c == owner || x.periods == 0 || o.periods == 0:
		return decide
	case o.a > x.a*rsmMargin && o.b > x.b*rsmMargin:
		return forbid
	case x.a > o.a*rsmMargin && x.b > o.b*rsmMargin:
		return vacant
	case (o.a > x.a) != (o.b > x.b) && o.a*o.b > x.a*x.b*rsmMargin:
		return forbid
	}
	return decide
}
