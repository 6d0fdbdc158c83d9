package sim

import (
	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// ResultVersion is the version of the result.json layout.
const ResultVersion = 2

// Result is the complete outcome of a run. All fields but Wall are functions of the Spec. Keys of quantities end in
// their unit (METRICS.md).
type Result struct {
	Version  int      `json:"version"`
	SpecHash string   `json:"spec_hash"`
	Spec     Spec     `json:"spec"`
	Complete bool     `json:"complete"` // false: interrupted or out of cycles
	Why      string   `json:"why,omitempty"`
	Cycles   uint64   `json:"run_cycles"`
	Seconds  float64  `json:"simulated_s"`
	Tenants  []Tenant `json:"tenants"`
	// Outside is the sum of the tenants' counts outside their windows. With the tenants' rows and Nobody it
	// adds up to the machine. Nil in functional runs.
	Outside *Outside `json:"outside_windows,omitempty"`
	// Nobody has the SM-cycles, channels and energy that no application held. Nil in functional runs.
	Nobody *Nobody `json:"nobody,omitempty"`
	// Targets lists the targets of applications and their kernels, with the values that were reached.
	Targets []Target `json:"targets,omitempty"`
	// Metrics against alone-runs; nil when there is one application.
	Metrics *Metrics `json:"metrics,omitempty"`
	Checks  []Check  `json:"checks"`
	Epochs  []Epoch  `json:"-"` // epochs.csv / epochs.parquet
	Spans   []Span   `json:"-"` // timeline.json
	Stalls  []Stall  `json:"-"` // stalls.pb.gz
	// Unfinished are, per tenant, the kernels that were on the GPU at the end, with their numbers up to then.
	Unfinished [][]Kernel `json:"-"`
	// Tables are totals per component kind: of each tenant's window, then of the time outside all windows (Tenant is
	// OutsideWindows).
	Tables []Counters `json:"counters"`
	Energy *Energy    `json:"energy,omitempty"`
	// Policies are the policies of the run, each with a digest of its source files.
	Policies []PolicyUse `json:"policies,omitempty"`
	// Decisions of the machine-wide policies, in order of time (decisions.json).
	Decisions []Decision `json:"-"`
	// Moved sums up the cost of the decisions; nil under a static sharing mode.
	Moved *Moved `json:"moved,omitempty"`
	// Contexts sums up the cost of time slicing and SMK; nil under the other modes.
	Contexts *Contexts `json:"contexts,omitempty"`
	// Touches counts the pages that SMs touched; nil unless the run was asked to count them.
	Touches *Touches `json:"page_touches,omitempty"`
	// Managed is the use of managed allocations under unified memory, by application and address.
	Managed []ManagedAllocation `json:"managed_allocations,omitempty"`
	// Warnings name numbers that can mislead, and the reason.
	Warnings []string `json:"warnings,omitempty"`
	// Machine is every number of the run's machine, with unit and source.
	Machine MachineSheet `json:"machine"`
	Wall    Wall         `json:"wall"` // the only fields that differ between identical runs
}

// MachineSheet is a resolved machine, from which sheets.FromEntries makes one again.
type MachineSheet struct {
	Name    string         `json:"name"`
	Numbers []sheets.Entry `json:"numbers"`
}

// OutsideWindows stands in place of a tenant's name for the time outside all windows.
const OutsideWindows = "outside windows"

// NobodyName stands in place of a tenant's name for SMs without an owner.
const NobodyName = "nobody's"

// Tenant is one application's share of the run. Every number describes its window, unless its comment says otherwise.
type Tenant struct {
	Name           string `json:"name"`
	SMs            int    `json:"sms"`      // at the run's end
	Channels       int    `json:"channels"` // at the run's end
	SharedSMs      bool   `json:"shared_sms,omitempty"`
	SharedChannels bool   `json:"shared_channels,omitempty"`
	Window         Window `json:"window"`
	Cycles         uint64 `json:"window_cycles"`
	Runs           int    `json:"complete_executions"` // of the whole run
	// Executions is the work done in the window: the number of complete executions, plus a fraction for an execution
	// that the window cuts. The fraction is its instructions divided by those of the whole execution, or of the mean
	// execution if it did not end.
	Executions   float64    `json:"executions"`
	PerExecution Executions `json:"per_execution"`
	// BusyCycles are the cycles of the window in which at least one of its kernels was on the GPU.
	BusyCycles   uint64   `json:"busy_cycles"`
	ThreadInsts  uint64   `json:"thread_insts"`
	WarpInsts    uint64   `json:"warp_insts"`
	IPC          float64  `json:"ipc"`          // thread instructions per core cycle
	BusyIPC      float64  `json:"busy_ipc"`     // thread instructions per busy cycle
	L1HitRate    *float64 `json:"l1_hit_rate"`  // of sectors; nil: there were no accesses
	LLCHitRate   *float64 `json:"llc_hit_rate"` // the same
	DRAMBytes    uint64   `json:"dram_bytes"`
	BandwidthGBs float64  `json:"dram_gb_per_s"`
	// MovedBytes and MovedGBs are DRAM traffic for it that it did not ask for: contexts of its CTAs, its pages.
	MovedBytes uint64  `json:"moved_dram_bytes"`
	MovedGBs   float64 `json:"moved_dram_gb_per_s"`
	Faults     uint64  `json:"faults"`
	// ManagedBytes is the largest amount of managed memory that it had in the run, rounded as unified memory rounds.
	ManagedBytes uint64 `json:"managed_bytes,omitempty"`
	// CPU is its work on CPU cores; nil: it has none. If it has no SM, IPC is that of the cores.
	CPU *TenantCPU `json:"cpu,omitempty"`
	// HeldSMCycles are the SM-cycles that it held: those of the SMs it owned or, if SMs are shared, its share of the
	// occupied SM-cycles.
	HeldSMCycles uint64   `json:"held_sm_cycles"`
	Slowdown     float64  `json:"slowdown,omitempty"` // progress per cycle alone over shared
	Progress     string   `json:"progress,omitempty"` // what the slowdown counts: "thread_insts" or "executions"
	EnergyJ      float64  `json:"energy_j,omitempty"` // energy of its own events, and its share of the shared parts
	Time         Time     `json:"time"`
	Kernels      []Kernel `json:"kernels"`       // of the whole run, in the order in which they ended
	Log          []string `json:"log,omitempty"` // print() and log() of the script
	Err          string   `json:"error,omitempty"`
}

// Outside is the sum over tenants of their counts outside their windows.
type Outside struct {
	ThreadInsts  uint64  `json:"thread_insts"`
	WarpInsts    uint64  `json:"warp_insts"`
	DRAMBytes    uint64  `json:"dram_bytes"`
	MovedBytes   uint64  `json:"moved_dram_bytes"`
	Faults       uint64  `json:"faults"`
	HeldSMCycles uint64  `json:"held_sm_cycles"`
	EnergyJ      float64 `json:"energy_j,omitempty"`
}

// Nobody has the SM-cycles of the run that no application held: with those held in and outside all
// windows they are SMs x cycles.
type Nobody struct {
	IdleSMCycles  uint64 `json:"idle_sm_cycles"`  // of SMs with power, those that wake among them
	GatedSMCycles uint64 `json:"gated_sm_cycles"` // of SMs that were powered down
}

// PageAccess is the accesses of a managed page in an epoch.
type PageAccess struct {
	Cycle  uint64 // the end of the epoch
	Tenant int
	Page   uint64 // virtual, of 4 KB
	N      uint32 // accesses of warps to lines
}

// ManagedAllocation is the use of a managed allocation in the whole run; repeated executions of a program count
// together. Accesses are those of warps to lines of 128 bytes; pages have 4 KB.
type ManagedAllocation struct {
	Tenant   string `json:"tenant"`
	Bytes    uint64 `json:"rounded_bytes"`
	Reads    uint64 `json:"reads"`
	Writes   uint64 `json:"writes"`
	Remote   uint64 `json:"remote_accesses"` // of these, accesses served on the host
	Migrated uint64 `json:"migrated_pages"`
	Again    uint64 `json:"thrashed_pages"`
	Left     uint64 `json:"evicted_pages"`
}

// Touches counts the pages of the whole run, of all tenants, by the SMs that touched them. A page that changed frames
// counts once for each.
type Touches struct {
	BySMs []uint64 `json:"pages_by_sms"` // [n-1] touched by n SMs
	// Homes counts by home (channel group) and partition (the SMs nearest to a group) the pages at
	// home that some SM of the partition touched; nil where pages span channels.
	Homes [][]uint64 `json:"pages_by_home_and_partition,omitempty"`
	// Accesses are those of managed pages by epoch, under unified memory (page_accesses.csv).
	Accesses []PageAccess `json:"-"`
}

// Time divides a tenant's window: they add up to its cycles.
type Time struct {
	Kernels uint64 `json:"kernel_cycles"` // with a kernel that began and ended in the window
	Cut     uint64 `json:"cut_cycles"`    // with others only
	Copies  uint64 `json:"copy_cycles"`   // with copies and no kernel
	Gaps    uint64 `json:"gap_cycles"`    // with neither: launching, and the host alone
}

// Kernel is one launch. Rates are over its cycles, from Start to End.
type Kernel struct {
	Name        string  `json:"name"`
	Stream      int     `json:"stream"`
	CTAs        int     `json:"ctas"`
	Launch      uint64  `json:"launch_cycle"`
	Start       uint64  `json:"start_cycle"` // first CTA issued
	End         uint64  `json:"end_cycle"`   // last store acknowledged
	ThreadInsts uint64  `json:"thread_insts"`
	WarpInsts   uint64  `json:"warp_insts"`
	IPC         float64 `json:"ipc"`
	ActiveLanes float64 `json:"active_lanes"` // per warp instruction
	CTAsPerSM   int     `json:"ctas_per_sm"`  // as many as fit on one
	Theoretical float64 `json:"theoretical_occupancy_share"`
	Achieved    float64 `json:"achieved_occupancy_share"` // of the warp slots of its tenant's SMs
	L1Accesses  uint64  `json:"l1_sectors"`
	LLCAccesses uint64  `json:"llc_sectors"`
	DRAMBytes   uint64  `json:"dram_bytes"`
	Roof        string  `json:"roof"` // the limit that it came nearest to: issue, L1, LLC, DRAM
	RoofShare   float64 `json:"roof_share"`
	TopStall    string  `json:"top_stall,omitempty"` // "": no warp waited
	// Overlapped: other kernels of the tenant ran meanwhile, and caches and DRAM do not distinguish the accesses of
	// the kernels.
	Overlapped bool `json:"overlapped,omitempty"`
}

// Check is the outcome of one check() of a host program.
type Check struct {
	App  string `json:"app"`
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Msg  string `json:"msg,omitempty"`
}

// Metrics compare a shared run with each application alone on the whole machine. STP is the same sum as the weighted
// speed-up.
type Metrics struct {
	STP      float64   `json:"stp"`       // sum of progress per cycle shared over alone
	ANTT     float64   `json:"antt"`      // mean slowdown
	HS       float64   `json:"hs"`        // harmonic mean of normalised progress
	Fairness float64   `json:"fairness"`  // least over most normalised progress
	AloneIPC []float64 `json:"alone_ipc"` // over the window of the alone-run
}

// Epoch is one sample: counter differences since the previous one, per tenant.
type Epoch struct {
	Cycle   uint64
	Tenants []EpochTenant
	Nobody  EpochNobody
	// ChannelBytes is the bytes that each DRAM channel moved, for any application; the tiers follow one another.
	ChannelBytes []uint64
}

// EpochNobody is the SMs, channels and SM-cycles that no application had in an epoch.
type EpochNobody struct {
	SMs, Channels int    // channels without an owner at its end; SMs are those without an owner, powered or not
	GatedSMCycles uint64 // of SMs that were powered down
}

// EpochTenant is a tenant's part of an epoch.
type EpochTenant struct {
	SMs, Channels     int
	Counts            []uint64 // one value for each of Columns
	IPC, BandwidthGBs float64
}

// Count is the value of one of Columns.
func (e *EpochTenant) Count(name string) uint64 {
	for i, c := range Columns() {
		if c.Name == name {
			return e.Counts[i]
		}
	}
	return 0
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
	Tenant       int
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
	Moved  bool    `json:"moved,omitempty"` // counts of data moved for it: contexts of its CTAs, its pages
	Values []Value `json:"values"`
	// Instances has the counters of each instance (SM, slice, channel) in the order of Values.
	Instances [][]uint64 `json:"-"`
}

// Value is one counter with its description.
type Value struct {
	stat.Desc
	N uint64 `json:"n"`
}

// Energy is in joules. Parts add up to Total, and so do Tenants with Outside and Nobody.
type Energy struct {
	Total   float64      `json:"total_j"`
	Parts   []EnergyPart `json:"parts"`
	Outside float64      `json:"outside_windows_j"`
	Nobody  float64      `json:"nobody_j"` // of SMs without an owner, and of their share of the chip
}

// EnergyPart is the energy of one part of the machine; each network and memory is a part.
type EnergyPart struct {
	Name string  `json:"part"`
	J    float64 `json:"energy_j"`
}

// Of is the energy of all parts of a kind, such as "noc" or "dram".
func (e *Energy) Of(kind string) float64 {
	sum := 0.0
	for _, p := range e.Parts {
		if stat.OfKind(p.Name, kind) {
			sum += p.J
		}
	}
	return sum
}

// Wall is the part of a result that depends on the computer Heddle ran on.
type Wall struct {
	Host          string  `json:"host"`
	Version       string  `json:"heddle"` // module version and revision
	Seconds       float64 `json:"wall_s"`
	CyclesPerS    float64 `json:"cycles_per_s"`
	WarpInstsPerS float64 `json:"warp_insts_per_s"`
	StrideCycles  uint64  `json:"stride_cycles,omitempty"` // core cycles simulated in strides
}

// Progress is the state of a run that is going on.
type Progress struct {
	Cycle, MaxCycles uint64 // MaxCycles 0: no bound known
	Tenants          []string
	IPC              []float64 // per tenant, since its first launch; per CPU cycle of one with CPU cores
	CyclesPerS       float64   // simulated cycles per second of wall time in the latest seconds
	Cores            int       // of the computer on which the run goes on
	// Waits says, for an application without progress for half a minute of wall time, which warps wait for which
	// events. It is said once.
	Waits []string
}

// Contexts sums up the CTAs that were taken off SMs for another application, and returned later.
type Contexts struct {
	Turns  int    `json:"turns,omitempty"` // on the whole machine (time slicing)
	CTAs   int    `json:"ctas"`            // taken off
	Bytes  uint64 `json:"context_bytes"`   // written once and read once
	Cycles uint64 `json:"freeing_cycles"`  // core cycles in which they were taken off at least one SM
	// The time of time slicing: means over SMs, in core cycles. Saving, loading and waiting are overhead. Wait is for
	// the last SM to be saved, Idle an SM without a CTA of the application whose turn it is, Refill the time until
	// the L1 had fetched again the lines that a switch flushed, while the SM worked.
	Save   float64 `json:"save_cycles,omitempty"`
	Wait   float64 `json:"wait_cycles,omitempty"`
	Load   float64 `json:"load_cycles,omitempty"`
	Refill float64 `json:"refill_cycles,omitempty"`
	Idle   float64 `json:"idle_cycles,omitempty"`
}

// Overhead is the mean number of core cycles in which an SM switched.
func (c *Contexts) Overhead() float64 { return c.Save + c.Wait + c.Load }

// Decision is one sample of a policy, its plan, and the effect of the plan.
type Decision struct {
	Policy string `json:"policy"`
	Cycle  uint64 `json:"cycle"` // core cycle of the sample, at which the plan was asked for
	// Sample and Plan have the policy's own types; in a result that was read from a file they have the types of
	// package json.
	Sample any `json:"sample"`
	Plan   any `json:"plan"`
	// Before and After are the shares that applications held and those that they shall get, for policies that set
	// shares.
	Before []control.Share `json:"before,omitempty"`
	After  []control.Share `json:"after,omitempty"`
	Why    []string        `json:"why,omitempty"`
	// Changed says that the plan changes something. Begun is the cycle at which the machine began with it (0: not
	// before the run's end, or never, because a newer plan took its place). Refused is the reason for which it did
	// not.
	Changed bool     `json:"changed"`
	Begun   uint64   `json:"begun_cycle,omitempty"`
	Refused string   `json:"refused,omitempty"`
	SMs     []SMMove `json:"sms,omitempty"`
	// Left says which moves of the plan could not begin, because SMs that should have been given were on their way
	// themselves.
	Left   []string    `json:"left,omitempty"`
	Groups []GroupMove `json:"groups,omitempty"`
}

// Done is the cycle at which the last SM or group of a decision had changed hands; 0: not before the run's end. Pages
// may follow later.
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

// SMMove is an SM that changed hands, or was powered down or woken. Its cost is the cycles from Start to End, in
// which no application could use it, and the contexts.
type SMMove struct {
	SM    int    `json:"sm"`
	From  string `json:"from"` // empty: no application
	To    string `json:"to"`
	Gate  bool   `json:"gated,omitempty"` // it was powered down at the end
	How   string `json:"how"`             // idle, drain, switch, or wake: it had been powered down
	Start uint64 `json:"start_cycle"`
	End   uint64 `json:"end_cycle"`     // the new owner may dispatch; 0: not yet at the run's end
	CTAs  int    `json:"ctas"`          // resident at the start
	Bytes uint64 `json:"context_bytes"` // written to memory
}

// GroupMove is a channel group that changed hands.
type GroupMove struct {
	Group   int    `json:"group"`
	From    string `json:"from"`
	To      string `json:"to"`
	Start   uint64 `json:"start_cycle"`
	Handed  uint64 `json:"handed_cycle"`     // drained and flushed: the new owner may use it; 0: not yet
	Emptied uint64 `json:"emptied_cycle"`    // the last page of the old owner left; 0: not yet
	Touched uint64 `json:"pages_touched"`    // pages of the old owner that moved because they were touched
	Swept   uint64 `json:"pages_background"` // moved in the background
	Gained  uint64 `json:"pages_gained"`     // pages the new owner moved in
	Waiting uint64 `json:"pages_waiting"`    // of the old owner, still there at the run's end
}

// PolicyUse is a policy with the settings of a run.
type PolicyUse struct {
	Policy string         `json:"policy"`
	Period uint64         `json:"period_cycles,omitempty"`
	Params control.Params `json:"params,omitempty"`
	Digest string         `json:"digest"` // of its source files
}

// Moved sums up the movement of SMs and pages in a run.
type Moved struct {
	Decisions    int     `json:"decisions"`
	Repartitions int     `json:"repartitions"` // number of times that a move of SMs or groups began
	SMs          int     `json:"sms"`
	Drained      int     `json:"drained"`
	Switched     int     `json:"switched"`
	Gated        int     `json:"gated"` // SMs powered down
	Woken        int     `json:"woken"` // and powered up again
	Groups       int     `json:"groups"`
	PagesTouched uint64  `json:"pages_touched"` // pages that left a lost group because they were touched
	PagesSwept   uint64  `json:"pages_background"`
	PagesGained  uint64  `json:"pages_gained"` // moved into a gained group
	PagesWaiting uint64  `json:"pages_waiting"`
	MoveBytes    uint64  `json:"move_bytes"`    // bytes of pages copied
	ContextBytes uint64  `json:"context_bytes"` // bytes of contexts written and read
	Commands     uint64  `json:"migration_commands"`
	SMCycles     uint64  `json:"sm_cycles"`         // core cycles in which at least one SM was changing hands
	PageCycles   uint64  `json:"page_cycles"`       // in which at least one page was moving or a channel drained
	EpochShare   float64 `json:"epoch_share"`       // cycles in which either was moving, over the cycles of the run
	WorstEpoch   float64 `json:"worst_epoch_share"` // the largest such share of one epoch
}
