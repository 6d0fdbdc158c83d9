package sm

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// Config has the numbers of the machine sheet that an SM needs, in the form its hot loops use: the limits of
// residency, and the numbers of each of its parts.
type Config struct {
	Warps, CTAs, Threads, Regs, Shared int // residency limits

	regUnit      int     // registers are given to warps in multiples of it
	contextWarp  int     // bytes of context per warp beyond its registers
	contextShare float64 // part of a context that is moved

	fetch       fetchConfig
	issue       issueConfig
	collect     collectConfig
	ldst        ldstConfig
	texture     textureConfig
	translation translationConfig
	l1          l1Config
}

type fetchConfig struct {
	width   uint8  // instructions a fetch brings
	latency uint64 // cycles
	rate    uint64 // warps per cycle
}

type issueConfig struct {
	schedulers   int
	schedMask    uint64    // schedulers less one where they are a power of two, else 0
	turn         uint64    // the scheduler that chooses first in cycle 0
	schedOf      [64]uint8 // by warp slot
	width        int       // instructions per scheduler and cycle
	pick         picker
	latency      [isa.NumTimings]uint32 // issue to dependent issue, overhead included
	interval     [isa.NumTimings]uint32
	counted      [isa.NumTimings]uint8 // isa.Timing.Coarse
	units        [isa.NumUnits]int
	slack        uint64 // cycles a unit may be booked ahead: its dispatch latch and operand collectors
	barrier      uint64 // cycles from the last arrival at a barrier
	barrierWarp  uint64 // and more of them for each warp there
	setup        uint64 // cycles of a CTA before its first warp is fetched for
	setupWarp    uint64 // and for each warp before a warp, in 1/256 cycles
	kHz          uint64 // the clock
	atomicWait   bool   // a warp issues nothing until its atomic is performed
	lateRedirect bool   // pipeline.redirect
	earlyExit    bool   // a warp leaves before its stores are acknowledged
}

type collectConfig struct {
	memQueue int                    // memory instructions between issue and the load/store unit's head
	each     int                    // collectors per scheduler
	shared   bool                   // by memory instructions and arithmetic
	all      bool                   // arithmetic waits in them for its operands and its unit
	banks    uint                   // of registers that a scheduler has: their binary logarithm
	ports    uint64                 // reads of a bank in a cycle
	pass     uint64                 // cycles that an instruction which reads one register of a bank has a collector for
	slot     [isa.NumTimings]uint64 // unit.slot of an instruction; 0: its end does not matter
	late     [16]uint64             // by the reads from one bank: the same less pass, which may wrap
}

type ldstConfig struct {
	sharedLatency uint64
	sharedBanks   int
	atomicSector  uint64    // cycles for each sector of an atomic, and once more; 0: one for all
	atomicSingle  uint64    // of a reduction of one sector; 0: as others
	fence         [4]uint32 // from issue on, by isa.Scope; 0: until stores are performed
	broadcast     bool      // atomics on the same word of shared memory are performed at once
	front, back   uint64    // issue to the LD/ST unit; data to dependent issue
	localStride   uint64    // bytes between consecutive local words of a thread
}

type textureConfig struct {
	rate    uint64 // filtered texels per cycle; 0: no texture units
	latency uint64 // of the filter pipeline
	backlog uint64 // cycles of work that may wait for the units
}

type translationConfig struct {
	ports     int // L1 TLB misses in a cycle
	latency   uint64
	pageShift uint
	misses    int
}

type l1Config struct {
	lineShift, sectorShift uint
	sectors                int  // per line
	apart                  bool // sectors leave the L1 and take the link one by one
	latency                uint64
	depth                  int // of the pipeline
	bankCount              int
	tags                   int // lines of an instruction that are looked up in a cycle; 0: what its banks allow, of any
	mshrs, merge           int
	missQueue              int
	sets, ways             int
	unified                int                      // bytes in common with shared memory; 0: none
	reserved               int                      // bytes of them that are neither
	carveouts              []int                    // bytes of them that can be shared memory
	index                  func(line uint64) uint32 // set of a line; nil: linear
	repl                   string
	writeAlloc, writePort  bool
	returnLatency          uint64 // arrival of an answer to its data
	skipGlobal             bool   // loads of global memory do not look into it
}

// Scratch is working memory of an SM's tick. The SMs of a machine share one, so it stays in the computer's cache.
type Scratch struct {
	step      isa.Step
	pass      isa.Step // of what vanishes (pipeline.enter)
	co        coalescer
	texture   fetchSize    // of the fetch that co has merged
	conflicts conflictMemo // the SMs run the same code
}

// NewScratch makes the scratch of the SMs of a configuration.
func NewScratch(c *Config) *Scratch {
	x := &Scratch{}
	x.step.Batch, x.pass.Batch = true, true
	x.conflicts.banks = c.ldst.sharedBanks
	x.co = coalescer{
		lineShift: c.l1.lineShift, sectorShift: c.l1.sectorShift, sectors: uint(c.l1.sectors), apart: c.l1.apart,
	}
	return x
}

// Derive reads the sheet. Errors name the sheet's path.
func Derive(m *sheets.Machine) (*Config, error) {
	s, l := &m.SM, &m.L1D
	if s.Threads%isa.Lanes != 0 || s.Threads/isa.Lanes > 64 || s.Threads == 0 {
		return nil, fmt.Errorf("sm.threads = %d: an SM holds 32 to 2048 threads in whole warps", s.Threads)
	}
	c := &Config{
		Warps: s.Threads / isa.Lanes, CTAs: s.CTAs, Threads: s.Threads, Regs: s.Registers, Shared: s.Shared,
		regUnit: max(1, s.RegisterUnit), contextWarp: s.CtxBytesWarp, contextShare: cmp.Or(s.CtxShare, 1),
		fetch: fetchConfig{
			width: uint8(max(1, s.FetchWidth)), latency: uint64(max(1, s.FetchLatency)),
			rate: uint64(max(1, s.FetchRate)),
		},
	}
	if err := c.deriveIssue(s); err != nil {
		return nil, err
	}
	c.issue.kHz = uint64(math.Round(m.Clock.Core * 1000))
	if s.SharedBanks < 1 || s.SharedBanks > 64 {
		return nil, fmt.Errorf("sm.shared_banks = %d: must be 1 to 64", s.SharedBanks)
	}
	c.ldst.sharedLatency, c.ldst.sharedBanks = uint64(s.SharedLatency), s.SharedBanks
	c.ldst.broadcast, c.ldst.atomicSector = s.AtomicBroadcast, uint64(s.AtomicSector)
	c.ldst.atomicSingle = uint64(s.AtomicSingle)
	c.ldst.fence[isa.GPUScope], c.ldst.fence[isa.SystemScope] = uint32(s.Fence[0]), uint32(s.Fence[1])
	c.ldst.localStride = uint64(s.Count*s.Threads) * 4
	if err := c.deriveL1(l); err != nil {
		return nil, err
	}
	c.l1.apart = m.NoC.Kind == "local"
	if rate := uint64(max(0, s.TextureRate)); rate > 0 {
		c.texture = textureConfig{
			rate: rate, latency: uint64(s.TextureLatency),
			backlog: uint64(s.TextureQueue) * ((isa.Lanes + rate - 1) / rate),
		}
	}
	c.timings(s)
	c.deriveCollect(s)
	c.translation.misses = max(1, m.VM.L1Misses)
	if c.translation.ports = m.VM.L1Ports; c.translation.ports == 0 {
		c.translation.ports = math.MaxInt
	}
	if m.VM.Enabled {
		c.translation.pageShift = log2(m.VM.Page)
		c.translation.latency = uint64(m.VM.L1Latency)
	}
	return c, nil
}

// Holds says why an SM can never hold a CTA of a launch: a number of the machine sheet is too small for it. It is nil
// if a CTA can become resident.
func (c *Config) Holds(k *isa.Code, g *isa.Geometry) error {
	threads, regs := g.Warps*isa.Lanes, g.Warps*c.RegsPerWarp(g.Regs)
	for _, x := range [...]struct {
		need, have int
		what, path string
	}{
		{threads, c.Threads, "threads", "sm.threads"},
		{regs, c.Regs, "registers", "sm.registers"},
		{g.SharedBytes, c.Shared, "bytes of shared memory", "sm.shared"},
	} {
		if x.need > x.have {
			return fmt.Errorf("kernel %s: a block of %d threads needs %d %s, and an SM has %d (%s): use smaller "+
				"blocks, or set %s to at least %d", k.Kernel, g.Threads, x.need, x.what, x.have, x.path, x.path, x.need)
		}
	}
	if c.issue.units[isa.TENSOR] > 0 {
		return nil
	}
	for i := range k.Instr {
		if k.Instr[i].Unit == isa.TENSOR {
			return fmt.Errorf("%s:%d: kernel %s multiplies matrices, and an SM has no TENSOR unit (the fifth of "+
				"sm.units): set at least 1", k.File, k.Instr[i].Line, k.Kernel)
		}
	}
	return nil
}

// cycles is the number of cycles that begin in a number of ns, at most some ms.
func (c *issueConfig) cycles(ns uint32) uint64 { return (uint64(ns)*c.kHz + 999_999) / 1_000_000 }

// free says that a fence keeps no warp waiting: a fence for the CTA, whose threads see the same L1, on sheets that
// give latencies for fences of wider scopes.
func (c *ldstConfig) free(s isa.Scope) bool { return s == isa.CTAScope && c.fence[isa.GPUScope] > 0 }

// deriveIssue reads the numbers of schedulers and units.
func (c *Config) deriveIssue(s *sheets.SM) error {
	x := &c.issue
	x.schedulers, x.width, x.units = s.Schedulers, max(1, s.IssueWidth), s.Units
	if x.pick = pickers[s.Policy]; x.pick == nil {
		return fmt.Errorf("sm.policy = %q: know gto and lrr", s.Policy)
	}
	if x.schedulers < 1 || x.schedulers > c.Warps {
		return fmt.Errorf("sm.schedulers = %d: must be between 1 and the number of warps, %d", x.schedulers, c.Warps)
	}
	for u, n := range s.Units {
		if n < 1 && u != int(isa.TENSOR) {
			return fmt.Errorf("sm.units[%d] = %d: an SM needs at least one unit of each class", u, n)
		}
	}
	if n := uint64(x.schedulers); n&(n-1) == 0 {
		x.schedMask = n - 1
	}
	if !s.ZeroFirst {
		x.turn = 1
	}
	for w := range x.schedOf {
		x.schedOf[w] = uint8(w % x.schedulers)
	}
	x.slack = uint64(s.Collectors / s.Schedulers)
	x.barrier, x.barrierWarp = uint64(max(1, s.BarrierLatency)), uint64(s.BarrierWarp)
	x.setup, x.setupWarp = uint64(s.CTASetup), uint64(math.Round(256*s.CTAWarp))
	x.atomicWait, x.lateRedirect, x.earlyExit = s.AtomicWait, s.LateRedirect, s.EarlyExit
	return nil
}

func (c *Config) deriveCollect(s *sheets.SM) {
	x := &c.collect
	*x = collectConfig{
		memQueue: max(2, s.Collectors), each: max(1, s.Collectors/s.Schedulers), shared: s.CollectorsShared, ports: 1,
	}
	if x.all = s.CollectAll && s.CollectorsShared; !x.all {
		return
	}
	x.banks, x.ports = log2(s.RegBanks/s.Schedulers), uint64(max(1, s.RegPorts))
	x.pass = 2 / x.ports
	c.issue.slack = math.MaxUint32 // an instruction that waits for a unit has a separate place
	for t, n := range c.issue.latency {
		x.slot[t] = 1 << max(0, int(n)-s.Overhead) // 0 for long latencies: few other instructions end in the same cycle
	}
	for n := range x.late {
		x.late[n] = uint64(1+n)/x.ports - x.pass
	}
}

func (c *Config) deriveL1(l *sheets.L1D) error {
	sectors := l.Line / max(1, l.Sector)
	if l.Line <= 0 || bits.OnesCount(uint(l.Line)) != 1 || l.Sector <= 0 || l.Line%l.Sector != 0 || sectors > 8 {
		return fmt.Errorf("l1d.line = %d, l1d.sector = %d: the line must be a power of two of 1 to 8 sectors",
			l.Line, l.Sector)
	}
	c.l1 = l1Config{
		lineShift: log2(l.Line), sectorShift: log2(l.Sector), sectors: sectors,
		latency: uint64(l.Latency), depth: l.Latency, bankCount: l.Banks, tags: l.Tags,
		mshrs: l.MSHRs, merge: l.Merge, missQueue: l.MissQueue,
		sets: l.Sets, ways: l.Ways, unified: l.Unified, reserved: l.Reserved, carveouts: l.Carveouts, repl: l.Repl,
		writeAlloc: l.WriteAlloc != "none", writePort: l.WritePort, skipGlobal: l.SkipGlobal,
		returnLatency: uint64(l.ReturnLatency),
	}
	if l.Index == "linear" { // which tags do by themselves
		return nil
	}
	set, err := addrmap.NewSetIndex(l.Index, l.Sets)
	if err != nil {
		return fmt.Errorf("l1d.index: %w", err)
	}
	shift := c.l1.lineShift
	c.l1.index = func(line uint64) uint32 { return uint32(set.Of(line >> shift)) }
	return nil
}

func (c *Config) timings(s *sheets.SM) {
	set := func(t isa.Timing, lat, ii, over int) {
		c.issue.latency[t], c.issue.interval[t] = uint32(lat+over), uint32(max(1, ii))
	}
	// A load spends Overhead cycles outside its pipeline, one of them to be taken: operand
	// collection before it, write-back after it.
	outside := max(0, s.Overhead-1)
	front := min(s.Overhead/2, outside)
	if s.CollectorsShared {
		front = min(places+1, outside)
	}
	c.ldst.front, c.ldst.back = uint64(front), uint64(outside-front)
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
	c.finer(s)
}

// finer sets the timings that only some sheets distinguish.
func (c *Config) finer(s *sheets.SM) {
	x := &c.issue
	for t := range isa.NumTimings {
		k := t.Coarse()
		x.counted[t], x.latency[t], x.interval[t] = uint8(k), x.latency[k], x.interval[k]
	}
	for t, v := range map[isa.Timing][2]int{
		isa.Logic: s.Logic, isa.BitCount: s.BitCount, isa.BitReverse: s.BitReverse, isa.Convert: s.Convert,
		isa.ConvertWide: s.ConvertWide, isa.HalfAdd: s.HalfAdd, isa.HalfMul: s.HalfMul, isa.HalfMad: s.HalfMad,
		isa.WideAdd: s.WideAdd, isa.WideMul: s.WideMul, isa.WideMad: s.WideMad, isa.WideDiv: s.WideDiv,
		isa.RootExact: s.RootExact, isa.RcpExact: s.RcpExact, isa.DivFast: s.DivFast, isa.DpRoot: s.DpRoot,
	} {
		if v[0] > 0 {
			x.latency[t], x.interval[t] = uint32(v[0]+s.Overhead), uint32(max(1, v[1]))
		}
	}
	for t, v := range map[isa.Timing][2]int{ // multiplications, and their rate
		isa.Half1K: {1024, 0}, isa.Half2K: {2048, 0}, isa.Half4K: {4096, 0},
		isa.Tf512: {512, 1}, isa.Tf1K: {1024, 1}, isa.Tf2K: {2048, 1}, isa.Byte2K: {2048, 2}, isa.Byte4K: {4096, 2},
	} {
		if rate := s.TensorRate[v[1]]; rate > 0 {
			each := float64(rate) / float64(max(1, s.Units[isa.TENSOR]))
			x.interval[t] = uint32(max(1, math.Round(float64(v[0])/each)))
			x.latency[t] = uint32(s.TensorLatency+s.Overhead) + x.interval[t]
		}
	}
}

func log2(n int) uint { return uint(bits.TrailingZeros(uint(max(1, n)))) }

// RegsPerWarp is the number of registers that a warp of a kernel with n registers per thread occupies.
func (c *Config) RegsPerWarp(n int) int {
	r := n * isa.Lanes
	return (r + c.regUnit - 1) / c.regUnit * c.regUnit
}
