package cpu

import "github.com/heddle-sim/heddle/stat"

// Counter indices of a core's row in the machine's "cpu" table.
const (
	Insts = iota
	Cycles
	Executions
	Loads
	Stores
	Forwards
	L1Misses
	L1WriteBacks
	L2Accesses
	L2Misses
	Requests
	RequestCycles
	WriteBacks
	Prefetches
	PrefetchHits
	LoadCycles
	StoreCycles
	Branches
	Mispredicts
	numCounters
)

// Counters describes them, in index order.
func Counters() []stat.Desc {
	return []stat.Desc{
		{Name: "insts", Unit: "instructions", Doc: "instructions retired"},
		{Name: "cycles", Unit: "CPU cycles", Doc: "cycles of cores that ran a program"},
		{Name: "executions", Unit: "executions", Doc: "times the program was executed to its end"},
		{Name: "loads", Unit: "loads", Doc: "loads that reached the L1 or found an earlier store"},
		{Name: "stores", Unit: "stores", Doc: "stores that reached the L1"},
		{Name: "forwards", Unit: "loads", Doc: "loads that took their data from the store buffer"},
		{Name: "l1_misses", Unit: "accesses", Doc: "loads and stores that missed in the L1"},
		{Name: "l1_writebacks", Unit: "lines", Doc: "dirty lines that the L1 wrote back into the L2"},
		{Name: "l2_accesses", Unit: "lines", Doc: "lines that the L1 requested from the L2"},
		{Name: "l2_misses", Unit: "lines", Doc: "requests of the L1 whose line was neither in the L2 nor on its way"},
		{Name: "requests", Unit: "requests", Doc: "lines requested from below the L2, prefetches included"},
		{Name: "request_latency", Unit: "CPU cycles", Doc: "sum of the times of these requests from leaving the " +
			"core to the answer"},
		{Name: "writebacks", Unit: "lines", Doc: "lines written back from the L2"},
		{Name: "prefetches", Unit: "lines", Doc: "prefetched lines"},
		{Name: "prefetch_hits", Unit: "lines", Doc: "prefetched lines that were used, in the L2 or on their way"},
		{Name: "load_cycles", Unit: "CPU cycles", Doc: "cycles in which retirement waited for a load"},
		{Name: "store_cycles", Unit: "CPU cycles", Doc: "cycles in which dispatch waited for room in the store buffer"},
		{Name: "branches", Unit: "instructions", Doc: "conditional branches"},
		{Name: "mispredicts", Unit: "instructions", Doc: "mispredicted branches"},
	}
}
