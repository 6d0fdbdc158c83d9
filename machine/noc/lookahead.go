package noc

// lookahead is what lets two cores of the computer use a crossbar at once, one its inputs
// and one its outputs. A packet takes at least a clock from one end to the other, and a
// free place as long to be known, so what either core does in a clock is kept from the
// other to the clock's end, and neither sees a difference.
type lookahead struct {
	on       bool      // between Part and Join
	launched []arrival // put on their way since
	_        [64]byte  // another core writes what follows
	taken    []int32   // outputs of packets popped since
}

// Part begins a clock in which two goroutines use the crossbar, one its inputs (CanPush,
// Push, Switch), one its outputs (Arrive, AvailableOutputs, Peek, Pop).
func (c *Crossbar) Part() { c.ahead.on = true }

// Join ends what Part began.
func (c *Crossbar) Join() {
	c.ahead.on = false
	for _, a := range c.ahead.launched {
		c.outputs.fly(a)
	}
	for _, out := range c.ahead.taken {
		c.reserved[out]--
	}
	c.ahead.launched, c.ahead.taken = c.ahead.launched[:0], c.ahead.taken[:0]
}
