package paper

import (
	"math"

	"github.com/heddle-sim/heddle/sim"
)

// metric is a number of a run that figures of configurations compare.
type metric struct {
	of   func(r *sim.Result, tenant int) float64 // NaN where the run does not tell
	unit string
	// mean is that of ratios; nil: the arithmetic one. Of speeds it is harmonic.
	mean func([]float64) float64
	// inverse names what is measured, too, with every ratio turned round: of times, speeds.
	inverse string
	// mixes: it describes runs of several programs.
	mixes bool
}

// average is the mean of ratios.
func (m *metric) average(ratios []float64) float64 {
	if m.mean == nil {
		return meanOf(ratios)
	}
	return m.mean(ratios)
}

// metrics are those figures may name. Energy is per thread instruction, as runs may be of equal time
// and not of equal work.
func metrics() map[string]metric {
	const perInst = "J per instruction"
	ipc := func(r *sim.Result, k int) float64 { return r.Tenants[k].IPC }
	power := func(r *sim.Result, _ int) float64 { return energyOf(r, "noc") / r.Seconds }
	network := func(r *sim.Result, _ int) float64 { return energyOf(r, "noc") / insts(r) }
	total := func(r *sim.Result, _ int) float64 { return totalEnergy(r) / insts(r) }
	return map[string]metric{
		"ipc":          {of: ipc, unit: "thread instructions per cycle", mean: harmonicMean},
		"replies":      {of: replies, unit: "replies per cycle", mean: harmonicMean},
		"local":        {of: local, unit: "% of L1 misses"},
		"llc misses":   {of: llcMisses, unit: "% of LLC accesses"},
		"noc power":    {of: power, unit: "W"},
		"noc energy":   {of: network, unit: perInst},
		"total energy": {of: total, unit: perInst},
		// Of unified memory.
		"time": {of: timeOf, unit: "core cycles", mean: geometricMean, inverse: "speed"},
		"time with faults": {
			of: timeWithFaults, unit: "core cycles", mean: geometricMean, inverse: "speed with faults",
		},
		"faulted pages":    {of: faultedPages, unit: "pages of 4 KB", mean: geometricMean},
		"evicted pages":    {of: pagesOf("evicted_pages"), unit: "pages of 4 KB", mean: geometricMean},
		"thrashed pages":   {of: pagesOf("thrashed_pages"), unit: "pages of 4 KB"},
		"evicted share":    {of: evictedShare, unit: "% of the memory allocated"},
		"transfers per MB": {of: transfersPerMB, unit: "transfers per MB allocated"},
		"link intensity":   {of: linkIntensity, unit: "core cycles per KB on the link"},
		"link delay":       {of: linkDelay, unit: "core cycles from planned to begun", mean: geometricMean},
		"hot share":        {of: hotShare, unit: "% of accesses to the most used third of memory"},
		"read-only use":    {of: readOnlyUse, unit: "% of what a written page is accessed"},
		"ws":               {of: ws, unit: "weighted speedup", mean: geometricMean, mixes: true},
		"hs":               {of: hs, unit: "harmonic speedup", mean: geometricMean, mixes: true},
		"slowdown":         {of: slowdown, unit: "alone over shared speed"},
		"it share":         {of: throughputShare, unit: "% of the sum alone", mixes: true},
		"it":               {of: throughput, unit: "thread instructions per cycle", mean: geometricMean, mixes: true},
	}
}

// replies are the answers that reach the SMs in a cycle: every request is answered.
func replies(r *sim.Result, k int) float64 {
	n, ok := counter(r, k, "sm", "requests")
	if !ok {
		return math.NaN()
	}
	return n / float64(r.Tenants[k].Cycles)
}

// local is the percentage of the requests of SMs that do not cross the NoC; page walks, which cross it, are
// not theirs. It holds for one chip: between modules a request passes the stages of two, and counts twice.
func local(r *sim.Result, k int) float64 {
	all, ok := counter(r, k, "sm", "requests")
	crossing, ok2 := counter(r, k, "noc_request", "packets")
	walks, _ := counter(r, k, "mmu", "walk_reads")
	if !ok || !ok2 || all == 0 {
		return math.NaN()
	}
	return 100 * (1 - (crossing-walks)/all)
}

// llcMisses is percent.
func llcMisses(r *sim.Result, k int) float64 {
	if h := r.Tenants[k].LLCHitRate; h != nil {
		return 100 * (1 - *h)
	}
	return math.NaN()
}

// timeOf is how long an execution takes, the mean where it was repeated.
func timeOf(r *sim.Result, k int) float64 {
	t := &r.Tenants[k]
	if t.Executions == 0 {
		return math.NaN()
	}
	return float64(t.Cycles) / t.Executions
}

// faultSeconds is what the public simulator of UVMSmart takes for a far fault, 66645 cycles at 1481 MHz.
const faultSeconds = 45e-6

// timeWithFaults is that simulator's time, and the dissertation's in chapters 3 to 6: the cycles of kernels, and for
// every page that faulted what a far fault takes, which took none in the run. Copies of the program are not in it.
func timeWithFaults(r *sim.Result, k int) float64 {
	t := &r.Tenants[k]
	perFault := faultSeconds * float64(r.Cycles) / r.Seconds
	return known(float64(t.BusyCycles), t.Executions) + faultedPages(r, k)*perFault
}

// faultedPages are the pages that came because they had faulted, not along with such a page.
func faultedPages(r *sim.Result, k int) float64 {
	return pagesOf("migrated_pages")(r, k) - pagesOf("prefetched_pages")(r, k)
}

// pagesOf is a counter of unified memory, per execution.
func pagesOf(name string) func(r *sim.Result, k int) float64 {
	return func(r *sim.Result, k int) float64 {
		n, ok := counter(r, k, "uvm", name)
		if !ok || r.Tenants[k].Executions == 0 {
			return math.NaN()
		}
		return n / r.Tenants[k].Executions
	}
}

// evictedShare may be above 100 %: a page may leave more than once.
func evictedShare(r *sim.Result, k int) float64 {
	return 100 * known(pagesOf("evicted_pages")(r, k), float64(r.Tenants[k].ManagedBytes)/4096)
}

// transfersPerMB is what an execution asks of the link for the memory it has allocated (Ganguly, 7.1.1).
func transfersPerMB(r *sim.Result, k int) float64 {
	n, _ := counter(r, k, "link", "transfers")
	return known(n/r.Tenants[k].Executions, float64(r.Tenants[k].ManagedBytes)/(1<<20))
}

// linkIntensity stands for arithmetic intensity as the scheduler's counter does (Ganguly, 7.2.2): how much time it
// takes to consume memory, core cycles for each KB on the link.
func linkIntensity(r *sim.Result, k int) float64 {
	n, _ := counter(r, k, "link", "bytes")
	remote, _ := counter(r, k, "link", "remote_bytes")
	return known(float64(r.Tenants[k].Cycles), (n+remote)/1024)
}

// linkDelay is how long a transfer waits.
func linkDelay(r *sim.Result, k int) float64 {
	n, _ := counter(r, k, "link", "transfers")
	wait, _ := counter(r, k, "link", "wait_cycles")
	return known(wait, n)
}

// ws and hs are weighted and harmonic speedup (Ganguly, 7.3.1).
func ws(r *sim.Result, _ int) float64 { return r.Metrics.STP }

func hs(r *sim.Result, _ int) float64 { return r.Metrics.HS }

// throughput is the sum of all programs' (Ganguly, 7.3.1: IT).
func throughput(r *sim.Result, _ int) (sum float64) {
	for i := range r.Tenants {
		sum += r.Tenants[i].IPC
	}
	return sum
}

// throughputShare is percent of what the programs reach alone together.
func throughputShare(r *sim.Result, k int) float64 {
	alone := 0.0
	for _, x := range r.Metrics.AloneIPC {
		alone += x
	}
	return 100 * known(throughput(r, k), alone)
}

func slowdown(r *sim.Result, k int) float64 { return r.Tenants[k].Slowdown }

// known is a quotient, NaN if the divisor is 0.
func known(x, by float64) float64 {
	if by == 0 {
		return math.NaN()
	}
	return x / by
}

func insts(r *sim.Result) float64 { return float64(r.Tenants[0].ThreadInsts) }

func energyOf(r *sim.Result, kind string) float64 {
	if r.Energy == nil {
		return math.NaN()
	}
	return r.Energy.Of(kind)
}

func totalEnergy(r *sim.Result) float64 {
	if r.Energy == nil {
		return math.NaN()
	}
	return r.Energy.Total
}

// counter is a counter of a tenant's window, moves apart; false if there is none.
func counter(r *sim.Result, tenant int, owner, name string) (n float64, ok bool) {
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Owner != owner || t.Tenant != r.Tenants[tenant].Name || t.Moved {
			continue
		}
		for _, v := range t.Values {
			if v.Name == name {
				return float64(v.N), true
			}
		}
	}
	return 0, false
}

// harmonicMean of what is known and above zero; NaN where nothing is.
func harmonicMean(xs []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range xs {
		if x > 0 {
			sum, n = sum+1/x, n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(n) / sum
}

// geometricMean of what is known and above zero; NaN where nothing is.
func geometricMean(xs []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range xs {
		if x > 0 {
			sum, n = sum+math.Log(x), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}
