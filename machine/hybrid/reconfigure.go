package hybrid

import "math/bits"

// Reconfigured announces that the policy's owners have changed. No block moves now: the owners of a set are computed
// again at its next lookup, and misplaced blocks leave when they are hit (section IV-D).
func (c *Controller) Reconfigured() {
	if c.round++; c.round == 0 { // sets seen this number of reconfigurations ago must not look fresh
		for i := range c.table.set {
			c.table.set[i].seen = 0
		}
		c.round = 1
	}
}

// ReconfiguredAtOnce is Reconfigured for a comparison (section VI-B, Figure 7b): at once and without cost, misplaced
// blocks change places with blocks misplaced the other way, and the remaining ones leave a cache. Ways that transfers
// or reads use are left as they are.
func (c *Controller) ReconfiguredAtOnce() {
	before := make([]uint16, len(c.table.set)) // ways of the GPU
	for i := range before {
		before[i] = c.ownersOf(uint32(i)).Of[GPU]
	}
	c.Reconfigured()
	for i := range before {
		set, now := uint32(i), c.ownersOf(uint32(i)).Of[GPU]
		lost, won := c.quiet(set, before[i]&^now), c.quiet(set, now&^before[i])
		for ; lost != 0 && won != 0; lost, won = lost&(lost-1), won&(won-1) {
			c.exchangeAtOnce(place{set, uint16(bits.TrailingZeros16(lost))},
				place{set, uint16(bits.TrailingZeros16(won))})
		}
		for rest := (lost | won) & c.table.set[set].valid; rest != 0 && !c.table.flat(); rest &= rest - 1 {
			c.leaveAtOnce(place{set, uint16(bits.TrailingZeros16(rest))})
		}
	}
}

// quiet are the ways of a mask that nothing is reading or writing.
func (c *Controller) quiet(set uint32, mask uint16) uint16 {
	mask &^= c.moving.ways(set, c.table.ways)
	for rest := mask; rest != 0; rest &= rest - 1 {
		way := bits.TrailingZeros16(rest)
		if c.readers[c.table.hold(place{set, uint16(way)})] > 0 {
			mask &^= 1 << way
		}
	}
	return mask
}

// exchangeAtOnce exchanges two blocks of a set without cost.
func (c *Controller) exchangeAtOnce(a, b place) {
	c.table.exchange(a, b)
	s := &c.table.set[a.set]
	s.order = s.order.use(int(b.pos))
	if c.out.trace != nil {
		c.out.trace(event{kind: exchanged, a: a, b: b})
	}
}

// leaveAtOnce takes a block of a cache home without cost.
func (c *Controller) leaveAtOnce(at place) {
	set, index, _ := c.table.resident(at)
	if c.table.set[at.set].dirty>>at.pos&1 != 0 {
		c.tell(at, false)
		if c.out.trace != nil {
			c.out.trace(event{kind: exchanged, a: at, b: c.table.home(set, index)})
		}
	}
	c.table.remove(at)
}
