package machine

import "github.com/heddle-sim/heddle/mem"

// How the lines of a transfer get to DRAM and from there, as fast as the link carries them.

// copy begins to carry the lines of a job.
func (d *dmaEngine) copy(now uint64, i int32, way int) {
	j := &d.jobs[i]
	j.state, j.begun = jobCopying, now
	j.cycles = d.host.Ways[way].Start(now, &j.planned)
	j.next, j.left = 0, 0
}

// Send implements source: the next line that is due.
func (d *dmaEngine) Send(now uint64, busy bool) (next uint64, more bool) {
	if len(d.active) == 0 {
		return never, busy
	}
	if busy {
		return now + 1, busy
	}
	next = never
	sent := false
	for _, i := range d.active {
		j := &d.jobs[i]
		if j.state != jobCopying || j.next == int32(len(j.frames))*d.lines {
			continue
		}
		if at := d.lineAt(j); at > now || sent {
			next = min(next, max(at, now+1))
			continue
		}
		r := mem.Req{
			Line:    j.frames[j.next/d.lines]<<pageBits + uint64(j.next%d.lines)*d.lineSize,
			Sectors: d.whole, Op: mem.Read, Tenant: mem.Moving(j.tenant, len(d.tenants)),
			Origin: mem.OfPageTransfer, Tag: i,
		}
		if !j.toHost {
			r.Op, r.Full = mem.Write, d.whole
		}
		if !d.fabric.InjectMMU(r, now) {
			next = now + 1
			continue
		}
		j.next++
		j.left++
		sent = true
		if j.next < int32(len(j.frames))*d.lines {
			next = min(next, max(d.lineAt(j), now+1))
		} else {
			next = now + 1
		}
	}
	return next, busy
}

// Answered implements source: a line has been read or written.
func (d *dmaEngine) Answered(r *mem.Req, now uint64) {
	j := &d.jobs[r.Tag]
	if j.left--; j.left == 0 && j.next == int32(len(j.frames))*d.lines {
		d.wakeups.WakeMMU(now)
	}
}

// due is the next cycle in which an active job has work other than sending lines. For the lines, see send.
func (d *dmaEngine) due(j *dmaJob, now uint64) uint64 {
	switch {
	case j.state == jobDraining:
		return (now/drainPoll + 1) * drainPoll
	case j.next < int32(len(j.frames))*d.lines || j.left > 0:
		return never // its last answer wakes us
	}
	return max(now+1, j.begun+j.cycles+d.host.Config.Latency)
}

// lineAt is the cycle in which the next line of a job is on the device's side of the link.
func (d *dmaEngine) lineAt(j *dmaJob) uint64 {
	at := j.begun + uint64(j.next)*j.cycles/uint64(len(j.frames)*int(d.lines))
	if !j.toHost {
		at += d.host.Config.Latency
	}
	return at
}
