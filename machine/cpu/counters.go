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
		{Name: "loads", Unit: "loads", Doc: "loads that have reached the L1 or a store before them"},
		{Name: "stores", Unit: "stores", Doc: "stores that have reached the L1"},
		{Name: "forwards", Unit: "loads", Doc: "loads that took their data from the store buffer"},
		{Name: "l1_misses", Unit: "accesses", Doc: "loads and stores whose line was not in the L1"},
		{Name: "l1_writebacks", Unit: "lines", Doc: "written lines of the L1 that went back into the L2"},
		{Name: "l2_accesses", Unit: "lines", Doc: "lines the L1 asked the L2 for"},
		{Name: "l2_misses", Unit: "lines", Doc: "of them those that were neither there nor on their way"},
		{Name: "requests", Unit: "requests", Doc: "lines asked for below the L2, prefetches included"},
		{Name: "request_latency", Unit: "CPU cycles", Doc: "sum of their times from leaving the core to the answer"},
		{Name: "writebacks", Unit: "lines", Doc: "lines written back from the L2"},
		{Name: "prefetches", Unit: "lines", Doc: "lines asked for before they were needed"},
		{Name: "prefetch_hits", Unit: "lines", Doc: "of them those that were needed, on their way or there"},
		{Name: "load_cycles", Unit: "CPU cycles", Doc: "cycles in which retirement waited for a load"},
		{Name: "store_cycles", Unit: "CPU cycles", Doc: "cycles in which dispatch waited for room in the store buffer"},
		{Name: "branches", Unit: "instructions", Doc: "conditional branches"},
		{Name: "mispredicts", Unit: "instructions", Doc: "of them those that went another way than predicted"},
	}
}
