package sm

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/mem"
	"heddle/sheets"
)

// Config is what an SM needs of the machine sheet, in the form its hot loops use.
type Config struct {
	Warps, CTAs, Threads, Regs, Shared int // residency limits

	regUnit          int
	schedulers       int
	schedMask        uint64    // schedulers less one where they are a power of two, else 0
	schedOf          [64]uint8 // by warp slot
	width            int
	pick             picker
	latency          [isa.NumTimings]uint32 // issue to dependent issue, overhead included
	interval         [isa.NumTimings]uint32
	units            [isa.NumUnits]int
	slack            uint64 // cycles a unit may be booked ahead: its dispatch latch and operand collectors
	memQueue         int    // memory instructions between issue and the load/store unit's head
	collectors       int    // per scheduler
	sharedCollectors bool   // by memory instructions and arithmetic
	atomicWait       bool   // a warp issues nothing until its atomic is performed

	fetchWidth              uint8
	fetchLatency, fetchRate uint64
	lateRedirect            bool // SM.redirect

	tmp           [mem.Lanes]scratch
	sharedLatency uint64
	front, back   uint64 // issue to the LD/ST unit; data to dependent issue

	lineShift, sectorShift uint
	sectors                int  // per line
	apart                  bool // sectors leave the L1 and take the link one by one
	l1                     sheets.L1D
	l1Latency              uint64
	writeAlloc, writePort  bool
	tlbLatency             uint64
	pageShift              uint
	ctxWarp                int // bytes of context per warp beyond its registers
	tlbMisses              int
	localStride            uint64 // bytes between consecutive local words of a thread
}

// scratch is what one SM at a time works on: shared, it stays in the computer's cache.
type scratch struct {
	step      isa.Step
	co        coalescer
	conflicts conflictMemo // the SMs run the same code
}

// Derive reads the sheet. Errors name the sheet's path.
func Derive(m *sheets.Machine) (*Config, error) {
	s, l := &m.SM, &m.L1D
	if s.Threads%isa.Lanes != 0 || s.Threads/isa.Lanes > 64 || s.Threads == 0 {
		return nil, fmt.Errorf("sm.threads = %d: an SM holds 32 to 2048 threads in whole warps", s.Threads)
	}
	c := &Config{
		Warps: s.Threads / isa.Lanes, CTAs: s.CTAs, Threads: s.Threads, Regs: s.Registers, Shared: s.Shared,
		regUnit: max(1, s.RegisterUnit), schedulers: s.Schedulers, width: max(1, s.IssueWidth), units: s.Units,
		fetchWidth: uint8(max(1, s.FetchWidth)), fetchLatency: uint64(max(1, s.FetchLatency)), fetchRate: uint64(max(1, s.FetchRate)),
		sharedLatency: uint64(s.SharedLatency),
		l1:            *l, l1Latency: uint64(l.Latency), writeAlloc: l.WriteAlloc != "none", writePort: l.WritePort, ctxWarp: s.CtxBytesWarp, lineShift: log2(l.Line), sectorShift: log2(l.Sector), sectors: l.Line / max(1, l.Sector),
	}
	if c.pick = pickers[s.Policy]; c.pick == nil {
		return nil, fmt.Errorf("sm.policy = %q: know gto and lrr", s.Policy)
	}
	if c.schedulers < 1 || c.schedulers > c.Warps {
		return nil, fmt.Errorf("sm.schedulers = %d: must be between 1 and the number of warps, %d", c.schedulers, c.Warps)
	}
	if l.Line <= 0 || bits.OnesCount(uint(l.Line)) != 1 || l.Sector <= 0 || l.Line%l.Sector != 0 || c.sectors > 8 {
		return nil, fmt.Errorf("l1d.line = %d, l1d.sector = %d: the line must be a power of two of 1 to 8 sectors", l.Line, l.Sector)
	}
	if s.SharedBanks < 1 || s.SharedBanks > 64 {
		return nil, fmt.Errorf("sm.shared_banks = %d: must be 1 to 64", s.SharedBanks)
	}
	for u, n := range s.Units {
		if n < 1 && u != int(isa.TENSOR) {
			return nil, fmt.Errorf("sm.units[%d] = %d: an SM needs at least one unit of each class", u, n)
		}
	}
	if n := uint64(c.schedulers); n&(n-1) == 0 {
		c.schedMask = n - 1
	}
	for w := range c.schedOf {
		c.schedOf[w] = uint8(w % c.schedulers)
	}
	for i := range c.tmp {
		c.tmp[i].conflicts.banks = s.SharedBanks
		c.tmp[i].co = coalescer{lineShift: c.lineShift, sectorShift: c.sectorShift, sectors: uint(c.sectors)}
	}
	c.localStride = uint64(s.Count*s.Threads) * 4
	c.timings(s)
	c.lateRedirect, c.apart = s.LateRedirect, m.NoC.Kind == "local"
	c.slack = uint64(s.Collectors / s.Schedulers)
	c.memQueue = max(2, s.Collectors)
	c.collectors, c.sharedCollectors = max(1, s.Collectors/s.Schedulers), s.CollectorsShared
	c.atomicWait = s.AtomicWait
	c.tlbMisses = max(1, m.VM.L1Misses)
	if m.VM.Enabled {
		c.pageShift = log2(m.VM.Page)
		c.tlbLatency = uint64(m.VM.L1Latency)
	}
	return c, nil
}

func (c *Config) timings(s *sheets.SM) {
	set := func(t isa.Timing, lat, ii, over int) {
		c.latency[t], c.interval[t] = uint32(lat+over), uint32(max(1, ii))
	}
	// A load spends Overhead cycles outside its pipeline, one of them to be taken: operand
	// collection before it, write-back after it.
	outside := max(0, s.Overhead-1)
	front := min(s.Overhead/2, outside)
	if s.CollectorsShared {
		front = min(places+1, outside)
	}
	c.front, c.back = uint64(front), uint64(outside-front)
	set(isa.TimeOther, s.OtherLatency, s.OtherInterval, s.Overhead)
	for i, t := range []isa.Timing{isa.IntAdd, isa.IntMax, isa.IntMul, isa.IntMad, isa.IntDiv, isa.Shuffle} {
		over := s.Overhead
		if t == isa.IntDiv {
			over = s.SfuOverhead
		}
		set(t, s.IntLatency[i], s.IntInterval[i], over)
	}
	for i := range 5 {
		over := s.Overhead
		if i == 4 {
			over = s.SfuOverhead
		}
		set(isa.FpAdd+isa.Timing(i), s.FpLatency[i], s.FpInterval[i], over)
		set(isa.DpAdd+isa.Timing(i), s.DpLatency[i], s.DpInterval[i], over)
	}
	set(isa.Special, s.SfuLatency, s.SfuInterval, s.SfuOverhead)
	set(isa.Matrix, s.TensorLatency, s.TensorInterval, s.Overhead)
}

func log2(n int) uint { return uint(bits.TrailingZeros(uint(max(1, n)))) }

// RegsPerWarp is what a warp of a kernel with n registers per thread occupies.
func (c *Config) RegsPerWarp(n int) int {
	r := n * isa.Lanes
	return (r + c.regUnit - 1) / c.regUnit * c.regUnit
}
