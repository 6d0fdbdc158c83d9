package sim

import "heddle/stat"

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
	Wall    Wall       `json:"wall"` // the only fields that differ between identical runs
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
	Total  float64 `json:"total"`
}

// Wall is what depends on the machine Heddle ran on.
type Wall struct {
	Host          string  `json:"host"`
	Version       string  `json:"heddle"`
	Seconds       float64 `json:"seconds"`
	CyclesPerS    float64 `json:"cycles_per_s"`
	WarpInstsPerS float64 `json:"warp_insts_per_s"`
}

// Progress is what a run tells while it goes on.
type Progress struct {
	Cycle, MaxCycles uint64 // MaxCycles 0: no bound known
	Tenants          []string
	IPC              []float64 // per tenant, since its start
	CyclesPerS       float64   // simulated cycles per second of wall time
}
