package hybrid

import "github.com/heddle-sim/heddle/stat"

// Counters of a tenant.
const (
	Reads         = iota
	Writes        //
	HitsDedicated // hits in ways of the CPU's own channels
	HitsCPU       // hits in the CPU's other ways
	HitsGPU       // hits in ways of the GPU, or in shared ways
	Misses        //
	WriteMisses   //
	Merged        //
	Migrations    //
	DirtyVictims  //
	Bypasses      //
	Passed        //
	Swaps         //
	SwapsSkipped  //
	Invalidations //
	DirtyDrops    //
	RemapHits     //
	RemapMisses   //
	TableReads    //
	TableWrites   //
	TagReads      //
	FastReads     //
	FastWrites    //
	SlowReads     //
	SlowWrites    //
	ReadLatency   //
	Stalls        //
	NumCounters   //
)

// Desc describes the counters of a hybrid memory's controller, a row per tenant.
var Desc = []stat.Desc{
	Reads:  {Name: "reads", Unit: "requests", Doc: "lines that the LLC requested"},
	Writes: {Name: "writes", Unit: "requests", Doc: "lines that the LLC wrote back"},
	HitsDedicated: {
		Name: "hits_dedicated", Unit: "requests",
		Doc: "requests found in the fast tier, in a channel reserved for the CPU",
	},
	HitsCPU: {Name: "hits_cpu_ways", Unit: "requests", Doc: "requests found in another way of the CPU"},
	HitsGPU: {Name: "hits_gpu_ways", Unit: "requests", Doc: "requests found in a way of the GPU, or in a shared way"},
	Misses:  {Name: "misses", Unit: "requests", Doc: "reads whose block was in the slow tier"},
	WriteMisses: {
		Name: "write_misses", Unit: "requests",
		Doc: "write-backs whose block was in the slow tier; again if it has come and left before the write",
	},
	Merged:     {Name: "merged", Unit: "requests", Doc: "requests whose block was being transferred"},
	Migrations: {Name: "migrations", Unit: "blocks", Doc: "blocks that misses brought into the fast tier"},
	DirtyVictims: {
		Name: "dirty_victims", Unit: "blocks",
		Doc: "migrations whose victim had to be written back, or swapped",
	},
	Bypasses: {Name: "bypasses", Unit: "requests", Doc: "misses whose block stayed in the slow tier"},
	Passed: {
		Name: "passed_by", Unit: "requests",
		Doc: "reads sent to the slow tier without a tag lookup, or after one if a transfer made them wait",
	},
	Swaps:        {Name: "swaps", Unit: "swaps", Doc: "blocks that changed places within the fast tier"},
	SwapsSkipped: {Name: "swaps_skipped", Unit: "swaps", Doc: "swaps that were dropped for lack of room"},
	Invalidations: {
		Name: "invalidations", Unit: "blocks",
		Doc: "misplaced blocks that left the fast tier after an access",
	},
	DirtyDrops: {
		Name: "dirty_invalidations", Unit: "blocks",
		Doc: "misplaced blocks that left and were written back, or exchanged",
	},
	RemapHits: {Name: "remap_hits", Unit: "requests", Doc: "requests that found their set in the remap cache"},
	RemapMisses: {
		Name: "remap_misses", Unit: "requests",
		Doc: "did not; again if a request is looked up once more and its set has left the remap cache",
	},
	TableReads:  {Name: "table_reads", Unit: "accesses", Doc: "lines of the remap table read from the fast tier"},
	TableWrites: {Name: "table_writes", Unit: "accesses", Doc: "lines of the remap table written to the fast tier"},
	TagReads:    {Name: "tag_reads", Unit: "accesses", Doc: "tags read from the fast tier before data"},
	FastReads:   {Name: "fast_reads", Unit: "accesses", Doc: "64 bytes read from the fast tier, for any reason"},
	FastWrites:  {Name: "fast_writes", Unit: "accesses", Doc: "64 bytes written to the fast tier"},
	SlowReads:   {Name: "slow_reads", Unit: "accesses", Doc: "64 bytes read from the slow tier"},
	SlowWrites:  {Name: "slow_writes", Unit: "accesses", Doc: "64 bytes written to the slow tier"},
	ReadLatency: {
		Name: "read_latency", Unit: "cycles",
		Doc: "sum over reads of controller cycles from acceptance to the last data",
	},
	Stalls: {Name: "stalls", Unit: "cycles", Doc: "cycles in which a lookup waited for room"},
}

type counts = [NumCounters]uint64
