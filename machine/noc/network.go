package noc

import (
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Network is one direction of an interconnect, of whichever kind: a crossbar, stages of
// switches, modules of those, or a class of point-to-point links. Exactly one of its parts is there; callers of
// every packet switch over them here, without an interface.
type Network struct {
	Crossbar *Crossbar
	stages   *Stages
	links    *Links
	class    int // of the links
	modules  *Modules
}

// OfCrossbar, OfStages and OfLinks make a Network of one of its kinds.
func OfCrossbar(c *Crossbar) *Network { return &Network{Crossbar: c} }

// OfStages is OfCrossbar for stages.
func OfStages(s *Stages) *Network { return &Network{stages: s} }

// OfModules is OfCrossbar for modules.
func OfModules(m *Modules) *Network { return &Network{modules: m} }

// OfLinks is OfCrossbar for a class of links.
func OfLinks(l *Links, class int) *Network { return &Network{links: l, class: class} }

// CanPush tells whether an input takes a packet to an output at clock now.
func (n *Network) CanPush(now uint64, in, out, flits int) bool {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.CanPushTo(now, in, out, flits)
	case n.stages != nil:
		return n.stages.CanPush(in, flits)
	case n.modules != nil:
		return n.modules.CanPush(in, flits)
	}
	return n.links.CanPush(now, n.class, in, out)
}

// Push offers a packet of a number of flits, to be seen by the first Tick at now or later. It
// answers false when there is no room. id comes back from Pop.
func (n *Network) Push(now uint64, in, out, flits int, id int32, tenant mem.TenantID) bool {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.Push(now, in, out, flits, id, tenant)
	case n.stages != nil:
		return n.stages.Push(now, in, out, flits, id, tenant)
	case n.modules != nil:
		return n.modules.Push(now, in, out, flits, id, tenant)
	}
	return n.links.Push(now, n.class, in, out, flits, id, tenant)
}

// Tick advances the network to clock now, which must be called for every clock it named and,
// while packets wait, for the one after a Pop. It returns the next one.
func (n *Network) Tick(now uint64) (next uint64) {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.Tick(now)
	case n.stages != nil:
		return n.stages.Tick(now)
	case n.modules != nil:
		return n.modules.Tick(now)
	}
	return n.links.Tick(n.class, now)
}

// Between is Tick for a clock that is not the last one of a cycle of the machine, between which
// nobody pushes or pops. Modules meet at their ring once per cycle of the machine, so that it does
// not matter which direction is looked at first.
func (n *Network) Between(now uint64) {
	if n.modules != nil {
		n.modules.stages.Tick(now)
		return
	}
	n.Tick(now)
}

// AvailableOutputs is the set of outputs with a packet to Pop, as words of 64 outputs. It is
// live: read it after Tick, do not change it.
func (n *Network) AvailableOutputs() []uint64 {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.AvailableOutputs()
	case n.stages != nil:
		return n.stages.AvailableOutputs()
	case n.modules != nil:
		return n.modules.avail
	}
	return n.links.AvailableOutputs(n.class)
}

// Peek is the id of the next packet of an output.
func (n *Network) Peek(out int) (id int32, ok bool) {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.Peek(out)
	case n.stages != nil:
		return n.stages.Peek(out)
	case n.modules != nil:
		return n.modules.stages.Peek(out)
	}
	return n.links.Peek(n.class, out)
}

// Pop takes the next packet of an output at clock now.
func (n *Network) Pop(out int, now uint64) (id int32, ok bool) {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.Pop(out)
	case n.stages != nil:
		return n.stages.Pop(out, now)
	case n.modules != nil:
		return n.modules.Pop(out, now)
	}
	return n.links.Pop(n.class, out, now)
}

// Pass says that the receiver has no room for the packet an output would give next; where
// several links end, another's is next.
func (n *Network) Pass(out int) {
	if n.links != nil {
		n.links.Pass(n.class, out)
	}
}

// Again says, after a Pop, that Tick is due in the next clock whatever it named: there is room
// for packets that wait, or another one on its way to the output. A crossbar asks for every
// clock by itself while packets wait.
func (n *Network) Again() bool {
	switch {
	case n.Crossbar != nil:
		return false
	case n.stages != nil:
		return n.stages.waiting > 0 || n.stages.outputs.next != Never
	case n.modules != nil:
		return n.modules.Again()
	}
	return n.links.classes[n.class].next != Never
}

// Settle brings counters that are kept lazily up to clock now, which has not run.
func (n *Network) Settle(now uint64) {
	if n.Crossbar != nil {
		n.Crossbar.Settle(now)
	}
}

// Flits is the length of a packet of n bytes; of a crossbar, whose header is its own, n are
// those behind it.
func (n *Network) Flits(bytes int) int {
	switch {
	case n.Crossbar != nil:
		return n.Crossbar.cfg.Flits(bytes)
	case n.stages != nil:
		return n.stages.Flits(bytes)
	case n.modules != nil:
		return n.modules.stages.Flits(bytes)
	}
	return n.links.Flits(bytes)
}

// Count makes the network count in t, as the given instance; t must be built on Desc.
func (n *Network) Count(t *stat.Table, instance int) {
	switch {
	case n.Crossbar != nil:
		n.Crossbar.Count(t, instance)
	case n.stages != nil:
		n.stages.Count(t, instance)
	case n.modules != nil:
		n.modules.Count(t, instance)
	default:
		n.links.Count(n.class, t, instance)
	}
}
