package noc

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Never is the clock at which nothing happens any more.
const Never = ^uint64(0)

// States of an input virtual channel.
const (
	idle     = iota
	wantVC   // its first packet waits for an output virtual channel
	crossing // its first packet may ask for the switch
)

// packet is a packet in an input queue.
type packet struct {
	born   uint32 // clock of Push, its low bits: no packet waits for 2^32 clocks
	ahead  uint32 // clock it reached the head of its queue
	id     int32
	out    uint16
	left   uint16 // flits still to switch
	here   uint16 // of those, flits that have arrived
	tenant mem.TenantID
	moving bool // a flit has been switched
}

// input is one virtual channel of an input port.
type input struct {
	head, n int // ring of packets
	flits   int // in the buffer
	state   uint8
	outVC   int16 // held output virtual channel
}

// arrival is a packet on its way to or waiting at an output.
type arrival struct {
	at  uint64
	id  int32
	out int32
}

// Flight tells an observer that a flit won the switch.
type Flight struct {
	In, VC, Out int
	ID          int32
	Tail        bool
}

// Crossbar is one crossbar: inputs, what they ask for, the allocators of virtual channels
// and of the switch, and outputs. It is not safe for concurrent use.
type Crossbar struct {
	cfg Config

	// OnFlit, when set, sees every flit that wins the switch.
	OnFlit func(now uint64, f Flight)

	in      []input // by input port * VCs + virtual channel, then those of Config.Sorted by output
	sorted  int     // the first input port with a queue per output
	packets []packet
	depth   int   // packets per ring
	lastVC  []int // by input port: where the last packet went
	waiting int   // packets in input queues

	requests requests
	vcs      vcAllocator
	islip    switchAllocator
	streams  streams

	reserved []int // by output: packets in flight or queued
	outputs  outputs

	rows []*[NumCounters]uint64
}

// requests are for the switch. With several virtual channels vcs says whose they are.
type requests struct {
	by     []uint64 // by output, in words: inputs
	words  int      // of those
	outs   bitset   // outputs with requests
	vcs    []uint64 // by input * Outputs + output: virtual channels
	holder []int32  // by output, without VCStage: the input that keeps it; -1
}

// of is the set of inputs that ask for an output.
func (r *requests) of(out int) bitset { return r.by[out*r.words : (out+1)*r.words] }

// New builds an empty crossbar. It panics on a configuration Validate refuses.
func New(cfg Config) *Crossbar {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	c := &Crossbar{cfg: cfg, streams: streams{from: Never}}
	k, o, v := cfg.Inputs, cfg.Outputs, cfg.VCs
	c.sorted = k - cfg.OutputQueued
	n := c.queue(k, 0, 0) // input queues
	c.in = make([]input, n)
	for c.depth = 1; c.depth < cfg.BufFlits; c.depth *= 2 {
	}
	c.packets = make([]packet, n*c.depth)
	c.lastVC = make([]int, k)
	c.requests.words = len(newBitset(k))
	c.requests.by = make([]uint64, o*c.requests.words)
	c.requests.holder = make([]int32, o)
	for i := range o {
		c.requests.holder[i] = -1
	}
	for i := range k {
		c.lastVC[i] = v - 1
	}
	c.requests.outs = newBitset(o)
	if v > 1 {
		c.requests.vcs = make([]uint64, k*o)
	}
	c.vcs.build(n, o, v, min(k, o)*v)
	c.islip.build(k, o)
	c.outputs.build(&cfg)
	c.reserved = make([]int, o)
	c.Count(stat.NewTable("noc", Desc, 1, max(cfg.Tenants, 1)), 0)
	return c
}

// Count makes the crossbar count in t, as the given instance; t must be built on
// Desc. Counts so far stay where they were.
func (c *Crossbar) Count(t *stat.Table, instance int) {
	c.rows = rowsOf(t, instance)
}

// rowsOf is the rows of an instance in a table built on Desc.
func rowsOf(t *stat.Table, instance int) (rows []*[NumCounters]uint64) {
	for i := range t.Rows() {
		rows = append(rows, (*[NumCounters]uint64)(t.Row(instance, i)))
	}
	return rows
}

// Counters is the live counter row of a tenant, indexed by the C constants.
func (c *Crossbar) Counters(tenant int) []uint64 { return c.rows[tenant][:] }

// Waiting is the number of packets in the input queues.
func (c *Crossbar) Waiting() int { return c.waiting }

// queue is the input queue of a packet for an output, in a virtual channel.
func (c *Crossbar) queue(in, vc, out int) int {
	if in < c.sorted {
		return in*c.cfg.VCs + vc
	}
	return c.sorted*c.cfg.VCs + (in-c.sorted)*c.cfg.Outputs + out
}

// portOf is the input port and virtual channel of an input queue.
func (c *Crossbar) portOf(queue int) (in, vc int) {
	first := c.sorted * c.cfg.VCs
	if queue < first {
		return queue / c.cfg.VCs, queue % c.cfg.VCs
	}
	return c.sorted + (queue-first)/c.cfg.Outputs, 0
}

// CanPush tells whether an input has room for a packet to an output at clock now. The output matters to inputs
// with a queue per output alone.
func (c *Crossbar) CanPush(now uint64, in, out, flits int) bool {
	c.Settle(now)
	if c.requests.vcs == nil || in >= c.sorted { // one virtual channel
		return c.fits(c.queue(in, 0, out), flits)
	}
	return c.pickVC(in, flits) >= 0
}

// Room is the number of flits that every input virtual channel has room for at clock now.
func (c *Crossbar) Room(now uint64) int {
	c.Settle(now)
	most := 0
	for i := range c.in {
		most = max(most, c.in[i].flits)
	}
	return c.cfg.BufFlits - min(most, c.cfg.BufFlits)
}

// fits says whether an input queue has room for a packet. One longer than
// the buffer may enter an empty one.
func (c *Crossbar) fits(i, flits int) bool {
	n := c.in[i].flits
	return n == 0 || n+flits <= c.cfg.BufFlits
}

// pickVC is the next virtual channel with room after the last one used, or -1.
func (c *Crossbar) pickVC(in, flits int) int {
	v := c.cfg.VCs
	for i := 1; i <= v; i++ {
		vc := (c.lastVC[in] + i) % v
		if c.fits(in*v+vc, flits) {
			return vc
		}
	}
	return -1
}

// Push offers a packet of 1 to 65535 flits, to be seen by the first Tick at now or
// later. It answers false when the input queue is full. id comes back from Pop.
func (c *Crossbar) Push(now uint64, in, out int, flits int, id int32, tenant mem.TenantID) bool {
	vc := 0
	c.Settle(now)
	if c.requests.vcs == nil || in >= c.sorted {
		if !c.fits(c.queue(in, 0, out), flits) {
			return false
		}
	} else if vc = c.pickVC(in, flits); vc < 0 {
		return false
	}
	c.lastVC[in] = vc
	c.enter(now, in, vc, out, flits, flits, id, tenant)
	return true
}

// PushHead enters only the first flit of a packet, into the given virtual
// channel: for sources that send flit by flit and keep credits themselves. The
// others follow by PushBody.
func (c *Crossbar) PushHead(now uint64, in, vc, out, flits int, id int32, tenant mem.TenantID) {
	c.enter(now, in, vc, out, flits, 1, id, tenant)
}

// PushBody adds a flit to the last packet of a virtual channel.
func (c *Crossbar) PushBody(in, vc int) {
	i := in*c.cfg.VCs + vc
	q := &c.in[i]
	p := &c.packets[i*c.depth+(q.head+q.n-1)&(c.depth-1)]
	p.here++
	q.flits++
	if q.n == 1 && q.state == crossing && p.here == 1 {
		c.ask(in, vc, int(p.out))
	}
}

func (c *Crossbar) enter(now uint64, in, vc, out, flits, here int, id int32, tenant mem.TenantID) {
	i := c.queue(in, vc, out)
	q := &c.in[i]
	c.packets[i*c.depth+(q.head+q.n)&(c.depth-1)] = packet{
		born: uint32(now), ahead: uint32(now), id: id, out: uint16(out),
		left: uint16(flits), here: uint16(here), tenant: tenant,
	}
	q.n++
	q.flits += here
	c.waiting++
	c.rows[tenant][CPackets]++
	if q.n == 1 {
		c.begin(i, out)
	}
}

// begin makes the first packet of input queue i ask for its output.
func (c *Crossbar) begin(i, out int) {
	q := &c.in[i]
	if c.cfg.VCStage {
		q.state = wantVC
		c.vcs.want[out].add(i)
		c.vcs.wantOut.add(out)
		return
	}
	q.state = crossing
	in := i // without the stage there is one virtual channel
	if i >= c.sorted {
		in, _ = c.portOf(i)
	}
	c.ask(in, 0, out)
}

// ask adds a switch request.
func (c *Crossbar) ask(in, vc, out int) {
	if c.requests.vcs != nil {
		c.requests.vcs[in*c.cfg.Outputs+out] |= 1 << vc
	}
	c.requests.by[out*c.requests.words+in>>6] |= 1 << (in & 63)
	c.requests.outs.add(out)
}

// unask removes a switch request.
func (c *Crossbar) unask(in, vc, out int) {
	if c.requests.vcs != nil {
		r := &c.requests.vcs[in*c.cfg.Outputs+out]
		if *r &^= 1 << vc; *r != 0 {
			return
		}
	}
	r := c.requests.of(out)
	r.remove(in)
	if r.empty() {
		c.requests.outs.remove(out)
	}
}

// Tick advances the crossbar to clock now, which must be called for every clock it named
// and for those in which packets were pushed. It returns the next clock with work.
func (c *Crossbar) Tick(now uint64) (next uint64) {
	c.Arrive(now)
	return min(c.Switch(now), c.NextArrival())
}

// Switch moves flits from inputs towards outputs at clock now. It returns the next
// clock at which a packet waits for that.
func (c *Crossbar) Switch(now uint64) (next uint64) {
	c.Settle(now)
	c.streams.from = Never
	switch {
	case c.waiting == 0:
		return Never
	case c.cfg.Local:
		c.sweep(now)
	default:
		c.match(now)
	}
	if c.waiting > 0 {
		return c.stream(now)
	}
	return Never
}

// match is Switch with separable allocation.
func (c *Crossbar) match(now uint64) {
	if c.cfg.VCStage {
		c.allocateVCs()
	}
	c.allocateSwitch()
	for _, w := range c.islip.wins { // before takeVC: a channel won now asks for the switch next clock
		c.send(now, int(w.in), int(w.out))
	}
	for _, w := range c.vcs.wins {
		c.takeVC(w)
	}
}

// takeVC gives an output virtual channel to the first packet of an input channel.
func (c *Crossbar) takeVC(w match) {
	i, v := int(w.in), c.cfg.VCs
	out := int(w.out) / v
	q := &c.in[i]
	q.state, q.outVC = crossing, int16(int(w.out)%v)
	c.vcs.free[out] &^= 1 << q.outVC
	c.reserved[out]++
	c.vcs.want[out].remove(i)
	if c.vcs.want[out].empty() {
		c.vcs.wantOut.remove(out)
	}
	if c.packets[i*c.depth+q.head].here > 0 {
		in, vc := c.portOf(i)
		c.ask(in, vc, out)
	}
}

// send switches one flit from input in to output out.
func (c *Crossbar) send(now uint64, in, out int) {
	vc := 0
	if v := c.cfg.VCs; v > 1 {
		m := c.requests.vcs[in*c.cfg.Outputs+out]
		if hi := m >> c.islip.rrVC[in] << c.islip.rrVC[in]; hi != 0 {
			m = hi
		}
		vc = bits.TrailingZeros64(m)
		c.islip.rrVC[in] = int32((vc + 1) % v)
	}
	i := c.queue(in, vc, out)
	q := &c.in[i]
	p := &c.packets[i*c.depth+q.head]
	n := c.rows[p.tenant]
	if !p.moving {
		p.moving = true
		n[CBlocked] += uint64(uint32(now) - p.ahead)
		if !c.cfg.VCStage {
			c.requests.holder[out] = int32(in)
			c.reserved[out]++
		}
	}
	n[CFlits]++
	p.left--
	p.here--
	q.flits--
	if c.OnFlit != nil {
		c.OnFlit(now, Flight{In: in, VC: vc, Out: out, ID: p.id, Tail: p.left == 0})
	}
	if p.left > 0 {
		if p.here == 0 {
			c.unask(in, vc, out)
		}
		return
	}
	n[CQueueCycles] += uint64(uint32(now) - p.born)
	push(&c.outputs.flying, arrival{at: now + uint64(c.cfg.Latency), id: p.id, out: int32(out)})
	c.unask(in, vc, out)
	c.leave(now, i, out)
}

// leave removes the first packet of input queue i and starts the next.
func (c *Crossbar) leave(now uint64, i, out int) {
	q := &c.in[i]
	if c.cfg.VCStage {
		c.vcs.free[out] |= 1 << q.outVC
	} else {
		c.requests.holder[out] = -1
	}
	q.head = (q.head + 1) & (c.depth - 1)
	q.n--
	q.state = idle
	c.waiting--
	if q.n == 0 {
		q.head = 0 // short queues stay in few lines of the computer's cache
		return
	}
	p := &c.packets[i*c.depth+q.head]
	if p.ahead = uint32(now) + 1; c.cfg.Local {
		p.ahead = uint32(now) // it may go in this very clock
	}
	c.begin(i, int(p.out))
}
