package dram

// mask is a set of banks.
type mask [maxBanks / 64]uint64

func (m *mask) set(b int)      { m[b>>6] |= 1 << (b & 63) }
func (m *mask) has(b int) bool { return m[b>>6]>>(b&63)&1 != 0 }

// step does what one clock does for the migrations, after the channels' own
// commands of that clock, and returns when to look again if no channel does
// anything before.
func (s *Stack) step(t uint64) uint64 {
	s.arrive(t)
	clear(s.taken)
	next := Never
	for i := range s.queue {
		m := &s.queue[i]
		from, to := &s.taken[m.Src], &s.taken[m.Dst]
		first := !from.has(m.bank[endFrom]) && !to.has(m.bank[endTo])
		from.set(m.bank[endFrom])
		to.set(m.bank[endTo])
		if !first {
			continue
		}
		if t < m.pushed {
			next = min(next, m.pushed)
			continue
		}
		if m.since == Never && s.behind(m) {
			continue
		}
		m.since = min(m.since, t)
		next = min(next, s.proceed(m, t))
	}
	return next
}

// arrive ends the lines that have arrived by t, and the migrations whose last line
// has.
func (s *Stack) arrive(t uint64) {
	keep := 0
	for i := range s.queue {
		m := &s.queue[i]
		if m.running && m.stop <= t {
			m.running, m.shown = false, false
			m.Lines--
			m.From.Col += uint32(s.t.LineBursts)
			m.To.Col += uint32(s.t.LineBursts)
		}
		if m.Lines == 0 {
			s.complete(m.ID)
			s.ch[m.Src].share.freeBank(m.bank[endFrom], t)
			s.ch[m.Dst].share.freeBank(m.bank[endTo], t)
			continue
		}
		if keep != i {
			s.queue[keep] = *m
		}
		keep++
	}
	s.queue = s.queue[:keep]
}

// complete queues id for Pop; the queue grows only beyond what the caller leaves in it.
func (s *Stack) complete(id int32) {
	if len(s.done) == cap(s.done) && s.popped > 0 {
		s.done = s.done[:copy(s.done, s.done[s.popped:])]
		s.popped = 0
	}
	s.done = append(s.done, id)
}

// proceed takes m, which is the oldest of both its banks, as far as clock t allows: claim the
// banks, close and open rows, start a line. It returns when to look again.
func (s *Stack) proceed(m *move, t uint64) uint64 {
	if m.running {
		return s.follow(m, t)
	}
	limit := m.since + uint64(s.t.MaxWait)
	urgent := t >= limit
	if !m.claimed {
		if !urgent && (s.stands(m, endFrom) || s.stands(m, endTo)) {
			return limit
		}
		m.claimed = true
		s.ch[m.Src].share.claimBank(m.bank[endFrom], t)
		s.ch[m.Dst].share.claimBank(m.bank[endTo], t)
	}
	from, to := s.row(m, endFrom, urgent, t), s.row(m, endTo, urgent, t)
	switch {
	case from.open && to.open:
		return s.start(m, max(from.at, to.at), urgent, t)
	case urgent:
		return min(from.wake(t), to.wake(t))
	}
	return min(from.wake(t), to.wake(t), limit)
}

// behind tells whether older requests to the lines of m are still waiting. The channel
// serves them by its own rules; the banks are not claimed before, as a claim could keep
// it from ever turning to writes.
func (s *Stack) behind(m *move) bool {
	for e := range numEnds {
		c, at := s.end(m, e)
		if c.q.waits(m.bank[e], at.Row, at.Col, uint32(m.Lines*s.t.LineBursts), m.seq[e]) {
			return true
		}
	}
	return false
}

// stands tells whether ordinary requests need the row that is open in an end's bank,
// which is another one than the migration's.
func (s *Stack) stands(m *move, e int) bool {
	c, at := s.end(m, e)
	b := m.bank[e]
	return c.q.bank[b].open >= 0 && c.q.bank[b].open != int64(at.Row) && (c.q.activated(b) || c.q.wanted(b))
}

// rowState is how far an end's row is.
type rowState struct {
	open bool   // the row is open or opening
	at   uint64 // clock of its first use, or when to look again when it is not open
}

// wake is when to look again because of this end alone.
func (r rowState) wake(t uint64) uint64 {
	if r.open {
		return Never // it waits for the other end
	}
	return max(r.at, t+1)
}

// row brings the row of an end of m nearer by at most one command, and plans the next command at once: a second look
// in the same clock must find nothing to do.
func (s *Stack) row(m *move, e int, urgent bool, t uint64) rowState {
	c, at := s.end(m, e)
	b := m.bank[e]
	k := &c.q.bank[b]
	for {
		if k.open == int64(at.Row) {
			return rowState{open: true, at: *k.own(RD + Cmd(e))}
		}
		if c.refresh.owed > 0 {
			return rowState{at: Never} // the refresh is the channel's next event
		}
		cmd := ACT
		if k.open >= 0 {
			if c.q.activated(b) || !urgent && c.q.wanted(b) {
				return rowState{at: Never}
			}
			cmd = PRE
		}
		if ready := c.share.rowReady(cmd, b, t); ready > t {
			if urgent {
				ready = c.share.keep(cmd, b, ready, t)
			}
			return rowState{at: ready}
		}
		if cmd == PRE {
			c.share.closeRow(b, at, m.Tenant, t)
		} else {
			c.share.openRow(b, at, m.Tenant, t)
		}
	}
}

// start starts or reserves the next line of m, whose rows can be used from clock
// ready on, or returns when to look again.
func (s *Stack) start(m *move, ready uint64, urgent bool, t uint64) uint64 {
	from, to := s.ch[m.Src], s.ch[m.Dst]
	if from.refresh.owed > 0 || to.refresh.owed > 0 {
		return Never // the refresh is the channel's next event
	}
	src, dst := &from.share.group[from.q.bank[m.bank[endFrom]].grp], &to.share.group[to.q.bank[m.bank[endTo]].grp]
	at := max(ready, src.read, from.share.col, to.share.col, t)
	tsv, at := s.window(m, src.from(t)|dst.from(t), at, t)
	if late := at + uint64(s.t.Clocks); late > t+horizon {
		return late - horizon
	}
	if at > t && !urgent {
		return min(at, m.since+uint64(s.t.MaxWait))
	}
	return s.run(m, tsv, at, t)
}

// window is the first time from clock at on for which the groups' paths, booked as
// busy tells, and a TSV set are free for a line; of several sets the one that has been idle longest.
func (s *Stack) window(m *move, busy, at, t uint64) (tsv int, start uint64) {
	tsv, start = m.Src, Never
	for i, c := range s.ch {
		if !s.t.Crossbar && i != m.Src {
			continue
		}
		begin := t + uint64(gap(busy|c.share.bus.from(t), int(min(at-t, horizon)), s.t.Clocks))
		if begin < start || begin == start && c.share.bus.idle < s.ch[tsv].share.bus.idle {
			tsv, start = i, begin
		}
	}
	return tsv, max(start, at)
}

// run takes for the next line of m everything it needs from clock start on, and before
// that as far as needed to have it then. start is t or, for a reservation, later.
func (s *Stack) run(m *move, tsv int, start, t uint64) uint64 {
	end := start + uint64(s.t.Clocks)
	m.running, m.tsv, m.start, m.stop = true, tsv, start, end
	from, to, by := s.ch[m.Src], s.ch[m.Dst], s.ch[tsv]
	from.share.occupy(start)
	to.share.occupy(start)
	from.share.transfer(endFrom, m.bank[endFrom], start, end, t)
	to.share.transfer(endTo, m.bank[endTo], start, end, t)
	by.share.carry(start, end, t)
	by.rows[m.Tenant][CTSVBusy] += uint64(s.t.Clocks)
	return s.follow(m, t)
}

// follow shows the MIGRATION on its way when it issues.
func (s *Stack) follow(m *move, t uint64) uint64 {
	if m.start > t {
		return m.start
	}
	if !m.shown {
		m.shown = true
		s.ch[m.Src].rows[m.Tenant][CMigrations]++
		if s.Trace != nil {
			s.Trace(m.start, MigrationCmd{Src: m.Src, Dst: m.Dst, TSV: m.tsv, From: m.From, To: m.To})
		}
	}
	return m.stop
}
