package sheets

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Memory is a fast tier, with the controller before both tiers. The slow tier is then the one of dram, map and
// clock.dram. Machines without the section have one tier.
type Memory struct {
	Fast   FastTier `yaml:"fast"`
	Hybrid Hybrid   `yaml:"hybrid"`
}

// FastTier is the fast memory: its devices, the places of its addresses and its power.
type FastTier struct {
	Clock      float64 `yaml:"clock" unit:"MHz" doc:"command clock of the fast tier"`
	Activate   float64 `yaml:"activate" unit:"pJ" doc:"opening and closing a row"`
	ReadBit    float64 `yaml:"read" unit:"pJ/bit" doc:"reading a bit, from the row to the controller"`
	WriteBit   float64 `yaml:"write" unit:"pJ/bit" doc:"writing a bit"`
	Background float64 `yaml:"background" unit:"mW" doc:"background power of a channel"`
	Device     DRAM    `yaml:"device"`
	Map        Map     `yaml:"map"`
}

// Hybrid is the controller of a memory of two tiers, and its policy.
type Hybrid struct {
	Mode     string `yaml:"mode" unit:"name" doc:"cache (the fast tier holds copies) or flat (both are memory)"`
	Capacity int64  `yaml:"capacity" unit:"bytes" doc:"blocks of the fast tier; the remap table lies above them"`
	Block    int    `yaml:"block" unit:"bytes" doc:"size of a block, which moves between the tiers as a whole: 64 to 2048"`
	Ways     int    `yaml:"ways" unit:"ways" doc:"blocks of a set that lie in the fast tier: 1 to 16"`
	Channels int    `yaml:"superchannels" unit:"superchannels" doc:"groups of channels of the fast tier that deliver a block together"`

	Policy      string  `yaml:"policy" unit:"name" doc:"none (LRU), waypart, hydrogen, hashcache, profess or profess-lru"`
	Partition   string  `yaml:"partition" unit:"name" doc:"what is divided: ways of each set, or sets, by the colors of pages (hydrogen)"`
	Cap         int     `yaml:"cap" unit:"ways" doc:"ways of each set for data of the CPU (waypart, hydrogen); if sets are divided: page colors for the CPU"`
	BW          int     `yaml:"bw" unit:"superchannels" doc:"superchannels that are reserved for the CPU (hydrogen)"`
	Writes      string  `yaml:"writes" unit:"name" doc:"write-back whose block is in the slow tier: migrate (as a read) or stay (it goes to the slow tier; always so with hashcache)" opt:"migrate"`
	Swap        string  `yaml:"swap" unit:"name" doc:"what a CPU hit outside its channels does: swap, prob, none or ideal (hydrogen)"`
	Tokens      string  `yaml:"tokens" unit:"name" doc:"what limits migrations of the GPU: none, fixed (tok) or share (tok_share) (hydrogen)"`
	Tok         int     `yaml:"tok" unit:"tokens" doc:"migrations of the GPU per period, with fixed"`
	TokShare    float64 `yaml:"tok_share" unit:"fraction" doc:"with share: part of the GPU's requests of a period that may migrate in the next period"`
	TokPeriod   int     `yaml:"tok_period" unit:"cycles" doc:"a period, in clocks of the CPU"`
	TokChannels bool    `yaml:"tok_per_channel" unit:"flag" doc:"a counter for each slow channel instead of one"`
	Reconfigure string  `yaml:"reconfigure" unit:"name" doc:"lazy (misplaced blocks leave when they are hit) or ideal (all at once, without cost; in flat memory only blocks that change places)"`
	Bloom       int     `yaml:"bloom" unit:"counters" doc:"counters of two bits in the filter of dirty blocks (hashcache)"`

	Clock     float64 `yaml:"clock" unit:"MHz" doc:"clock of the controller"`
	Banks     int     `yaml:"banks" unit:"lookups/cycle" doc:"banks of the controller, over which sets are interleaved"`
	Queue     int     `yaml:"queue" unit:"requests" doc:"requests that can wait for a bank"`
	Lookup    int     `yaml:"lookup" unit:"cycles" doc:"of the remap cache"`
	Remap     int     `yaml:"remap_cache" unit:"bytes" doc:"part of the remap table that is cached on the chip"`
	RemapWays int     `yaml:"remap_ways" unit:"ways" doc:"of the remap cache"`
	Entries   int     `yaml:"remap_misses" unit:"entries" doc:"lines of the remap table on their way"`
	Requests  int     `yaml:"requests" unit:"requests" doc:"requests that are accepted and not finished"`
	Registers int     `yaml:"registers" unit:"entries" doc:"transfers of blocks at once"`
	Buffers   int     `yaml:"buffers" unit:"entries" doc:"blocks of data for transfers: one each, two to swap or write back"`
	Port      int     `yaml:"port" unit:"requests" doc:"accesses that can wait for a channel"`
}

// Given says whether the machine has two tiers.
func (m *Memory) Given() bool { return m.Hybrid.Ways > 0 }

// FastPeak is the most bytes that the fast tier delivers in a core cycle; 0 if there is one tier.
func (m *Machine) FastPeak() float64 {
	if !m.Memory.Given() {
		return 0
	}
	f := &m.Memory.Fast
	burst := float64(f.Device.Access) / float64(max(1, f.Device.T.BL, f.Device.T.CCDS))
	return burst * float64(f.Device.Channels) * f.Clock / m.Clock.Core
}

// MemoryBytes is the size of the memory that programs have: dram's, or that of both tiers if they are flat.
func (m *Machine) MemoryBytes() int64 {
	if m.Memory.Given() && m.Memory.Hybrid.Mode == "flat" {
		return m.DRAM.Capacity + m.Memory.Hybrid.Capacity
	}
	return m.DRAM.Capacity
}

// memory checks the fast tier and the organisation of both.
func (c *checker) memory(m *Machine) {
	x, h := &m.Memory.Fast, &m.Memory.Hybrid
	if !m.Memory.Given() {
		c.want(*h == Hybrid{}, "memory.hybrid.ways is %d; a set has 1 to 16 blocks in the fast tier, and machines "+
			"of one tier have no memory.hybrid", h.Ways)
		return
	}
	c.want(x.Clock > 0 && x.Clock <= 1e5 && h.Clock > 0 && h.Clock <= 1e5,
		"memory.fast.clock and memory.hybrid.clock are %g and %g MHz; each must be above 0 and at most 100000", x.Clock,
		h.Clock)
	c.want(m.CPU.Clock > 0 || h.TokPeriod == 0, "memory.hybrid.tok_period counts cycles of cpu.clock, which is %g MHz",
		m.CPU.Clock)
	c.want(h.TokPeriod <= 0 || m.CPU.Clock <= 0 || float64(h.TokPeriod)*h.Clock >= m.CPU.Clock,
		"memory.hybrid.tok_period is %d cycles of cpu.clock = %g MHz; it must be at least %.0f, one cycle of "+
			"memory.hybrid.clock = %g MHz", h.TokPeriod, m.CPU.Clock, math.Ceil(m.CPU.Clock/max(h.Clock, 1e-9)),
		h.Clock)
	c.device("memory.fast.device", &x.Device)
	c.want(x.Map.Kind == "bits" && x.Map.Hash == "none",
		"memory.fast.map has kind %s with hash %s; ways name channels, so it must be bits without a hash", x.Map.Kind,
		x.Map.Hash)
	fast := *m
	fast.DRAM, fast.LLC.SlicesPerChannel = x.Device, 1
	c.mapBits(&fast, "memory.fast.map", "memory.fast.device", &x.Map)
	g := x.Map.Groups
	c.want(g == 0 || x.Device.Channels%g == 0, "memory.fast.map.groups is %d; it must divide "+
		"memory.fast.device.channels = %d", g, x.Device.Channels)
	for _, d := range []struct {
		path   string
		access int
	}{{"memory.fast.device.access", x.Device.Access}, {"dram.access", m.DRAM.Access}} {
		c.want(d.access == 64, "%s is %d; both tiers of a hybrid memory move 64 bytes an access", d.path, d.access)
	}
	c.want(m.LLC.Line >= 64, "llc.line is %d; a hybrid memory moves 64 bytes an access", m.LLC.Line)
	c.want(m.VM.Enabled, "memory.hybrid needs vm.enabled: without translation addresses may lie outside the memory")
	c.want(!m.DRAM.Migrates(),
		"memory.hybrid needs dram.migration none: pages of a hybrid memory do not migrate")
	c.organisation(m)
	c.policy(h)
}

// device checks the devices of another tier than dram's.
func (c *checker) device(path string, d *DRAM) {
	inner := &checker{}
	inner.dram(&Machine{DRAM: *d})
	for _, err := range inner.errs {
		c.errorf("%s", strings.ReplaceAll(err.Error(), "dram.", path+"."))
	}
}

// organisation checks how sets and blocks lie over both tiers.
func (c *checker) organisation(m *Machine) {
	h, fast := &m.Memory.Hybrid, &m.Memory.Fast.Device
	c.oneOf("memory.hybrid.mode", h.Mode, "cache", "flat")
	c.want(h.Ways <= 16, "memory.hybrid.ways is %d; a set has 1 to 16", h.Ways)
	c.positive("memory.hybrid.superchannels memory.hybrid.remap_cache memory.hybrid.remap_ways "+
		"memory.hybrid.tok_period", h.Channels, h.Remap, h.RemapWays, h.TokPeriod)
	for _, n := range []struct {
		name             string
		n, least, utmost int
	}{
		{"banks", h.Banks, 1, 64},
		{"queue", h.Queue, 1, 4096},
		{"lookup", h.Lookup, 1, 1000},
		{"remap_misses", h.Entries, 1, 4096},
		{"requests", h.Requests, 1, 1 << 16},
		{"registers", h.Registers, 1, 4096},
		{"buffers", h.Buffers, 2, 1 << 16}, // to swap takes two
		{"port", h.Port, 4, 4096},          // a look-up can send four accesses to a channel
	} {
		c.want(n.n >= n.least && n.n <= n.utmost, "memory.hybrid.%s is %d; it must be between %d and %d", n.name, n.n,
			n.least, n.utmost)
	}
	if h.Channels > 0 && h.Ways > 0 {
		c.want(h.Partition == "sets" || h.Ways%h.Channels == 0 || h.Channels%h.Ways == 0,
			"memory.hybrid.ways = %d and superchannels = %d do not divide: one must be a multiple of the other", h.Ways,
			h.Channels)
		c.want(fast.Channels%h.Channels == 0,
			"memory.fast.device.channels = %d must be a multiple of memory.hybrid.superchannels = %d",
			fast.Channels, h.Channels)
	}
	c.want(pow2(h.Block) && h.Block >= 64 && h.Block <= 2048,
		"memory.hybrid.block is %d; it must be a power of two from 64 to 2048", h.Block)
	c.want(h.Block < 1 || h.Queue >= m.LLC.Line/h.Block,
		"memory.hybrid.queue is %d; a line of the LLC (%d bytes) can bring %d blocks (memory.hybrid.block) to a bank "+
			"at once", h.Queue, m.LLC.Line, m.LLC.Line/max(1, h.Block))
	if lines := h.Remap / 64; h.RemapWays > 0 {
		c.want(lines >= h.RemapWays && lines%h.RemapWays == 0, "memory.hybrid.remap_cache is %d bytes; lines of 64 "+
			"make no sets of memory.hybrid.remap_ways = %d", h.Remap, h.RemapWays)
	}
	c.want(h.Capacity > 0 && h.Capacity <= fast.Capacity,
		"memory.hybrid.capacity is %d bytes; the fast tier's devices have %d (memory.fast.device.capacity)", h.Capacity,
		fast.Capacity)
	if set := int64(h.Block) * int64(h.Ways) * int64(fast.Channels); set > 0 && h.Capacity > 0 {
		c.want(h.Capacity%set == 0, "memory.hybrid.capacity is %d bytes; it must be a multiple of %d: sets of "+
			"memory.hybrid.ways = %d blocks of %d bytes in each of memory.fast.device.channels = %d", h.Capacity, set,
			h.Ways, h.Block, fast.Channels)
	}
	c.want(m.DRAM.Capacity >= h.Capacity,
		"the slow tier has dram.capacity = %d bytes, less than the fast one with memory.hybrid.capacity = %d",
		m.DRAM.Capacity, h.Capacity)
	c.want(h.Capacity <= 0 || bits.OnesCount64(uint64(m.DRAM.Capacity/max(h.Capacity, 1))) == 1 &&
		m.DRAM.Capacity%max(h.Capacity, 1) == 0,
		"dram.capacity = %d is not 1, 2, 4, 8 ... times memory.hybrid.capacity = %d", m.DRAM.Capacity, h.Capacity)
}

// policy checks what the policy may be and start with.
func (c *checker) policy(h *Hybrid) {
	c.oneOf("memory.hybrid.policy", h.Policy, "none", "waypart", "hydrogen", "hashcache", "profess", "profess-lru")
	c.oneOf("memory.hybrid.swap", h.Swap, "swap", "prob", "none", "ideal")
	c.oneOf("memory.hybrid.tokens", h.Tokens, "none", "fixed", "share")
	if h.Writes != "" {
		c.oneOf("memory.hybrid.writes", h.Writes, "migrate", "stay")
	}
	c.oneOf("memory.hybrid.reconfigure", h.Reconfigure, "lazy", "ideal")
	c.want(h.TokShare >= 0 && h.TokShare <= 1, "memory.hybrid.tok_share is %g; it must be between 0 and 1", h.TokShare)
	c.want(h.Mode != "flat" || h.Policy == "none" || h.Policy == "waypart" || h.Policy == "hydrogen",
		"memory.hybrid.policy is %s, which is for mode cache only", h.Policy)
	c.want(h.Policy != "hashcache" || h.Bloom >= 3, "memory.hybrid.bloom is %d; a filter has 3 or more", h.Bloom)
	c.oneOf("memory.hybrid.partition", h.Partition, "ways", "sets")
	c.want(h.Partition != "sets" || h.Policy == "hydrogen",
		"memory.hybrid.partition is sets, and memory.hybrid.policy %s does not divide sets: use hydrogen, or "+
			"partition ways", h.Policy)
	split := fmt.Sprintf("memory.hybrid.cap = %d and bw = %d", h.Cap, h.BW)
	switch {
	case h.Partition == "sets":
		c.want(h.Channels >= 2 && h.Channels <= 16,
			"memory.hybrid.superchannels is %d; sets can be divided over 2 to 16", h.Channels)
		c.want(h.Cap < h.Channels, "%s: of %d colors the CPU can have %d, and the GPU needs one", split, h.Channels,
			h.Channels-1)
		c.want(h.BW >= 0 && h.BW <= h.Cap, "%s: bw <= cap must hold where sets are divided", split)
	case h.Policy == "waypart" && h.Ways < 2:
		c.errorf("memory.hybrid.ways is %d, and memory.hybrid.policy waypart divides two or more", h.Ways)
	case h.Policy == "waypart":
		c.want(h.Cap >= 1 && h.Cap < h.Ways, "memory.hybrid.cap is %d; of %d ways the CPU can have 1 to %d", h.Cap,
			h.Ways, h.Ways-1)
	case h.Policy == "hydrogen" && h.Ways > 1:
		c.want(h.Cap < h.Ways, "%s: of memory.hybrid.ways = %d the CPU can have %d, and the GPU needs one", split,
			h.Ways, h.Ways-1)
		c.want(h.BW*h.Ways <= h.Cap*max(h.Channels, 1), "%s: bw*ways/superchannels <= cap must hold, with "+
			"memory.hybrid.ways = %d and memory.hybrid.superchannels = %d", split, h.Ways, h.Channels)
		fallthrough
	case h.Policy == "hydrogen":
		c.want(h.BW < h.Channels, "%s: of memory.hybrid.superchannels = %d, 0 to %d can be reserved for the CPU", split,
			h.Channels, h.Channels-1)
	}
}
