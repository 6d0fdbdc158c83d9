package control

import "fmt"

// Hydrogen. Li and Gao, "Hydrogen: Contention-Aware Hybrid Memory for Heterogeneous CPU-GPU Architectures", SC 2024,
// section IV-C: hill climbing over the CPU's ways of each set (cap), the channels that are the CPU's alone (bw) and
// the migrations of the GPU per period (tok), one step of one of them per period (hydrogen_search.go), for the
// weighted IPC. Every phase searches again. Period: 10 M CPU cycles, phase: 500 M; samples count cycles of the CPU.
// Hardware: registers for two configurations, instructions retired by CPU and GPU.
//
// Readings. A phase begins at the best point of the phase before and measures it again. The sample that ends a phase
// counts for the old phase, and its plan goes to that point. Phases count from 0, or from `first`: a cold machine is
// no measure for the rest of the run, and the paper fast-forwards over the beginning. The start is Figure 3's split;
// tokens begin where the machine says, else in the middle. A step that would leave the range or bw*ways/channels <=
// cap is not tried, so on that edge cap and bw, which move one at a time, can end beside the best pair. With one way
// per set cap has no meaning and is not searched. A point is judged by one period, as in the paper, or by the mean of
// as many as `repeat` says, where periods of one point differ by more than steps do.
func hydrogenEntry() Entry {
	return Entry{
		Name: "hydrogen", Source: "Li and Gao, Hydrogen, SC 2024, section IV-C", Period: 10_000_000,
		What: "capacity, bandwidth and migrations of a hybrid memory are divided between CPU and GPU by hill " +
			"climbing",
		Settings: []string{"ways", "channels", "tokens"}, Files: []string{"hydrogen_search.go", "hydrogen_params.go"},
		Params: hydrogenParams(), Epoch: "epoch", Needs: []string{"cycle", "cpu_ipc", "gpu_ipc"},
		Check: func(get func(string) float64) error {
			_, err := hydrogenGrid(get)
			return err
		},
		Start: func(get func(string) float64) Request {
			g, _ := hydrogenGrid(get)
			return (&HydrogenPlan{Cap: g.start[cpuWays], BW: g.start[cpuChannels], Tok: g.start[tokens]}).Request()
		},
		Make: func(m Machine, get func(string) float64) Policy {
			g, _ := hydrogenGrid(get)            // Check has looked
			epochs := func(name string) uint64 { // whole ones where a machine is looked at after each
				n, epoch := uint64(get(name)), uint64(get("epoch"))
				if m.CPUHz > 0 {
					n = (n + epoch - 1) / epoch * epoch
				}
				return n
			}
			return Of((&hydrogen{
				search: climb{grid: g, best: g.start}, phase: epochs("phase"), first: epochs("first"),
				cpu: get("w_cpu"), gpu: get("w_gpu"), repeat: int(get("repeat")),
			}).decide)
		},
	}
}

// hydrogenSample is what both sides did in a period.
type hydrogenSample struct {
	Clock
	CPU *float64 `json:"cpu_ipc" counter:"app.cpu_insts/app.cpu_cycles"`   // of all cores
	GPU *float64 `json:"gpu_ipc" counter:"app.simd8_insts/app.cpu_cycles"` // SIMD8 instructions per CPU cycle
}

func (s *hydrogenSample) Check() error {
	if s.CPU != nil && *s.CPU < 0 || s.GPU != nil && *s.GPU < 0 {
		return fmt.Errorf("cpu_ipc and gpu_ipc cannot be negative")
	}
	return nil
}

// value is the weighted IPC. A side that did nothing, or that was not there for a cycle, adds nothing.
func (h *hydrogen) value(s *hydrogenSample) (value float64) {
	if s.CPU != nil {
		value += h.cpu * *s.CPU
	}
	if s.GPU != nil {
		value += h.gpu * *s.GPU
	}
	return value
}

// hydrogen is the policy's state.
type hydrogen struct {
	search   climb
	cpu, gpu float64 // weights
	phase    uint64  // in the cycles of samples; 0: there is one that never ends
	first    uint64  // when the first one begins
	phases   uint64  // that are over
	repeat   int     // periods for which a point is held before it is judged; 0 and 1: one
	sum      float64 // of the values of the point that is held, and their number
	epochs   int
}

// judge gives the search the mean of a point's periods when there are enough of them.
func (h *hydrogen) judge(value float64) string {
	if h.search.settled {
		return h.search.measured(value)
	}
	h.sum, h.epochs = h.sum+value, h.epochs+1
	if h.epochs < h.repeat {
		return fmt.Sprintf("period %d of %d for this point", h.epochs, h.repeat)
	}
	if h.epochs > 1 {
		value = h.sum / float64(h.epochs)
	}
	mean := ""
	if h.repeat > 1 {
		mean = fmt.Sprintf("mean of %d periods %.4g: ", h.repeat, value)
	}
	h.sum, h.epochs = 0, 0
	return mean + h.search.measured(value)
}

func (h *hydrogen) decide(s *hydrogenSample) Plan {
	value := h.value(s)
	why := fmt.Sprintf("weighted IPC %.4g: ", value)
	if h.first > 0 && s.Cycle <= h.first {
		why += fmt.Sprintf("the first phase begins at cycle %d", h.first)
	} else {
		why += h.judge(value)
	}
	if h.phase > 0 && s.Cycle > h.first && (s.Cycle-h.first)%h.phase == 0 {
		h.phases++
		h.search.reopen()
		h.sum, h.epochs = 0, 0
		why += "; a new phase measures the best point again"
	}
	at := h.search.held()
	return &HydrogenPlan{
		Cycle: s.Cycle, Cap: at[cpuWays], BW: at[cpuChannels], Tok: at[tokens],
		Phase: h.phases, Settled: h.search.settled, Why: []string{why},
	}
}

// HydrogenPlan says how a hybrid memory is divided.
type HydrogenPlan struct {
	Cycle   uint64   `json:"cycle"` // cycle of the sample, in clocks of the CPU
	Cap     int      `json:"cap"`   // ways of each set for data of the CPU
	BW      int      `json:"bw"`    // superchannels that only the CPU uses
	Tok     int      `json:"tok"`   // tokens per period
	Phase   uint64   `json:"phase"`
	Settled bool     `json:"settled"` // the search is over: this is the best point of the phase
	Why     []string `json:"why,omitempty"`
}

// Request implements Plan.
func (p *HydrogenPlan) Request() Request {
	return Request{CPUWays: &p.Cap, CPUChannels: &p.BW, Tokens: &p.Tok}
}

// Reasons implements Plan.
func (p *HydrogenPlan) Reasons() []string { return p.Why }
