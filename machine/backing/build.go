package backing

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Parts are the inputs from which the memory behind the interconnect is built.
type Parts struct {
	Sheet   *sheets.Machine
	Map     *addrmap.Map
	Fabric  *interconnect.Fabric
	Clock   *timing.Clock
	Wakeups timing.Wakeups
	Apps    []App
	// Traffic makes a table of counters for components that requests pass through.
	Traffic func(owner string, desc []stat.Desc, instances int) *stat.Table
}

// App is the memory's view of an application.
type App struct {
	Name string
	Side hybrid.Class // of the chip
	Owns bool         // it has channels of its own
}

// builder makes the parts of a memory.
type builder struct {
	*Parts
	memory *Memory
}

// Build makes slices, channels, stacks and tiers of the sheet.
func (m *Memory) Build(p *Parts) error {
	m.fabric, m.layouts, m.clock, m.wakeups = p.Fabric, &p.Fabric.Layouts, p.Clock, p.Wakeups
	b := builder{p, m}
	for _, part := range []func() error{b.channels, b.tiers, b.joinStacks, b.slices} {
		if err := part(); err != nil {
			return err
		}
	}
	x := &m.Tiers
	x.slices, x.core, x.llcClock, x.written, x.wakeups = m.Slices, m.clock, m.llcClock, m.written, m.wakeups
	return nil
}

// Stacks is the number of HBM stacks whose channels exchange lines. It is 0 unless the sheet has PageMove's hardware
// and a page lies in one channel group, its lines in the same stacks wherever the page is.
func Stacks(s *sheets.Machine, amap *addrmap.Map) int {
	if s.DRAM.Migrates() && s.VM.Enabled && amap.PageInGroup(s.VM.Page) && amap.KeepsStacks() &&
		s.DRAM.Stacks*amap.Groups() == amap.Channels() {
		return s.DRAM.Stacks
	}
	return 0
}

// channels makes those behind the slices.
func (b *builder) channels() error {
	m, amap := b.memory, b.Map
	if b.Sheet.Memory.Given() {
		return nil
	}
	d := &b.Sheet.DRAM
	cfg, err := dram.FromSheet(d)
	if err != nil {
		return err
	}
	cfg.Tenants, cfg.Movers = 2*len(b.Apps), len(b.Apps) // rows of traffic
	cfg.ReturnLatency = d.Back(b.Sheet.Clock.DRAM)
	m.perBlock = max(1, uint32(amap.Block())/uint32(d.Access))
	for n := range m.bursts {
		m.bursts[n] = max(1, n*b.Sheet.LLC.Sector/d.Access)
	}
	t := b.Traffic("dram", dram.Desc, amap.Channels())
	clock := engine.NewClock(engine.KHz(b.Sheet.Clock.DRAM), engine.KHz(b.Sheet.Clock.Core))
	for i := range amap.Channels() {
		ch, err := dram.Build(&cfg)
		if err != nil {
			return err
		}
		ch.Count(t, i)
		depth, before := d.Queue+d.WriteQueue+2, d.Before(b.Sheet.Clock.Core)
		c := &sliceChannel{
			channel: channel[mem.Fetch]{
				dram: ch, clock: clock, extra: uint64(before), delay: mem.NewRing[delayed[mem.Fetch]](before + depth),
			},
			id: i, held: -1, busy: make([]mem.Fetch, 4*depth),
		}
		for k := range c.busy {
			c.free = append(c.free, int32(k))
		}
		m.channels = append(m.channels, c)
	}
	return nil
}

// slices makes those of the LLC.
func (b *builder) slices() error {
	m, amap := b.memory, b.Map
	cfg, err := cache.Derive(&b.Sheet.LLC)
	if err != nil {
		return err
	}
	set, err := addrmap.NewSetIndex(b.Sheet.LLC.Index, b.Sheet.LLC.Sets)
	if err != nil {
		return fmt.Errorf("llc.index: %w", err)
	}
	m.sector, m.llcClock = b.Sheet.LLC.Sector, b.Fabric.LLCClock
	t := b.Traffic("llc", cache.Counters(), amap.Slices())
	line := bits.TrailingZeros(uint(b.Sheet.LLC.Line))
	// An application with its own channels has its own map: bits that this map does not use to choose channel and
	// slice must choose the set.
	layouts := &b.Fabric.Layouts
	index := func(addr uint64) uint32 { return uint32(set.Of(layouts.At(addr).Local(addr) >> line)) }
	if b.Sheet.NoC.Parts() > 1 { // copies of lines with the same place in other channels shall fall into other sets
		apart := uint64(max(16, b.Sheet.VM.Page/b.Sheet.LLC.Line/b.Sheet.LLC.SlicesPerChannel))
		index = func(addr uint64) uint32 {
			m := layouts.At(addr)
			return uint32(set.Of(m.Local(addr)>>line + uint64(m.Channel(addr))*apart))
		}
	}
	for i := range amap.Slices() {
		s, err := cache.New(i, cfg, b.Fabric.Slab, t, index)
		if err != nil {
			return err
		}
		if n := b.Sheet.LLC.AtomicSlices; n > 1 && i%n > 0 {
			s.ShareAtomics(m.Slices[i-i%n])
		}
		m.Slices = append(m.Slices, s)
	}
	return b.banks()
}

// banks makes those of the GPU's L3, if it has one. They stand behind the slices of the LLC and are no line's home.
func (b *builder) banks() error {
	m, n := b.memory, b.Sheet.L3.Banks
	if n == 0 {
		return nil
	}
	as := b.Sheet.Bank()
	cfg, err := cache.Derive(&as)
	if err != nil {
		return err
	}
	set, err := addrmap.NewSetIndex(as.Index, as.Sets)
	if err != nil {
		return fmt.Errorf("l3: llc.index: %w", err)
	}
	line, homes := bits.TrailingZeros(uint(as.Line)), uint64(b.Map.Slices())
	// Lines of one home that follow each other lie in sets that follow each other, and so do those of a bank's homes.
	layouts, per := &b.Fabric.Layouts, homes/uint64(n)
	index := func(addr uint64) uint32 {
		return uint32(set.Of(layouts.At(addr).Local(addr)>>line*per + uint64(layouts.Slice(addr))/uint64(n)))
	}
	t := b.Traffic("l3", cache.Counters(), n)
	for i := range n {
		s, err := cache.New(i, cfg, b.Fabric.Slab, t, index)
		if err != nil {
			return err
		}
		s.ID = len(m.Slices)
		m.Slices = append(m.Slices, s)
	}
	return nil
}

// Estimates: the paper names neither the queue of the migration hardware nor a bound on its waiting.
const (
	stackQueue   = 256 // lines: eight for each of the pages that are copied at once
	stackMaxWait = 256 // command clocks
)

// joinStacks joins the channels of each HBM stack.
func (b *builder) joinStacks() error {
	m, amap := b.memory, b.Map
	per := amap.Groups()
	for i := range Stacks(b.Sheet, amap) {
		s := &stack{id: i, clock: m.channels[0].clock}
		m.stacks = append(m.stacks, s)
		var ch []*dram.Channel
		for k := range per {
			c := m.channels[i*per+k]
			c.stack = s
			ch, s.channel = append(ch, c.dram), append(s.channel, c.id)
		}
		timing := dram.MigrationTiming{
			Clocks: b.Sheet.MigrationClocks(), LineBursts: b.Sheet.MigrationLine(),
			Crossbar: b.Sheet.DRAM.MigrationCrossbar, Queue: stackQueue, MaxWait: stackMaxWait,
		}
		var err error
		if s.dram, err = dram.NewStack(ch, timing); err != nil {
			return err
		}
	}
	return nil
}
