package dram

import "math/bits"

// Classes of queue commands; ACT and PRE are their own.
const (
	classAct   = int(ACT) // for a closed bank
	classPre   = int(PRE) // for a conflict
	classHit   = int(RD)  // RD or WR on an open row
	numClasses = 3
)

// What a bank wants: its oldest hit or its oldest miss.
const (
	wantHit = iota
	wantMiss
)

// ageShift makes room for the bank below a request's number of arrival, so that the
// oldest of several banks is one minimum.
const ageShift = 8

// pick is the outcome of looking for a command of one class.
type pick struct {
	age   uint64 // of the oldest request that is ready, its bank in the low bits; Never when none is
	later uint64 // earliest clock of the candidates that were not ready; the past when several were
	kind  uint8  // whose list the request is on
}

func (p *pick) found() bool { return p.age != Never }
func (p *pick) bank() int   { return int(p.age & (maxBanks - 1)) }

// oldest finds the oldest request of a kind whose command of the class may issue
// at t.
func (c *Channel) oldest(class int, kind uint8, t uint64) pick {
	p := c.scan(0, class, kind, t)
	for w := 1; w < len(c.word); w++ { // few devices have more banks than a word has bits
		p = merge(p, c.scan(w, class, kind, t))
	}
	return p
}

// scan is oldest among the banks of a word of the masks. It is the innermost loop of
// the model: it has no branch that depends on times or ages, which cannot be
// predicted, and stands alone so that it runs in registers.
func (c *Channel) scan(w, class int, kind uint8, t uint64) pick {
	n, want := class, wantMiss
	if class == classHit {
		n, want = class+int(kind), wantHit
	}
	n, w = n&(bankCmds-1), w&(maxWords-1)
	banks := &c.word[w]
	at, ages, grp, group := &banks.at[n], &banks.age[kind&(numKinds-1)][want], &banks.grp, c.group[n]
	m := c.on[class][kind][w] &^ (c.hold[class][w] | c.held[class][w])
	age, later, ready := Never, Never, uint64(0)
	for ; m != 0; m &= m - 1 {
		b := bits.TrailingZeros64(m) & 63
		from := max(at[b], group[grp[b]])
		now := uint64(int64(from-t-1) >> 63) // all ones when from <= t
		age = min(age, ages[b]|^now)
		later = min(later, from|now)
		ready -= now
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
// now, and remembers when to look again. Most often it is too early to look.
func (c *Channel) pick(class int, t uint64) pick {
	if t < c.due[class] {
		return pick{age: Never}
	}
	return c.look(class, t)
}

func (c *Channel) look(class int, t uint64) pick {
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
// arrival, then earliest activation, which is the order of actives. later is as in
// pick; i is none when no request is ready.
func (c *Channel) pickActive(t uint64) (i int, later uint64) {
	i, later = int(none), Never
	ready := uint64(0)
	for j := len(c.actives) - 1; j >= 0; j-- {
		a := &c.actives[j]
		at := max(*a.own, *a.above)
		wait := int64(t-at) >> 63
		i += (j - i) &^ int(wait)
		later = min(later, at|^uint64(wait))
		ready += uint64(wait) + 1
	}
	if ready > 1 {
		later = t
	}
	return i, later
}
