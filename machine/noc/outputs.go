package noc

import "github.com/heddle-sim/heddle/mem"

// outputs has the packets that have won the switch, on their way to the outputs and in the ejection queues there.
type outputs struct {
	flying mem.Ring[arrival] // in order of arrival
	queue  []mem.Ring[int32]
	avail  bitset // outputs with a packet
}

func (o *outputs) build(cfg *Config) {
	o.queue, o.avail = make([]mem.Ring[int32], cfg.Outputs), newBitset(cfg.Outputs)
	o.flying = mem.NewRing[arrival](cfg.Outputs * cfg.OutQueue) // a packet has its place in a queue when it leaves
	for i := range o.queue {
		o.queue[i] = mem.NewRing[int32](cfg.OutQueue)
	}
}

// push puts a packet into a queue in which it has had its place since it left.
func push[T any](q *mem.Ring[T], packet T) {
	if !q.Push(packet) {
		panic("noc: a packet has left for an output that has no room for it")
	}
}

// Arrive moves the packets that reach their outputs by clock now into the queues there.
func (c *Crossbar) Arrive(now uint64) {
	for o := &c.outputs; o.flying.Len() > 0 && o.flying.Head().at <= now; {
		a := o.flying.Pop()
		push(&c.outputs.queue[a.out], a.id)
		c.outputs.avail.add(int(a.out))
	}
}

// NextArrival is the clock at which the next packet reaches its output.
func (c *Crossbar) NextArrival() uint64 {
	if c.outputs.flying.Len() == 0 {
		return Never
	}
	return c.outputs.flying.Head().at
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64
// outputs. It is live: read it after Tick, do not change it.
func (c *Crossbar) AvailableOutputs() []uint64 { return c.outputs.avail }

// Peek is the id of the next packet of an output.
func (c *Crossbar) Peek(out int) (id int32, ok bool) {
	q := &c.outputs.queue[out]
	if q.Len() == 0 {
		return 0, false
	}
	return *q.Head(), true
}

// Pop takes the next packet of an output, freeing its place in the queue.
func (c *Crossbar) Pop(out int, _ uint64) (id int32, ok bool) {
	if id, ok = c.outputs.take(out); !ok {
		return 0, false
	}
	c.reserved[out]--
	return id, true
}

// take takes the first packet of an output.
func (o *outputs) take(out int) (id int32, ok bool) {
	q := &o.queue[out]
	if q.Len() == 0 {
		return 0, false
	}
	if id = q.Pop(); q.Len() == 0 {
		o.avail.remove(out)
	}
	return id, true
}
