package vm

import "github.com/heddle-sim/heddle/stat"

// Counters of the MMU, per tenant.
const (
	L2Accesses = iota
	L2Hits
	Merged
	Walks
	WalkReads
	WalkCycles
	WalkWait
	CacheHits
	Faults
	FaultCycles
	Shootdowns
	MoveFaults
)

// Desc describes the counters in their order.
func Desc() []stat.Desc {
	return []stat.Desc{
		{Name: "l2_tlb_accesses", Unit: "lookups", Doc: "shared L2 TLB lookups"},
		{Name: "l2_tlb_hits", Unit: "lookups", Doc: "L2 TLB hits"},
		{Name: "merged", Unit: "lookups", Doc: "L2 TLB misses that joined a pending miss of the same page"},
		{Name: "walks", Unit: "walks", Doc: "page walks begun; a fault walks twice"},
		{Name: "walk_reads", Unit: "reads", Doc: "page-table entries read through the LLC"},
		{Name: "walk_cycles", Unit: "cycles", Doc: "cycles walkers were occupied"},
		{Name: "walk_wait_cycles", Unit: "cycles", Doc: "cycles in which misses waited for a free walker"},
		{Name: "walk_cache_hits", Unit: "walks", Doc: "walks shortened by the page-walk cache"},
		{Name: "faults", Unit: "faults", Doc: "walks that ended at a page that is not on the device"},
		{Name: "fault_cycles", Unit: "cycles", Doc: "cycles from fault to resolution, summed over faults"},
		{Name: "shootdowns", Unit: "pages", Doc: "translations invalidated because the page moved or left"},
		{
			Name: "move_faults", Unit: "faults",
			Doc: "walks that ended at a page in a lost channel group, outside a gained one, or being moved",
		},
	}
}
