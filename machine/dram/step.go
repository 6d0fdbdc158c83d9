package dram

// advance steps through every event up to and including clock now: it delivers data,
// issues commands when it is time, and finds the next event.
func (c *Channel) advance(now uint64) {
	for c.next <= now {
		if c.next == c.nextRef && c.next != now {
			c.skipRefreshes(now)
		}
		t := c.next
		c.fresh = t + 1
		if t >= c.arrival {
			c.deliver(t)
		}
		if t >= c.work {
			c.command(t)
			c.work = max(c.nextWork(t), t+1)
		}
		c.next = min(c.work, c.arrival)
	}
}

// command issues the commands of one clock.
func (c *Channel) command(t uint64) {
	if t >= c.nextRef {
		c.oweRefresh(t)
	}
	if !c.cfg.DualBus {
		c.sharedSlot(t)
		return
	}
	if t&1 >= c.half && (t >= c.tActive || t >= c.due[classHit] || c.turn) {
		c.columnSlot(t)
	}
	if t >= c.due[classAct] || t >= c.due[classPre] || c.turn || c.refsDue > 0 {
		c.rowSlot(t)
	}
}

// send puts a read on its way.
func (c *Channel) send(r reply) {
	if c.pending.n == 0 {
		c.arrival = r.depart
	}
	c.pending.push(r)
}

// deliver completes the reads that are there, at least one.
func (c *Channel) deliver(t uint64) {
	for c.arrival <= t {
		c.done.push(c.pending.pop())
		if c.pending.n == 0 {
			c.arrival = Never
			return
		}
		c.arrival = c.pending.first().depart
	}
}

// stalled means finished requests fill the return queue.
func (c *Channel) stalled() bool { return c.cfg.Return > 0 && c.done.n >= c.cfg.Return }

// columnSlot uses the column bus: activated requests first, then queued hits.
func (c *Channel) columnSlot(t uint64) {
	if c.stalled() || t >= c.tActive && c.serveActive(t) || c.refsDue > 0 {
		return
	}
	c.setMode()
	if p := c.pick(classHit, t); p.found() {
		c.issueHit(p, t)
	}
}

// rowSlot uses the row bus: refresh first, then the older of ACT and PRE.
func (c *Channel) rowSlot(t uint64) {
	if c.refsDue > 0 {
		c.tryRefresh(t)
		return
	}
	c.setMode()
	if t&1 < c.half {
		if p := c.fallingPre(t); p.found() {
			c.issuePre(p, t)
		}
		return
	}
	act, pre := c.pick(classAct, t), c.pick(classPre, t)
	switch {
	case act.age < pre.age:
		c.issueAct(act, t)
	case pre.found():
		c.issuePre(pre, t)
	}
}

// sharedSlot uses the one command bus of DDR devices.
func (c *Channel) sharedSlot(t uint64) {
	columns := !c.stalled()
	if columns && t >= c.tActive && c.serveActive(t) {
		return
	}
	if c.refsDue > 0 {
		c.tryRefresh(t)
		return
	}
	c.setMode()
	hit := pick{age: Never}
	if columns {
		hit = c.pick(classHit, t)
	}
	act, pre := c.pick(classAct, t), c.pick(classPre, t)
	switch {
	case hit.age < act.age && hit.age < pre.age:
		c.issueHit(hit, t)
	case act.age < pre.age:
		c.issueAct(act, t)
	case pre.found():
		c.issuePre(pre, t)
	}
}

// turns tells whether the queues ask for the other mode: writes when the write queue
// is above its high mark or no read waits, until it is below the low mark and one does.
func (c *Channel) turns() bool {
	switch {
	case c.shared:
		return false
	case c.write:
		return c.count[kindWrite] < c.loMark && c.count[kindRead] > 0
	}
	return c.count[kindWrite] > c.hiMark || c.count[kindRead] == 0
}

// setMode follows the queues.
func (c *Channel) setMode() {
	if c.turn {
		c.write = !c.write
		c.turn = c.turns()
		c.due = [numClasses]uint64{} // look at everything again
	}
}

// nextWork is the earliest clock after t at which anything but the delivery of data
// can happen if nothing is pushed.
func (c *Channel) nextWork(t uint64) uint64 {
	n := c.nextRef
	hits := c.due[classHit]
	if c.stalled() {
		n, hits = min(n, t+1), Never // a Pop may come at any time
	} else {
		n = min(n, c.odd(c.tActive))
	}
	switch {
	case c.refsDue > 0:
		return min(n, c.refreshAt(t))
	case c.turn:
		return t + 1 // even with nothing queued: what comes first then may wait for the other kind
	case c.count[kindRead]+c.count[kindWrite] == 0:
		return n
	}
	return min(n, c.odd(min(hits, c.due[classAct])), c.due[classPre])
}

// odd rounds up to a rising edge on half-clock devices.
func (c *Channel) odd(t uint64) uint64 { return t | c.half }
