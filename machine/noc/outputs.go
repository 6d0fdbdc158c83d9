package noc

// outQueue is the ejection queue of an output.
type outQueue struct {
	ids     []int32
	head, n int
}

// Arrive moves the packets that reach their outputs by clock now into the queues there.
func (c *Crossbar) Arrive(now uint64) {
	for c.fLen > 0 && c.flying[c.fHead].at <= now {
		a := c.flying[c.fHead]
		c.fHead = (c.fHead + 1) & (len(c.flying) - 1)
		if c.fLen--; c.fLen == 0 {
			c.fHead = 0
		}
		c.out[a.out].push(a.id)
		c.avail.add(int(a.out))
	}
}

// NextArrival is the clock at which the next packet reaches its output.
func (c *Crossbar) NextArrival() uint64 {
	if c.fLen == 0 {
		return Never
	}
	return c.flying[c.fHead].at
}

func (c *Crossbar) fly(a arrival) {
	if c.fLen == len(c.flying) {
		big := make([]arrival, 2*c.fLen)
		for i := range c.fLen {
			big[i] = c.flying[(c.fHead+i)&(c.fLen-1)]
		}
		c.flying, c.fHead = big, 0
	}
	c.flying[(c.fHead+c.fLen)&(len(c.flying)-1)] = a
	c.fLen++
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64
// outputs. It is live: read it after Tick, do not change it.
func (c *Crossbar) AvailableOutputs() []uint64 { return c.avail }

// Peek is the id of the next packet of an output.
func (c *Crossbar) Peek(out int) (id int32, ok bool) {
	q := &c.out[out]
	if q.n == 0 {
		return 0, false
	}
	return q.ids[q.head], true
}

// Pop takes the next packet of an output, freeing its place in the queue.
func (c *Crossbar) Pop(out int) (id int32, ok bool) {
	if id, ok = c.take(out); !ok {
		return 0, false
	}
	if c.apart {
		c.taken = append(c.taken, int32(out))
	} else {
		c.reserved[out]--
	}
	return id, true
}

// Part begins a clock in which two goroutines use the crossbar, one its inputs
// (CanPush, Push, Switch), one its outputs (Arrive, AvailableOutputs, Peek, Pop). A
// packet takes at least a clock from one end to the other, and a free place as long to
// be known, so neither sees a difference.
func (c *Crossbar) Part() { c.apart = true }

// Join ends what Part began.
func (c *Crossbar) Join() {
	c.apart = false
	for _, a := range c.launched {
		c.fly(a)
	}
	for _, out := range c.taken {
		c.reserved[out]--
	}
	c.launched, c.taken = c.launched[:0], c.taken[:0]
}

func (c *Crossbar) take(out int) (id int32, ok bool) {
	q := &c.out[out]
	if q.n == 0 {
		return 0, false
	}
	id = q.ids[q.head]
	q.head = (q.head + 1) & (len(q.ids) - 1)
	if q.n--; q.n == 0 {
		q.head = 0
		c.avail.remove(out)
	}
	return id, true
}

func (q *outQueue) push(id int32) {
	if q.n == len(q.ids) {
		big := make([]int32, 2*q.n)
		for i := range q.n {
			big[i] = q.ids[(q.head+i)&(q.n-1)]
		}
		q.ids, q.head = big, 0
	}
	q.ids[(q.head+q.n)&(len(q.ids)-1)] = id
	q.n++
}
