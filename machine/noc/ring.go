package noc

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// RingConfig describes the links between the modules of a package: a ring, with a link in either
// direction between neighbours.
type RingConfig struct {
	Nodes   int
	Rate    uint64 // thousandths of a byte that a link carries in a clock
	Latency int    // clocks of a link
	Queue   int    // packets of each class that can wait at a link, or at a node they leave
	Classes int    // of packets; none waits for another
	Tenants int    // rows of counters
}

// Validate is the error of a configuration that cannot work.
func (c *RingConfig) Validate() error {
	if c.Nodes < 2 || c.Rate < 1 || c.Latency < 1 || c.Queue < 1 || c.Classes < 1 {
		return fmt.Errorf("ring: %d nodes, %d thousandths of a byte per clock, latency %d, queues of %d, %d classes: "+
			"at least 2 nodes and 1 of the others are needed", c.Nodes, c.Rate, c.Latency, c.Queue, c.Classes)
	}
	return nil
}

// Ring is the network that RingConfig describes. Packets take the shorter way round. A packet that has made some hops
// waits in a queue for packets with as many; these wait only for packets with one more hop, or to leave. So no circle
// of full queues can arise.
type Ring struct {
	cfg   RingConfig
	hops  int                      // queues of a class at a link: the most hops of a packet
	links []ringLink               // by node * 2 + direction, the first upwards
	exit  []mem.Ring[ringPacket]   // by node * classes + class
	taken []int                    // places taken at exits, on the way included
	now   uint64                   // the clock of the last step
	next  uint64                   // the next one with work
	rows  [][]*[NumCounters]uint64 // by class
}

// ringLink is a link with the queues before it.
type ringLink struct {
	queue []mem.Ring[ringPacket] // by class * hops + hops made
	taken []int                  // places taken in them, on the way included
	busy  uint64                 // until when it is taken; a clock has Rate units
	turn  int                    // the queue to serve next
	wire  mem.Queue[ringFlight]
}

// ringPacket is a packet on the ring.
type ringPacket struct {
	born   uint64
	id     int32
	to     int16
	bytes  uint16
	class  uint8
	made   uint8 // hops
	tenant mem.TenantID
}

// ringFlight is a packet on a link.
type ringFlight struct {
	at uint64
	p  ringPacket
}

// NewRing builds an empty ring. It panics on a configuration Validate refuses.
func NewRing(cfg RingConfig) *Ring {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	r := &Ring{cfg: cfg, hops: cfg.Nodes / 2, links: make([]ringLink, 2*cfg.Nodes), next: Never}
	n := cfg.Classes * r.hops
	for i := range r.links {
		l := &r.links[i]
		l.queue, l.taken = make([]mem.Ring[ringPacket], n), make([]int, n)
		for k := range l.queue {
			l.queue[k] = mem.NewRing[ringPacket](cfg.Queue)
		}
	}
	r.exit, r.taken = make([]mem.Ring[ringPacket], cfg.Nodes*cfg.Classes), make([]int, cfg.Nodes*cfg.Classes)
	for i := range r.exit {
		r.exit[i] = mem.NewRing[ringPacket](cfg.Queue)
	}
	r.rows = make([][]*[NumCounters]uint64, cfg.Classes)
	for k := range r.rows {
		r.Count(k, stat.NewTable("noc", Desc, 1, max(cfg.Tenants, 1)), 0)
	}
	return r
}

// Count makes a class count in t, as the given instance; t must be built on Desc. Flits are those
// of 32 bytes that pass a link, queue cycles those before it.
func (r *Ring) Count(class int, t *stat.Table, instance int) { r.rows[class] = rowsOf(t, instance) }

// ringFlit is the size of a flit in the counters.
const ringFlit = 32

// way is the direction from one node to another: 0 upwards. Where both are as long, half of the
// nodes take either.
func (r *Ring) way(from, to int) int {
	up := (to - from + r.cfg.Nodes) % r.cfg.Nodes
	switch down := r.cfg.Nodes - up; {
	case up < down:
		return 0
	case up > down:
		return 1
	}
	return from & 1
}

// Inject offers a packet to the ring at clock now; false when there is no room.
func (r *Ring) Inject(now uint64, class, from, to, bytes int, id int32, tenant mem.TenantID) bool {
	l := &r.links[2*from+r.way(from, to)]
	k := class * r.hops
	if l.taken[k] >= r.cfg.Queue {
		return false
	}
	l.taken[k]++
	l.queue[k].Push(ringPacket{
		born: now, id: id, to: int16(to), bytes: uint16(bytes), class: uint8(class), tenant: tenant,
	})
	r.rows[class][tenant][CPackets]++
	r.next = min(r.next, now+1)
	return true
}

// Tick advances the ring to clock now, whichever direction calls it first, and returns the next clock with work.
func (r *Ring) Tick(now uint64) uint64 {
	for r.next <= now {
		r.step(r.next)
	}
	return r.next
}

// step is one clock.
func (r *Ring) step(now uint64) {
	r.now, r.next = now, Never
	for i := range r.links {
		l := &r.links[i]
		for l.wire.Len() > 0 && l.wire.Head().at <= now {
			r.land(i, l.wire.Pop().p)
		}
	}
	for i := range r.links {
		l := &r.links[i]
		for l.busy < (now+1)*r.cfg.Rate && r.depart(i, now) {
		}
		if l.wire.Len() > 0 {
			r.next = min(r.next, l.wire.Head().at)
		}
		for k := range l.queue {
			if l.queue[k].Len() > 0 {
				r.next = min(r.next, now+1)
			}
		}
	}
}

// target is where a packet goes behind a link: the count of its places.
func (r *Ring) target(link int, p *ringPacket) (taken *int) {
	node := r.end(link)
	if node == int(p.to) {
		return &r.taken[node*r.cfg.Classes+int(p.class)]
	}
	return &r.links[2*node+link&1].taken[int(p.class)*r.hops+int(p.made)+1]
}

// end is the node a link leads to.
func (r *Ring) end(link int) int {
	step := 1
	if link&1 == 1 {
		step = r.cfg.Nodes - 1
	}
	return (link/2 + step) % r.cfg.Nodes
}

// depart puts the packet whose turn it is on a link; false when none can go.
func (r *Ring) depart(link int, now uint64) bool {
	l := &r.links[link]
	for range l.queue {
		k := l.turn
		if l.turn++; l.turn == len(l.queue) {
			l.turn = 0
		}
		if l.queue[k].Len() == 0 {
			continue
		}
		p := l.queue[k].Head()
		taken := r.target(link, p)
		if *taken >= r.cfg.Queue {
			continue
		}
		*taken++
		l.taken[k]--
		l.busy = max(l.busy, now*r.cfg.Rate) + uint64(p.bytes)*1000
		row := r.rows[p.class][p.tenant]
		row[CFlits] += uint64(p.bytes+ringFlit-1) / ringFlit
		row[CQueueCycles] += now - p.born
		l.wire.Push(ringFlight{(l.busy-1)/r.cfg.Rate + uint64(r.cfg.Latency), l.queue[k].Pop()})
		return true
	}
	return false
}

// land takes a packet off a link: it leaves here, or waits for the next link.
func (r *Ring) land(link int, p ringPacket) {
	node := r.end(link)
	if node == int(p.to) {
		r.exit[node*r.cfg.Classes+int(p.class)].Push(p)
		return
	}
	p.made++
	p.born = r.now
	r.links[2*node+link&1].queue[int(p.class)*r.hops+int(p.made)].Push(p)
}

// Peek is the id of the next packet of a class that leaves the ring at a node.
func (r *Ring) Peek(class, node int) (id int32, ok bool) {
	q := &r.exit[node*r.cfg.Classes+class]
	if q.Len() == 0 {
		return 0, false
	}
	return q.Head().id, true
}

// Pop takes the packet that Peek names.
func (r *Ring) Pop(class, node int) {
	i := node*r.cfg.Classes + class
	r.exit[i].Pop()
	r.taken[i]--
}
