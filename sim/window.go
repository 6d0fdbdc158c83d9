package sim

import (
	"fmt"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/stat"
)

// Window is the part of a run in which a tenant is measured (METRICS.md).
type Window struct {
	Of    WindowKind `json:"of"`
	Start uint64     `json:"start_cycle"`
	End   uint64     `json:"end_cycle"`
}

// WindowKind says which events bound a window.
type WindowKind string

// The kinds of windows.
const (
	OfBudget       WindowKind = "budget"       // from the warm-up's end to the end of the budget
	OfExecutions   WindowKind = "executions"   // from the first launch to the end of the last complete execution
	OfInstructions WindowKind = "instructions" // from the first launch until a number of instructions were executed
	OfRun          WindowKind = "run"          // the run: it completed no execution, or executed too few instructions
)

// Executions says how many thread instructions a tenant's complete executions took.
type Executions struct {
	Least uint64  `json:"least_insts"`
	Most  uint64  `json:"most_insts"`
	Mean  float64 `json:"mean_insts"`
}

// mark is the state of a tenant's counters at one cycle.
type mark struct {
	cycle, busy uint64
	sums        stat.Sums                   // nil: that cycle has not come
	moved       stat.Sums                   // of what is moved for it: contexts, pages
	executions  float64                     // done behind the warm-up
	begun       uint64                      // thread instructions when the execution under way began
	kernels     [][numKernelCounters]uint64 // of those launched by then, in the order of first launches
}

// kernel is the mark's record of a kernel, in the order of first launches.
func (m *mark) kernel(k int) (n [numKernelCounters]uint64) {
	if k < len(m.kernels) {
		n = m.kernels[k]
	}
	return n
}

func (m *mark) taken() bool { return m.sums != nil }

// tally has the marks from which the window of a tenant is made.
type tally struct {
	warm    mark   // at the warm-up's end, or the run's begin
	launch  mark   // at its first launch
	end     mark   // at the end of its last complete execution
	reached mark   // when it had executed the instructions asked for
	begun   uint64 // thread instructions when its present execution began

	complete    uint64 // executions
	least, most uint64 // thread instructions of one
	sum         uint64 // of all
	done        float64
}

// mean is the thread instructions of a complete execution; 0: there is none.
func (t *tally) mean() float64 { return ratio(float64(t.sum), float64(t.complete)) }

// mark copies the counters of tenant i.
func (c *collector) mark(i int) mark {
	g := c.r.gpu
	g.SyncCounters() // refreshes of idle channels are counted late
	t := &c.tallies[i]
	m := mark{
		cycle: g.Now(), busy: g.Busy(i), sums: c.set.Sums(i), moved: c.set.Moved(i), executions: t.done,
		begun: t.begun,
	}
	for _, k := range c.names[i] {
		m.kernels = append(m.kernels, k.counts(m.cycle))
	}
	return m
}

// warm says whether the warm-up is over.
func (c *collector) warm() bool { return c.tallies[0].warm.taken() }

// warmed notes the end of the warm-up.
func (c *collector) warmed() {
	for i := range c.tallies {
		c.tallies[i].warm = c.mark(i)
	}
}

// began notes that tenant i starts over.
func (c *collector) began(i int) { c.tallies[i].begun = c.insts(i) }

// executed records a complete execution of tenant i.
func (c *collector) executed(i int) {
	t := &c.tallies[i]
	now := c.insts(i)
	n := now - t.begun
	if t.complete == 0 || n < t.least {
		t.least = n
	}
	t.most = max(t.most, n)
	t.complete, t.sum = t.complete+1, t.sum+n
	if t.warm.taken() {
		t.done += c.part(t, now, n)
	}
	t.begun = now
	t.end = c.mark(i)
}

// part is the part of an execution of n instructions, ending at now, that lies after the warm-up.
func (c *collector) part(t *tally, now, n uint64) float64 {
	in := now - max(t.begun, c.work(t.warm.sums))
	if n == 0 { // it used the host alone
		return 1
	}
	return float64(in) / float64(n)
}

// reached notes that tenant i has executed the instructions asked for.
func (c *collector) reached(i int) { c.tallies[i].reached = c.mark(i) }

// insts is the instructions of tenant i so far, of threads and CPU cores.
func (c *collector) insts(i int) uint64 {
	return c.r.gpu.Instructions(i) + c.r.gpu.CPUs.Instructions(i)
}

// work is the same for a copy of a tenant's counters.
func (c *collector) work(s stat.Sums) uint64 {
	return c.columns.count(s, threadInsts) + c.columns.count(s, cpuInsts)
}

// window is that of tenant i, and the marks at its ends; last is the run's end.
func (c *collector) window(i int, last mark) (w Window, from, to mark) {
	t, l := &c.tallies[i], &c.r.spec.Length
	from = t.warm
	if t.launch.taken() && t.launch.cycle > from.cycle {
		from = t.launch
	}
	switch {
	case l.Budget:
		w.Of, from, to = OfBudget, t.warm, last
	case l.Instructions > 0 && t.reached.taken() && t.reached.cycle > from.cycle:
		w.Of, to = OfInstructions, t.reached
	case l.Instructions == 0 && t.end.taken() && t.end.cycle > from.cycle:
		w.Of, to = OfExecutions, t.end
	default:
		w.Of, from, to = OfRun, t.warm, last
	}
	since := max(to.begun, c.work(from.sums))
	to.executions += ratio(float64(c.work(to.sums)-since), t.mean())
	w.Start, w.End = from.cycle, to.cycle
	return w, from, to
}

// missed warns of applications of whose requested window no part was simulated.
func (n notes) missed() (warnings []string) {
	r := n.r
	c, l := r.col, &r.spec.Length
	for i, a := range c.r.apps {
		if t := &c.tallies[i]; l.Instructions > 0 && c.work(t.warm.sums) >= l.Instructions {
			warnings = append(warnings, fmt.Sprintf("%s executed its %d instructions before the "+
				"warm-up of all applications ended, at cycle %d: its numbers describe later instructions; give a "+
				"shorter warm-up or more instructions", a.spec.Name, l.Instructions, t.warm.cycle))
		}
	}
	return warnings
}

// cold is the error of a run that ended before its warm-up.
func (r *run) cold() error {
	if r.col.warm() {
		return nil
	}
	l := &r.spec.Length
	end := fmt.Sprintf("at %d (length.warmup)", l.Warmup)
	if l.WarmupInstructions > 0 {
		end = fmt.Sprintf("at %d thread instructions of every application (length.warmup_instructions)",
			l.WarmupInstructions)
	}
	return &host.Error{Err: fmt.Errorf("the run ended at cycle %d, before the end of its warm-up %s: "+
		"there is nothing to measure", r.gpu.Now(), end)}
}
