// Package control holds the machine-wide policies, one file each: functions of
// what counters tell to what everybody gets next. No policy sees the machine, so
// each can be replayed from recorded samples and tested with the papers' examples.
//
// A reader must know three types. Sample is what an epoch's counters say of every
// application. Plan is who gets how many SMs and channel groups next, and why.
// Policy turns the samples so far into a plan.
package control

// App is one application in a Sample: counts of the epoch and what it held then.
type App struct {
	Name   string `json:"name"`
	SMs    int    `json:"sms"`
	Groups int    `json:"groups"`
	// Cycles of the epoch in which it had a kernel on the GPU; core cycles.
	Cycles uint64 `json:"cycles"`
	// SMCycles sums over SMs the cycles in which one of its CTAs was resident.
	SMCycles    uint64  `json:"sm_cycles"`
	Insts       uint64  `json:"insts"`         // thread instructions
	LLCAccesses uint64  `json:"llc_accesses"`  // sectors presented to the LLC, walks included
	LLCHits     uint64  `json:"llc_hits"`      // of them found
	DRAMBytes   uint64  `json:"dram_bytes"`    // read and written for it, migrations left out
	Footprint   uint64  `json:"footprint"`     // bytes of device memory it has
	QoS         float64 `json:"qos,omitempty"` // target, thread instructions per core cycle; 0: none
}

// Sample is one epoch.
type Sample struct {
	Cycle uint64 `json:"cycle"` // core cycle of its end
	Epoch uint64 `json:"epoch"` // core cycles it was long
	Apps  []App  `json:"apps"`
}

// Machine is what a policy knows of the hardware, all fixed at set-up.
type Machine struct {
	SMs         int     // SMs of the machine
	Groups      int     // channel groups of the machine
	Channels    int     // channels of a group
	IPCMax      float64 // thread instructions an SM can issue per core cycle (UGPU, equation 1)
	Line        int     // bytes one LLC access of the counters stands for
	CoreHz      float64
	LLCBytes    float64 // raw bandwidth of the LLC slices of one channel, bytes/s (B_LLC of equation 2)
	MemBytes    float64 // bandwidth of one channel, bytes/s (B_MEM)
	GroupMemory uint64  // bytes of device memory in one channel group
	GroupLLC    uint64  // bytes of LLC in the slices of one channel group
}

// Alloc is what an application gets.
type Alloc struct {
	SMs    int `json:"sms"`
	Groups int `json:"groups"`
}

// Plan is a decision. The allocations are in the order of the applications and
// never exceed the machine; equal to what is held now, nothing moves.
type Plan struct {
	Alloc      []Alloc  `json:"alloc"`
	Iterations int      `json:"iterations,omitempty"`
	Latency    uint64   `json:"latency,omitempty"` // core cycles the hardware needs for it
	Why        []string `json:"why,omitempty"`     // one line per reason, for the decisions log
}

// Params are a policy's parameters by name; a policy refuses names it does not
// know when it is made.
type Params map[string]float64

// Policy decides after each epoch. history holds every sample so far, oldest
// first; the last one is the epoch that just ended. It must not be changed.
type Policy func(history []Sample) Plan

// Hold is the plan that leaves everything as the sample has it.
func Hold(s *Sample, why string) Plan {
	p := Plan{Alloc: make([]Alloc, len(s.Apps)), Why: []string{why}}
	for i := range s.Apps {
		p.Alloc[i] = Alloc{s.Apps[i].SMs, s.Apps[i].Groups}
	}
	return p
}
