package machine

import (
	"fmt"
	"math/bits"
	"slices"

	"heddle/engine"
	"heddle/machine/cache"
	"heddle/machine/dram"
	"heddle/machine/noc"
	"heddle/machine/sm"
	"heddle/mem"
	"heddle/mem/addrmap"
	"heddle/sheets"
	"heddle/stat"
)

// Options of a machine.
type Options struct {
	Every    bool   // visit every component every cycle: no idle skipping
	Watchdog uint64 // cycles; 0: DefaultWatchdog
	Profile  bool   // keep stall cycles by PTX line
	Copying  Copying
	Cores    int // 2: SMs and memory may run at once, or SMs of independent CTAs, with the same results
	// Quantum is a turn in core cycles, for applications that take turns on the whole
	// machine (time slicing); 0: they run side by side.
	Quantum uint64
	// Lockstep takes no strides: all of the machine runs a cycle before any of it runs the
	// next. Results of programs without data races are the same.
	Lockstep bool
}

// New builds the machine of a sheet, shared by the given tenants. Errors name the
// sheet's path.
func New(sheet *sheets.Machine, tenants []*Tenant, o Options) (*GPU, error) {
	g := &GPU{Sheet: sheet, Tenants: tenants, slab: mem.NewSlab(1 << 14), every: o.Every, profile: o.Profile, watchdog: o.Watchdog, mmuPort: -1, pace: pace{ahead: engine.Never}}
	if g.watchdog == 0 {
		g.watchdog = DefaultWatchdog
	}
	amap, err := addrmap.New(sheet)
	if err != nil {
		return nil, err
	}
	if 2*len(tenants) >= mostMaps {
		return nil, fmt.Errorf("%d applications: a machine takes at most %d", len(tenants), mostMaps/2-1)
	}
	g.shared, g.maps[0] = amap, amap
	if err := g.admit(amap); err != nil {
		return nil, err
	}
	n, slices, channels := sheet.SM.Count, amap.Slices(), amap.Channels()
	core := kHz(sheet.Clock.Core)
	g.nocClock, g.llcClock = engine.NewClock(kHz(sheet.Clock.NoC), core), engine.NewClock(kHz(sheet.Clock.LLC), core)
	b := &g.base
	b.stack = channels
	if sheet.DRAM.MigrationCycles > 0 && sheet.VM.Enabled && amap.PageInGroup(sheet.VM.Page) && sheet.DRAM.Stacks*amap.Groups() == channels {
		for range sheet.DRAM.Stacks {
			g.stack = append(g.stack, &stack{})
		}
	}
	b.slice = b.stack + len(g.stack)
	b.reply = b.slice + slices
	g.below = engine.NewWheel(b.reply+1, o.Every)
	b.mmu = n
	b.request = b.mmu + 1
	b.dispatch = b.request + 1
	b.driver = b.dispatch + 1
	g.wheel = engine.NewWheel(b.driver+1, o.Every)
	for _, f := range []func(*addrmap.Map) error{g.buildChannels, g.buildStacks, g.buildSlices, g.buildNoC, g.buildVM, g.buildSMs} {
		if err := f(amap); err != nil {
			return nil, fmt.Errorf("machine %s: %w", sheet.Name, err)
		}
	}
	g.buildOwners(o.Copying)
	if o.Quantum > 0 {
		if err := g.takeTurns(o.Quantum); err != nil {
			return nil, err
		}
	}
	for i, own := range g.dispatch.owners {
		if len(own) > 1 {
			g.sm[i].AdmitMany()
		}
	}
	g.buildStrides(&o)
	if o.Cores > 1 && g.nocClock == engine.NewClock(1, 1) && sheet.NoC.Latency >= 1 {
		g.other = &otherCore{work: g.memorySide}
		g.perStride = n * (max(1, sheet.L1D.MissQueue) + longStride)
		g.perCycle = n*max(1, sheet.L1D.MissQueue) + 2*sheet.VM.Walkers
	}
	return g, nil
}

// admit derives each tenant's address map and who may run on which SM.
func (g *GPU) admit(amap *addrmap.Map) error {
	n := g.Sheet.SM.Count
	g.dispatch.owners = make([][]int, n)
	g.dispatch.turn, g.dispatch.open, g.dispatch.closed = make([]int, n), make([]uint64, (n+63)/64), make([]bool, n)
	for i, t := range g.Tenants {
		if len(t.SMs) == 0 {
			return fmt.Errorf("application %s has no SM", t.Name)
		}
		for _, s := range t.SMs {
			if s < 0 || s >= n {
				return fmt.Errorf("application %s: SM %d does not exist, the machine has %d", t.Name, s, n)
			}
			g.dispatch.owners[s] = append(g.dispatch.owners[s], i)
		}
		if !g.Sheet.VM.Enabled {
			g.maps[i] = amap // the SM puts the tenant's number into the address
		}
		if t.Groups == nil {
			continue
		}
		own, err := amap.Restrict(t.Groups)
		if err != nil {
			return fmt.Errorf("application %s: %w", t.Name, err)
		}
		t.allow(amap)
		if !g.Sheet.VM.Enabled {
			g.maps[i] = own
		}
	}
	return nil
}

// allow marks the channels of the tenant's groups.
func (t *Tenant) allow(amap *addrmap.Map) {
	t.allowed = make([]uint64, (amap.Channels()+63)/64)
	for ch := range amap.Channels() {
		if slices.Contains(t.Groups, amap.GroupOf(ch)) {
			t.allowed[ch>>6] |= 1 << (ch & 63)
		}
	}
}

// buildOwners notes who has what at the start, for machines whose tenants have
// SMs and channel groups of their own.
func (g *GPU) buildOwners(how Copying) {
	g.saved, g.imageEnd, g.images = make([][]*sm.Context, len(g.Tenants)), make([]uint64, len(g.Tenants)), make([]int, len(g.Tenants))
	g.restoring = make([][]*sm.Context, len(g.sm))
	g.own = owners{sm: make([]int, len(g.sm)), group: make([]int, g.shared.Groups())}
	for i := range g.own.sm {
		g.own.sm[i] = -1
		if o := g.dispatch.owners[i]; len(o) > 0 {
			g.own.sm[i] = o[0]
		}
	}
	for i := range g.own.group {
		g.own.group[i] = -1
		for t, x := range g.Tenants {
			if slices.Contains(x.Groups, i) {
				g.own.group[i] = t
			}
		}
	}
	g.copies = copier{g: g, how: how, bits: uint(bits.TrailingZeros(uint(max(1, g.Sheet.VM.Page)))), lines: int32(g.Sheet.VM.Page / g.Sheet.LLC.Line)}
	if len(g.stack) == 0 && how == PageMove {
		g.copies.how = ReadWrite
	}
}

func (g *GPU) table(owner string, desc []stat.Desc, n int) *stat.Table {
	t := stat.NewTable(owner, desc, n, len(g.Tenants))
	g.Tables = append(g.Tables, t)
	return t
}

func (g *GPU) buildChannels(amap *addrmap.Map) error {
	d := &g.Sheet.DRAM
	cfg, err := dram.FromSheet(d)
	if err != nil {
		return err
	}
	cfg.Tenants = len(g.Tenants)
	g.perBlock = max(1, uint32(amap.Block())/uint32(d.Access))
	for n := range g.bursts {
		g.bursts[n] = max(1, n*g.Sheet.LLC.Sector/d.Access)
	}
	t := g.table("dram", dram.Desc, amap.Channels())
	clock := engine.NewClock(kHz(g.Sheet.Clock.DRAM), kHz(g.Sheet.Clock.Core))
	for i := range amap.Channels() {
		ch, err := dram.Build(&cfg)
		if err != nil {
			return err
		}
		ch.Count(t, i)
		depth := d.Queue + d.WriteQueue + 2
		c := &channel{id: i, dram: ch, clock: clock, extra: uint64(d.Extra), held: -1, delay: mem.NewRing[delayed](d.Extra + depth), busy: make([]cache.Fetch, 4*depth)}
		for k := range c.busy {
			c.free = append(c.free, int32(k))
		}
		g.channel = append(g.channel, c)
	}
	return nil
}

func kHz(mhz float64) uint64 { return uint64(mhz*1000 + 0.5) }

func (g *GPU) buildSlices(amap *addrmap.Map) error {
	cfg, err := cache.Derive(&g.Sheet.LLC)
	if err != nil {
		return err
	}
	set, err := addrmap.NewSetIndex(g.Sheet.LLC.Index, g.Sheet.LLC.Sets)
	if err != nil {
		return fmt.Errorf("llc.index: %w", err)
	}
	t := g.table("llc", cache.Counters(), amap.Slices())
	line := bits.TrailingZeros(uint(g.Sheet.LLC.Line))
	// An application with channels of its own has its own map: what its map does not
	// use to choose channel and slice must choose the set.
	index := func(addr uint64) uint32 { return uint32(set.Of(g.mapOf(addr).Local(addr) >> line)) }
	for i := range amap.Slices() {
		s, err := cache.New(i, cfg, g.slab, t, index)
		if err != nil {
			return err
		}
		g.slice = append(g.slice, s)
	}
	return nil
}

// mapOf is the map that places a physical address: the bits from
// addrmap.TenantShift on choose it. Without translation they are the tenant's
// number; with it they are 0, the whole machine's map, unless pages span channels
// and a slice has a layout of its own (vm.Tables.SetLayout).
func (g *GPU) mapOf(addr uint64) *addrmap.Map { return g.maps[addr>>addrmap.TenantShift] }

// mostMaps is the number of maps a physical address can choose among.
const mostMaps = 1 << (addrmap.AddrBits - addrmap.TenantShift)

func (g *GPU) buildNoC(amap *addrmap.Map) error {
	x := &g.Sheet.NoC
	ports := g.Sheet.SM.Count
	if g.Sheet.VM.Enabled {
		g.mmuPort = ports
		ports++
	}
	req, err := noc.FromSheet(x, ports, amap.Slices())
	if err != nil {
		return err
	}
	rep, err := noc.FromSheet(x, amap.Slices(), ports)
	if err != nil {
		return err
	}
	if g.mmuPort >= 0 {
		req.Sorted = 1 // a walk must not wait behind another at a busy slice
	}
	req.Tenants, rep.Tenants = len(g.Tenants), len(g.Tenants)
	g.request, g.reply = noc.New(req), noc.New(rep)
	g.request.Count(g.table("noc_request", noc.Desc, 1), 0)
	g.reply.Count(g.table("noc_reply", noc.Desc, 1), 0)
	sector := g.Sheet.LLC.Sector
	g.reqFlits = [2]int{req.Flits(0), req.Flits(sector)}
	g.repFlits = [2]int{rep.Flits(sector), rep.Flits(0)}
	return nil
}

func (g *GPU) buildSMs(*addrmap.Map) error {
	cfg, err := sm.Derive(g.Sheet)
	if err != nil {
		return err
	}
	if g.Sheet.L1D.Line != g.Sheet.LLC.Line || g.Sheet.L1D.Sector != g.Sheet.LLC.Sector {
		return fmt.Errorf("l1d and llc must have the same line and sector size")
	}
	t := g.table("sm", sm.Counters(), g.Sheet.SM.Count)
	scratch := sm.NewScratch(cfg)
	for i := range g.Sheet.SM.Count {
		tlb, mmu, err := g.translator()
		if err != nil {
			return err
		}
		s, err := sm.New(i, cfg, scratch, g.slab, t, tlb, mmu)
		if err != nil {
			return err
		}
		g.sm = append(g.sm, s)
	}
	return nil
}
