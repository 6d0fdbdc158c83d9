package dram

import "math/bits"

// pick is the outcome of looking for a command of one class.
type pick struct {
	bank  int    // -1: none ready
	kind  uint8  // whose list the request is on
	age   uint64 // of the request
	later uint64 // earliest clock of the candidates that were not ready, or now when several were
}

// scan finds the oldest request among the banks of mask whose command may issue
// at t. Banks in hold are left out.
func (c *Channel) scan(mask, hold []uint64, cmd Cmd, seq []uint64, t uint64) pick {
	p := pick{bank: -1, age: Never, later: Never}
	bank, grp := c.bankAt[cmd], c.grpAt[cmd]
	for w, m := range mask {
		if hold != nil {
			m &^= hold[w]
		}
		for m != 0 {
			b := w<<6 | bits.TrailingZeros64(m)
			m &= m - 1
			at := max(bank[b], grp[c.grpOf[b]])
			if at > t {
				p.later = min(p.later, at)
				continue
			}
			if p.bank >= 0 {
				p.later = t
			}
			if seq[b] < p.age {
				p.age, p.bank = seq[b], b
			}
		}
	}
	return p
}

// merge keeps the older of two picks.
func merge(a, b pick) pick {
	later := min(a.later, b.later)
	if a.bank >= 0 && b.bank >= 0 {
		later = 0
	}
	if b.age < a.age {
		a = b
	}
	a.later = later
	return a
}

// Classes of queue commands.
const (
	classHit = iota // RD or WR on an open row
	classAct        // ACT for a closed bank
	classPre        // PRE for a conflict
)

// find looks for the oldest ready request of kind k whose next command is of the
// class. A PRE must not close a row an activated request still needs; and while a
// request of several bursts holds a row, other hits of that bank wait.
func (c *Channel) find(class int, k uint8, t uint64) pick {
	var p pick
	switch class {
	case classHit:
		var hold []uint64
		if c.multi {
			hold = c.activeOn
		}
		p = c.scan(c.hitOn[k], hold, RD+Cmd(k), c.hitSeq[k], t)
	case classAct:
		p = c.scan(c.actOn[k], nil, ACT, c.oldSeq[k], t)
	default:
		p = c.scan(c.missOn[k], c.preHold, PRE, c.oldSeq[k], t)
	}
	p.kind = k
	return p
}

// pick looks for a queue command of the class among the kinds the channel serves
// now, and remembers when to look again.
func (c *Channel) pick(class int, t uint64) pick {
	if t < c.due[class] {
		return pick{bank: -1, age: Never, later: c.due[class]}
	}
	var p pick
	switch {
	case c.cfg.Sched == FCFS:
		p = c.head(class, t)
	case c.shared:
		p = merge(c.find(class, kindRead, t), c.find(class, kindWrite, t))
	case c.write:
		p = c.find(class, kindWrite, t)
	default:
		p = c.find(class, kindRead, t)
	}
	c.due[class] = p.later
	if p.bank >= 0 {
		c.due[class] = t
	}
	return p
}

// pickActive finds the activated request to serve: timing-ready, then earliest
// arrival, then earliest activation.
func (c *Channel) pickActive(t uint64) (bank int, later uint64) {
	bank, later = -1, Never
	if t < c.tActive {
		return bank, c.tActive
	}
	var best *request
	for w, m := range c.activeOn {
		for m != 0 {
			b := w<<6 | bits.TrailingZeros64(m)
			m &= m - 1
			r := &c.slots[c.active[b]]
			n := RD + Cmd(r.kind)
			at := max(c.bankAt[n][b], c.grpAt[n][c.grpOf[b]])
			if at > t {
				later = min(later, at)
				continue
			}
			if best != nil {
				later = t
			}
			if best == nil || r.arrive < best.arrive || r.arrive == best.arrive && c.activeSeq[b] < c.activeSeq[bank] {
				best, bank = r, b
			}
		}
	}
	c.tActive = later
	if bank >= 0 {
		c.tActive = t
	}
	return bank, later
}
