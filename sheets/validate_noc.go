package sheets

import "fmt"

// Topologies: which SMs are near which slices (NoC.Topology).
const (
	MemorySide = "memory-side" // every SM reaches every slice
	SMSide     = "sm-side"     // an SM reaches the slices of its half, which hold lines of either
	NUBA       = "nuba"        // an SM has links to the slices of its partition, and slices to each other
)

// Shape is the topology, a sheet's default included.
func (n *NoC) Shape() string {
	if n.Topology == "" {
		return MemorySide
	}
	return n.Topology
}

// Parts is the number of parts the machine is divided into, at least 1.
func (n *NoC) Parts() int {
	if n.Shape() == MemorySide {
		return 1
	}
	return max(1, n.Partitions)
}

// AnswerWidth is the width in bytes of a link from a slice to the SMs.
func (n *NoC) AnswerWidth() int {
	if n.AnswerFlit > 0 {
		return n.AnswerFlit
	}
	return n.FlitBytes
}

// mostLinks is the number of point-to-point links that may end at an SM or a slice.
const mostLinks = 64

func (c *checker) noc(m *Machine) {
	n := &m.NoC
	c.oneOf("noc.kind", n.Kind, "crossbar", "local", "stages")
	c.want(n.Kind == "crossbar" || !n.WholeLines, "noc.whole_lines is true, and noc.kind is %s: set it to false; "+
		"sectors are packets of their own in a local network, and never in stages", n.Kind)
	c.want(n.Kind != "local" || n.VCs == 1, "noc.vcs is %d; a local crossbar has one", n.VCs)
	c.positive("noc.in_queue noc.out_queue noc.vcs noc.iterations noc.latency", n.InQueue, n.OutQueue, n.VCs,
		n.Iterations, n.Latency)
	c.want(n.FlitBytes > 0, "noc.flit is %d; a network that carries no byte in a cycle has no bandwidth: NUBA's are "+
		"8, 16, 32 or 64 bytes for 0.7, 1.4, 2.8 or 5.6 TB/s", n.FlitBytes)
	c.want(n.AnswerFlit == 0 || n.AnswerFlit > 0 && n.Kind != "stages", "noc.answer_flit is %d, and noc.kind is %s: "+
		"give a number of bytes with kind crossbar or local; the two directions of stages have one width", n.AnswerFlit,
		n.Kind)
	c.oneOf("noc.topology", n.Shape(), MemorySide, SMSide, NUBA)
	c.want(n.Kind == "stages" || n.Radix == 0 && n.WriteSize == 0 &&
		(n.Shape() == MemorySide || n.Shape() == SMSide && n.Kind == "crossbar"),
		"noc.kind is %s; noc.radix, noc.write_size and noc.topology %s need stages", n.Kind, n.Shape())
	c.want(m.LLC.CrossLatency >= 0 && (m.LLC.CrossLatency == 0 || n.Shape() != MemorySide), "llc.cross_latency is %d, "+
		"and noc.topology is %s: leave it out; no request goes from slice to slice", m.LLC.CrossLatency, n.Shape())
	if n.Kind == "stages" {
		c.want(n.Radix > 0 && n.Radix <= 64, "noc.radix is %d; a switch of noc.kind stages has 1 to 64 outer ports, "+
			"NUBA's have 8", n.Radix)
		c.stages(m)
		c.want(n.WriteSize > 0 || m.LLC.Line <= 128, "llc.line is %d; with noc.write_size 0 a write is as long as "+
			"what it writes, which is known of lines of up to 128 bytes", m.LLC.Line)
	}
	c.modules(m)
	switch n.Shape() {
	case MemorySide:
		c.want(n.Partitions <= 1, "noc.partitions is %d, but noc.topology memory-side has none: every SM reaches "+
			"every slice", n.Partitions)
	case SMSide, NUBA:
		c.parts(m)
	}
	c.want(!m.LLC.FlushEach || n.Kind == "stages", "llc.flush_each needs noc.kind stages, not %s: with the others a "+
		"kernel's end is not modelled so", n.Kind)
	if m.LLC.Flush != "" {
		c.oneOf("llc.flush", m.LLC.Flush, "whole", "copies")
	}
	c.want(m.LLC.Flush != "copies" || n.Shape() == NUBA, "llc.flush copies needs noc.topology nuba, whose slices keep "+
		"copies of each other's read-only lines, not %s", n.Shape())
	c.want(m.LLC.Flush != "copies" || !m.LLC.FlushEach, "llc.flush copies and llc.flush_each: the latter flushes the "+
		"whole LLC without copies; leave one of them out")
	if m.LLC.Fill != "" {
		c.oneOf("llc.fill", m.LLC.Fill, "home", "local")
	}
	c.want(m.LLC.Fill != "local" || n.Shape() != MemorySide, "llc.fill local has no meaning with noc.topology "+
		"memory-side, where no request comes from another partition")
}

// stages checks that no switch has more ports than are modelled.
func (c *checker) stages(m *Machine) {
	n := &m.NoC
	if n.Radix <= 0 || n.VCs <= 0 || n.Partitions < 0 {
		return
	}
	slices := m.DRAM.Channels * m.LLC.SlicesPerChannel
	for _, ports := range [...]int{m.SM.Count, slices} {
		other := (ports + n.Radix - 1) / n.Radix // switches of the other stage
		c.want(max(n.Radix+1, other)*n.VCs <= 64, "noc.radix is %d: with noc.vcs %d and %d ports a switch needs %d "+
			"queues, and at most 64 are modelled: a radix nearer to the square root of the ports would do", n.Radix,
			n.VCs, ports, max(n.Radix+1, other)*n.VCs)
	}
}

// modules checks that a package divides into its modules.
func (c *checker) modules(m *Machine) {
	n := &m.NoC
	k := n.Modules
	if k <= 1 {
		return
	}
	c.want(k <= 64, "noc.modules is %d; at most 64 are modelled", k)
	c.want(n.Kind == "stages" && n.Shape() != SMSide, "noc.modules is %d, which needs noc.kind stages and "+
		"noc.topology memory-side or nuba: coherent halves of several modules are not modelled", k)
	c.want(m.SM.Count%k == 0, "noc.modules is %d and sm.count %d, which do not divide into them: %s", k, m.SM.Count,
		nearest(m.SM.Count, k, "sm.count"))
	c.want(m.DRAM.Channels%k == 0, "noc.modules is %d and dram.channels %d, which do not divide into them: %s", k,
		m.DRAM.Channels, nearest(m.DRAM.Channels, k, "dram.channels"))
	c.want(n.Shape() != NUBA || n.Parts()%k == 0, "noc.modules is %d and noc.partitions %d, which do not divide into "+
		"them: %s", k, n.Parts(), nearest(n.Parts(), k, "noc.partitions"))
	c.want(n.RingGB > 0, "noc.ring is %g GB/s; the links between noc.modules = %d modules need a bandwidth, NUBA's "+
		"have 720", n.RingGB, k)
	c.positive("noc.ring_latency noc.ring_queue", n.RingDelay, n.RingQueue)
}

// parts checks that SMs, slices and channels divide over the parts.
func (c *checker) parts(m *Machine) {
	n, d := &m.NoC, &m.DRAM
	p := n.Partitions
	if n.Shape() == SMSide && p != 2 {
		c.errorf("noc.partitions is %d; noc.topology sm-side has two halves: set it to 2", p)
		return
	}
	if p < 1 {
		c.errorf("noc.partitions is %d; noc.topology %s needs at least 1", p, n.Shape())
		return
	}
	c.want(m.SM.Count%p == 0, "noc.partitions is %d and sm.count %d, which do not divide into them: %s", p, m.SM.Count,
		nearest(m.SM.Count, p, "sm.count"))
	switch {
	case d.Channels < p:
		c.errorf("noc.partitions is %d and dram.channels %d: a partition without a channel has no memory of its own; "+
			"at most %d partitions, or dram.channels %d", p, d.Channels, d.Channels, p)
	case d.Channels%p != 0:
		c.errorf("noc.partitions is %d and dram.channels %d, which do not divide into them: %s", p, d.Channels,
			nearest(d.Channels, p, "dram.channels"))
	default:
		c.want(n.Shape() != NUBA || max(m.SM.Count/p, d.Channels/p*m.LLC.SlicesPerChannel) <= mostLinks,
			"noc.partitions is %d: a partition of %d SMs and %d slices would have more than %d links at one of them; "+
				"more partitions would do", p, m.SM.Count/p, d.Channels/p*m.LLC.SlicesPerChannel, mostLinks)
	}
	c.positive("noc.link_flit noc.link_latency noc.link_queue", n.LinkFlit, n.LinkDelay, n.LinkQueue)
	c.want(m.LLC.Ways > 1, "llc.ways is %d; slices that hold copies of each other's lines need at least 2: one is "+
		"kept for their own", m.LLC.Ways)
	if m.LLC.Sector > 0 {
		c.want(m.LLC.MSHRs >= 2*m.LLC.Line/m.LLC.Sector, "llc.mshrs is %d; slices that hold copies of each other's "+
			"lines need at least %d, two whole lines: those of one are kept for their own", m.LLC.MSHRs,
			2*m.LLC.Line/m.LLC.Sector)
	}
}

// nearest says which numbers near n divide into p parts.
func nearest(n, p int, path string) string {
	low := n / p * p
	if low == 0 {
		return fmt.Sprintf("%s %d would do", path, p)
	}
	return fmt.Sprintf("%s %d or %d would do", path, low, low+p)
}
