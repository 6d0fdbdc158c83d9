package machine

import (
	"fmt"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// networks makes the networks of the machine's topology, and what a request needs to find its
// way through them.
func (b *builder) networks() error {
	f, x := &b.gpu.fabric, &b.sheet.NoC
	sms, slices := b.sheet.SM.Count+b.sheet.CPU.Cores, b.amap.Slices() // cores ask as SMs do
	mmu := 0
	if b.sheet.VM.Enabled {
		f.mmuPort, mmu = sms, 1
	}
	if b.options.Replication != NoReplication {
		if err := CanReplicate(b.sheet); err != nil {
			return err
		}
	}
	k := &b.gpu.Replicas
	k.flushes = b.options.Replication != NoReplication || b.sheet.LLC.FlushEach
	k.onlyReplicas = b.sheet.LLC.Flush == "copies"
	k.at, k.until = make([]int, slices), make([]uint64, slices)
	switch {
	case b.sheet.L3.Given():
		return b.levels(sms, slices, mmu)
	case x.Kind != "stages":
		return b.crossbars(&f.request, &f.reply, &f.lengths, "noc", sms+mmu, slices)
	}
	switch x.Shape() {
	case sheets.NUBA:
		return b.partitions(sms, slices, mmu)
	case sheets.SMSide:
		return b.halves(sms, slices, mmu)
	}
	if err := b.joinStages(&f.request, &f.reply, b.stagesConfig(sms, slices, mmu)); err != nil {
		return err
	}
	f.lengths = b.lengths(f.request, f.reply)
	return nil
}

// crossbars are two directions of one switch between ports and slices.
func (b *builder) crossbars(request, reply *noc.Network, l *lengths, name string, ports, slices int) error {
	f, x := &b.gpu.fabric, &b.sheet.NoC
	req, err := noc.FromSheet(x, ports, slices)
	if err != nil {
		return err
	}
	rep, err := noc.FromSheet(x, slices, ports)
	if err != nil {
		return err
	}
	if f.mmuPort == ports-1 {
		req.Sorted = 1 // a walk must not wait behind another at a busy slice
	}
	req.Tenants, rep.Tenants = b.rows(), b.rows()
	req.Streams = f.nocClock == engine.NewClock(1, 1)
	rep.Streams = req.Streams
	*request, *reply = noc.New(req), noc.New(rep)
	b.count(name, *request, *reply)
	sector := b.sheet.LLC.Sector
	l.ack, l.entry = int32(rep.Flits(0)), int32(rep.Flits(min(sector, walkBytes)))
	for n := range l.read { // every sector is a packet of its own length, unless all of a line are one
		packets, bytes := n, sector
		if x.WholeLines {
			packets, bytes = 1, n*sector
		}
		l.read[n], l.write[n] = int32(packets*req.Flits(0)), int32(packets*req.Flits(bytes))
		l.data[n] = int32(packets * rep.Flits(bytes))
	}
	return nil
}

// levels are the networks of a GPU with an L3 of its own: a crossbar between its SMs and the L3's
// banks, beside which CPU cores and MMU reach the slices of the LLC, and one between banks and
// slices. Everything SMs ask for is looked up in a bank first, whose lines are copies.
func (b *builder) levels(sms, slices, mmu int) error {
	f, x, banks := &b.gpu.fabric, &b.gpu.fabric.interSlice, b.sheet.L3.Banks
	all := slices + banks
	if err := b.crossbars(&f.request, &f.reply, &f.lengths, "noc", sms+mmu, all); err != nil {
		return err
	}
	if err := b.crossbars(&x.request, &x.answer, &x.lengths, "noc_l3", all, all); err != nil {
		return err
	}
	x.mmu, x.mayHoldAny, x.mmuPart = -1, true, 1
	x.entry = [][]int16{make([]int16, slices), make([]int16, slices)}
	for home := range slices {
		x.entry[0][home], x.entry[1][home] = int16(slices+home%banks), int16(home)
	}
	x.shared(sms+mmu, all)
	for i := b.sheet.SM.Count; i < sms+mmu; i++ {
		x.part[i] = 1
	}
	b.shareSlices(nil)
	return nil
}

// rows is the number of rows of counters of traffic.
func (b *builder) rows() int { return 2 * len(b.gpu.Tenants) }

// count makes two directions of a network count in tables named after it.
func (b *builder) count(name string, request, reply noc.Network) {
	request.Count(b.traffic(name+"_request", noc.Desc, 1), 0)
	reply.Count(b.traffic(name+"_reply", noc.Desc, 1), 0)
}

// stagesConfig is a network of two stages of the sheet's switches, with so many extra inputs.
func (b *builder) stagesConfig(inputs, outputs, extra int) noc.StagesConfig {
	x := &b.sheet.NoC
	return noc.StagesConfig{
		Inputs: inputs, Outputs: outputs, Parts: 1, ExtraInputs: extra, Radix: x.Radix, VCs: x.VCs, BufFlits: x.InQueue,
		FlitBytes: x.FlitBytes, Latency: x.Latency, OutQueue: x.OutQueue, Tenants: b.rows(),
	}
}

// joinStages makes the two directions between the same ports; in a package of modules, with a
// ring between those.
func (b *builder) joinStages(request, reply *noc.Network, c noc.StagesConfig) error {
	x := &b.sheet.NoC
	modules := max(1, x.Modules)
	var rate uint64 // of a link of the ring, in thousandths of a byte per clock
	if modules > 1 {
		const both, giga, mega = 2, 1e9, 1e6
		rate = max(1, uint64(x.RingGB*giga/both/(b.sheet.Clock.NoC*mega)*1000))
		c.Parts = modules
		// As many gates as two neighbours' links can feed, and no more than a module has ports.
		width := uint64(1000 * x.FlitBytes)
		c.Gates = int(min((2*rate+width-1)/width, uint64(max(c.Inputs, c.Outputs)/modules)))
	}
	back := c
	back.Inputs, back.Outputs, back.ExtraInputs, back.ExtraOutputs = c.Outputs, c.Inputs, 0, c.ExtraInputs
	for _, way := range []*noc.StagesConfig{&c, &back} {
		if err := way.Validate(); err != nil {
			return fmt.Errorf("sm.count %d with noc.kind stages, noc.radix %d and noc.vcs %d: %w", b.sheet.SM.Count,
				x.Radix, x.VCs, err)
		}
	}
	if modules == 1 {
		*request, *reply = noc.NewStages(c), noc.NewStages(back)
		b.count("noc", *request, *reply)
		return nil
	}
	ring := noc.NewRing(noc.RingConfig{
		Nodes: modules, Rate: rate, Latency: x.RingDelay, Queue: x.RingQueue, Classes: 2, Tenants: b.rows(),
	})
	*request, *reply = noc.NewModules(c, ring, 0), noc.NewModules(back, ring, 1)
	b.count("noc", *request, *reply)
	ring.Count(0, b.traffic("ring_request", noc.Desc, 1), 0)
	ring.Count(1, b.traffic("ring_reply", noc.Desc, 1), 0)
	return nil
}

// entryBytes is what a walker reads of a page table, and what of the line it is in goes back to it:
// the MMU has one port, and whole lines would keep that busy for longer than the walks take.
const entryBytes = 8

// walkBytes is what goes back to it over a crossbar of one switch: a sector, or as much of a larger one as GPU memories
// move at least. Where a sector is a line of 128 bytes, whole ones would end one walk in five cycles at the MMU's port.
const walkBytes = 32

// lengths are those of packets in a network that carries requests and one that carries answers.
func (b *builder) lengths(request, reply noc.Network) (l lengths) {
	x, sector := &b.sheet.NoC, b.sheet.LLC.Sector
	l.network, l.header, l.exact = request, x.HeaderReq, x.WriteSize == 0
	l.ack, l.entry = int32(reply.Flits(x.HeaderReq)), int32(reply.Flits(x.HeaderReq+entryBytes))
	for n := range l.read {
		l.read[n] = int32(request.Flits(x.HeaderReq))
		l.data[n] = int32(reply.Flits(x.HeaderReq + n*sector))
		l.write[n] = int32(request.Flits(x.HeaderReq + n*sector))
		if x.WriteSize > 0 {
			l.write[n] = int32(request.Flits(x.WriteSize))
		}
	}
	return l
}

// partitions are NUBA's networks: links between the SMs and slices of a partition, and stages
// between all slices, which the MMU has a port of, too.
func (b *builder) partitions(sms, slices, mmu int) error {
	f, parts := &b.gpu.fabric, b.sheet.NoC.Parts()
	b.near(sms, slices, parts)
	mine, theirs := sms/parts, slices/parts
	f.request = b.links(sms, slices, mine, theirs)
	f.reply = b.links(slices, sms, theirs, mine)
	b.count("links", f.request, f.reply)
	f.lengths = b.lengths(f.request, f.reply)
	x := &f.interSlice
	if err := b.joinStages(&x.request, &x.answer, b.stagesConfig(slices, slices, mmu)); err != nil {
		return err
	}
	x.lengths = b.lengths(x.request, x.answer)
	if x.mmu = -1; mmu > 0 {
		x.mmu = slices
	}
	b.shareSlices(nil)
	switch b.options.Replication {
	case FullReplication:
		x.replicate = true
	case DynamicReplication:
		x.sampler = b.gpu.memory.slices[0].Sample(b.traffic("mdr", cache.SamplerCounters(), 1))
	}
	return nil
}

// links are one direction of the links of partitions of so many inputs and outputs each: from
// every input to every output of its partition.
func (b *builder) links(inputs, outputs, in, out int) noc.Network {
	n := &b.sheet.NoC
	return noc.NewLinks(noc.LinksConfig{
		Inputs: inputs, Outputs: outputs, Fan: out, Classes: 1, FlitBytes: n.LinkFlit, Latency: n.LinkDelay,
		Latch: n.LinkQueue, Tenants: b.rows(),
		Wire: func(_, to int) int { return to % out },
		From: func(to int) (list []int) {
			for k := range in {
				list = append(list, to/out*in+k)
			}
			return list
		},
	}).Class(0)
}

// Classes of packets on the links between the halves, which share the wires. None waits for
// one before it.
const (
	requests = iota
	recalls
	answers
	linkClasses
)

// halves are the networks of a GPU whose LLC has two halves: stages in each, and a link between
// slices that serve the same lines, one in each half. The MMU is in the first half.
func (b *builder) halves(sms, slices, mmu int) error {
	f, n := &b.gpu.fabric, &b.sheet.NoC
	parts := n.Parts()
	b.near(sms, slices, parts)
	c := b.stagesConfig(sms, slices, mmu)
	c.Parts = parts
	if err := b.joinStages(&f.request, &f.reply, c); err != nil {
		return err
	}
	f.lengths = b.lengths(f.request, f.reply)

	x := &f.interSlice
	x.mmu, x.mayHoldAny = -1, true
	x.fellow = make([]int16, slices)
	for i := range x.fellow {
		x.fellow[i] = int16((i + slices/parts) % slices)
	}
	wires := noc.NewLinks(noc.LinksConfig{
		Inputs: slices, Outputs: slices, Fan: 1, Classes: linkClasses, FlitBytes: n.LinkFlit, Latency: n.LinkDelay,
		Latch: n.LinkQueue, Tenants: b.rows(),
		Wire: func(_, _ int) int { return 0 },
		From: func(to int) []int { return []int{int(x.fellow[to])} },
	})
	x.request, x.recall = wires.Class(requests), wires.Class(recalls)
	x.answer = wires.Class(answers)
	b.count("links", x.request, x.answer)
	x.recall.Count(b.traffic("links_recall", noc.Desc, 1), 0)
	x.lengths = b.lengths(x.request, x.answer)
	b.shareSlices(func(i int) func(line uint64) bool { return b.gpu.memory.slices[x.fellow[i]].Holds })
	return nil
}

// near divides SMs and slices into parts: a request enters its part at the slice that has the
// place there that its home has in its own.
func (b *builder) near(sms, slices, parts int) {
	x, f := &b.gpu.fabric.interSlice, &b.gpu.fabric
	per := slices / parts
	x.entry = make([][]int16, parts)
	for p := range x.entry {
		x.entry[p] = make([]int16, slices)
		for home := range x.entry[p] {
			x.entry[p][home] = int16(p*per + home%per)
		}
	}
	ports := sms
	if f.mmuPort >= 0 {
		ports++
	}
	x.shared(ports, slices)
	for i := range sms {
		x.part[i] = int16(i / (sms / parts))
	}
}

// shared makes what is kept of ports and slices that ask each other.
func (x *interSlice) shared(ports, slices int) {
	x.part, x.own = make([]int16, ports), mem.Port(ports)
	words := (slices + 63) / 64
	x.asking, x.recalling = make([]uint64, words), make([]uint64, words)
	x.linkTurn, x.farTurn = make([]bool, slices), make([]bool, slices)
}

// shareSlices makes all slices share; copies, by slice, says what its fellow holds.
func (b *builder) shareSlices(copies func(i int) func(line uint64) bool) {
	own, l := b.gpu.fabric.interSlice.own, &b.sheet.LLC
	for i, s := range b.gpu.memory.slices {
		how := cache.Sharing{Port: own + mem.Port(i), Queue: l.MissQueue, Keep: l.Fill != "local"}
		if i >= b.amap.Slices() {
			how.Queue = b.sheet.L3.MissQueue
		}
		if copies != nil {
			how.Copies = copies(i)
		}
		s.Share(how)
	}
}
