package dram

import "math/bits"

// head is the FCFS counterpart of oldest: only the oldest request of the kinds
// being served may have a command, and only if that command is of the class.
func (c *Channel) head(class int, t uint64) pick {
	p := pick{age: Never, later: Never}
	nobody := p
	for kind := range uint8(numKinds) {
		if !c.shared && (kind == kindWrite) != c.write {
			continue
		}
		for w := range c.word {
			for m := c.on[classHit][kind][w] | c.on[classPre][kind][w] | c.on[classAct][kind][w]; m != 0; m &= m - 1 {
				b := w<<6 | bits.TrailingZeros64(m)
				if age := c.slots[c.bank[b].list[kind].first].age; age < p.age {
					p.age, p.kind = age, kind
				}
			}
		}
	}
	if !p.found() {
		return nobody
	}
	b := p.bank()
	k := &c.bank[b]
	l := &k.list[p.kind]
	cmd, mine := ACT, classAct
	switch {
	case l.hit == l.first:
		cmd, mine = RD+Cmd(p.kind), classHit
	case k.open >= 0:
		cmd, mine = PRE, classPre
	}
	if mine != class || c.hold[class].has(b) {
		return nobody
	}
	if at := c.ready(cmd, b); at > t {
		nobody.later = at
		return nobody
	}
	p.later = t // the next head may be ready at once
	return p
}
