package machine

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/hybrid"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Options of a machine.
type Options struct {
	Every    bool   // visit every component every cycle: no idle skipping
	Watchdog uint64 // cycles; 0: DefaultWatchdog
	Profile  bool   // keep stall cycles by PTX line
	Copying  transfer.Copying
	// Quantum is the length of a turn in core cycles, for applications that take turns on the whole machine (time
	// slicing); 0: they run side by side.
	Quantum     uint64
	Replication sharing.Replication // copies of other partitions' read-only lines
	// Touches counts which SMs touch each page (PageTouches), where addresses are translated.
	Touches bool
	// Lockstep takes no strides: the whole machine runs a cycle before any part runs the next one. Results of
	// programs without data races are the same.
	Lockstep bool
	// Cores are cores of the computer beside the machine's own on which SMs may run; nil: none. Results are the same.
	Cores *stride.Cores
	// Unified makes managed memory move on demand; nil: its pages come when they are touched, and stay.
	Unified *residency.UnifiedOptions
	// Homes is the home policy, by which pages follow the accesses to them (vm.HomesEntries); "": they stay
	// where they have been placed.
	Homes string
}

// New builds the machine of a sheet, shared by the given tenants. Errors name the
// sheet's path.
func New(sheet *sheets.Machine, tenants []*sharing.Tenant, o Options) (*GPU, error) {
	amap, err := addrmap.New(sheet)
	if err != nil {
		return nil, err
	}
	if 2*len(tenants) >= interconnect.MostMaps {
		return nil, fmt.Errorf("%d applications: a machine takes at most %d", len(tenants), interconnect.MostMaps/2-1)
	}
	g := &GPU{Sheet: sheet, Tenants: tenants}
	b := &builder{gpu: g, sheet: sheet, options: &o, amap: amap}
	b.wakeups()
	if err := g.Sharing.Admit(sheet, amap, tenants, &g.fabric.Layouts); err != nil {
		return nil, err
	}
	for _, part := range []func() error{
		b.memory, b.networks, b.translation, b.sms, b.unified, b.hostLink, b.homes,
		b.admitCores, b.cpus,
	} {
		if err := part(); err != nil {
			return nil, fmt.Errorf("machine %s: %w", sheet.Name, err)
		}
	}
	g.pageCopies.Build(sheet, amap, o.Copying)
	g.connect()
	if err := b.sharing(); err != nil {
		return nil, err
	}
	g.Watchdog.begin(o.Watchdog)
	g.strides.Derive(sheet, !o.Lockstep && o.Quantum == 0 && !g.CPUs.used() && !g.Sharing.Shared(), o.Every)
	return g, nil
}

// builder makes the parts of a machine; connect.go joins them.
type builder struct {
	gpu     *GPU
	sheet   *sheets.Machine
	options *Options
	amap    *addrmap.Map
}

// wakeups numbers the components.
func (b *builder) wakeups() {
	g, s, amap := b.gpu, b.sheet, b.amap
	g.fabric = interconnect.New(s, amap)
	channels, tiers := amap.Channels(), 0
	if s.Memory.Given() {
		channels, tiers = 0, amap.Channels()+s.Memory.Fast.Device.Channels
	}
	g.wakeups = timing.NewWakeups(channels, backing.Stacks(s, amap), amap.Slices()+s.L3.Banks, tiers, s.SM.Count,
		s.CPU.Cores, b.options.Every)
}

// memory makes the LLC slices and the DRAM behind them.
func (b *builder) memory() error {
	return b.gpu.memory.Build(&backing.Parts{
		Sheet: b.sheet, Map: b.amap, Fabric: &b.gpu.fabric, Clock: &b.gpu.clock, Wakeups: b.gpu.wakeups,
		Apps: b.memoryApps(), Traffic: b.traffic,
	})
}

// translation makes the page tables, the MMU and the TLBs.
func (b *builder) translation() error {
	p := translation.Parts{
		Sheet: b.sheet, Map: b.amap, Fabric: &b.gpu.fabric, Apps: b.memoryApps(), Touches: b.options.Touches,
		Meters: &b.gpu.meters, FirstError: &b.gpu.firstError, Clock: &b.gpu.clock, Wakeups: b.gpu.wakeups,
		Table: b.table,
	}
	for _, t := range b.gpu.Tenants {
		p.Groups = append(p.Groups, t.Groups)
	}
	return b.gpu.translation.Build(&p)
}

// residency is what the parts that decide where pages lie are built from.
func (b *builder) residency() *residency.Parts {
	g := b.gpu
	return &residency.Parts{
		Sheet: b.sheet, Apps: len(g.Tenants), SMs: g.sms.List, Fabric: &g.fabric, Memory: &g.memory,
		Translation: &g.translation, Host: &g.host, OnArrived: g.pageArrived,
		FirstError: &g.firstError, Clock: &g.clock, Wakeups: g.wakeups, Table: b.table,
	}
}

// unified makes unified memory, if the run asks for it.
func (b *builder) unified() error {
	if o := b.options.Unified; o != nil {
		return b.gpu.Unified.Build(b.residency(), o)
	}
	return nil
}

// homes makes the part that moves pages after their accesses, if the run asks for it.
func (b *builder) homes() error {
	switch o := b.options; {
	case o.Homes == "":
		return nil
	case o.Unified != nil:
		return fmt.Errorf("pages follow their accesses, and unified memory moves them: keep one of them")
	default:
		return b.gpu.homes.Build(b.residency(), o.Homes)
	}
}

// hostLink makes the link to the host.
func (b *builder) hostLink() error {
	p := transfer.LinkParts{
		Sheet: b.sheet, Order: b.gpu.Unified.Order(), Paged: b.options.Unified != nil,
		Table: b.table("link", link.Desc(), 2),
	}
	if u := b.options.Unified; u != nil && u.Public {
		p.Half = uvm.ChunkSize
	}
	b.gpu.host.Build(&p)
	return nil
}

// memoryApps describes the applications to the memory.
func (b *builder) memoryApps() (apps []backing.App) {
	for _, t := range b.gpu.Tenants {
		apps = append(apps, backing.App{Name: t.Name, Side: classOf(t), Owns: t.Groups != nil})
	}
	return apps
}

// classOf is the side of the chip that an application runs on; of both, the GPU, whose traffic is more.
func classOf(t *sharing.Tenant) hybrid.Class {
	if len(t.Cores) > 0 && len(t.SMs) == 0 {
		return hybrid.CPU
	}
	return hybrid.GPU
}

// networks makes the networks of the interconnect.
func (b *builder) networks() error {
	if b.options.Replication != sharing.NoReplication {
		if err := sharing.CanReplicate(b.sheet); err != nil {
			return err
		}
	}
	return b.gpu.fabric.Build(&interconnect.Parts{
		Sheet: b.sheet, Map: b.amap, Slices: b.gpu.memory.Slices, Apps: len(b.gpu.Tenants), Wakeups: b.gpu.wakeups,
		Replicate: b.options.Replication == sharing.FullReplication,
		Sampled:   b.options.Replication == sharing.DynamicReplication,
		Traffic:   b.traffic,
	})
}

// sharing makes the parts that divide the machine among its tenants.
func (b *builder) sharing() error {
	g, o := b.gpu, b.options
	return g.Sharing.Build(&sharing.Parts{
		SMs: g.sms.List, Counters: g.sms.Counters, Fabric: &g.fabric, Memory: &g.memory, Translation: &g.translation,
		Copies: &g.pageCopies, Meters: &g.meters, FirstError: &g.firstError, Clock: &g.clock, Wakeups: g.wakeups,
		Profile: o.Profile, Apart: o.Cores != nil,
		Replicate: o.Replication != sharing.NoReplication, Quantum: o.Quantum,
	})
}

func (b *builder) table(owner string, desc []stat.Desc, n int) *stat.Table {
	g := b.gpu
	t := stat.NewTable(owner, desc, n, len(g.Tenants))
	g.Tables = append(g.Tables, t)
	return t
}

// traffic is table for components that requests pass.
func (b *builder) traffic(owner string, desc []stat.Desc, n int) *stat.Table {
	g := b.gpu
	t := stat.NewTraffic(owner, desc, n, len(g.Tenants))
	g.Tables = append(g.Tables, t)
	return t
}

func (b *builder) sms() error {
	g := b.gpu
	cfg, err := sm.Derive(b.sheet)
	if err != nil {
		return err
	}
	if b.sheet.L1D.Line != b.sheet.LLC.Line || b.sheet.L1D.Sector != b.sheet.LLC.Sector {
		return fmt.Errorf("l1d and llc must have the same line and sector size")
	}
	g.sms.Every = b.options.Every
	t := b.traffic("sm", sm.Counters(), b.sheet.SM.Count)
	g.sms.Counters, g.Watchdog.count = t, t
	scratch := g.strides.Hire(b.options.Cores, cfg)
	for i := range b.sheet.SM.Count {
		tlb, mmu, err := g.translation.Translator()
		if err != nil {
			return err
		}
		s, err := sm.New(i, cfg, scratch, g.fabric.Slab, t, tlb, mmu)
		if err != nil {
			return err
		}
		g.sms.List = append(g.sms.List, s)
	}
	return nil
}
