package dram

import "math/bits"

// Classes of queue commands; ACT and PRE are their own.
const (
	classAct   = int(ACT) // for a closed bank
	classPre   = int(PRE) // for a conflict
	classHit   = int(RD)  // RD or WR on an open row
	numClasses = 3
)

// What a bank wants: its oldest miss or its oldest hit. A class wants class>>1.
const (
	wantMiss = iota
	wantHit
)

// ageShift makes room for the bank and the kind below a request's number of arrival, so
// that the oldest of several banks is one minimum.
const ageShift = 9

// pick is the outcome of looking for a command of one class.
type pick struct {
	age   uint64 // of the oldest request that is ready; Never when none is
	later uint64 // earliest clock of the candidates that were not ready; the past when several were
}

func (p *pick) found() bool { return p.age != Never }

// A request's age holds its bank and its kind in the low bits.
func (p *pick) bank() int   { return int(p.age & (maxBanks - 1)) }
func (p *pick) kind() uint8 { return uint8(p.age / maxBanks & (numKinds - 1)) }

// oldest finds the oldest request of a kind whose command of the class may issue
// at t.
func (q *queues) oldest(class int, kind uint8, t uint64) pick {
	p := q.scan(&q.word[0], q.able(0, class, kind), class, kind, t)
	for w := 1; w < len(q.word); w++ { // few devices have more banks than a word has bits
		p = merge(p, q.scan(&q.word[w], q.able(w, class, kind), class, kind, t))
	}
	return p
}

// scan is oldest among banks m of a word. It is the innermost loop of the model: it has
// no branch that depends on times or ages, which cannot be predicted, and stands alone so
// that it runs in registers.
func (q *queues) scan(banks *word, m uint64, class int, kind uint8, t uint64) pick {
	class, kind = class&(bankCmds-1), kind&(numKinds-1)
	want := class >> 1
	n := (class + want*int(kind)) & (bankCmds - 1)
	at, since, grp, group := &banks.at[n], &banks.since[kind][want], &banks.grp, q.time.group[n]
	_ = group[0] // the one check that it is there
	wide, ripe := q.time.wide[n], t+1
	if wide > t {
		ripe = 0 // nothing is
	}
	oldest, later, ready := uint64(0), Never, uint64(0)
	for ; m != 0; m &= m - 1 {
		b := bits.TrailingZeros64(m) & 63
		from := max(at[b], group[grp[b]])
		now := uint64(int64(from-ripe) >> 63) // all ones when from < ripe
		oldest = max(oldest, since[b]&now)
		later = min(later, from|now)
		ready -= now
	}
	later = max(later, wide)
	if ready > 1 {
		later = 0
	}
	return pick{age: ^oldest, later: later}
}

// blocked is the banks of a word that may not have a command of the class.
func (q *queues) blocked(banks *word, class int) uint64 {
	return banks.out[class&(bankCmds-1)] | banks.active&q.hold[class&(bankCmds-1)]
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
func (q *queues) pick(class int, t uint64) pick {
	if t < q.due[class] {
		return pick{age: Never}
	}
	return q.look(class, t)
}

func (q *queues) look(class int, t uint64) pick {
	var p pick
	kind := uint8(kindRead)
	if q.write {
		kind = kindWrite
	}
	switch {
	case q.simple:
		p = q.scan(&q.word[0], q.able(0, class, kind), class, kind, t)
	case q.cfg.Sched == FCFS:
		p = q.head(class, t)
	case q.shared:
		p = merge(q.oldest(class, kindRead, t), q.oldest(class, kindWrite, t))
	default:
		p = q.oldest(class, kind, t)
	}
	q.due[class] = p.later
	if p.found() {
		q.due[class] = t
	}
	return p
}

// pickActive finds the activated request to serve: timing-ready, then earliest
// arrival, then earliest activation, which is the order of actives. later is as in
// pick; i is none when no request is ready.
func (q *queues) pickActive(t uint64) (i int, later uint64) {
	i, later = int(none), Never
	ready := uint64(0)
	for j := len(q.actives) - 1; j >= 0; j-- {
		a := &q.actives[j]
		at := a.ready()
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
