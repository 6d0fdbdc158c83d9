package dram

import "math/bits"

// head is the FCFS counterpart of find: only the oldest request of the kinds
// being served may have a command, and only if that command is of the class.
func (c *Channel) head(class int, t uint64) pick {
	p := pick{bank: -1, age: Never, later: Never}
	for k := range uint8(numKinds) {
		if !c.shared && (k == kindWrite) != c.write {
			continue
		}
		for w := range c.words {
			for m := c.hitOn[k][w] | c.missOn[k][w] | c.actOn[k][w]; m != 0; m &= m - 1 {
				b := w<<6 | bits.TrailingZeros64(m)
				if s := c.slots[c.lists[k][b].first].seq; s < p.age {
					p.age, p.bank, p.kind = s, b, k
				}
			}
		}
	}
	if p.bank < 0 {
		return p
	}
	l := &c.lists[p.kind][p.bank]
	cmd, mine := ACT, classAct
	switch {
	case l.hit == l.first:
		cmd, mine = RD+Cmd(p.kind), classHit
	case c.open[p.bank] >= 0:
		cmd, mine = PRE, classPre
	}
	held := has(c.activeOn, p.bank) && (mine == classPre || mine == classHit && c.multi)
	if mine != class || held {
		return pick{bank: -1, age: Never, later: Never}
	}
	if at := max(c.bankAt[cmd][p.bank], c.grpAt[cmd][c.grpOf[p.bank]]); at > t {
		return pick{bank: -1, age: Never, later: at}
	}
	p.later = t // the next head may be ready at once
	return p
}
