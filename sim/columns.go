package sim

import "github.com/heddle-sim/heddle/stat"

// Column is a number of epochs and results that is computed from counters. Another network, tier or kind of memory
// adds parts to a number, never another field.
type Column struct {
	Name  string // ends in its unit (METRICS.md)
	Unit  string
	parts []string // "kind.counter", see stat.Set.Parts
	bytes bool     // parts are DRAM accesses, each of this number of bytes
}

// The columns other code looks up by name.
const (
	threadInsts = "thread_insts"
	warpInsts   = "warp_insts"
	l1Accesses  = "l1_accesses"
	l1Hits      = "l1_hits"
	llcAccesses = "llc_accesses"
	llcHits     = "llc_hits"
	dramBytes   = "dram_bytes"
	faults      = "faults"
	activeShare = "active_share_cycles"
	wakes       = "wakes"
	waking      = "waking_cycles"
	cpuInsts    = "cpu_insts"
	cpuAccesses = "cpu_accesses"
	cpuL1Misses = "cpu_l1_misses"
	cpuL2Misses = "cpu_l2_misses"
)

// Columns lists the numbers of an epoch, in the order of epochs.csv.
func Columns() []Column {
	bursts := []string{"dram.read_bursts", "dram.write_bursts"}
	return []Column{
		{Name: threadInsts, Unit: "instructions", parts: []string{"sm.thread_insts"}},
		{Name: warpInsts, Unit: "instructions", parts: []string{"sm.warp_insts"}},
		{Name: l1Accesses, Unit: "sectors", parts: []string{"sm.l1_accesses"}},
		{Name: l1Hits, Unit: "sectors", parts: []string{"sm.l1_hits"}},
		{Name: llcAccesses, Unit: "sectors", parts: []string{"llc.accesses"}},
		{Name: llcHits, Unit: "sectors", parts: []string{"llc.hits"}},
		{Name: "dram_reads", Unit: "accesses", parts: bursts[:1]},
		{Name: "dram_writes", Unit: "accesses", parts: bursts[1:]},
		{Name: dramBytes, Unit: "bytes", parts: bursts, bytes: true},
		{Name: faults, Unit: "faults", parts: []string{"mmu.faults", "pager.faults"}},
		{Name: activeShare, Unit: "SM-cycles", parts: []string{"sm.active_share_cycles"}},
		{Name: wakes, Unit: "wakes", parts: []string{"sm.wakes"}},
		{Name: waking, Unit: "SM-cycles", parts: []string{"sm.waking_cycles"}},
		{Name: cpuInsts, Unit: "instructions", parts: []string{"cpu.insts"}},
		{Name: cpuAccesses, Unit: "accesses", parts: []string{"cpu.loads", "cpu.stores"}},
		{Name: cpuL1Misses, Unit: "accesses", parts: []string{"cpu.l1_misses"}},
		{Name: cpuL2Misses, Unit: "lines", parts: []string{"cpu.l2_misses"}},
	}
}

// columns are Columns found in the tables of a machine.
type columns struct {
	at    map[string]int
	parts []stat.Parts
	times []uint64
}

func newColumns(set stat.Set, access int) (*columns, error) {
	out := &columns{at: map[string]int{}}
	for i, c := range Columns() {
		p, err := set.Parts(c.parts...)
		if err != nil {
			return nil, err
		}
		times := uint64(1)
		if c.bytes {
			times = uint64(access)
		}
		out.at[c.Name] = i
		out.parts, out.times = append(out.parts, p), append(out.times, times)
	}
	return out, nil
}

// count is one column of a copy of a tenant's counters.
func (c *columns) count(s stat.Sums, name string) uint64 {
	i := c.at[name]
	return c.parts[i].Of(s) * c.times[i]
}

// all is every column.
func (c *columns) all(s stat.Sums) []uint64 {
	out := make([]uint64, len(c.parts))
	for i, p := range c.parts {
		out[i] = p.Of(s) * c.times[i]
	}
	return out
}
