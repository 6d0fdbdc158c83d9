package interconnect

import (
	"fmt"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Parts are the inputs from which networks are built.
type Parts struct {
	Sheet   *sheets.Machine
	Map     *addrmap.Map   // of the whole machine
	Slices  []*cache.Slice // of the LLC, then the banks of the GPU's own L3
	Apps    int
	Wakeups timing.Wakeups
	// Replicate lets slices keep copies of read-only lines from the start; Sampled measures the gain of that (NUBA,
	// section 5).
	Replicate, Sampled bool
	// Traffic makes a table of counters for components that requests pass through.
	Traffic func(owner string, desc []stat.Desc, instances int) *stat.Table
}

// topology makes the networks between ports and slices, by the kind that the sheet names (choose).
type topology struct {
	*Parts
	fabric *Fabric
}

// New makes the interconnect of a machine without its networks: address layouts, and the requests in flight.
func New(s *sheets.Machine, amap *addrmap.Map) (f Fabric) {
	f.Slab, f.mmuPort = mem.NewSlab(1<<14), -1
	f.Layouts.Whole, f.Layouts.Of[0], f.Layouts.PerChannel = amap, amap, s.LLC.SlicesPerChannel
	core := engine.KHz(s.Clock.Core)
	f.nocClock = engine.NewClock(engine.KHz(s.Clock.NoC), core)
	f.LLCClock = engine.NewClock(engine.KHz(s.Clock.LLC), core)
	f.Pipeline = f.LLCClock.Core(f.LLCClock.Ticks(0) + uint64(s.LLC.Latency))
	return f
}

// Build makes the networks of the machine's topology, and the tables that route a request through them.
func (f *Fabric) Build(p *Parts) error {
	f.Slices, f.wakeups = p.Slices, p.Wakeups
	b := topology{p, f}
	x := &p.Sheet.NoC
	sms, slices := p.Sheet.SM.Count+p.Sheet.CPU.Cores, p.Map.Slices() // cores ask as SMs do
	mmu := 0
	if p.Sheet.VM.Enabled {
		f.mmuPort, mmu = sms, 1
	}
	if err := b.choose(x, sms, slices, mmu); err != nil {
		return err
	}
	f.crossbar, _ = f.request.(*noc.Crossbar)
	return nil
}

// choose makes the networks of the sheet's topology between SMs, CPU cores, slices and MMUs, whose numbers are given.
func (b *topology) choose(x *sheets.NoC, sms, slices, mmu int) error {
	f := b.fabric
	switch {
	case b.Sheet.L3.Given():
		return b.levels(sms, slices, mmu)
	case x.Kind != "stages" && x.Shape() == sheets.SMSide:
		return b.halves(sms, slices, mmu)
	case x.Kind != "stages":
		return b.crossbars(&f.request, &f.reply, &f.Lengths, "noc", sms+mmu, slices)
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
	f.Lengths = b.lengths(f.request, f.reply)
	return nil
}

// crossbars are two directions of one switch between ports and slices.
func (b *topology) crossbars(request, reply *noc.Network, l *Lengths, name string, ports, slices int) error {
	f, x := b.fabric, &b.Sheet.NoC
	req, err := noc.FromSheet(x, ports, slices)
	if err != nil {
		return err
	}
	rep, err := noc.FromSheet(x, slices, ports)
	if err != nil {
		return err
	}
	rep.FlitBytes = x.AnswerWidth()
	if f.mmuPort == ports-1 {
		req.OutputQueued = 1 // a walk must not wait behind another at a busy slice
	}
	req.Tenants, rep.Tenants = b.rows(), b.rows()
	req.Streams = f.nocClock == engine.NewClock(1, 1)
	rep.Streams = req.Streams
	*request, *reply = noc.New(req), noc.New(rep)
	b.count(name, *request, *reply)
	sector := b.Sheet.LLC.Sector
	l.ack, l.entry = int32(rep.Flits(0)), int32(rep.Flits(min(sector, walkBytes)))
	for n := range l.read { // every sector is a packet of its own length, unless all of a line are one
		packets, bytes := n, sector
		if x.WholeLines {
			packets, bytes = 1, n*sector
		}
		l.read[n], l.write[n] = int32(packets*req.Flits(0)), int32(packets*req.Flits(bytes))
		l.Data[n] = int32(packets * rep.Flits(bytes))
	}
	return nil
}

// levels are the networks of a GPU with an L3 of its own: a crossbar between its SMs and the L3's
// banks, beside which CPU cores and MMU reach the slices of the LLC, and one between banks and
// slices. Everything SMs ask for is looked up in a bank first, whose lines are copies.
func (b *topology) levels(sms, slices, mmu int) error {
	f, x, banks := b.fabric, &b.fabric.Between, b.Sheet.L3.Banks
	all := slices + banks
	if err := b.crossbars(&f.request, &f.reply, &f.Lengths, "noc", sms+mmu, all); err != nil {
		return err
	}
	if err := b.crossbars(&x.request, &x.answer, &x.Lengths, "noc_l3", all, all); err != nil {
		return err
	}
	x.mmu, x.mayHoldAny, x.mmuPart = -1, true, 1
	x.Entry = [][]int16{make([]int16, slices), make([]int16, slices)}
	for home := range slices {
		x.Entry[0][home], x.Entry[1][home] = int16(slices+home%banks), int16(home)
	}
	x.shared(sms+mmu, all)
	for i := b.Sheet.SM.Count; i < sms+mmu; i++ {
		x.part[i] = 1
	}
	b.shareSlices(nil)
	return nil
}

// rows is the number of rows of counters of traffic.
func (b *topology) rows() int { return 2 * b.Apps }

// count makes two directions of a network count in tables named after it.
func (b *topology) count(name string, request, reply noc.Network) {
	request.Count(b.Traffic(name+"_request", noc.Desc, 1), 0)
	reply.Count(b.Traffic(name+"_reply", noc.Desc, 1), 0)
}

// stagesConfig is a network of two stages of the sheet's switches, with a number of extra inputs.
func (b *topology) stagesConfig(inputs, outputs, extra int) noc.StagesConfig {
	x := &b.Sheet.NoC
	return noc.StagesConfig{
		Inputs: inputs, Outputs: outputs, Parts: 1, ExtraInputs: extra, Radix: x.Radix, VCs: x.VCs, BufFlits: x.InQueue,
		FlitBytes: x.FlitBytes, Latency: x.Latency, OutQueue: x.OutQueue, Tenants: b.rows(),
	}
}

// joinStages makes the two directions between the same ports; in a package of modules, with a
// ring between those.
func (b *topology) joinStages(request, reply *noc.Network, c noc.StagesConfig) error {
	x := &b.Sheet.NoC
	modules := max(1, x.Modules)
	var rate uint64 // of a link of the ring, in thousandths of a byte per clock
	if modules > 1 {
		const both, giga, mega = 2, 1e9, 1e6
		rate = max(1, uint64(x.RingGB*giga/both/(b.Sheet.Clock.NoC*mega)*1000))
		c.Parts = modules
		// The number of gates that the links of two neighbours can feed, at most the ports of a module.
		width := uint64(1000 * x.FlitBytes)
		c.Gates = int(min((2*rate+width-1)/width, uint64(max(c.Inputs, c.Outputs)/modules)))
	}
	back := c
	back.Inputs, back.Outputs, back.ExtraInputs, back.ExtraOutputs = c.Outputs, c.Inputs, 0, c.ExtraInputs
	for _, way := range []*noc.StagesConfig{&c, &back} {
		if err := way.Validate(); err != nil {
			return fmt.Errorf("sm.count %d with noc.kind stages, noc.radix %d and noc.vcs %d: %w", b.Sheet.SM.Count,
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
	ring.Count(0, b.Traffic("ring_request", noc.Desc, 1), 0)
	ring.Count(1, b.Traffic("ring_reply", noc.Desc, 1), 0)
	return nil
}

// entryBytes is the size of a walker's read of a page table, and of the part of the line that goes back to it:
// the MMU has one port, and whole lines would keep that busy for longer than the walks take.
const entryBytes = 8

// walkBytes is the size of an answer to it over a crossbar of one switch: a sector, or as much of a larger one as GPU
// memories move at least. Where a sector is a line of 128 bytes, whole ones would end one walk in five cycles at the
// MMU's port.
const walkBytes = 32

// lengths are those of packets in a network that carries requests and one that carries answers.
func (b *topology) lengths(request, reply noc.Network) (l Lengths) {
	x, sector := &b.Sheet.NoC, b.Sheet.LLC.Sector
	l.network, l.header, l.exact = request, x.HeaderReq, x.WriteSize == 0
	l.ack, l.entry = int32(reply.Flits(x.HeaderReq)), int32(reply.Flits(x.HeaderReq+entryBytes))
	for n := range l.read {
		l.read[n] = int32(request.Flits(x.HeaderReq))
		l.Data[n] = int32(reply.Flits(x.HeaderReq + n*sector))
		l.write[n] = int32(request.Flits(x.HeaderReq + n*sector))
		if x.WriteSize > 0 {
			l.write[n] = int32(request.Flits(x.WriteSize))
		}
	}
	return l
}

// partitions are NUBA's networks: links between the SMs and slices of a partition, and stages
// between all slices, which the MMU has a port of, too.
func (b *topology) partitions(sms, slices, mmu int) error {
	f, parts := b.fabric, b.Sheet.NoC.Parts()
	b.near(sms, slices, parts)
	mine, theirs := sms/parts, slices/parts
	f.request = b.links(sms, slices, mine, theirs)
	f.reply = b.links(slices, sms, theirs, mine)
	b.count("links", f.request, f.reply)
	f.Lengths = b.lengths(f.request, f.reply)
	x := &f.Between
	if err := b.joinStages(&x.request, &x.answer, b.stagesConfig(slices, slices, mmu)); err != nil {
		return err
	}
	x.Lengths = b.lengths(x.request, x.answer)
	if x.mmu = -1; mmu > 0 {
		x.mmu = slices
	}
	b.shareSlices(nil)
	x.Replicate = b.Replicate
	if b.Sampled {
		x.Sampler = b.fabric.Slices[0].Sample(b.Traffic("mdr", cache.SamplerCounters(), 1))
	}
	return nil
}

// links are one direction of the links of partitions, each with a number of inputs and outputs: from
// every input to every output of its partition.
func (b *topology) links(inputs, outputs, in, out int) noc.Network {
	n := &b.Sheet.NoC
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

// halves are the networks of a GPU whose LLC has two halves: stages in each, or one switch of both, and a link between
// slices that serve the same lines, one in each half. The MMU is in the first half.
func (b *topology) halves(sms, slices, mmu int) error {
	f, n := b.fabric, &b.Sheet.NoC
	parts := n.Parts()
	b.near(sms, slices, parts)
	x := &f.Between
	if x.reachesAll = n.Kind != "stages"; x.reachesAll {
		if err := b.crossbars(&f.request, &f.reply, &f.Lengths, "noc", sms+mmu, slices); err != nil {
			return err
		}
	} else {
		c := b.stagesConfig(sms, slices, mmu)
		c.Parts = parts
		if err := b.joinStages(&f.request, &f.reply, c); err != nil {
			return err
		}
		f.Lengths = b.lengths(f.request, f.reply)
	}

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
	x.recall.Count(b.Traffic("links_recall", noc.Desc, 1), 0)
	x.Lengths = b.lengths(x.request, x.answer)
	b.shareSlices(func(i int) func(line uint64) bool { return b.fabric.Slices[x.fellow[i]].Holds })
	return nil
}

// near divides SMs and slices into parts. A request enters its part at the slice with the same position as its home
// has in the home's part.
func (b *topology) near(sms, slices, parts int) {
	x, f := &b.fabric.Between, b.fabric
	per := slices / parts
	x.Entry = make([][]int16, parts)
	for p := range x.Entry {
		x.Entry[p] = make([]int16, slices)
		for home := range x.Entry[p] {
			x.Entry[p][home] = int16(p*per + home%per)
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

// shared makes the records of ports and slices that ask each other.
func (x *InterSlice) shared(ports, slices int) {
	x.part, x.own = make([]int16, ports), mem.Port(ports)
	words := (slices + 63) / 64
	x.asking, x.recalling = make([]uint64, words), make([]uint64, words)
	x.linkTurn, x.farTurn = make([]bool, slices), make([]bool, slices)
}

// shareSlices makes all slices share. copies says, by slice, which lines its partner holds.
func (b *topology) shareSlices(copies func(i int) func(line uint64) bool) {
	own, l := b.fabric.Between.own, &b.Sheet.LLC
	for i, s := range b.fabric.Slices {
		how := cache.Peers{Port: own + mem.Port(i), Queue: l.MissQueue, Keep: l.Fill != "local"}
		if i >= b.Map.Slices() {
			how.Queue = b.Sheet.L3.MissQueue
		}
		if copies != nil {
			how.Copies = copies(i)
		}
		s.SetPeers(how)
	}
}
