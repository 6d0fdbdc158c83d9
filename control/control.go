// Package control holds the machine-wide policies, one file each: what counters tell
// goes in, what everybody gets next comes out. No policy sees the machine, so each can
// be replayed from recorded samples and tested with the papers' examples.
//
// A reader must know four types. Policy decides: it gets every sample and keeps
// what it needs of earlier ones. A sample is a struct of the policy's own, whose fields
// name the counters they are filled with (sampler.go). Plan is what it decides, again of
// its own kind; Allocation is the kind of all that divide SMs and channel groups. Entry is
// the description of a policy, and makes it; All lists them, a line each.
//
// A new policy is a file like the others and its line in All: CONTRIBUTING.md has one
// from the first line to the table that compares it.
package control

import "fmt"

// Policy decides what the machine does next. It is pure: the same samples in the same
// order give the same plans, whether a run or a file brings them.
type Policy interface {
	// NewSample is an empty sample of the policy's own type, for its owner to fill.
	NewSample() any
	// Decide is called with every sample in order of time, those taken while an earlier
	// plan is carried out included. The sample must not be changed.
	Decide(sample any) Plan
}

// Plan is a decision. Its JSON is the policy's own.
type Plan interface {
	// Request is what it asks of the machine.
	Request() Request
	// Reasons are for the decisions log, a line each.
	Reasons() []string
}

// Request is what a plan asks for, setting by setting. What is nil stays as it is. It is a
// target: the machine takes its time to get there, and a newer one replaces what of it has
// not begun.
type Request struct {
	SMs    []int   // per application; they need not add up to the machine
	Gated  *int    // SMs without an owner that are to be without power
	Groups []int   // channel groups, per application
	Quota  *Quota  // of instructions, on SMs that applications share
	CTAs   [][]int // per application and SM, the most that may be resident; below 0: no limit
	// Replicate: read-only lines of other partitions are looked up, and kept, in the near LLC slice.
	Replicate *bool
	Free      Freeing // how SMs that change hands are freed
	Latency   uint64  // core cycles between the sample and the first change

	CPUWays     *int // ways of each set of a hybrid memory for data of the CPU
	CPUChannels *int // superchannels of its fast tier that are the CPU's alone
	Tokens      *int // migrations of the GPU it may do per period; one with a write-back counts twice
}

// Freeing is how SMs are freed of their CTAs.
type Freeing string

// The ways to free an SM. The zero value is UGPU's rule: it is drained when its CTAs are
// expected to end within the policy's period, else its contexts are switched.
const (
	FreeByDrain  Freeing = "drain"  // its CTAs run to their ends, however long that takes
	FreeBySwitch Freeing = "switch" // their contexts are stored in memory
)

// Quota is how many thread instructions applications may issue on each SM in an epoch of
// Period core cycles; an SM fills its quotas up by itself when the epoch ends.
type Quota struct {
	Scheme QuotaScheme
	Period uint64
	PerSM  [][]int64 // per application and SM
	Goal   []bool    // per application: it has a target; the others are best effort
}

// QuotaScheme is what becomes of what is left of a quota, and who may issue when.
type QuotaScheme string

// The schemes of Wang et al., ISCA 2017.
const (
	Naive        QuotaScheme = "naive"         // filled up anew at every epoch's end
	Elastic      QuotaScheme = "elastic"       // or as soon as nobody on the SM has any left
	Rollover     QuotaScheme = "rollover"      // what an application with a target has left is added
	RolloverTime QuotaScheme = "rollover-time" // the same, and best effort runs after targets
)

// Of makes a Policy of a function that decides on samples of type S.
func Of[S any](decide func(*S) Plan) Policy { return typed[S]{decide} }

type typed[S any] struct{ decide func(*S) Plan }

func (t typed[S]) NewSample() any         { return new(S) }
func (t typed[S]) Decide(sample any) Plan { return t.decide(sample.(*S)) }

// Clock is embedded in every sample: when it was taken, and what nobody has.
type Clock struct {
	Cycle    uint64 `json:"cycle"`               // core cycle
	Epoch    uint64 `json:"epoch"`               // samples so far, this one included
	IdleSMs  int    `json:"idle_sms"`            // powered SMs without an owner
	GatedSMs int    `json:"gated_sms,omitempty"` // SMs without power, not among IdleSMs
	// SMsGating are the SMs on their way to be without power. (One that wakes is idle.)
	SMsGating int `json:"sms_gating,omitempty"`
	// Moving says that an earlier plan is not carried out yet: something changes hands.
	Moving bool `json:"moving,omitempty"`
}

// Held is embedded in the application of a sample: what it has. An SM on its way is its
// old owner's until it is handed over.
type Held struct {
	Name        string  `json:"name"`
	SMs         int     `json:"sms"`
	SMsArriving int     `json:"sms_arriving,omitempty"` // of others yet
	SMsLeaving  int     `json:"sms_leaving,omitempty"`  // among SMs
	Groups      int     `json:"groups,omitempty"`       // channel groups; 0: memory is shared
	QoS         float64 `json:"qos,omitempty"`          // target, thread instructions per core cycle; 0: none
	Ended       bool    `json:"ended,omitempty"`        // its program has ended for good: it needs nothing any more
}

// HeldKernel is embedded in the kernel of an application of a sample.
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
	Latency    uint64   `json:"decision_cycles,omitempty"` // the hardware takes to decide, before the sample
	Gated      int      `json:"gated_sms"`                 // as they are
	Why        []string `json:"why"`                       // one line per reason
}

// Share is what an application is to have.
type Share struct {
	Name string `json:"name"`
	Alloc
}

// Alloc is a number of SMs and channel groups.
type Alloc struct {
	SMs    int `json:"sms"`
	Groups int `json:"groups,omitempty"`
}

// String says it in words.
func (a Alloc) String() string { return many(a.SMs, "SM") + " and " + many(a.Groups, "group") }

// many is so many of something, in words.
func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Hold is the allocation that leaves everything as the sample has it.
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
