package facts

// Why something of a result is no fact.
const (
	asked   = "what was asked for"
	derived = "computed from listed facts"
	prose   = "words"
	added   = "earlier versions did not tell it"
)

// left says what of a result is no fact, and why: fields by name, wherever they stand or
// in one type, and counters ("counter.owner.name").
var left = map[string]string{
	"Version": asked, "SpecHash": asked, "Spec": asked, "Policies": asked, "Machine": asked,
	"Wall": "depends on the computer",
	"Why":  prose, "Log": "listed as a hash", "Msg": prose, "Warnings": prose,
	"Tables": "listed by instance", "Stalls": "listed by line",
	"Tenant.Window": derived, "Tenant.Time": derived, "Tenant.PerExecution": derived, "Tenant.HeldSMCycles": derived,
	"Tenant.SharedSMs": derived, "Tenant.SharedChannels": derived, "Result.Outside": derived,
	"Kernel.Launch": added, "Kernel.CTAsPerSM": derived, "Kernel.L1Accesses": added, "Kernel.LLCAccesses": added,
	"Kernel.DRAMBytes": added, "Kernel.Roof": derived, "Kernel.TopStall": derived, "Kernel.Overlapped": derived,
	"Column.faults": added, "Column.active_share_cycles": added, "Column.wakes": added, "Column.waking_cycles": added,
	"counter.sm.active_share_cycles": added, "counter.sm.wakes": added, "counter.sm.waking_cycles": added,
	"Result.Nobody": derived, "Epoch.Nobody": added, "Moved.Gated": added, "Moved.Woken": added,
}

// renamed has the names under which facts were first listed, by their names today.
var renamed = map[string]string{
	"Tenant.BusyCycles": "KernelCycles",

	"Column.thread_insts": "ThreadInsts", "Column.warp_insts": "WarpInsts",
	"Column.l1_accesses": "L1Accesses", "Column.l1_hits": "L1Hits",
	"Column.llc_accesses": "LLCAccesses", "Column.llc_hits": "LLCHits",
	"Column.dram_reads": "DRAMReads", "Column.dram_writes": "DRAMWrites", "Column.dram_bytes": "DRAMBytes",
}

// called is the name of a fact of a type, and whether it is one.
func called(of, name string) (string, bool) {
	if left[name] != "" || left[of+"."+name] != "" {
		return "", false
	}
	if old := renamed[of+"."+name]; old != "" {
		return old, true
	}
	return name, true
}
