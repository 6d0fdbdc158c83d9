package timing

// Meters add up the cycles in which SMs, channel groups or pages change hands.
type Meters struct {
	SMs    Meter // in which an SM does
	Pages  Meter // in which a channel group is handed over, or a page moves
	Either Meter // an SM, a group or a page; not for turns and evictions, which have SMs alone
}

// Meter adds up the cycles in which at least one of a kind of activity goes on.
type Meter struct {
	n            int
	since, total uint64
}

// Add notes that n more activities go on from cycle now; fewer if n is negative.
func (m *Meter) Add(now uint64, n int) {
	if m.n == 0 && n > 0 {
		m.since = now
	}
	m.n += n
	if m.n == 0 && n < 0 {
		m.total += now - m.since
	}
}

// Count is the number of activities that go on.
func (m *Meter) Count() int { return m.n }

// At is the number of cycles up to a cycle.
func (m *Meter) At(now uint64) uint64 {
	if m.n > 0 {
		return m.total + now - m.since
	}
	return m.total
}
