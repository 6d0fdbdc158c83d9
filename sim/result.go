package sim

import (
	"heddle/control"
	"heddle/stat"
)

// ResultVersion is the version of the result.json layout.
const ResultVersion = 1

// Result is everything a run tells. All fields but Wall are functions of the Spec.
type Result struct {
	Version  int      `json:"version"`
	SpecHash string   `json:"spec_hash"`
	Spec     Spec     `json:"spec"`
	Complete bool     `json:"complete"` // false: interrupted or out of cycles
	Why      string   `json:"why,omitempty"`
	Cycles   uint64   `json:"cycles"`
	Seconds  float64  `json:"seconds"` // simulated
	Tenants  []Tenant `json:"tenants"`
	// Metrics against alone-runs; nil when there is one application.
	Metrics *Metrics   `json:"metrics,omitempty"`
	Checks  []Check    `json:"checks"`
	Epochs  []Epoch    `json:"-"`        // epochs.csv / epochs.parquet
	Spans   []Span     `json:"-"`        // timeline.json
	Stalls  []Stall    `json:"-"`        // stalls.pb.gz
	Tables  []Counters `json:"counters"` // totals per component kind and tenant
	Energy  *Energy    `json:"energy,omitempty"`
	// Decisions of the machine-wide policy, one per control epoch (decisions.json).
	Decisions []Decision `json:"-"`
	// Moved sums up what the decisions cost; nil under a static sharing mode.
	Moved *Moved `json:"moved,omitempty"`
	// Contexts sums up what time slicing and SMK cost; nil under the other modes.
	Contexts *Contexts `json:"contexts,omitempty"`
	Wall     Wall      `json:"wall"` // the only fields that differ between identical runs
}

// Tenant is one application's share of the run.
type Tenant struct {
	Name     string `json:"name"`
	SMs      int    `json:"sms"`
	Channels int    `json:"channels"`
	Cycles   uint64 `json:"cycles"` // from arrival to the end of its first completion (or of the run)
	Runs     int    `json:"runs"`   // completed repetitions
	// KernelCycles are those of Cycles in which at least one of its kernels was on
	// the GPU: what IPC is measured over, so that host copies do not dilute it.
	KernelCycles uint64   `json:"kernel_cycles"`
	ThreadInsts  uint64   `json:"thread_insts"`
	WarpInsts    uint64   `json:"warp_insts"`
	IPC          float64  `json:"ipc"` // thread instructions per core cycle over KernelCycles
	L1HitRate    float64  `json:"l1_hit_rate"`
	LLCHitRate   float64  `json:"llc_hit_rate"`
	DRAMBytes    uint64   `json:"dram_bytes"`
	BandwidthGBs float64  `json:"bandwidth_gbs"`
	Faults       uint64   `json:"faults"`
	Slowdown     float64  `json:"slowdown,omitempty"` // alone IPC / IPC
	EnergyJ      float64  `json:"energy_j,omitempty"` // dynamic energy of its own events and its share of the static one
	Kernels      []Kernel `json:"kernels"`
	Log          []string `json:"log,omitempty"` // print() and log() of the script
	Err          string   `json:"error,omitempty"`
}

// Kernel is one launch.
type Kernel struct {
	Name        string `json:"name"`
	Stream      int    `json:"stream"`
	CTAs        int    `json:"ctas"`
	Start       uint64 `json:"start"`
	End         uint64 `json:"end"` // last store acknowledged
	ThreadInsts uint64 `json:"thread_insts"`
	WarpInsts   uint64 `json:"warp_insts"`
}

// Check is the outcome of one check() of a host program.
type Check struct {
	App  string `json:"app"`
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Msg  string `json:"msg,omitempty"`
}

// Metrics compare a shared run with each application alone on the whole machine.
type Metrics struct {
	STP      float64   `json:"stp"`  // sum of IPC_shared/IPC_alone (= weighted speed-up)
	ANTT     float64   `json:"antt"` // mean of IPC_alone/IPC_shared
	WS       float64   `json:"ws"`
	HS       float64   `json:"hs"`       // harmonic mean of normalised progress
	Fairness float64   `json:"fairness"` // min/max of normalised progress
	AloneIPC []float64 `json:"alone_ipc"`
}

// Epoch is one sample: counter differences since the previous one, per tenant.
type Epoch struct {
	Cycle   uint64
	Tenants []EpochTenant
}

// EpochTenant is a tenant's part of an epoch.
type EpochTenant struct {
	SMs, Channels                            int
	ThreadInsts, WarpInsts                   uint64
	L1Accesses, L1Hits, LLCAccesses, LLCHits uint64
	DRAMReads, DRAMWrites, DRAMBytes         uint64
	IPC, BandwidthGBs                        float64
}

// Span is one bar of the timeline.
type Span struct {
	Track      string // "kernels/<app>", "SM 12", "copies"
	Name       string
	Start, End uint64 // core cycles
	Tenant     int
}

// Stall attributes scheduler stall cycles to a PTX line.
type Stall struct {
	Kernel, File string
	Line         int
	Cause        string // scoreboard, unit, memory, barrier, fetch, ...
	Cycles       uint64
	Issues       uint64
}

// Counters is the total of one component kind for one tenant.
type Counters struct {
	Owner  string  `json:"owner"`
	Tenant string  `json:"tenant"`
	Values []Value `json:"values"`
	// Instances has the counters of each instance (SM, slice, channel) in the order of Values.
	Instances [][]uint64 `json:"-"`
}

// Value is one counter with its description.
type Value struct {
	stat.Desc
	N uint64 `json:"n"`
}

// Energy in joules.
type Energy struct {
	SM     float64 `json:"sm"`
	L1     float64 `json:"l1"`
	LLC    float64 `json:"llc"`
	NoC    float64 `json:"noc"`
	DRAM   float64 `json:"dram"`
	Static float64 `json:"static"`
	// Migration is the copying of MIGRATION commands, which DRAM leaves out.
	Migration float64 `json:"migration,omitempty"`
	Total     float64 `json:"total"`
}

// Wall is what depends on the machine Heddle ran on.
type Wall struct {
	Host          string  `json:"host"`
	Version       string  `json:"heddle"`
	Seconds       float64 `json:"seconds"`
	CyclesPerS    float64 `json:"cycles_per_s"`
	WarpInstsPerS float64 `json:"warp_insts_per_s"`
	TwoCoreCycles uint64  `json:"two_core_cycles,omitempty"` // simulated on two cores at once
}

// Progress is what a run tells while it goes on.
type Progress struct {
	Cycle, MaxCycles uint64 // MaxCycles 0: no bound known
	Tenants          []string
	IPC              []float64 // per tenant, since its start
	CyclesPerS       float64   // simulated cycles per second of wall time
}

// Contexts sums up the CTAs that were taken off SMs for another application, and came
// back later.
type Contexts struct {
	Turns  int    `json:"turns,omitempty"` // on the whole machine (time slicing)
	CTAs   int    `json:"ctas"`            // taken off
	Bytes  uint64 `json:"bytes"`           // of their contexts, written once and read once
	Cycles uint64 `json:"cycles"`          // core cycles in which they were taken off at least one SM
}

// Decision is one look of a policy at the machine and what came of it.
type Decision struct {
	Policy string `json:"policy"`
	Cycle  uint64 `json:"cycle"` // core cycle of the sample, at which the plan was asked for
	// Sample and Plan are the policy's own; of a result that was read from a file they are
	// what package json makes of them.
	Sample any `json:"sample"`
	Plan   any `json:"plan"`
	// Before and After are what applications held and are to have, of policies that set it.
	Before []control.Share `json:"before,omitempty"`
	After  []control.Share `json:"after,omitempty"`
	Why    []string        `json:"why,omitempty"`
	// Changed says that the plan changes something; Begun is the cycle at which the machine
	// began with it (0: not before the run's end, or never: a newer plan took its place),
	// Refused why it did not.
	Changed bool        `json:"changed"`
	Begun   uint64      `json:"begun_cycle,omitempty"`
	Refused string      `json:"refused,omitempty"`
	SMs     []SMMove    `json:"sms,omitempty"`
	Groups  []GroupMove `json:"groups,omitempty"`
}

// Done is the cycle at which the last of what a decision moves had changed hands; 0: not
// before the run's end. Pages may follow later.
func (d *Decision) Done() (cycle uint64) {
	cycle = d.Begun
	for i := range d.SMs {
		if d.SMs[i].End == 0 {
			return 0
		}
		cycle = max(cycle, d.SMs[i].End)
	}
	for i := range d.Groups {
		if d.Groups[i].Handed == 0 {
			return 0
		}
		cycle = max(cycle, d.Groups[i].Handed)
	}
	return cycle
}

// SMMove is an SM that changed hands.
type SMMove struct {
	SM    int    `json:"sm"`
	From  string `json:"from"`
	To    string `json:"to"`
	How   string `json:"how"` // idle, drain or switch
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`   // the new owner may dispatch; 0: not yet at the run's end
	CTAs  int    `json:"ctas"`  // resident at the start
	Bytes uint64 `json:"bytes"` // context written to memory
}

// GroupMove is a channel group that changed hands.
type GroupMove struct {
	Group   int    `json:"group"`
	From    string `json:"from"`
	To      string `json:"to"`
	Start   uint64 `json:"start"`
	Handed  uint64 `json:"handed"`           // drained and flushed: the new owner may use it; 0: not yet
	Emptied uint64 `json:"emptied"`          // the last page of the old owner left; 0: not yet
	Touched uint64 `json:"pages_touched"`    // pages of the old owner that moved because they were touched
	Swept   uint64 `json:"pages_background"` // moved in the background
	Gained  uint64 `json:"pages_gained"`     // pages the new owner moved in
	Waiting uint64 `json:"pages_waiting"`    // of the old owner, still there at the run's end
}

// Moved sums up the movement of SMs and pages in a run.
type Moved struct {
	Decisions    int     `json:"decisions"`
	Repartitions int     `json:"repartitions"`
	SMs          int     `json:"sms"`
	Drained      int     `json:"drained"`
	Switched     int     `json:"switched"`
	Groups       int     `json:"groups"`
	PagesTouched uint64  `json:"pages_touched"` // left a lost group because they were touched
	PagesSwept   uint64  `json:"pages_background"`
	PagesGained  uint64  `json:"pages_gained"` // moved into a gained group
	PagesWaiting uint64  `json:"pages_waiting"`
	MoveBytes    uint64  `json:"move_bytes"`    // bytes of pages copied
	ContextBytes uint64  `json:"context_bytes"` // bytes of contexts written and read
	Commands     uint64  `json:"migration_commands"`
	SMCycles     uint64  `json:"sm_cycles"`   // core cycles in which at least one SM was changing hands
	PageCycles   uint64  `json:"page_cycles"` // in which at least one page was moving or a channel drained
	EpochShare   float64 `json:"epoch_share"` // both together (their union), over the cycles of the run
	WorstEpoch   float64 `json:"worst_epoch"` // the largest such share of one epoch
}
