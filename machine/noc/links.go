package noc

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// LinksConfig describes point-to-point links: each input has a wire of its own to each of a few
// outputs. There are no switches and no buffers but the latch at the receiving end, where an
// arbiter takes from the wires of an output in turn (Zhao et al., NUBA, section 2).
type LinksConfig struct {
	Inputs, Outputs int
	Fan             int // wires of an input, at most 64
	// Wire is the wire of an input that leads to an output, below Fan, and From the inputs that
	// lead to an output, at most 64, in the order of turns.
	Wire func(in, out int) int
	From func(out int) []int

	Classes   int // of packets; they share wires, each has its latches: no class waits for another
	FlitBytes int // that a wire carries in a clock
	Latency   int // clocks from the last flit's on the wire to the latch
	Latch     int // packets at the receiving end, those on the wire included
	Tenants   int // rows of counters
}

// Validate reports what cannot work.
func (c *LinksConfig) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"inputs", c.Inputs},
		{"outputs", c.Outputs},
		{"wires of an input", c.Fan},
		{"classes", c.Classes},
		{"flit bytes", c.FlitBytes},
		{"latency", c.Latency},
		{"latch", c.Latch},
	} {
		if f.v < 1 {
			return fmt.Errorf("links: %s must be at least 1, is %d", f.name, f.v)
		}
	}
	if c.Fan > 64 {
		return fmt.Errorf("links: an input has %d wires; at most 64 are modelled", c.Fan)
	}
	return nil
}

// Links is a network of point-to-point links, for some classes of packets.
type Links struct {
	cfg     LinksConfig
	free    []uint64 // by wire: the clock from which it takes the next packet
	classes []LinkClass
}

// LinkClass is the network of one class of packets.
type LinkClass struct {
	links  *Links
	latch  []mem.Ring[transit] // by wire
	wires  [][]int32           // by output: those that lead there
	of     []linkEnd           // by wire
	here   []uint64            // by output: its wires, by position, whose first packet has come
	turn   []uint8             // by output: the position after the one taken last
	coming bitset              // wires whose first packet has yet to come
	next   uint64              // the clock at which one of those does
	avail  bitset              // outputs
	count  int                 // packets
	rows   []*[NumCounters]uint64
}

// transit is a packet on a wire or in its latch.
type transit struct {
	at uint64
	id int32
}

// linkEnd is the output of a wire and its position there.
type linkEnd struct {
	out int32
	pos uint8
}

// NewLinks builds links without packets. It panics on a configuration Validate refuses.
func NewLinks(cfg LinksConfig) *Links {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	n := cfg.Inputs * cfg.Fan
	l := &Links{cfg: cfg, free: make([]uint64, n), classes: make([]LinkClass, cfg.Classes)}
	for k := range l.classes {
		c := &l.classes[k]
		c.links = l
		c.latch, c.of = make([]mem.Ring[transit], n), make([]linkEnd, n)
		c.wires, c.here, c.turn = make([][]int32, cfg.Outputs), make([]uint64, cfg.Outputs), make([]uint8, cfg.Outputs)
		c.coming, c.avail, c.next = newBitset(n), newBitset(cfg.Outputs), Never
		for i := range c.latch {
			c.latch[i] = mem.NewRing[transit](cfg.Latch)
		}
		for out := range cfg.Outputs {
			for pos, in := range cfg.From(out) {
				w := in*cfg.Fan + cfg.Wire(in, out)
				c.of[w] = linkEnd{int32(out), uint8(pos)}
				c.wires[out] = append(c.wires[out], int32(w))
			}
		}
		c.Count(stat.NewTable("noc", Desc, 1, max(cfg.Tenants, 1)), 0)
	}
	return l
}

// Class is the network of one of the classes.
func (l *Links) Class(k int) *LinkClass { return &l.classes[k] }

// Count makes the class count in t, as the given instance; t must be built on Desc.
func (c *LinkClass) Count(t *stat.Table, instance int) { c.rows = rowsOf(t, instance) }

// Flits is the length of a packet of n bytes.
func (c *LinkClass) Flits(n int) int {
	return max(1, (n+c.links.cfg.FlitBytes-1)/c.links.cfg.FlitBytes)
}

// CanPush tells whether the wire to an output takes a packet at clock now.
func (c *LinkClass) CanPush(now uint64, in, out, _ int) bool {
	l := c.links
	w := in*l.cfg.Fan + l.cfg.Wire(in, out)
	return l.free[w] <= now && !c.latch[w].Full()
}

// Push offers a packet of a number of flits. It answers false when the wire is taken at clock
// now or the latch is full.
func (c *LinkClass) Push(now uint64, in, out, flits int, id int32, tenant mem.TenantID) bool {
	l := c.links
	w := in*l.cfg.Fan + l.cfg.Wire(in, out)
	if l.free[w] > now || c.latch[w].Full() {
		return false
	}
	l.free[w] = now + uint64(flits)
	at := now + uint64(flits) - 1 + uint64(l.cfg.Latency)
	c.latch[w].Push(transit{at, id})
	if c.latch[w].Len() == 1 {
		c.coming.add(w)
		c.next = min(c.next, at)
	}
	c.count++
	row := c.rows[tenant]
	row[CPackets]++
	row[CFlits] += uint64(flits)
	return true
}

// Tick makes the packets that have arrived by clock now visible, and returns the next clock at which one arrives.
func (c *LinkClass) Tick(now uint64) (next uint64) {
	if c.next > now {
		return c.next
	}
	c.next = Never
	for k, word := range c.coming {
		for ; word != 0; word &= word - 1 {
			w := k<<6 + bits.TrailingZeros64(word)
			if at := c.latch[w].Head().at; at > now {
				c.next = min(c.next, at)
				continue
			}
			c.coming.remove(w)
			e := c.of[w]
			c.here[e.out] |= 1 << e.pos
			c.avail.add(int(e.out))
		}
	}
	return c.next
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64
// outputs. It is live: read it after Tick, do not change it.
func (c *LinkClass) AvailableOutputs() []uint64 { return c.avail }

// first is the position, among the wires of an output, of the one whose turn it is.
func (c *LinkClass) first(out int) int {
	here := c.here[out]
	if later := here >> c.turn[out] << c.turn[out]; later != 0 {
		here = later
	}
	return bits.TrailingZeros64(here)
}

// Peek is the id of the packet that an output takes next.
func (c *LinkClass) Peek(out int) (id int32, ok bool) {
	if c.here[out] == 0 {
		return 0, false
	}
	return c.latch[c.wires[out][c.first(out)]].Head().id, true
}

// Pop takes the packet that Peek names at clock now; the wire's next packet comes after now.
func (c *LinkClass) Pop(out int, now uint64) (id int32, ok bool) {
	if c.here[out] == 0 {
		return 0, false
	}
	pos := c.first(out)
	w := c.wires[out][pos]
	id = c.latch[w].Pop().id
	c.count--
	if c.turn[out] = uint8(pos + 1); pos+1 == len(c.wires[out]) {
		c.turn[out] = 0
	}
	if c.latch[w].Len() > 0 {
		if at := c.latch[w].Head().at; at <= now {
			return id, true
		} else {
			c.coming.add(int(w))
			c.next = min(c.next, at)
		}
	}
	if c.here[out] &^= 1 << pos; c.here[out] == 0 {
		c.avail.remove(out)
	}
	return id, true
}

// Pass says that the receiver has no room for the packet that an output would give next; the output's arbiter then
// turns to another wire. So a full receiver of one class does not block another class.
func (c *LinkClass) Pass(out int) {
	if pos := c.first(out); c.here[out] != 0 {
		if c.turn[out] = uint8(pos + 1); pos+1 == len(c.wires[out]) {
			c.turn[out] = 0
		}
	}
}

// Waiting is the number of packets.
func (c *LinkClass) Waiting() int { return c.count }
