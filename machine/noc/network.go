package noc

import (
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Network is one direction of an interconnect: a crossbar, stages of switches, modules of those, or a class of
// point-to-point links. It is called once per packet; flits move inside it.
type Network interface {
	// CanPush tells whether an input takes a packet to an output at clock now.
	CanPush(now uint64, in, out, flits int) bool
	// Push offers a packet of a number of flits, to be seen by the first Tick at now or later. It
	// answers false when there is no room. id comes back from Pop.
	Push(now uint64, in, out, flits int, id int32, tenant mem.TenantID) bool
	// Tick advances the network to clock now, which must be called for every clock it named and,
	// while packets wait, for the one after a Pop. It returns the next one.
	Tick(now uint64) (next uint64)
	// Between is Tick for a clock that is not the last one of a cycle of the machine; between such clocks no
	// component pushes or pops.
	Between(now uint64)
	// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64 outputs. It is
	// live: read it after Tick, do not change it.
	AvailableOutputs() []uint64
	// Peek is the id of the next packet of an output.
	Peek(out int) (id int32, ok bool)
	// Pop takes the next packet of an output at clock now.
	Pop(out int, now uint64) (id int32, ok bool)
	// Pass says that the receiver has no room for the packet that an output would give next; if several links end
	// there, the turn goes to another one.
	Pass(out int)
	// Again says, after a Pop, that Tick is due in the next clock whatever clock it named: there is room for packets
	// that wait, or another one is on its way to the output.
	Again() bool
	// Settle brings counters that are updated late up to clock now, which has not run.
	Settle(now uint64)
	// Flits is the length of a packet of n bytes; for a crossbar, which adds its own header, n are the bytes after
	// the header.
	Flits(n int) int
	// Count makes the network count in t, as the given instance; t must be built on Desc.
	Count(t *stat.Table, instance int)
}

// Between implements Network.
func (c *Crossbar) Between(now uint64) { c.Tick(now) }

// Pass implements Network: an output has one queue.
func (c *Crossbar) Pass(int) {}

// Again implements Network: a crossbar asks for every clock by itself while packets wait.
func (c *Crossbar) Again() bool { return false }

// Flits implements Network.
func (c *Crossbar) Flits(n int) int { return c.cfg.Flits(n) }

// Between implements Network.
func (s *Stages) Between(now uint64) { s.Tick(now) }

// Pass implements Network: an output has one queue.
func (s *Stages) Pass(int) {}

// Again implements Network.
func (s *Stages) Again() bool { return s.waiting > 0 || s.outputs.next != Never }

// Settle implements Network: its counters are always up to date.
func (s *Stages) Settle(uint64) {}

// Between implements Network. Modules meet at their ring once per cycle of the machine, so that it does not matter
// which direction is looked at first.
func (m *Modules) Between(now uint64) { m.stages.Tick(now) }

// AvailableOutputs implements Network.
func (m *Modules) AvailableOutputs() []uint64 { return m.avail }

// Peek implements Network.
func (m *Modules) Peek(out int) (id int32, ok bool) { return m.stages.Peek(out) }

// Pass implements Network: an output has one queue.
func (m *Modules) Pass(int) {}

// Again implements Network.
func (m *Modules) Again() bool { return m.stages.Again() }

// Settle implements Network: its counters are always up to date.
func (m *Modules) Settle(uint64) {}

// Flits implements Network.
func (m *Modules) Flits(n int) int { return m.stages.Flits(n) }

// Between implements Network.
func (c *LinkClass) Between(now uint64) { c.Tick(now) }

// Again implements Network.
func (c *LinkClass) Again() bool { return c.next != Never }

// Settle implements Network: its counters are always up to date.
func (c *LinkClass) Settle(uint64) {}
