// Package control holds the machine-wide policies, one file each. A policy gets counters and returns what each
// application shall have next. No policy sees the machine, so each can be replayed from recorded samples and tested
// with the papers' examples.
//
// A reader must know four types. Policy decides: it gets every sample, and remembers what it needs. A sample is a
// struct of the policy's own, whose fields name the counters they are filled with (sampler.go). Plan is its decision,
// also a type of its own. Policies that divide SMs and channel groups share the type Allocation. Entry describes a
// policy and makes it. All lists the entries.
//
// A new policy is one file and one line in All. CONTRIBUTING.md has an example from the first line to the table that
// compares it.
package control

import "fmt"

// Policy decides what the machine does next. It is pure: the same samples in the same
// order give the same plans, whether a run or a file brings them.
type Policy interface {
	// NewSample makes an empty sample of the policy's own type. The caller fills it.
	NewSample() any
	// Decide gets every sample in order of time, also those taken while an earlier plan is still being carried out.
	// It must not change the sample.
	Decide(sample any) Plan
}

// Plan is a decision. Its JSON is the policy's own.
type Plan interface {
	// Request is what the plan asks the machine to do.
	Request() Request
	// Reasons explain the plan in the decisions log, a line each.
	Reasons() []string
}

// Request is what a plan asks for, setting by setting. A setting that is nil stays as it is. A request is a target
// that the machine needs time to reach; a newer request replaces the parts of it that have not begun.
type Request struct {
	SMs    []int   // per application; they need not add up to the machine
	Gated  *int    // SMs without an owner that shall be powered down
	Groups []int   // channel groups, per application
	Quota  *Quota  // of instructions, on SMs that applications share
	CTAs   [][]int // per application and SM, the most that may be resident; below 0: no limit
	// Replicate turns copies of read-only lines on: the near LLC slice looks lines of other partitions up and keeps
	// them.
	Replicate *bool
	Free      Freeing // how SMs that change hands are freed
	Latency   uint64  // core cycles between the sample and the first change

	CPUWays     *int // ways of each set of a hybrid memory for data of the CPU
	CPUChannels *int // superchannels of its fast tier that only the CPU uses
	Tokens      *int // migrations that the GPU may start in a period; one with a write-back counts twice
}

// Freeing says how the CTAs of an SM are removed before it changes hands.
type Freeing string

// The ways to free an SM. The zero value is UGPU's rule: an SM is drained if its CTAs are expected to end within the
// policy's period, else their contexts are switched.
const (
	FreeByDrain  Freeing = "drain"  // its CTAs run to their ends, however long that takes
	FreeBySwitch Freeing = "switch" // their contexts are stored in memory
)

// Quota is how many thread instructions applications may issue on each SM in a quota period of Period core cycles. An
// SM fills its quotas up by itself at the end of each quota period.
type Quota struct {
	Scheme QuotaScheme
	Period uint64
	PerSM  [][]int64 // per application and SM
	Goal   []bool    // per application: it has a target; the others are best effort
}

// QuotaScheme says what happens to the unused part of a quota, and which application may issue when.
type QuotaScheme string

// The schemes of Wang et al., ISCA 2017.
const (
	Naive        QuotaScheme = "naive"         // filled up again at the end of each quota period
	Elastic      QuotaScheme = "elastic"       // or as soon as no application on the SM has quota left
	Rollover     QuotaScheme = "rollover"      // the unused quota of an application with a target is kept
	RolloverTime QuotaScheme = "rollover-time" // the same, and best-effort applications run after those with targets
)

// Of makes a Policy from a function that decides on samples of type S.
func Of[S any](decide func(*S) Plan) Policy { return typed[S]{decide} }

type typed[S any] struct{ decide func(*S) Plan }

func (t typed[S]) NewSample() any         { return new(S) }
func (t typed[S]) Decide(sample any) Plan { return t.decide(sample.(*S)) }

// Clock is embedded in every sample: when it was taken, and the SMs without an owner.
type Clock struct {
	Cycle    uint64 `json:"cycle"`               // core cycle
	Epoch    uint64 `json:"epoch"`               // samples so far, this one included
	IdleSMs  int    `json:"idle_sms"`            // powered SMs without an owner
	GatedSMs int    `json:"gated_sms,omitempty"` // SMs that are powered down, not counted in IdleSMs
	// SMsGating are the SMs that are being powered down. An SM that wakes up counts as idle.
	SMsGating int `json:"sms_gating,omitempty"`
	// Moving says that an earlier plan is not carried out yet: some SM or channel group is changing hands.
	Moving bool `json:"moving,omitempty"`
}

// Held is embedded in the application of a sample: what the application owns. An SM belongs to its old owner until it
// is handed over.
type Held struct {
	Name        string  `json:"name"`
	SMs         int     `json:"sms"`
	SMsArriving int     `json:"sms_arriving,omitempty"` // SMs on their way to it, which others still own
	SMsLeaving  int     `json:"sms_leaving,omitempty"`  // SMs counted in SMs that are on their way to others
	Groups      int     `json:"groups,omitempty"`       // channel groups; 0: memory is shared
	QoS         float64 `json:"qos,omitempty"`          // target, thread instructions per core cycle; 0: none
	Ended       bool    `json:"ended,omitempty"`        // its program has ended for good: it needs no SMs any more
}

// HeldKernel is embedded in a kernel of an application of a sample.
type HeldKernel struct {
	Name string  `json:"name"`
	QoS  float64 `json:"qos,omitempty"` // target, thread instructions per cycle it runs; 0: none
}

// Held is itself, for code that has an application of any kind of sample.
func (h *Held) held() *Held { return h }

// Allocation is the plan of policies that divide SMs and channel groups.
type Allocation struct {
	Cycle      uint64   `json:"cycle"` // of the sample
	Apps       []Share  `json:"apps"`
	Iterations int      `json:"iterations,omitempty"`
	Latency    uint64   `json:"decision_cycles,omitempty"` // core cycles that the hardware takes to decide
	Gated      int      `json:"gated_sms"`                 // SMs that are powered down in the sample
	Why        []string `json:"why"`                       // one line per reason
}

// Share is what an application shall get.
type Share struct {
	Name string `json:"name"`
	Alloc
}

// Alloc is a number of SMs and channel groups.
type Alloc struct {
	SMs    int `json:"sms"`
	Groups int `json:"groups,omitempty"`
}

// String describes the allocation in words.
func (a Alloc) String() string { return many(a.SMs, "SM") + " and " + many(a.Groups, "group") }

// many is a number of something, in words.
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Hold is the allocation that changes nothing: everything stays as the sample has it.
func Hold[A any, P interface {
	*A
	held() *Held
}](c *Clock, apps []A, why ...string) *Allocation {
	p := &Allocation{Cycle: c.Cycle, Gated: c.GatedSMs, Why: append([]string{}, why...)}
	for i := range apps {
		h := P(&apps[i]).held()
		p.Apps = append(p.Apps, Share{h.Name, Alloc{h.SMs, h.Groups}})
	}
	return p
}

// Request implements Plan.
func (p *Allocation) Request() Request {
	var r Request
	for _, a := range p.Apps {
		r.SMs, r.Groups = append(r.SMs, a.SMs), append(r.Groups, a.Groups)
	}
	return r
}

// Reasons implements Plan.
func (p *Allocation) Reasons() []string { return p.Why }
