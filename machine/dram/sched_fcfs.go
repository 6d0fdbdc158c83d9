package dram

import "math/bits"

// head is the FCFS counterpart of oldest: only the oldest request of the kinds
// being served may have a command, and only if that command is of the class.
func (q *queues) head(class int, t uint64) pick {
	p := pick{age: Never, later: Never}
	nobody := p
	for kind := range uint8(numKinds) {
		if !q.shared && (kind == kindWrite) != q.write {
			continue
		}
		for w := range q.word {
			on := &q.word[w].on
			for m := on[classHit][kind] | on[classPre][kind] | on[classAct][kind]; m != 0; m &= m - 1 {
				b := w<<6 | bits.TrailingZeros64(m)
				if age := q.slots[q.bank[b].list[kind].first].age; age < p.age {
					p.age = age
				}
			}
		}
	}
	if !p.found() {
		return nobody
	}
	k := &q.bank[p.bank()]
	l := &k.list[p.kind()]
	cmd, mine := ACT, classAct
	switch {
	case l.hit == l.first:
		cmd, mine = RD+Cmd(p.kind()), classHit
	case k.open >= 0:
		cmd, mine = PRE, classPre
	}
	if mine != class || q.blocked(k.word, class)&k.bit != 0 {
		return nobody
	}
	if at := q.time.ready(cmd, k); at > t {
		nobody.later = at
		return nobody
	}
	p.later = t // the next head may be ready at once
	return p
}
