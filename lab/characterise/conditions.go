package characterise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// Limits from which a run says more of its size than of the machine, each with its reason.
const (
	// Of two waves the second, half empty in the mean, is a quarter of what SMs have to do; of fewer, a few CTAs
	// more or less decide whether SMs more or less matter.
	fewWaves = 2.0
	// Kernels with less of the time than this change no result by more.
	longKernel = 0.1
	// Bound by the fullest channel, a run has 1/1.25, four fifths, of the bandwidth; applications differ in less.
	uneven = 1.25
	// Below this share of its peak, the fullest channel bounds nothing, and how bytes are spread is of no account.
	idleChannel = 0.3
	// Queues before ports and walkers, random arrivals supposed, are as long as the service takes four times over.
	bounding = 0.8
	// In less than one sweep the first touch of the data is measured, and beginnings are not representative.
	fewSweeps = 1.0
)

// Conditions are those of a run of the application alone on the machine, with address translation as in its sheet.
// They show whether the run measures the machine or an accident of its size.
type Conditions struct {
	Cycles  uint64  `json:"window_cycles"` // the budget, or to the end
	Kernels []Waves `json:"kernels"`       // those with most of the time first
	// Imbalance is the DRAM bytes of the busiest channel over the mean of all channels; 0: no channel moved any.
	Imbalance float64 `json:"channel_imbalance"`
	Fullest   float64 `json:"fullest_channel_share"` // of its peak bandwidth, while a kernel was on the GPU
	// Walking is the share of page walks, waiting for a walker included, in the time of page walks and of the SMs'
	// requests.
	Walking float64 `json:"walk_time_share"`
	// Ports and Walkers are the used shares of the L2 TLB's lookups and of the walkers' time while a kernel was on
	// the GPU.
	Ports   float64 `json:"l2_tlb_port_share"`
	Walkers float64 `json:"walker_share"`
	// Footprint is the bytes that the application touches; if only its beginning was observed, the bytes that it
	// allocated (AtMost). 0: unknown.
	Footprint uint64 `json:"footprint_bytes"`
	AtMost    bool   `json:"footprint_at_most,omitempty"`
	// Sweeps says how often the footprint was moved: bytes of DRAM, or of the LLC if that holds the footprint, over
	// the footprint.
	Sweeps   float64  `json:"sweeps"`
	Warnings []string `json:"warnings,omitempty"`
}

// Waves is how often a kernel fills the machine.
type Waves struct {
	Kernel   string  `json:"kernel"`
	CTAs     int     `json:"ctas"`
	PerSM    int     `json:"ctas_per_sm"` // as many as fit
	Waves    float64 `json:"waves"`       // CTAs over those that fit on all SMs
	Launches int     `json:"launches"`
	Share    float64 `json:"time_share"` // of the time with a kernel
}

// newConditions reads the result of an application alone on m; p has the observations of it.
func newConditions(r *sim.Result, m *sheets.Machine, p *Profile) *Conditions {
	t := &r.Tenants[0]
	c := &Conditions{Cycles: t.Cycles, Kernels: wavesOf(r), AtMost: p.Skipped != ""}
	if p.Memory != nil {
		c.Footprint = p.Memory.Bytes
		if c.AtMost {
			c.Footprint = p.Memory.Allocated
		}
	}
	bursts := perInstance(r, "dram", "read_bursts", "write_bursts")
	if all := total(bursts); all > 0 {
		most := slices.Max(bursts)
		c.Imbalance = float64(most) * float64(len(bursts)) / float64(all)
		clocks := float64(t.BusyCycles) * m.Clock.DRAM / m.Clock.Core
		c.Fullest = float64(most) * float64(max(1, m.DRAM.T.BL, m.DRAM.T.CCDS)) / max(clocks, 1)
	}
	walking := total(perInstance(r, "mmu", "walk_cycles", "walk_wait_cycles"))
	c.Walking = ratio(walking, walking+counter(r, "sm", "request_latency"))
	if lookups := perInstance(r, "mmu", "l2_tlb_accesses"); len(lookups) > 0 {
		mmus := uint64(len(lookups))
		c.Ports = ratio(total(lookups), t.BusyCycles*mmus*uint64(m.VM.L2Ports*max(1, m.VM.L2Banks)))
		c.Walkers = ratio(total(perInstance(r, "mmu", "walk_cycles")), t.BusyCycles*mmus*uint64(m.VM.Walkers))
	}
	moved := t.DRAMBytes
	llc := m.DRAM.Channels * m.LLC.SlicesPerChannel * m.LLC.Sets * m.LLC.Ways * m.LLC.Line
	if c.Footprint <= uint64(llc) {
		moved = (counter(r, "llc", "accesses") - counter(r, "llc", "walk_reads")) * uint64(m.LLC.Sector)
	}
	c.Sweeps = ratio(moved, c.Footprint)
	c.Warnings = c.warn()
	return c
}

// perInstance adds up counters of each instance of a kind, moves apart.
func perInstance(r *sim.Result, kind string, names ...string) (out []uint64) {
	for i := range r.Tables {
		t := &r.Tables[i]
		if !stat.OfKind(t.Owner, kind) || t.Moved || t.Tenant != r.Tenants[0].Name {
			continue
		}
		for _, row := range t.Instances {
			n := uint64(0)
			for k, v := range t.Values {
				if slices.Contains(names, v.Name) {
					n += row[k]
				}
			}
			out = append(out, n)
		}
	}
	return out
}

func total(list []uint64) (n uint64) {
	for _, x := range list {
		n += x
	}
	return n
}

// wavesOf puts launches of one kernel and size together, with those that were not finished.
func wavesOf(r *sim.Result) (out []Waves) {
	all := slices.Clone(r.Tenants[0].Kernels)
	if len(r.Unfinished) > 0 {
		all = append(all, r.Unfinished[0]...)
	}
	time := 0.0
	for _, k := range all {
		i := slices.IndexFunc(out, func(w Waves) bool { return w.Kernel == k.Name && w.CTAs == k.CTAs })
		if i < 0 {
			i = len(out)
			out = append(out, Waves{Kernel: k.Name, CTAs: k.CTAs, PerSM: k.CTAsPerSM})
			out[i].Waves = ratio(uint64(k.CTAs), uint64(r.Tenants[0].SMs*k.CTAsPerSM))
		}
		out[i].Launches++
		out[i].Share += float64(k.End - k.Start)
		time += float64(k.End - k.Start)
	}
	for i := range out {
		out[i].Share /= max(time, 1)
	}
	slices.SortStableFunc(out, func(a, b Waves) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// warn lists what is beyond the limits.
func (c *Conditions) warn() (out []string) {
	for _, k := range c.Kernels {
		if k.Share >= longKernel && k.Waves < fewWaves {
			out = append(out, fmt.Sprintf("%s has %.2f waves", k.Kernel, k.Waves))
		}
	}
	if c.Imbalance > uneven && c.Fullest > idleChannel {
		out = append(out, fmt.Sprintf("the fullest channel has %.2f times the mean", c.Imbalance))
	}
	if c.Ports > bounding {
		out = append(out, "L2 TLB ports bound")
	}
	if c.Walkers > bounding {
		out = append(out, "page walkers bound")
	}
	if c.Sweeps > 0 && c.Sweeps < fewSweeps {
		out = append(out, fmt.Sprintf("%.2f sweeps of the footprint", c.Sweeps))
	}
	return out
}

// conditions is the table of them; no rows where no profile has any.
func conditions(profiles []Profile) Table {
	t := Table{
		Title: "Conditions of the run",
		Note: fmt.Sprintf("Each application runs alone, with the sheet's address translation. Waves: CTAs divided by "+
			"the CTAs that fit on all SMs, for kernels with at least %.0f %% of the time. Channels: DRAM bytes of the "+
			"fullest channel over the mean; of peak: the used share of its peak bandwidth. Walks: the share of page "+
			"walks (waiting for a walker included) in the time of walks and round trips. Ports, walkers: used shares "+
			"of the L2 TLB's ports and of the page walkers. Sweeps: bytes moved by DRAM over the footprint (by the "+
			"LLC if it holds the footprint). If only the beginning of a program was observed, the footprint is the "+
			"allocated memory. A warning names: fewer than %g waves; a channel with more than %g times the mean that "+
			"is used to at least %.0f %%; ports or walkers used to more than %.0f %%; less than %g sweep.",
			100*longKernel, fewWaves, uneven, 100*idleChannel, 100*bounding, fewSweeps),
		Rows: [][]string{{
			"app", "arguments", "cycles", "waves", "channels", "of peak", "walks", "ports", "walkers", "sweeps",
			"warnings",
		}},
	}
	for i := range profiles {
		p := &profiles[i]
		c := p.Conditions
		if c == nil {
			continue
		}
		var waves []string
		for _, k := range c.Kernels {
			if k.Share >= longKernel {
				waves = append(waves, fmt.Sprintf("%s %.2f", k.Kernel, k.Waves))
			}
		}
		sweeps, warnings := none, none
		if c.Sweeps > 0 {
			sweeps = fmt.Sprintf("%.3g", c.Sweeps)
			if c.AtMost {
				sweeps = "at least " + sweeps
			}
		}
		if len(c.Warnings) > 0 {
			warnings = strings.Join(c.Warnings, "; ")
		}
		t.Rows = append(t.Rows, []string{
			p.label(), p.arguments(), fmt.Sprint(c.Cycles), strings.Join(waves, ", "), fmt.Sprintf("%.2f", c.Imbalance),
			percent(c.Fullest), percent(c.Walking), percent(c.Ports), percent(c.Walkers), sweeps, warnings,
		})
	}
	return t
}
