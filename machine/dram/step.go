package dram

// advance steps through every event up to and including clock now: it delivers data,
// issues commands when it is time, and finds the next event.
func (c *Channel) advance(now uint64) {
	for c.next <= now {
		if c.next == c.refresh.next && c.next != now {
			c.skipRefreshes(now)
		}
		t := c.next
		c.fresh = t + 1
		if t >= c.out.arrival {
			c.out.deliver(t)
		}
		if t >= c.work {
			c.command(t)
			c.work = max(c.nextWork(t), t+1)
		}
		c.next = min(c.work, c.out.arrival)
	}
}

// command issues the commands of one clock.
func (c *Channel) command(t uint64) {
	if t >= c.refresh.next {
		c.oweRefresh(t)
	}
	if !c.cfg.DualBus {
		c.sharedSlot(t)
		return
	}
	if t&1 >= c.half && (t >= c.q.tActive || t >= c.q.due[classHit] || c.q.turn) {
		c.columnSlot(t)
	}
	if t >= c.q.due[classAct] || t >= c.q.due[classPre] || c.q.turn || c.refresh.owed > 0 {
		c.rowSlot(t)
	}
}

// columnSlot uses the column bus: activated requests first, then queued hits.
func (c *Channel) columnSlot(t uint64) {
	if c.out.stalled() || t >= c.q.tActive && c.serveActive(t) || c.refresh.owed > 0 {
		return
	}
	c.q.setMode()
	if p := c.q.pick(classHit, t); p.found() {
		c.issueHit(p, t)
	}
}

// rowSlot uses the row bus: refresh first, then the older of ACT and PRE.
func (c *Channel) rowSlot(t uint64) {
	if c.refresh.owed > 0 {
		c.tryRefresh(t)
		return
	}
	c.q.setMode()
	if t&1 < c.half {
		if p := c.fallingPre(t); p.found() {
			c.issuePre(p, t)
		}
		return
	}
	act, pre := c.q.pick(classAct, t), c.q.pick(classPre, t)
	switch {
	case act.age < pre.age:
		c.issueAct(act, t)
	case pre.found():
		c.issuePre(pre, t)
	}
}

// sharedSlot uses the one command bus of DDR devices.
func (c *Channel) sharedSlot(t uint64) {
	columns := !c.out.stalled()
	if columns && t >= c.q.tActive && c.serveActive(t) {
		return
	}
	if c.refresh.owed > 0 {
		c.tryRefresh(t)
		return
	}
	c.q.setMode()
	hit := pick{age: Never}
	if columns {
		hit = c.q.pick(classHit, t)
	}
	act, pre := c.q.pick(classAct, t), c.q.pick(classPre, t)
	switch {
	case hit.age < act.age && hit.age < pre.age, c.cfg.Sched == PrIS && hit.found():
		c.issueHit(hit, t)
	case act.age < pre.age:
		c.issueAct(act, t)
	case pre.found():
		c.issuePre(pre, t)
	}
}

// turns tells whether the queues ask for the other mode: writes when the write queue
// is above its high mark or no read waits, until it is below the low mark and one does.
func (q *queues) turns() bool {
	switch {
	case q.shared:
		return false
	case q.write:
		return q.count[kindWrite] < q.loMark && q.count[kindRead] > 0
	}
	return q.count[kindWrite] > q.hiMark || q.count[kindRead] == 0
}

// setMode follows the queues.
func (q *queues) setMode() {
	if q.turn {
		q.write = !q.write
		q.turn = q.turns()
		q.due = [numClasses]uint64{} // look at everything again
	}
}

// nextWork is the earliest clock after t at which anything but the delivery of data
// can happen if nothing is pushed.
func (c *Channel) nextWork(t uint64) uint64 {
	n := c.refresh.next
	hits := c.q.due[classHit]
	if c.out.stalled() {
		n, hits = min(n, t+1), Never // a Pop may come at any time
	} else {
		n = min(n, c.odd(c.q.tActive))
	}
	switch {
	case c.refresh.owed > 0:
		return min(n, c.refreshAt(t))
	case c.q.turn:
		return t + 1 // even with nothing queued: the next request then may wait for the other kind
	case c.q.count[kindRead]+c.q.count[kindWrite] == 0:
		return n
	}
	return min(n, c.odd(min(hits, c.q.due[classAct])), c.q.due[classPre])
}

// odd rounds up to a rising edge on half-clock devices.
func (c *Channel) odd(t uint64) uint64 { return t | c.half }
