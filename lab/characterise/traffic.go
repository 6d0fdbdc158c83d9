package characterise

import (
	"strings"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// Traffic is the result of the counters of a timed run.
type Traffic struct {
	Cycles      uint64  `json:"window_cycles"`     // first launch to end, host included
	Kernel      uint64  `json:"busy_cycles"`       // with a kernel on the GPU
	Stopped     bool    `json:"stopped,omitempty"` // at Options.Cycles, before its end
	ThreadInsts uint64  `json:"thread_insts"`
	IPC         float64 `json:"busy_ipc"` // thread instructions per cycle with a kernel
	MPKI        float64 `json:"mpki"`     // LLC misses per 1000 thread instructions
	APKI        float64 `json:"apki"`     // LLC accesses per 1000 thread instructions
	L1Hit       float64 `json:"l1_hit_rate"`
	LLCHit      float64 `json:"llc_hit_rate"`
	WriteShare  float64 `json:"write_share"` // of LLC requests: writes and atomics
	// Flops counts add, multiply, compare, divide and special functions of single and
	// double precision as one, fused multiply-add as two. Matrix instructions are not
	// in it: their size is not counted; Matrix is how many lanes executed one.
	Flops     uint64  `json:"flops"`
	Matrix    uint64  `json:"matrix_lanes,omitempty"`
	DRAMBytes uint64  `json:"dram_bytes"`
	Intensity float64 `json:"flops_per_dram_byte"`
	Bandwidth float64 `json:"dram_gb_per_s"` // over the cycles with a kernel
	// Demand and Supply are UGPU's (section 3.2) for the whole machine, in GB/s.
	Demand float64 `json:"demand_gb_per_s"`
	Supply float64 `json:"supply_gb_per_s"`
}

// counter is the total of one counter of the first tenant; 0 when the machine has none.
func counter(r *sim.Result, owner, name string) uint64 {
	for i := range r.Tables {
		if r.Tables[i].Owner != owner {
			continue
		}
		for _, v := range r.Tables[i].Values {
			if v.Name == name {
				return v.N
			}
		}
	}
	return 0
}

// known is a rate; 0 where there was nothing to be one of.
func known(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// newTraffic reads the result of an application alone on m.
func newTraffic(r *sim.Result, m *sheets.Machine) *Traffic {
	t := &r.Tenants[0]
	kilo := float64(t.ThreadInsts) / 1000
	accesses, misses, hits := counter(r, "llc", "accesses"), counter(r, "llc", "misses"), counter(r, "llc", "hits")
	reads := counter(r, "llc", "reads")
	others := counter(r, "llc", "writes") + counter(r, "llc", "atomics")
	x := &Traffic{
		Cycles: t.Cycles, Kernel: t.BusyCycles, Stopped: !r.Complete, ThreadInsts: t.ThreadInsts, IPC: t.BusyIPC,
		L1Hit: known(t.L1HitRate), LLCHit: ratio(hits, accesses), WriteShare: ratio(others, reads+others),
		Flops: flops(r), Matrix: counter(r, "sm", "lanes_matrix"), DRAMBytes: t.DRAMBytes,
	}
	if kilo > 0 {
		x.MPKI, x.APKI = float64(misses)/kilo, float64(accesses)/kilo
	}
	x.Intensity = ratio(x.Flops, x.DRAMBytes)
	if t.BusyCycles > 0 {
		x.Bandwidth = float64(t.DRAMBytes) / float64(t.BusyCycles) * m.Clock.Core / 1e3
	}
	x.Demand, x.Supply = Bandwidths(m, x.APKI, x.LLCHit)
	return x
}

// flops sums the thread instructions of floating-point timing classes.
func flops(r *sim.Result) (n uint64) {
	for i := range r.Tables {
		if r.Tables[i].Owner != "sm" {
			continue
		}
		for _, v := range r.Tables[i].Values {
			name, ok := strings.CutPrefix(v.Name, "lanes_")
			switch {
			case !ok:
			case name == "fp_mad" || name == "dp_mad":
				n += 2 * v.N
			case strings.HasPrefix(name, "fp_") || strings.HasPrefix(name, "dp_") || name == "special":
				n += v.N
			}
		}
	}
	return n
}

// Bandwidths are the bandwidth that an application could ask of the memory of m and the bandwidth that the memory
// could give, in GB/s: UGPU's BW_SM and BW_MC (section 3.2) over all SMs and all channels. apki counts LLC accesses
// per 1000 thread instructions, hit is its rate of LLC hits.
func Bandwidths(m *sheets.Machine, apki, hit float64) (demand, supply float64) {
	ipc := float64(m.SM.Schedulers * isa.Lanes) // most an SM can issue
	demand = float64(m.SM.Count) * ipc * apki / 1000 * float64(m.LLC.Sector) * m.Clock.Core / 1e3
	llc := float64(m.LLC.SlicesPerChannel*m.NoC.AnswerWidth()) * m.Clock.NoC / 1e3
	dram := float64(m.DRAM.Access) / float64(m.DRAM.T.BL) * m.Clock.DRAM / 1e3
	supply = float64(m.DRAM.Channels) * (hit*llc + min((1-hit)*llc, dram))
	return demand, supply
}
