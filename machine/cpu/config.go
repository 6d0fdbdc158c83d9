package cpu

import (
	"math/bits"

	"github.com/heddle-sim/heddle/sheets"
)

// Config is what a core needs of the sheet.
type Config struct {
	window     int64
	perInstr   int64 // ticks of an instruction that nothing holds up
	loadPorts  int
	stores     int // places of the store buffer
	writeBacks int
	line       uint64
	llcLine    uint64
	sector     uint // log2 bytes of a sector of the LLC
	sectors    uint8
	l1, l2     level
	prefetch   sheets.CPUPrefetch
	branch     sheets.CPUBranch
}

// level is a private cache.
type level struct {
	sets, ways, mshrs int
	latency           uint64
}

// Derive reads the sheet, which has been validated and has cores.
func Derive(m *sheets.Machine) *Config {
	p := &m.CPU
	c := &Config{
		window: int64(p.Window), perInstr: perCycle / int64(p.Width), loadPorts: p.LoadPorts, stores: p.StoreBuffer,
		writeBacks: p.WriteBacks, line: uint64(p.Line), llcLine: uint64(m.LLC.Line),
		sector:   uint(bits.TrailingZeros(uint(m.LLC.Sector))),
		sectors:  uint8(1<<(p.Line/m.LLC.Sector) - 1),
		l1:       level{p.L1.Sets, p.L1.Ways, p.L1.MSHRs, uint64(p.L1.Latency)},
		l2:       level{p.L2.Sets, p.L2.Ways, p.L2.MSHRs, uint64(p.L2.Latency)},
		prefetch: p.Prefetch, branch: p.Branch,
	}
	return c
}
