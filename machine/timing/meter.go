package timing

// Meters add up the cycles in which something changes hands.
type Meters struct {
	SMs    Meter // an SM does
	Pages  Meter // a channel group is handed over, or a page moves
	Either Meter // an SM, a group or a page; not for turns and evictions, which have SMs alone
}

// Meter adds up the cycles in which at least one of something goes on.
type Meter struct {
	n            int
	since, total uint64
}

// Add books that n more go on from cycle now; fewer where n is negative.
func (m *Meter) Add(now uint64, n int) {
	if m.n == 0 && n > 0 {
		m.since = now
	}
	m.n += n
	if m.n == 0 && n < 0 {
		m.total += now - m.since
	}
}

// Count is how many go on.
func (m *Meter) Count() int { return m.n }

// At is the sum up to a cycle.
func (m *Meter) At(now uint64) uint64 {
	if m.n > 0 {
		return m.total + now - m.since
	}
	return m.total
}
