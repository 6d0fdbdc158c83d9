package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// DefaultWatchdog is the number of core cycles without progress after which an application, and so a run, counts as
// stuck: about 14 ms of GPU time. The same number of tens of warp instructions without progress counts as stuck, too:
// on a full machine these are fewer cycles, and take minutes.
const DefaultWatchdog = 20_000_000

// instsPerCycle is how many warp instructions count as a cycle.
const instsPerCycle = 10

// The watchdog looks at the warps every lookEvery core cycles at least: a prime, so that it sees a loop of constant
// period at all of its instructions. It looks sooner where instsPerLook instructions have been executed for each
// warp that it looks at, so that looking costs next to nothing, but no sooner than after lookLeast cycles.
const (
	lookEvery    = 4_001
	lookLeast    = 499
	instsPerLook = 64
)

// commonLimit is how many times longer than for each warp by itself it takes for all of them together to count as
// stuck. Warps that have many states to wait in, or ask for the time, each do something new for ever; where no warp
// does what none has done before, a few may be going through the work that others have done.
const commonLimit = 8

// Watchdog notices an application that makes no progress, also beside others that do. Progress is the beginning of a
// kernel, the end of a CTA, the first arrival of a page, or a warp at a line or in a state that is new (isa.Seen).
// Loops that wait are no progress, however many instructions they have and even if they store. Nor are pages that
// come again and again. Real drivers only have limits of wall time.
type Watchdog struct {
	tenants    []*sharing.Tenant
	sms        []*sm.SM
	sentry     sm.Sentry
	cpus       *CPUs
	dispatch   *sharing.Dispatcher
	contexts   *sharing.ContextStore
	clock      *timing.Clock
	firstError *timing.FirstError
	count      *stat.Table // of the SMs

	// Governed says that a policy may still change what the machine does: one without events is not stuck.
	Governed bool

	limit  uint64 // cycles
	looked uint64 // cycle of the last look
	next   uint64 // cycle of the next one
	of     []progressWatch
}

// progressWatch is what the watchdog knows of one application.
type progressWatch struct {
	own    idleTime // of each of its warps
	common idleTime // since when no warp has done what none had done before
	kernel idleTime // since the oldest kernel under way, which is number id, began
	id     int
	issued uint64 // warp instructions up to the last look
}

// idleTime is the time for which an application has done nothing useful.
type idleTime struct {
	from   uint64 // the last useful cycle; the other fields count from then on:
	cycles uint64 // in which its warps could run
	insts  uint64 // warp instructions in them
}

// length is this time in cycles.
func (t *idleTime) length() uint64 { return max(t.cycles, t.insts/instsPerCycle) }

// pass adds the time since the last look, or starts at 0 if something useful was done.
func (t *idleTime) pass(useful, cycles, insts uint64) {
	if useful > t.from {
		*t = idleTime{from: useful}
		return
	}
	t.cycles += cycles
	t.insts += insts
}

func (w *Watchdog) begin(limit uint64) {
	if w.limit = limit; limit == 0 {
		w.limit = DefaultWatchdog
	}
	w.next = lookEvery
	w.of, w.sentry = make([]progressWatch, len(w.tenants)), sm.NewSentry(w.sms, len(w.tenants))
}

// look notes the progress of warps. It fails the run if an application has done nothing useful for too long.
func (w *Watchdog) look(now uint64) {
	if now < w.next {
		return
	}
	passed, executed, warps := now-w.looked, uint64(0), uint64(0)
	w.looked, w.next = now, now+lookEvery
	for i, t := range w.tenants {
		v := &w.of[i]
		issued := w.count.Sum(i, sm.WarpInsts)
		insts := issued - v.issued
		v.issued = issued
		executed += insts
		first := v.common.from
		if t.Useful > v.own.from {
			first = t.Useful
		} else if insts > 0 {
			n, count := w.sentry.News(mem.TenantID(i), &t.History)
			warps += count
			if n.Own {
				t.Useful, w.clock.Progress = now, now
			}
			if n.Common {
				first = now
			}
		}
		cycles := passed
		if len(t.Kernels) == 0 || !w.sentry.Runs(mem.TenantID(i)) {
			cycles, insts = 0, 0
		}
		if len(t.Kernels) > 0 && t.Kernels[0].ID != v.id {
			v.id, v.kernel = t.Kernels[0].ID, idleTime{}
		}
		v.kernel.pass(0, cycles, insts)
		v.own.pass(t.Useful, cycles, insts)
		v.common.pass(first, cycles, insts)
		if v.own.length() > w.limit || v.common.length() > commonLimit*w.limit {
			w.firstError.Note(w.hung(i, now))
		}
	}
	if warps > 0 {
		w.next = min(w.next, now+max(lookLeast, passed*instsPerLook*warps/max(executed, 1)))
	}
}

// Next is the cycle at which Run should return, so that the watchdog can look at the warps.
func (w *Watchdog) Next() uint64 { return w.next }

// Limit is the number of cycles without progress after which a run fails.
func (w *Watchdog) Limit() uint64 { return w.limit }

// Idle is the number of cycles, of those in which it could run, for which no warp of a tenant has done what none had
// done before, and the cycle at which that began. It is 0 while the kernel has worked for longer: blocks that do what
// blocks before them did take as long as those.
func (w *Watchdog) Idle(tenant int) (idle, since uint64) {
	v := &w.of[tenant]
	if idle = v.common.length(); 2*idle < v.kernel.length() {
		idle = 0
	}
	return idle, v.common.from
}

// Waits says where the warps of a tenant stand, to explain a run in which nothing happens.
func (w *Watchdog) Waits(tenant int) []string { return w.waits(tenant, w.clock.Now) }

// hung is the error of an application that does nothing useful.
func (w *Watchdog) hung(tenant int, now uint64) error {
	d := &Deadlock{Cycle: now, Where: w.waits(tenant, now)}
	v := &w.of[tenant].own
	if v.length() <= w.limit {
		v = &w.of[tenant].common
	}
	d.Why = fmt.Sprintf("for %d cycles in which it could run, and %d warp instructions, %s", v.cycles, v.insts,
		nothingNew)
	if len(w.tenants) > 1 {
		d.Why = fmt.Sprintf("%s: %s", w.tenants[tenant].Name, d.Why)
	}
	return d
}

const nothingNew = "no CTA has ended, and all warps repeat the same instructions with the same values for what " +
	"ends their loops: the program spins or waits for something that never comes (raise the limit with --watchdog)"

// waits has a line per unfinished kernel of a tenant, and one per CTA of it for some SMs.
func (w *Watchdog) waits(tenant int, now uint64) (lines []string) {
	const most = 12
	t := w.tenants[tenant]
	lines = w.cpus.waits(tenant)
	for _, k := range t.Kernels {
		lines = append(lines, fmt.Sprintf("%s: kernel %s: %d of %d CTAs unfinished, %d not yet dispatched",
			t.Name, k.Name, k.Left, k.Geo.CTAs, k.Geo.CTAs-k.Next))
		if k.Next == 0 && k.Ready <= now && !k.Possible(w.sms[0]) {
			lines = append(lines, fmt.Sprintf("  a CTA needs %d threads, %d registers per thread, "+
				"%d bytes of shared memory: more than an SM has", k.Geo.Threads, k.Geo.Regs, k.Geo.SharedBytes))
		}
		if len(lines) > most {
			break
		}
	}
	for _, s := range w.sms {
		if len(lines) > most {
			return append(lines, "...")
		}
		lines = append(lines, s.Explain(mem.TenantID(tenant))...)
	}
	for _, c := range w.off(tenant) {
		if len(lines) > most {
			return append(lines, "...")
		}
		lines = append(lines, c.Explain())
	}
	return lines
}

// off lists the CTAs of a tenant that are in memory or on their way there, oldest first.
func (w *Watchdog) off(tenant int) []*sm.Context {
	return w.sentry.Leaving(mem.TenantID(tenant), slices.Clone(w.contexts.Waiting(tenant)))
}

// Deadlock says that the machine, or the program on it, cannot continue, and what every part waits for.
type Deadlock struct {
	Cycle uint64
	Why   string
	Where []string // a line for each part that waits
}

func (d *Deadlock) Error() string {
	return fmt.Sprintf("stuck at cycle %d: %s\n  %s", d.Cycle, d.Why, strings.Join(d.Where, "\n  "))
}

// stuck says whether nothing will happen any more to kernels that have not ended, or nothing useful
// has for long. Nothing from outside can help a machine without events: launches only queue up
// behind the kernels that are there.
func (w *Watchdog) stuck(next, until uint64) bool {
	if w.dispatch.Running()+len(w.cpus.executions) == 0 {
		return false
	}
	now := min(next, until)
	return next == engine.Never && !w.Governed || now-min(now, w.clock.Progress) > w.limit
}

// diagnose is the error of a machine that is stuck as a whole.
func (g *GPU) diagnose(next uint64) error {
	w := &g.Watchdog
	d := &Deadlock{Cycle: g.Now()}
	if next == engine.Never {
		d.Why = "no component has anything to do, yet kernels are unfinished"
	} else {
		d.Why = fmt.Sprintf("for %d cycles %s", w.limit, nothingNew)
	}
	for i := range g.Tenants {
		d.Where = append(d.Where, w.waits(i, d.Cycle)...)
	}
	for i, s := range g.memory.Slices {
		if n := s.Queued(); n > 0 {
			name := fmt.Sprintf("LLC slice %d", i)
			if own := len(g.memory.Slices) - g.Sheet.L3.Banks; i >= own {
				name = fmt.Sprintf("L3 bank %d", i-own)
			}
			d.Where = append(d.Where, fmt.Sprintf("%s: %d requests queued, stalled: %v, %d fetches wait for DRAM, "+
				"%d requests for other slices", name, n, s.Stalled(), s.Below.Len(), s.Forward().Len()))
		}
	}
	if n := g.fabric.Slab.Live(); n > 0 {
		d.Where = append(d.Where, fmt.Sprintf("%d requests are in flight", n))
	}
	return d
}
