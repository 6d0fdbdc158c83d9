package noc

// outQueue is the ejection queue of an output.
type outQueue struct {
	ids     []int32
	head, n int
}

// outputs has the packets that have won the switch, on their way to the outputs and in their queues.
type outputs struct {
	flying  []arrival // ring, in order of arrival
	head, n int
	queue   []outQueue
	avail   bitset // outputs with a packet
}

func (o *outputs) build(cfg *Config) {
	n := 1
	for n < min(cfg.Outputs*(cfg.Latency+1), cfg.Outputs*cfg.OutQueue)+1 {
		n *= 2
	}
	o.flying = make([]arrival, n)
	o.queue, o.avail = make([]outQueue, cfg.Outputs), newBitset(cfg.Outputs)
	for n = 1; n < min(cfg.OutQueue, 1024); n *= 2 {
	}
	for i := range o.queue {
		o.queue[i].ids = make([]int32, n)
	}
}

// Arrive moves the packets that reach their outputs by clock now into the queues there.
func (c *Crossbar) Arrive(now uint64) {
	for c.outputs.n > 0 && c.outputs.flying[c.outputs.head].at <= now {
		a := c.outputs.flying[c.outputs.head]
		c.outputs.head = (c.outputs.head + 1) & (len(c.outputs.flying) - 1)
		if c.outputs.n--; c.outputs.n == 0 {
			c.outputs.head = 0
		}
		c.outputs.queue[a.out].push(a.id)
		c.outputs.avail.add(int(a.out))
	}
}

// NextArrival is the clock at which the next packet reaches its output.
func (c *Crossbar) NextArrival() uint64 {
	if c.outputs.n == 0 {
		return Never
	}
	return c.outputs.flying[c.outputs.head].at
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64
// outputs. It is live: read it after Tick, do not change it.
func (c *Crossbar) AvailableOutputs() []uint64 { return c.outputs.avail }

// Peek is the id of the next packet of an output.
func (c *Crossbar) Peek(out int) (id int32, ok bool) {
	q := &c.outputs.queue[out]
	if q.n == 0 {
		return 0, false
	}
	return q.ids[q.head], true
}

// Pop takes the next packet of an output, freeing its place in the queue.
func (c *Crossbar) Pop(out int, _ uint64) (id int32, ok bool) {
	if id, ok = c.outputs.take(out); !ok {
		return 0, false
	}
	c.reserved[out]--
	return id, true
}

// fly puts a packet on its way, behind those that have gone before.
func (o *outputs) fly(a arrival) {
	if o.n == len(o.flying) {
		big := make([]arrival, 2*o.n)
		for i := range o.n {
			big[i] = o.flying[(o.head+i)&(o.n-1)]
		}
		o.flying, o.head = big, 0
	}
	o.flying[(o.head+o.n)&(len(o.flying)-1)] = a
	o.n++
}

// take takes the first packet of an output.
func (o *outputs) take(out int) (id int32, ok bool) {
	q := &o.queue[out]
	if q.n == 0 {
		return 0, false
	}
	id = q.ids[q.head]
	q.head = (q.head + 1) & (len(q.ids) - 1)
	if q.n--; q.n == 0 {
		q.head = 0
		o.avail.remove(out)
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
