package noc

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// StagesConfig describes a hierarchical crossbar: two stages of switches, each with a link,
// or several where they are few, to every switch of the other stage (Zhao et al., NUBA, section 6:
// 8 + 8 switches of 8 x 8 for 64 ports).
type StagesConfig struct {
	Inputs, Outputs int
	Parts           int // networks side by side that the ports are divided into: none leads from one to another
	// Extra ports beside those, on switch 0: an MMU's.
	ExtraInputs, ExtraOutputs int
	// Gates are inputs and outputs of each part that lead to and from the others (modules.go), numbered
	// behind all other ports. They have switches of their own.
	Gates     int
	Radix     int // ports of a switch towards the outside
	VCs       int // queues per input of a switch
	BufFlits  int // flits a queue holds
	FlitBytes int // width of every link
	Latency   int // clocks from winning a switch to its other end
	OutQueue  int // packets per output, those on their way included
	Tenants   int // rows of counters
}

// Switches is the number of switches of the first and of the second stage, of each part.
func (c *StagesConfig) Switches() (first, second int) {
	per := func(n int) int { return (n + c.Radix - 1) / c.Radix }
	return per(c.Inputs/c.Parts) + per(c.Gates), per(c.Outputs/c.Parts) + per(c.Gates)
}

// lanes is the number of links between two switches: a switch of the first stage has as many
// outputs as inputs, however few switches there are to lead to.
func (c *StagesConfig) lanes() int {
	_, second := c.Switches()
	return max(1, c.Radix/second)
}

// Validate is the error of a configuration that cannot work.
func (c *StagesConfig) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"inputs", c.Inputs},
		{"outputs", c.Outputs},
		{"parts", c.Parts},
		{"radix", c.Radix},
		{"vcs", c.VCs},
		{"input buffer", c.BufFlits},
		{"flit bytes", c.FlitBytes},
		{"latency", c.Latency},
		{"output queue", c.OutQueue},
	} {
		if f.v < 1 {
			return fmt.Errorf("stages: %s must be at least 1, is %d", f.name, f.v)
		}
	}
	if c.Inputs%c.Parts+c.Outputs%c.Parts != 0 {
		return fmt.Errorf("stages: %d inputs and %d outputs do not divide into %d parts", c.Inputs, c.Outputs, c.Parts)
	}
	first, second := c.Switches()
	if most := max(c.Radix+c.ExtraInputs, first*c.lanes()) * c.VCs; most > 64 {
		return fmt.Errorf("stages: %d x %d ports in switches of radix %d with %d virtual channels need %d queues in a "+
			"switch, of which at most 64 are modelled: fewer virtual channels or a radix nearer to the square root of "+
			"the ports", c.Inputs, c.Outputs, c.Radix, c.VCs, most)
	}
	if most := max(c.Radix+c.ExtraOutputs, second*c.lanes()); most > 64 {
		return fmt.Errorf("stages: a switch would have %d outputs, of which at most 64 are modelled", most)
	}
	return nil
}

// worm is a packet that goes through the stages in one piece: virtual cut-through. A packet that wins a switch has
// room for all its flits on the other side. So its flits follow its head at one per clock, and all their times are
// known when it wins.
type worm struct {
	born   uint64 // clock of Push
	ahead  uint64 // clock it reached the head of its queue
	id     int32
	out    uint16 // of the network
	flits  uint16
	tenant mem.TenantID
}

// worms is a ring of them, and how many flits they are.
type worms struct {
	head, n, flits int32
}

// node is one switch: queues of its inputs, by input * VCs + channel, and outputs.
type node struct {
	queues []worms
	buf    []worm
	want   []uint64 // by output: queues whose first packet is for it
	outs   uint64   // outputs that packets want
	inBusy []uint64 // by input: the clock from which it can send again
	busy   []uint64 // by output: the same for its link
	turn   []uint8  // by output: the queue after the one served last
	due    uint64   // the clock from which a packet may win; Never
}

// Stages is the network that StagesConfig describes. Its arbiters give each free output, beginning with another
// output in every clock, to the next queue in turn whose input is free: a maximal matching.
type Stages struct {
	cfg    StagesConfig
	stage  [2][]node
	depth  int32      // packets per queue
	lastVC [2][]uint8 // by stage and link to it: the queue used last

	first, second int // switches of a part
	lanes         int // links between two of them
	entry, exit   []place

	links   mem.Queue[flight] // between the stages; the latency is one number, so the first to arrive is ahead
	waiting int               // packets in queues or between the stages
	outputs ejection
	rows    []*[NumCounters]uint64
}

// place is the place of a port of the network: a switch of its stage (inPart is its number within its part), and a
// port there.
type place struct{ node, inPart, port int32 }

// flight is a packet on its way to a queue of the second stage.
type flight struct {
	at         uint64
	w          worm
	node, slot int32
}

// NewStages builds an empty network. It panics on a configuration Validate refuses.
func NewStages(cfg StagesConfig) *Stages {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	s := &Stages{cfg: cfg}
	for s.depth = 1; int(s.depth) < cfg.BufFlits; s.depth *= 2 {
	}
	s.first, s.second = cfg.Switches()
	s.lanes = cfg.lanes()
	s.entry = s.side(0, cfg.Inputs, cfg.ExtraInputs, s.second*s.lanes)
	s.exit = s.side(1, cfg.Outputs, cfg.ExtraOutputs, s.first*s.lanes)
	s.lastVC = [2][]uint8{make([]uint8, len(s.entry)), make([]uint8, cfg.Parts*s.first*s.second*s.lanes)}
	s.outputs.build(len(s.exit), cfg.OutQueue)
	s.Count(stat.NewTable("noc", Desc, 1, max(cfg.Tenants, 1)), 0)
	return s
}

// side makes the switches of a stage, each with a number of links to the other stage, and says where
// the ports outside are: those of the parts in turn, the extra ones, the gates.
func (s *Stages) side(stage, ports, extra, links int) (at []place) {
	c := &s.cfg
	var gates []place
	per := ports / c.Parts
	for part := range c.Parts {
		inPart := 0
		more := func(n int, list *[]place) {
			for ; n > 0; n -= c.Radix {
				node := int32(len(s.stage[stage]))
				outer := min(c.Radix, n)
				for p := range outer {
					*list = append(*list, place{node, int32(inPart), int32(p)})
				}
				if node == 0 {
					outer += extra
				}
				if inPart++; stage == 0 {
					s.stage[stage] = append(s.stage[stage], s.node(outer, links))
				} else {
					s.stage[stage] = append(s.stage[stage], s.node(links, outer))
				}
			}
		}
		more(per, &at)
		more(c.Gates, &gates)
		if part == c.Parts-1 {
			for p := range extra {
				at = append(at, place{0, 0, int32(min(c.Radix, per) + p)})
			}
		}
	}
	return append(at, gates...)
}

func (s *Stages) node(inputs, outputs int) node {
	n := inputs * s.cfg.VCs
	return node{
		queues: make([]worms, n), buf: make([]worm, n*int(s.depth)), want: make([]uint64, outputs),
		inBusy: make([]uint64, inputs), busy: make([]uint64, outputs), turn: make([]uint8, outputs), due: Never,
	}
}

// Count makes the network count in t, as the given instance; t must be built on Desc.
func (s *Stages) Count(t *stat.Table, instance int) { s.rows = rowsOf(t, instance) }

// Flits is the length of a packet of n bytes.
func (s *Stages) Flits(n int) int { return max(1, (n+s.cfg.FlitBytes-1)/s.cfg.FlitBytes) }

// via is the output of a first-stage switch on the way to an output of the network. Of several
// links to a switch the outputs there take turns.
func (s *Stages) via(out int) int {
	at := &s.exit[out]
	return int(at.inPart)*s.lanes + int(at.port)%s.lanes
}

// pick is the next queue after the one used last with room for a packet, among those of an
// input; -1. One longer than a queue may enter an empty one.
func (s *Stages) pick(n *node, input, flits int, last uint8) int {
	v := s.cfg.VCs
	vc := int(last)
	for range v {
		if vc++; vc >= v {
			vc = 0
		}
		if used := int(n.queues[input*v+vc].flits); used == 0 || used+flits <= s.cfg.BufFlits {
			return input*v + vc
		}
	}
	return -1
}

// CanPush tells whether an input has room for a packet.
func (s *Stages) CanPush(_ uint64, in, _, flits int) bool {
	at := &s.entry[in]
	return s.pick(&s.stage[0][at.node], int(at.port), flits, s.lastVC[0][in]) >= 0
}

// Push offers a packet of 1 to 65535 flits, to be seen by the first Tick at now or later. It
// answers false when the input is full. id comes back from Pop.
func (s *Stages) Push(now uint64, in, out, flits int, id int32, tenant mem.TenantID) bool {
	at := &s.entry[in]
	n := &s.stage[0][at.node]
	q := s.pick(n, int(at.port), flits, s.lastVC[0][in])
	if q < 0 {
		return false
	}
	s.lastVC[0][in] = uint8(q % s.cfg.VCs)
	n.queues[q].flits += int32(flits)
	w := worm{born: now, id: id, out: uint16(out), flits: uint16(flits), tenant: tenant}
	s.enter(n, q, s.via(out), now, &w)
	s.waiting++
	s.rows[tenant][CPackets]++
	return true
}

// enter puts a packet, whose room is taken, behind the others of a queue.
func (s *Stages) enter(n *node, q, output int, now uint64, w *worm) {
	r := &n.queues[q]
	w.ahead = now
	n.buf[int32(q)*s.depth+(r.head+r.n)&(s.depth-1)] = *w
	if r.n++; r.n == 1 {
		n.ask(q, output)
		n.due = min(n.due, now)
	}
}

// ask notes that the first packet of a queue is for an output.
func (n *node) ask(q, output int) {
	n.want[output] |= 1 << q
	n.outs |= 1 << output
}

// leave takes the first packet of a queue, for an output, out and shows the next.
func (s *Stages) leave(stage int, n *node, q, output int, now uint64) worm {
	r := &n.queues[q]
	w := n.buf[int32(q)*s.depth+r.head]
	r.flits -= int32(w.flits)
	r.head = (r.head + 1) & (s.depth - 1)
	if n.want[output] &^= 1 << q; n.want[output] == 0 {
		n.outs &^= 1 << output
	}
	if r.n--; r.n == 0 {
		r.head = 0
		return w
	}
	next := &n.buf[int32(q)*s.depth+r.head]
	next.ahead = now + 1
	if stage == 0 {
		n.ask(q, s.via(int(next.out)))
	} else {
		n.ask(q, int(s.exit[next.out].port))
	}
	return w
}

// Tick advances the network to clock now, which must be called for every clock it named, and
// for the one after a Pop. It returns the next one.
func (s *Stages) Tick(now uint64) (next uint64) {
	for s.links.Len() > 0 && s.links.Head().at <= now {
		f := s.links.Pop()
		s.enter(&s.stage[1][f.node], int(f.slot), int(s.exit[f.w.out].port), now, &f.w)
	}
	next = s.outputs.arrive(now)
	if s.waiting == 0 {
		return next
	}
	for k := range s.stage {
		for i := range s.stage[k] {
			n := &s.stage[k][i]
			if n.due <= now {
				s.serve(k, i, now)
			}
			next = min(next, n.due)
		}
	}
	if s.links.Len() > 0 {
		next = min(next, s.links.Head().at)
	}
	// A packet that was served may have made room for a switch that was looked at before.
	for i := range s.stage[0] {
		next = min(next, s.stage[0][i].due)
	}
	return max(min(next, s.outputs.next), now+1)
}

// serve sends packets of switch i of a stage.
func (s *Stages) serve(stage, i int, now uint64) {
	n := &s.stage[stage][i]
	n.due = Never
	begin := now % uint64(len(n.want))
	for _, outs := range [2]uint64{n.outs >> begin << begin, n.outs & (1<<begin - 1)} {
		for ; outs != 0; outs &= outs - 1 {
			o := bits.TrailingZeros64(outs)
			if n.busy[o] > now {
				n.due = min(n.due, n.busy[o])
				continue
			}
			s.serveOutput(stage, i, o, now)
		}
	}
}

// serveOutput gives an output to the next queue in turn whose input is free and whose packet
// has room on the other side.
func (s *Stages) serveOutput(stage, i, o int, now uint64) {
	n := &s.stage[stage][i]
	turn := n.turn[o]
	for _, asking := range [2]uint64{n.want[o] >> turn << turn, n.want[o] & (1<<turn - 1)} {
		for ; asking != 0; asking &= asking - 1 {
			q := bits.TrailingZeros64(asking)
			input := q / s.cfg.VCs
			if n.inBusy[input] > now {
				n.due = min(n.due, n.inBusy[input])
				continue
			}
			w := &n.buf[int32(q)*s.depth+n.queues[q].head]
			if !s.send(stage, i, o, w, now) {
				return // the part that makes room says so; a short packet does not overtake a long one for ever
			}
			end := now + uint64(w.flits)
			s.rows[w.tenant][CBlocked] += now - w.ahead
			s.leave(stage, n, q, o, now)
			n.inBusy[input], n.busy[o], n.turn[o] = end, end, uint8((q+1)%len(n.queues))
			if n.outs != 0 {
				n.due = min(n.due, end)
			}
			if stage == 1 { // its first-stage switch may have waited for the room
				f := &s.stage[0][i/s.second*s.first+input/s.lanes]
				f.due = min(f.due, now+1)
			}
			return
		}
	}
}

// send puts a packet on its way to the second stage or to its output, if there is room.
func (s *Stages) send(stage, i, o int, w *worm, now uint64) bool {
	row := s.rows[w.tenant]
	if stage == 1 {
		if s.outputs.reserved[w.out] >= s.cfg.OutQueue {
			return false
		}
		last := now + uint64(w.flits) - 1
		row[CQueueCycles] += last - w.born - uint64(s.cfg.Latency)
		s.outputs.push(int(w.out), w.id, last+uint64(s.cfg.Latency))
		s.waiting--
		return true
	}
	node := i/s.first*s.second + o/s.lanes
	to := &s.stage[1][node]
	used := &s.lastVC[1][i*s.second*s.lanes+o]
	q := s.pick(to, i%s.first*s.lanes+o%s.lanes, int(w.flits), *used)
	if q < 0 {
		return false
	}
	*used = uint8(q % s.cfg.VCs)
	to.queues[q].flits += int32(w.flits)
	row[CFlits] += uint64(w.flits)
	s.links.Push(flight{at: now + uint64(s.cfg.Latency), w: *w, node: int32(node), slot: int32(q)})
	return true
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64 outputs. It is
// live: read it after Tick, do not change it.
func (s *Stages) AvailableOutputs() []uint64 { return s.outputs.avail }

// Peek is the id of the next packet of an output.
func (s *Stages) Peek(out int) (id int32, ok bool) { return s.outputs.peek(out) }

// Pop takes the next packet of an output.
func (s *Stages) Pop(out int, now uint64) (id int32, ok bool) {
	if id, ok = s.outputs.pop(out, now); ok {
		n := &s.stage[1][s.exit[out].node]
		n.due = min(n.due, now+1)
	}
	return id, ok
}

// Waiting is the number of packets that have not won their output.
func (s *Stages) Waiting() int { return s.waiting }
