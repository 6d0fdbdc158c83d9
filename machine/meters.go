package machine

// meters add up the cycles in which something changes hands.
type meters struct {
	sms    meter // an SM does
	pages  meter // a channel group is handed over, or a page moves
	either meter // an SM, a group or a page; not for turns and evictions, which have sms alone
}

// meter adds up the cycles in which at least one of something goes on.
type meter struct {
	n            int
	since, total uint64
}

func (m *meter) add(now uint64, n int) {
	if m.n == 0 && n > 0 {
		m.since = now
	}
	m.n += n
	if m.n == 0 && n < 0 {
		m.total += now - m.since
	}
}

// at is the sum up to a cycle.
func (m *meter) at(now uint64) uint64 {
	if m.n > 0 {
		return m.total + now - m.since
	}
	return m.total
}
