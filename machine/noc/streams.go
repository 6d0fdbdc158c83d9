package noc

import "math/bits"

// streams lets a crossbar do without a Tick in every clock. If each waiting packet has sent a flit and none its last,
// no packet is in another's way. Until the first of them has one flit left, every clock is like the last, and moves
// no pointer of an arbiter. Their flits are sent when the crossbar is looked at.
type streams struct {
	from uint64 // the first clock whose flits have not been sent; Never where packets do not stream
}

// stream is the next clock with more to do than to send one flit of each packet that sent one now.
func (c *Crossbar) stream(now uint64) (next uint64) {
	if !c.cfg.Streams || len(c.islip.wins) != c.waiting {
		return now + 1
	}
	least := uint16(1<<16 - 1)
	for _, w := range c.islip.wins {
		i, ok := c.streaming(w)
		if !ok {
			return now + 1
		}
		p := &c.packets[i*c.depth+c.in[i].head]
		if !p.moving || p.here != p.left {
			return now + 1
		}
		least = min(least, p.left)
	}
	c.streams.from = now + 1
	return now + uint64(least)
}

// streaming is the input queue whose packet a pair of ports serves; false if none asks any more.
func (c *Crossbar) streaming(w match) (queue int, ok bool) {
	in, out, vc := int(w.in), int(w.out), 0
	if c.requests.vcs != nil {
		m := c.requests.vcs[in*c.cfg.Outputs+out]
		if m == 0 {
			return 0, false
		}
		vc = bits.TrailingZeros64(m)
	}
	queue = c.queue(in, vc, out)
	return queue, c.in[queue].n == 1
}

// Settle sends the flits of streaming packets for all clocks before now. Call it before you read counters, or the
// fill of an input, at clock now.
func (c *Crossbar) Settle(now uint64) {
	if c.streams.from < now { // small enough to be inlined
		c.settle(now)
	}
}

func (c *Crossbar) settle(now uint64) {
	n := now - c.streams.from
	for _, w := range c.islip.wins {
		i, _ := c.streaming(w)
		q := &c.in[i]
		p := &c.packets[i*c.depth+q.head]
		p.left -= uint16(n)
		p.here -= uint16(n)
		q.flits -= int(n)
		c.rows[p.tenant][CFlits] += n
	}
	if c.OnFlit != nil {
		c.observe(now)
	}
	c.streams.from = now
}

// observe reports the flits that settle has sent, clock by clock.
func (c *Crossbar) observe(now uint64) {
	for at := c.streams.from; at < now; at++ {
		for _, w := range c.islip.wins {
			i, _ := c.streaming(w)
			_, vc := c.portOf(i)
			c.OnFlit(at, Flight{In: int(w.in), VC: vc, Out: int(w.out), ID: c.packets[i*c.depth+c.in[i].head].id})
		}
	}
}
