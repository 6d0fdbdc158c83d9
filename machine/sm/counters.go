package sm

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/stat"
)

// Counter indices of an SM's row in the machine's "sm" table.
const (
	WarpInsts = iota
	ThreadInsts
	CTAsDone
	ActiveCycles
	ActiveShareCycles
	ResidentCTAs
	QuotaLeft
	QuotaHeldCycles
	IdleWarpCycles
	Barriers
	Loads
	Stores
	Atomics
	TextureFetches
	TextureBusy
	TextureWait
	SharedAccesses
	SharedConflicts
	L1Accesses
	L1Hits
	L1Pending
	L1Misses
	L1Stalls
	Requests
	RequestLatency
	TLBAccesses
	TLBHits
	Wakes
	WakingCycles
	ByTiming    // ByTiming + isa.Timing: thread instructions of that class
	numCounters = ByTiming + int(isa.Coarse)
)

var timingNames = [isa.Coarse]string{
	"other", "int_add", "int_max", "int_mul", "int_mad", "int_div", "shuffle",
	"fp_add", "fp_max", "fp_mul", "fp_mad", "fp_div", "dp_add", "dp_max", "dp_mul", "dp_mad", "dp_div", "special",
	"matrix",
}

// Counters describes them, in index order.
func Counters() []stat.Desc {
	d := []stat.Desc{
		{Name: "warp_insts", Unit: "instructions", Doc: "warp instructions issued"},
		{Name: "thread_insts", Unit: "instructions", Doc: "lanes that executed, summed over warp instructions"},
		{Name: "ctas", Unit: "CTAs", Doc: "thread blocks completed"},
		{Name: "active_cycles", Unit: "cycles", Doc: "SM-cycles with at least one resident CTA of the tenant"},
		{
			Name: "active_share_cycles", Unit: "cycles",
			Doc: "SM-cycles with resident CTAs, divided evenly among the tenants with CTAs",
		},
		{Name: "resident_ctas", Unit: "CTAs", Doc: "thread blocks on the SM now", Kind: stat.Gauge},
		{
			Name: "quota_left", Unit: "instructions", Kind: stat.Gauge,
			Doc: "thread instructions left of the quota; 0 if it is overdrawn, or without quotas",
		},
		{
			Name: "quota_held_cycles", Unit: "warp-cycles",
			Doc: "warp-cycles of idle_warp_cycles in which the quota held the warp back",
		},
		{
			Name: "idle_warp_cycles", Unit: "warp-cycles",
			Doc: "warp-cycles in which a warp could have issued, but had no quota or another warp was chosen; " +
				"counted on SMs with quotas only",
		},
		{Name: "barriers", Unit: "instructions", Doc: "barrier arrivals of warps"},
		{Name: "loads", Unit: "instructions", Doc: "global, local and generic warp loads"},
		{Name: "stores", Unit: "instructions", Doc: "global, local and generic warp stores"},
		{Name: "atomics", Unit: "instructions", Doc: "warp atomics and reductions on global memory"},
		{
			Name: "texture_fetches", Unit: "instructions",
			Doc: "warp texture fetches and surface accesses by texture units; loads or stores, too",
		},
		{Name: "texture_busy_cycles", Unit: "cycles", Doc: "cycles in which the texture units filtered"},
		{Name: "texture_wait_cycles", Unit: "cycles", Doc: "cycles in which fetches waited for the texture units, " +
			"summed over fetches"},
		{Name: "shared_accesses", Unit: "instructions", Doc: "warp accesses to shared memory"},
		{Name: "shared_conflict_cycles", Unit: "cycles", Doc: "extra cycles of shared-memory bank conflicts"},
		{Name: "l1_accesses", Unit: "sectors", Doc: "sectors presented to the L1D tags"},
		{Name: "l1_hits", Unit: "sectors", Doc: "sectors found valid, and written ones present at least in part"},
		{Name: "l1_pending_hits", Unit: "sectors", Doc: "sectors found on their way into the L1D"},
		{Name: "l1_misses", Unit: "sectors", Doc: "sectors requested from below, and written ones not present"},
		{
			Name: "l1_stall_cycles", Unit: "cycles",
			Doc: "cycles in which the first request of the L1D could not be served (MSHR, line or queue full)",
		},
		{Name: "requests", Unit: "requests", Doc: "requests that were sent to the interconnect"},
		{Name: "request_latency", Unit: "cycles", Doc: "sum of the round trips of these requests"},
		{Name: "tlb_accesses", Unit: "lookups", Doc: "L1 TLB lookups"},
		{Name: "tlb_hits", Unit: "lookups", Doc: "L1 TLB hits"},
		{Name: "wakes", Unit: "wakes", Doc: "power-gated SMs that began to wake for the tenant"},
		{Name: "waking_cycles", Unit: "cycles", Doc: "SM-cycles in which gated SMs woke up and belonged to no tenant"},
	}
	for _, n := range timingNames {
		d = append(d, stat.Desc{Name: "lanes_" + n, Unit: "instructions", Doc: "thread instructions of timing class " +
			n})
	}
	return d
}

// Cause says why a warp did not issue.
type Cause uint8

const (
	NoStall     Cause = iota
	Dependency        // an operand of an ALU instruction
	MemoryWait        // an operand that a load or atomic brings
	AtBarrier         // other warps of the CTA
	AtFence           // its own stores or copies
	Fetch             // instruction buffer empty, branch redirect
	Throttled         // ready, but no room for another memory instruction before the load/store unit
	Asleep            // nanosleep
	NotSelected       // ready, but the scheduler or unit served another warp, or its quota held it back
	NumCauses
)

func (c Cause) String() string {
	return [...]string{
		"none", "dependency", "memory", "barrier", "fence", "fetch", "throttled", "sleep", "not_selected",
	}[c]
}
