package sheets

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/mem/placement"
)

// checker gathers complaints so that a user sees all of them at once.
type checker struct{ errs []error }

func (c *checker) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// want complains unless ok.
func (c *checker) want(ok bool, format string, args ...any) {
	if !ok {
		c.errorf(format, args...)
	}
}

// oneOf complains unless the name is known.
func (c *checker) oneOf(path, got string, names ...string) {
	c.want(slices.Contains(names, got), "%s is %q; it must be one of %s", path, got, strings.Join(names, ", "))
}

// positive complains about numbers that must be at least one.
func (c *checker) positive(paths string, values ...int) {
	for i, p := range strings.Fields(paths) {
		c.want(values[i] > 0, "%s is %d; it must be at least 1", p, values[i])
	}
}

func pow2(n int) bool { return n > 0 && n&(n-1) == 0 }

// Validate checks that the numbers of a machine fit together. Its errors name
// the paths involved.
func Validate(m *Machine) error {
	c := &checker{}
	c.noNegative(m)
	c.clocks(m)
	c.sm(m)
	c.l1d(m)
	c.llc(m)
	c.l3(m)
	c.noc(m)
	c.dram(m)
	c.addressMap(m)
	c.memory(m)
	c.vm(m)
	c.mig(m)
	c.gating(m)
	c.cpu(m)
	return errors.Join(c.errs...)
}

// gating checks what an SM that is powered down draws, and how long it wakes.
func (c *checker) gating(m *Machine) {
	c.positive("sm.wake_delay", m.SM.WakeDelay)
	c.want(m.SM.CtxShare >= 0 && m.SM.CtxShare <= 1, "sm.ctx_share is %g; it must be at most 1, and not negative "+
		"(0 stands for 1)", m.SM.CtxShare)
	p := &m.Power
	c.want(p.GatedSM <= p.IdleSM && p.IdleSM <= p.ActiveSM,
		"power.gated_sm, idle_sm and active_sm are %g, %g and %g W; none may be above the next", p.GatedSM, p.IdleSM,
		p.ActiveSM)
}

// Bounds that keep a slip of the pen from asking for absurd amounts of memory and
// products of numbers from overflowing.
const (
	tooMuch      = 1 << 42 // of anything
	tooMany      = 1 << 24 // cycles, rows, sets ...: what is not in bytes and not in a queue
	tooManyLines = 1 << 24 // in all caches of a level together
	tooBig       = 1 << 40 // bytes of DRAM
)

// most is the largest whole number a unit allows. What queues and tables hold is
// allocated at once, per component.
func most(unit string) int64 {
	switch unit {
	case "bytes":
		return tooMuch
	case "requests", "flits", "packets", "ports", "walkers", "units", "channels":
		return 1 << 16
	case "entries":
		return 1 << 20
	}
	return tooMany
}

func (c *checker) noNegative(m *Machine) {
	check := func(path string, x float64) {
		c.want(x >= 0, "%s is %g; it cannot be negative", path, x)
		c.want(x <= tooMuch, "%s is %g; that is absurdly large", path, x)
	}
	for _, f := range schema() {
		v := f.value(m)
		switch {
		case v.CanInt():
			check(f.path, float64(v.Int()))
			c.want(v.Int() <= most(f.unit), "%s is %d %s; that is absurdly large", f.path, v.Int(), f.unit)
		case v.CanFloat():
			check(f.path, v.Float())
		case f.unit != "" && f.unit != "name" && f.unit != "text" && f.unit != "flag":
			for i := range v.Len() {
				if x := v.Index(i); x.CanFloat() {
					check(f.path, x.Float())
				} else {
					check(f.path, float64(x.Int()))
				}
			}
		}
	}
}

func (c *checker) clocks(m *Machine) {
	for _, x := range []struct {
		path string
		mhz  float64
	}{
		{"clock.core", m.Clock.Core},
		{"clock.noc", m.Clock.NoC},
		{"clock.llc", m.Clock.LLC},
		{"clock.dram", m.Clock.DRAM},
	} {
		c.want(x.mhz > 0 && x.mhz <= 1e5, "%s is %g MHz; it must be above 0 and at most 100000", x.path, x.mhz)
	}
	c.want(m.Host.Bandwidth > 0, "host.bandwidth must be above 0")
	c.positive("host.engines", m.Host.Engines)
	for name, n := range [...]int{m.Host.Printf, m.Host.Heap} {
		c.want(n == 0 || n >= 1<<10 && n <= 1<<34, "host.%s is %d: 0, or from 1 KiB to 16 GiB",
			[...]string{"printf", "heap"}[name], n)
	}
}

func (c *checker) sm(m *Machine) {
	s := &m.SM
	c.positive("sm.count sm.ctas sm.registers sm.register_unit sm.schedulers sm.issue_width sm.collectors "+
		"sm.reg_banks sm.reg_ports sm.fetch_width sm.fetch_rate",
		s.Count, s.CTAs, s.Registers, s.RegisterUnit, s.Schedulers, s.IssueWidth, s.Collectors, s.RegBanks, s.RegPorts,
		s.FetchWidth, s.FetchRate)
	c.want(s.Count <= 1024, "sm.count is %d; at most 1024 are modelled", s.Count)
	c.want(s.Threads > 0 && s.Threads%32 == 0 && s.Threads <= 2048,
		"sm.threads is %d; it must be a multiple of 32 and at most 2048 (64 warps)", s.Threads)
	c.want(s.CTAs <= 64, "sm.ctas is %d; at most 64 are modelled", s.CTAs)
	if s.Schedulers > 0 {
		c.want(s.Threads/32%s.Schedulers == 0, "sm.threads/32 = %d warps do not divide over sm.schedulers = %d",
			s.Threads/32, s.Schedulers)
	}
	if banks := s.RegBanks / max(1, s.Schedulers); s.CollectAll && s.CollectorsShared {
		c.want(banks > 0 && banks <= 128 && banks&(banks-1) == 0 && banks*s.Schedulers == s.RegBanks,
			"sm.reg_banks is %d; with sm.collect_all each of %d schedulers needs a power of two of at most 128",
			s.RegBanks, s.Schedulers)
	}
	c.want(!s.CollectorsShared || s.Collectors <= 64, "sm.collectors is %d; with sm.collectors_shared at most 64 are "+
		"modelled", s.Collectors)
	c.want(s.RegPorts <= 32, "sm.reg_ports is %d; at most 32 are modelled, and no instruction reads more registers",
		s.RegPorts)
	c.oneOf("sm.policy", s.Policy, "gto", "lrr")
	if s.Dispatch != "" {
		c.oneOf("sm.dispatch", s.Dispatch, "breadth", "distributed")
	}
	c.want(s.DispatchParts == 0 || s.Dispatch == "distributed", "sm.dispatch_parts is %d; without sm.dispatch "+
		"distributed there are none", s.DispatchParts)
	c.want(s.DispatchParts >= 0 && (s.DispatchParts == 0 || s.Count%s.DispatchParts == 0),
		"sm.count = %d do not divide into sm.dispatch_parts = %d", s.Count, s.DispatchParts)
	c.want(s.TextureRate >= 0 && s.TextureRate <= 1024 && s.TextureLatency >= 0 && s.TextureLatency <= 1<<16 &&
		s.TextureQueue >= 0 && s.TextureQueue <= 1<<16,
		"sm.texture_rate, texture_latency, texture_queue are %d, %d, %d; from 0 to 1024 texels/cycle, 65536 cycles, "+
			"65536 fetches", s.TextureRate, s.TextureLatency, s.TextureQueue)
	c.want(s.TextureRate > 0 || s.TextureLatency == 0 && s.TextureQueue == 0,
		"sm.texture_latency and texture_queue describe texture units, but sm.texture_rate is 0, so that there are none")
	c.want(pow2(s.SharedBanks) && s.SharedBanks <= 32, "sm.shared_banks is %d; it must be a power of two up to 32",
		s.SharedBanks)
	c.want(s.Units[0] > 0 && s.Units[1] > 0 && s.Units[3] > 0 && s.Units[5] > 0,
		"sm.units is %v; INT, SP, SFU and LDST need at least one unit each", s.Units)
	c.positive("sm.shared_latency sm.sfu_latency sm.sfu_interval sm.tensor_latency sm.tensor_interval "+
		"sm.other_latency sm.other_interval",
		s.SharedLatency, s.SfuLatency, s.SfuInterval, s.TensorLatency, s.TensorInterval, s.OtherLatency,
		s.OtherInterval)
	for _, t := range []struct {
		path string
		v    []int
	}{
		{"sm.int_latency", s.IntLatency[:]},
		{"sm.int_interval", s.IntInterval[:]},
		{"sm.fp_latency", s.FpLatency[:]},
		{"sm.fp_interval", s.FpInterval[:]},
		{"sm.dp_latency", s.DpLatency[:]},
		{"sm.dp_interval", s.DpInterval[:]},
	} {
		c.want(slices.Min(t.v) > 0, "%s is %v; every entry must be at least 1", t.path, t.v)
	}
}

// lines checks what the two cache levels have in common.
func (c *checker) lines(level string, line, sector, sets int, index, repl string) {
	c.want(pow2(line) && line <= 1024, "%s.line is %d; it must be a power of two up to 1024", level, line)
	c.want(pow2(sector) && sector <= line, "%s.sector is %d; it must be a power of two and at most %s.line = %d", level,
		sector, level, line)
	c.oneOf(level+".repl", repl, "lru", "fifo")
	c.oneOf(level+".index", index, "linear", "xor", "ipoly")
	if index != "linear" {
		c.want(pow2(sets), "%s.sets is %d; with %s.index %s it must be a power of two", level, sets, level, index)
	}
}

// misses checks that the registers of a cache hold what one request can miss: every sector of a line.
func (c *checker) misses(level string, mshrs, line, sector int) {
	sectors := line / max(1, sector)
	c.want(mshrs <= 0 || mshrs >= sectors, "%s.mshrs is %d; it must be at least %d: a request can miss all %d sectors "+
		"of a line, and each needs an entry", level, mshrs, sectors, sectors)
}

// size bounds the lines of all caches of a level.
func (c *checker) size(level string, sets, ways, caches int) {
	n := 1
	for _, x := range []int{sets, ways, caches} {
		if x > 0 && n > tooManyLines/x {
			c.errorf("%s.sets x %s.ways x %d caches is above %d lines", level, level, caches, tooManyLines)
			return
		}
		n *= max(x, 1)
	}
}

func (c *checker) l1d(m *Machine) {
	l := &m.L1D
	// The split of the unified capacity decides the number of ways, or, where the sheet gives no sets, of sets.
	sets, ways, unit, units := l.Sets, l.Ways, l.Sets, "ways of l1d.sets"
	switch {
	case l.Unified <= 0 || l.Line <= 0:
	case l.Sets > 0:
		ways = max(ways, l.Unified/l.Sets/l.Line)
	case l.Sets == 0 && l.Ways > 0:
		sets, unit, units = l.Unified/l.Ways/l.Line, l.Ways, "sets of l1d.ways"
		c.want(l.Index == "linear", "l1d.index is %s; where l1d.sets is 0 and the split decides, it must be linear",
			l.Index)
	}
	c.size("l1d", sets, ways, m.SM.Count)
	c.positive("l1d.sets l1d.ways l1d.latency l1d.banks l1d.mshrs l1d.merge l1d.miss_queue", sets, l.Ways, l.Latency,
		l.Banks, l.MSHRs, l.Merge, l.MissQueue)
	c.want(l.Tags >= 0 && l.Tags <= 32, "l1d.tags = %d: give 1 to 32 lines, or 0 for banks of sectors",
		l.Tags)
	c.lines("l1d", l.Line, l.Sector, sets, l.Index, l.Repl)
	c.misses("l1d", l.MSHRs, l.Line, l.Sector)
	c.want(l.Write == "through", "l1d.write is %q; the L1 writes through: give through", l.Write)
	if l.WriteAlloc == "fetch" {
		c.errorf("l1d.write_alloc is fetch; a store does not fetch the rest of its line into the L1: give lazy, " +
			"where a later load fetches it, or none")
	} else {
		c.oneOf("l1d.write_alloc", l.WriteAlloc, "none", "lazy")
	}
	if l.Unified == 0 {
		c.want(len(l.Carveouts) == 0, "l1d.carveouts without l1d.unified: an adaptive split needs the unified capacity")
		c.want(l.Reserved == 0, "l1d.reserved without l1d.unified: it is a part of the unified capacity")
		return
	}
	c.want(len(l.Carveouts) > 0, "l1d.unified = %d needs l1d.carveouts, the shared-memory sizes to choose from",
		l.Unified)
	if unit <= 0 || l.Line <= 0 {
		return
	}
	whole := fmt.Sprintf("l1d.unified = %d", l.Unified)
	if l.Reserved > 0 {
		whole += fmt.Sprintf(" less l1d.reserved = %d", l.Reserved)
	}
	last := -1
	for _, x := range l.Carveouts {
		c.want(x > last, "l1d.carveouts %v must grow", l.Carveouts)
		left := l.Unified - l.Reserved - x
		c.want(left > 0, "l1d.carveouts: %d bytes of shared memory are to be a part of %s: give less, or a larger "+
			"l1d.unified", x, whole)
		c.want(left <= 0 || left%(unit*l.Line) == 0,
			"l1d.carveouts: %d of %s leaves no whole number of %s = %d x l1d.line = %d bytes", x, whole, units, unit,
			l.Line)
		last = x
	}
	c.want(m.SM.Shared <= last, "sm.shared = %d is above the largest of l1d.carveouts, %d", m.SM.Shared, last)
}

func (c *checker) llc(m *Machine) {
	l := &m.LLC
	c.size("llc", l.Sets, l.Ways, min(m.DRAM.Channels, 1024)*min(l.SlicesPerChannel, 64))
	c.want(l.SlicesPerChannel <= 64, "llc.slices_per_channel is %d; at most 64 are modelled", l.SlicesPerChannel)
	c.positive("llc.slices_per_channel llc.sets llc.ways llc.hit_latency llc.port llc.mshrs llc.merge llc.in_queue "+
		"llc.miss_queue llc.to_dram llc.from_dram llc.out_queue",
		l.SlicesPerChannel, l.Sets, l.Ways, l.HitLatency, l.PortBytes, l.MSHRs, l.Merge, l.InQueue, l.MissQueue,
		l.ToDRAM, l.FromDRAM, l.OutQueue)
	c.lines("llc", l.Line, l.Sector, l.Sets, l.Index, l.Repl)
	c.misses("llc", l.MSHRs, l.Line, l.Sector)
	c.oneOf("llc.write_alloc", l.WriteAlloc, "fetch", "lazy")
	c.want(l.Line == m.L1D.Line, "llc.line = %d and l1d.line = %d must be equal", l.Line, m.L1D.Line)
	c.want(l.Sector == m.L1D.Sector, "llc.sector = %d and l1d.sector = %d must be equal: requests travel by sector",
		l.Sector, m.L1D.Sector)
	c.want(pow2(l.SlicesPerChannel), "llc.slices_per_channel is %d; it must be a power of two", l.SlicesPerChannel)
	a := m.DRAM.Access
	c.want(a > 0 && (l.Sector%a == 0 || a%l.Sector == 0),
		"llc.sector = %d and dram.access = %d: one must divide the other", l.Sector, a)
}

func (c *checker) dram(m *Machine) {
	d := &m.DRAM
	c.positive("dram.channels dram.stacks dram.ranks dram.bank_groups dram.banks dram.rows dram.row_bytes "+
		"dram.access dram.queue dram.return",
		d.Channels, d.Stacks, d.Ranks, d.BankGroups, d.Banks, d.Rows, d.RowBytes, d.Access, d.Queue, d.Return)
	c.oneOf("dram.sched", d.Sched, "frfcfs", "frfcfs-rowhit", "frfcfs-priorhit", "fcfs")
	c.oneOf("dram.page", d.Page, "open", "closed")
	c.want(pow2(d.Ranks) && pow2(d.BankGroups) && pow2(d.Banks),
		"dram.ranks, dram.bank_groups and dram.banks (%d, %d, %d) must be powers of two", d.Ranks, d.BankGroups,
		d.Banks)
	c.want(d.BankGroups*d.Banks <= 256, "dram.bank_groups x dram.banks is %d; at most 256 banks per rank are modelled",
		d.BankGroups*d.Banks)
	c.want(pow2(d.Access), "dram.access is %d; it must be a power of two", d.Access)
	if d.Stacks > 0 && d.Access > 0 {
		c.want(d.Channels%d.Stacks == 0, "dram.channels = %d do not divide over dram.stacks = %d", d.Channels, d.Stacks)
		c.want(d.RowBytes%d.Access == 0, "dram.row_bytes = %d is not a multiple of dram.access = %d", d.RowBytes,
			d.Access)
	}
	c.want(d.Channels <= 1024, "dram.channels is %d; at most 1024 are modelled", d.Channels)
	c.want(d.ExtraNs >= 0 && d.ExtraNs <= 1e5, "dram.extra_ns = %g: give 0 to 100000 ns", d.ExtraNs)
	c.want(d.ReturnNs >= 0 && d.ReturnNs <= 1e5, "dram.return_ns = %g: give 0 to 100000 ns", d.ReturnNs)
	c.want(d.LowWater <= d.HighWater && d.HighWater <= 1,
		"dram.low_water = %g <= dram.high_water = %g <= 1 does not hold", d.LowWater, d.HighWater)
	c.want(d.WriteQueue == 0 || d.HighWater > 0, "dram.write_queue = %d needs dram.high_water above 0", d.WriteQueue)
	if t := d.T; true {
		c.positive("dram.timing.bl dram.timing.cl dram.timing.cwl dram.timing.rcdrd dram.timing.rcdwr dram.timing.rp "+
			"dram.timing.ras dram.timing.rc dram.timing.ccds dram.timing.ccdl",
			t.BL, t.CL, t.CWL, t.RCDRD, t.RCDWR, t.RP, t.RAS, t.RC, t.CCDS, t.CCDL)
		c.want(t.RC >= t.RAS, "dram.timing.rc = %d is below dram.timing.ras = %d", t.RC, t.RAS)
		c.want(t.CCDL >= t.CCDS, "dram.timing.ccdl = %d is below dram.timing.ccds = %d", t.CCDL, t.CCDS)
		c.want(!d.Refresh || (t.RFC > 0 && t.REFI > t.RFC),
			"dram.refresh needs dram.timing.refi = %d above dram.timing.rfc = %d above 0", t.REFI, t.RFC)
	}
	if d.Migration != "" {
		c.oneOf("dram.migration", d.Migration, "none", "data", "literal")
	}
	c.want(!d.MigrationCrossbar || d.Migrates(),
		"dram.migration_crossbar with dram.migration none: there is no MIGRATION command to go through it")
	c.migration(m)
	c.capacity(d)
}

// Migrates says whether the device has MIGRATION commands.
func (d *DRAM) Migrates() bool { return d.Migration != "none" && d.Migration != "" }

// MigrationLine is how many accesses (columns) a MIGRATION copies: a line of the LLC.
func (m *Machine) MigrationLine() int { return max(1, m.LLC.Line/m.DRAM.Access) }

// MigrationClocks is the number of memory clocks for which a MIGRATION occupies its paths.
func (m *Machine) MigrationClocks() int {
	if m.DRAM.Migration == "literal" {
		return int(math.Ceil(float64(m.DRAM.MigrationCycles) * m.Clock.DRAM / m.Clock.Core))
	}
	return m.MigrationLine() * m.DRAM.T.BL
}

// migration checks how long MIGRATION commands hold their paths in clocks of the memory: each is a command of two
// clocks, and devices look only so far ahead (package machine/dram).
func (c *checker) migration(m *Machine) {
	d := &m.DRAM
	if !d.Migrates() || m.Clock.Core <= 0 || d.Access <= 0 {
		return
	}
	const least, ahead = 2, 64
	clocks, most := m.MigrationClocks(), ahead-max(d.T.CL, d.T.CWL)
	if d.Migration == "literal" {
		c.want(clocks >= least && clocks <= most, "dram.migration_cycles is %d, %d clocks of the memory with "+
			"clock.core = %g and clock.dram = %g MHz; it must be %d to %d clocks", d.MigrationCycles, clocks,
			m.Clock.Core, m.Clock.DRAM, least, most)
		return
	}
	c.want(clocks >= least && clocks <= most, "a line of llc.line = %d bytes is %d accesses of dram.access = %d "+
		"bytes and passes in %d clocks with dram.timing.bl = %d; MIGRATION commands (dram.migration data) take %d to "+
		"%d clocks",
		m.LLC.Line, m.MigrationLine(), d.Access, clocks, d.T.BL, least, most)
}

// Before is the delay in core cycles between LLC and the scheduler, at a core clock in MHz.
func (d *DRAM) Before(mhz float64) int { return d.Extra + int(math.Round(d.ExtraNs*mhz/1000)) }

// Back is the time of read data in the return queue, in clocks of a command clock in MHz.
func (d *DRAM) Back(mhz float64) int { return d.ReturnLatency + int(math.Round(d.ReturnNs*mhz/1000)) }

// followGeometry makes the capacity what the geometry holds, so that an override of
// dram.channels alone is a smaller memory and not a contradiction.
func (d *DRAM) followGeometry() {
	banks := int64(d.Channels) * int64(d.Ranks) * int64(d.BankGroups) * int64(d.Banks)
	total := banks * int64(d.Rows) * int64(d.RowBytes)
	if total > 0 && total < 1<<50 {
		d.Capacity = total
	}
}

// capacity checks the product of the geometry without overflowing.
func (c *checker) capacity(d *DRAM) {
	total := uint64(1)
	for _, n := range []int{d.Channels, d.Ranks, d.BankGroups, d.Banks, d.Rows, d.RowBytes} {
		hi, lo := bits.Mul64(total, uint64(max(n, 0)))
		if hi != 0 || lo > tooBig {
			c.errorf("dram geometry: channels x ranks x bank_groups x banks x rows x row_bytes is above 1 TiB")
			return
		}
		total = lo
	}
	c.want(d.Capacity == int64(total),
		"dram.capacity is %d bytes, but channels x ranks x bank_groups x banks x rows x row_bytes is %d; change one "+
			"of them", d.Capacity, total)
}

func (c *checker) vm(m *Machine) {
	v := &m.VM
	c.want(v.Page == 4096 || v.Page == 2<<20, "vm.page is %d; page sizes are 4096 and 2097152", v.Page)
	c.positive("vm.l1_entries vm.l1_misses vm.l2_entries vm.l2_ways vm.l2_latency vm.l2_ports "+
		"vm.walkers vm.levels vm.copy_lines",
		v.L1Entries, v.L1Misses, v.L2Entries, v.L2Ways, v.L2Latency, v.L2Ports, v.Walkers, v.Levels,
		v.CopyLines)
	c.want(v.L1Ways == 0 || v.L1Entries%v.L1Ways == 0, "vm.l1_entries = %d is not a multiple of vm.l1_ways = %d",
		v.L1Entries, v.L1Ways)
	c.want(v.L2Ways == 0 || v.L2Entries%v.L2Ways == 0, "vm.l2_entries = %d is not a multiple of vm.l2_ways = %d",
		v.L2Entries, v.L2Ways)
	c.want(v.WalkCycles >= 0 && v.L1Ports >= 0 && v.L1Latency >= 0,
		"vm.walk_cycles = %d, vm.l1_ports = %d, vm.l1_latency = %d; use 0 or more", v.WalkCycles, v.L1Ports,
		v.L1Latency)
	follow := v.HomeInterval > 0
	c.want(v.HomeInterval >= 0 && v.HomePages >= 0 && v.HomeMoves >= 0 && follow == (v.HomePages > 0) &&
		follow == (v.HomeMoves > 0) && (!follow || v.CopyLines > 0),
		"vm.home_interval = %d, vm.home_pages = %d and vm.home_moves = %d: give all or none, cycles of an interval, "+
			"pages taken of it and pages on their way into a partition, with vm.copy_lines = %d above 0",
		v.HomeInterval, v.HomePages, v.HomeMoves, v.CopyLines)
	c.want(v.L2Banks == 0 || pow2(v.L2Banks),
		"vm.l2_banks is %d; it must be a power of two: low bits of a page choose its bank", v.L2Banks)
	if sets := l2Sets(v); pow2(v.L2Banks) {
		c.want(sets%v.L2Banks == 0,
			"vm.l2_banks = %d do not divide the %d sets of vm.l2_entries = %d and vm.l2_ways = %d; take fewer banks "+
				"or more sets", v.L2Banks, sets, v.L2Entries, v.L2Ways)
	}
	c.want(v.Levels == 4 || v.Levels == 5,
		"vm.levels is %d; it must be 4 or 5: programs, their local memory and contexts use 40 bits of virtual address",
		v.Levels)
	c.want(v.FaultSlots >= 0, "vm.fault_slots is %d; it cannot be negative", v.FaultSlots)
	c.want(!v.FirstTouch || v.Enabled, "vm.first_touch needs vm.enabled: without translation pages have no frames")
	c.oneOf("vm.placement", v.Placement, placement.Names()...)
	c.want(v.LABThreshold >= 0 && v.LABThreshold <= 1, "vm.lab_threshold is %g; it must be between 0 and 1",
		v.LABThreshold)
	if e, ok := placement.ByName(v.Placement); ok {
		_, err := e.Make(placement.Machine{Groups: 1, Modules: m.NoC.Modules, Threshold: v.LABThreshold})
		c.want(err == nil, "vm.placement %s needs %v", v.Placement, err)
	}
}

// l2Sets is the number of sets of the L2 TLB; a fully associative one has one.
func l2Sets(v *VM) int {
	if v.L2Ways == 0 {
		return 1
	}
	return v.L2Entries / v.L2Ways
}

func (c *checker) mig(m *Machine) {
	g := &m.MIG
	if len(g.Profiles) == 0 {
		return
	}
	c.want(g.SMs > 0 && g.SMs <= m.SM.Count, "mig.sms is %d; it must be 1 to sm.count = %d", g.SMs, m.SM.Count)
	c.want(g.Slices > 0 && m.DRAM.Channels%max(g.Slices, 1) == 0,
		"dram.channels = %d do not divide into mig.slices = %d", m.DRAM.Channels, g.Slices)
	seen := []string{}
	for _, p := range g.Profiles {
		c.want(!slices.Contains(seen, p.Name), "MIG profile %s is listed twice", p.Name)
		seen = append(seen, p.Name)
		c.want(p.SMs > 0 && p.SMs <= g.SMs, "MIG profile %s has %d SMs; it must have 1 to mig.sms = %d", p.Name, p.SMs,
			g.SMs)
		c.want(p.Slices > 0 && p.Slices <= g.Slices,
			"MIG profile %s has %d memory slices; it must have 1 to mig.slices = %d", p.Name, p.Slices, g.Slices)
		c.want(p.Most > 0, "MIG profile %s allows no instance", p.Name)
	}
}
