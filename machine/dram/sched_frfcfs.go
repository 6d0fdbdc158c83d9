package dram

import "math/bits"

// Classes of queue commands.
const (
	classHit = iota // RD or WR on an open row
	classAct        // ACT for a closed bank
	classPre        // PRE for a conflict
)

// What a bank wants: its oldest hit or its oldest miss.
const (
	wantHit = iota
	wantMiss
)

// A request's age orders it among all: its number of arrival with its bank in the
// low bits, so that the oldest of several banks is one minimum.
func (r *request) age() uint64 { return r.seq<<8 | uint64(r.bank) }

// pick is the outcome of looking for a command of one class.
type pick struct {
	age   uint64 // of the oldest request that is ready, its bank in the low bits; Never when none is
	later uint64 // earliest clock of the candidates that were not ready; the past when several were
	kind  uint8  // whose list the request is on
}

func (p *pick) found() bool { return p.age != Never }
func (p *pick) bank() int   { return int(p.age & (maxBanks - 1)) }

// oldest finds the oldest request of a kind whose command of the class may issue
// at t. While a request of several bursts holds a row, other hits of that bank
// wait; and a PRE must not close a row an activated request still needs.
func (c *Channel) oldest(class int, kind uint8, t uint64) pick {
	switch class {
	case classHit:
		if c.multi {
			return c.scan(&c.hitOn[kind], &c.activeOn, RD+Cmd(kind), kind, wantHit, t)
		}
		return c.scan(&c.hitOn[kind], &c.nobody, RD+Cmd(kind), kind, wantHit, t)
	case classAct:
		return c.scan(&c.actOn[kind], c.actHold, ACT, kind, wantMiss, t)
	}
	hold := c.preHold
	if c.share != nil {
		both := *hold
		for w := range both {
			both[w] |= c.share.held[w]
		}
		hold = &both
	}
	return c.scan(&c.missOn[kind], hold, PRE, kind, wantMiss, t)
}

// scan finds the oldest candidate for cmd among the banks of on that are not in
// hold. It is the innermost loop of the model and has no branch that depends on
// times or ages, which cannot be predicted.
func (c *Channel) scan(on, hold *mask, cmd Cmd, kind uint8, want int, t uint64) pick {
	n, q := cmd&(bankCmds-1), kind&(numKinds-1)
	banks, groups := c.bank, c.group
	age, later, ready := Never, Never, uint64(0)
	for w := range c.words {
		w &= maxWords - 1
		for m := on[w] &^ hold[w]; m != 0; m &= m - 1 {
			k := &banks[w<<6|bits.TrailingZeros64(m)]
			at := max(k.at[n], groups[k.grp].at[n])
			now := uint64(int64(at-t-1) >> 63) // all ones when at <= t
			age = min(age, k.list[q].age[want&1]|^now)
			later = min(later, at|now)
			ready -= now
		}
	}
	if ready > 1 {
		later = 0
	}
	return pick{age: age, later: later, kind: kind}
}

// merge keeps the older of two picks.
func merge(a, b pick) pick {
	later := min(a.later, b.later)
	if a.found() && b.found() {
		later = 0
	}
	if b.age < a.age {
		a = b
	}
	a.later = later
	return a
}

// pick looks for a queue command of the class among the kinds the channel serves
// now, and remembers when to look again.
func (c *Channel) pick(class int, t uint64) pick {
	if t < c.due[class] {
		return pick{age: Never}
	}
	var p pick
	switch {
	case c.cfg.Sched == FCFS:
		p = c.head(class, t)
	case c.shared:
		p = merge(c.oldest(class, kindRead, t), c.oldest(class, kindWrite, t))
	case c.write:
		p = c.oldest(class, kindWrite, t)
	default:
		p = c.oldest(class, kindRead, t)
	}
	c.due[class] = p.later
	if p.found() {
		c.due[class] = t
	}
	return p
}

// pickActive finds the activated request to serve: timing-ready, then earliest
// arrival, then earliest activation. later is as in pick.
func (c *Channel) pickActive(t uint64) (bank int, later uint64) {
	bank, later = -1, Never
	if t < c.tActive {
		return bank, later
	}
	var arrive, seq uint64
	for w := range c.words {
		for m := c.activeOn[w]; m != 0; m &= m - 1 {
			b := w<<6 | bits.TrailingZeros64(m)
			k := &c.bank[b]
			r := &c.slots[k.active]
			n := RD + Cmd(r.kind)
			at := max(k.at[n], c.group[k.grp].at[n])
			if at > t {
				later = min(later, at)
				continue
			}
			if bank >= 0 {
				later = t
			}
			if bank < 0 || r.arrive < arrive || r.arrive == arrive && k.activeSeq < seq {
				bank, arrive, seq = b, r.arrive, k.activeSeq
			}
		}
	}
	c.tActive = later
	if bank >= 0 {
		c.tActive = t
	}
	return bank, later
}
