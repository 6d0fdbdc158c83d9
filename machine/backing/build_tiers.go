package backing

import (
	"fmt"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// tiers makes the controller of a memory of two tiers and their channels, where the sheet has
// them.
func (b *builder) tiers() error {
	s := b.Sheet
	if !s.Memory.Given() {
		return nil
	}
	for _, a := range b.Apps {
		if a.Owns {
			return fmt.Errorf("application %s has channels of its own: a memory of two tiers is shared (memory.hybrid)",
				a.Name)
		}
	}
	h := &s.Memory.Hybrid
	x := &b.memory.Tiers
	x.ideal = h.Reconfigure == "ideal"
	x.clock = engine.NewClock(engine.KHz(h.Clock), engine.KHz(s.Clock.Core))
	cfg, err := b.hybridConfig()
	if err != nil {
		return err
	}
	policy, err := b.hybridPolicy(cfg)
	if err != nil {
		return fmt.Errorf("memory.hybrid: %w", err)
	}
	if h.Partition != "sets" { // pages would have to be copied to frames of other colors
		x.division, _ = policy.(*hybrid.Hydrogen)
	}
	if x.controller, err = hybrid.New(cfg, policy, b.Traffic("hybrid", hybrid.Desc, 1)); err != nil {
		return fmt.Errorf("memory.hybrid: %w", err)
	}
	for tier, d := range [hybrid.NumTiers]struct {
		owner  string
		device *sheets.DRAM
		mhz    float64
	}{{"dram_fast", &s.Memory.Fast.Device, s.Memory.Fast.Clock}, {"dram", &s.DRAM, s.Clock.DRAM}} {
		x.first[tier] = len(x.channels)
		if err := b.tierChannels(tier, d.owner, d.device, d.mhz); err != nil {
			return err
		}
	}
	return nil
}

// tierChannel makes the configuration of a tier's channel. HAShCache serves the CPU first in those of its DRAM cache,
// the fast tier; any application may use the memory behind it.
func (b *builder) tierChannel(tier int, d *sheets.DRAM) (dram.Config, error) {
	cfg, err := dram.FromSheet(d)
	if err != nil {
		return cfg, err
	}
	rows := 2 * len(b.Apps)
	cfg.Tenants, cfg.Movers = rows, len(b.Apps)
	if tier == hybrid.Fast && b.Sheet.Memory.Hybrid.Policy == "hashcache" {
		cfg.Sched, cfg.Urgent = dram.PrIS, make([]bool, rows)
		for i := range cfg.Urgent { // traffic that moves data belongs to no application, and is urgent
			cfg.Urgent[i] = i >= len(b.Apps) || b.Apps[i].Side == hybrid.CPU
		}
	}
	return cfg, nil
}

// tierChannels makes the channels of a tier; its command clock is in MHz.
func (b *builder) tierChannels(tier int, owner string, d *sheets.DRAM, mhz float64) error {
	x := &b.memory.Tiers
	cfg, err := b.tierChannel(tier, d)
	if err != nil {
		return err
	}
	cfg.ReturnLatency = d.Back(mhz)
	clock := engine.NewClock(engine.KHz(mhz), engine.KHz(b.Sheet.Clock.Core))
	t := b.Traffic(owner, dram.Desc, d.Channels)
	for i := range d.Channels {
		ch, err := dram.Build(&cfg)
		if err != nil {
			return err
		}
		ch.Count(t, i)
		before := d.Before(b.Sheet.Clock.Core)
		x.channels = append(x.channels, &tierChannel{
			channel: channel[hybrid.Access]{
				dram: ch, clock: clock, extra: uint64(before), delay: mem.NewRing[delayed[hybrid.Access]](before + 2),
			},
			tier: tier, out: x.controller.Out(tier, i),
		})
	}
	return nil
}

// hybridConfig has the sheet's numbers for the controller.
func (b *builder) hybridConfig() (*hybrid.Config, error) {
	s := b.Sheet
	h, fast := &s.Memory.Hybrid, &s.Memory.Fast
	of := *s // the map of the fast tier is made as that of a machine that has nothing else
	of.DRAM, of.Map, of.LLC.SlicesPerChannel, of.LLC.Line = fast.Device, fast.Map, 1, hybrid.Unit
	of.Conventional = sheets.BitMap{}
	fastMap, err := addrmap.New(&of)
	if err != nil {
		return nil, fmt.Errorf("memory.fast: %w", err)
	}
	c := &hybrid.Config{
		Mode: hybrid.Mode(h.Mode), Shape: hybridShape(s), Block: h.Block,
		Line: s.LLC.Line, Sector: s.LLC.Sector,
		Banks: h.Banks, Queue: h.Queue, Lookup: h.Lookup, Remap: h.Remap, RemapWays: h.RemapWays, Entries: h.Entries,
		Requests: h.Requests, Registers: h.Registers, Buffers: h.Buffers, Port: h.Port,
		WritesStay: h.Writes == "stay",
		SerialTag:  h.Policy == "hashcache" && h.Ways > 1, Chained: h.Policy == "hashcache" && h.Ways == 1,
		Apps: len(b.Apps),
	}
	c.Tiers[hybrid.Fast] = hybrid.Tier{
		Map: fastMap, Channels: fast.Device.Channels, Bytes: uint64(h.Capacity), Device: uint64(fast.Device.Capacity),
	}
	c.Tiers[hybrid.Slow] = hybrid.Tier{Map: b.Map, Channels: s.DRAM.Channels, Bytes: uint64(s.DRAM.Capacity)}
	for range 2 {
		for _, a := range b.Apps {
			c.Classes = append(c.Classes, a.Side)
		}
	}
	return c, nil
}

// hybridShape is the distribution of the fast tier's sets and ways over its superchannels.
func hybridShape(s *sheets.Machine) hybrid.Shape {
	h := &s.Memory.Hybrid
	shape := hybrid.Shape{Ways: h.Ways, Channels: h.Channels}
	if h.Partition == "sets" {
		shape.Page = uint64(max(1, s.VM.Page/h.Block))
	}
	return shape
}

// Color gives the pages of CPU and GPU colors of their own, if the sets of the fast tier are divided (Hydrogen,
// section IV-F): operating system and GPU runtime do it, and know cap and bw.
func Color(s *sheets.Machine, apps []App, tab *vm.Tables) error {
	h := &s.Memory.Hybrid
	if h.Partition != "sets" {
		return nil
	}
	shape := hybridShape(s)
	m, err := hybrid.NewMapping(shape, hybrid.Split{Cap: h.Cap, BW: h.BW})
	if err != nil {
		return fmt.Errorf("memory.hybrid: %w", err)
	}
	owner := make([]uint8, uint64(h.Capacity)/uint64(h.Block*h.Ways)/shape.Page)
	for color := range owner {
		owner[color] = uint8(hybrid.CPU)
		if m.GPUColor(uint64(color)) {
			owner[color] = uint8(hybrid.GPU)
		}
	}
	if len(owner) == 0 {
		return fmt.Errorf("memory.hybrid.partition is sets, and a page of %d bytes (vm.page) covers all sets of %d "+
			"bytes: there are no page colors; use smaller pages or a larger memory.hybrid.capacity", s.VM.Page,
			h.Capacity)
	}
	var pool []int
	for _, a := range apps {
		pool = append(pool, int(a.Side))
	}
	if err := tab.Color(owner, pool); err != nil {
		return fmt.Errorf("memory.hybrid.partition: %w", err)
	}
	return nil
}

// hybridPolicy is the policy that the sheet names.
func (b *builder) hybridPolicy(c *hybrid.Config) (hybrid.Policy, error) {
	h := &b.Sheet.Memory.Hybrid
	switch h.Policy {
	case "none":
		return hybrid.NewLRU(h.Ways), nil
	case "waypart":
		return hybrid.NewWayPart(c.Shape, h.Cap)
	case "hashcache":
		return hybrid.NewHAShCache(h.Ways, h.Bloom), nil
	case "profess", "profess-lru":
		return hybrid.NewProFess(c, h.Policy == "profess-lru"), nil
	}
	o := hybrid.HydrogenOptions{
		Swap: hybrid.SwapMode(h.Swap), Split: hybrid.Split{Cap: h.Cap, BW: h.BW}, Mode: c.Mode,
		Tokens: hybrid.Unlimited, Period: uint64(float64(h.TokPeriod) / b.Sheet.CPU.Clock * h.Clock),
	}
	switch h.Tokens {
	case "fixed":
		o.Tokens = uint64(h.Tok)
	case "share":
		o.Tokens, o.ByShare, o.Share = 0, true, h.TokShare
	}
	if h.TokChannels {
		o.PerChannel = b.Sheet.DRAM.Channels
	}
	return hybrid.NewHydrogen(c.Shape, o)
}
