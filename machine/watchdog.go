package machine

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/mem"
)

// DefaultWatchdog is the number of core cycles without anything useful after which an
// application, and so a run, counts as stuck: about 18 ms of GPU time.
const DefaultWatchdog = 20_000_000

// lookEvery is how often the watchdog looks at the warps, in core cycles: a prime, so that it sees a loop of
// constant period at all of its instructions.
const lookEvery = 4_001

// Watchdog notices an application that does nothing useful any more, also beside others that do. Useful
// is the beginning of a kernel, the end of a CTA, the arrival of a page, and warps at instructions where
// none was since: a loop of few instructions is not, even if it stores. Real drivers know
// wall-clock limits only.
type Watchdog struct {
	tenants  []*Tenant
	sms      []*sm.SM
	cpus     *CPUs
	dispatch *dispatcher
	pace     *pace
	verdict  *verdict

	// Governed says that a policy may still change what the machine does: one without events is not stuck.
	Governed bool

	limit  uint64 // cycles
	looked uint64 // cycle of the last look
	of     []vigil
	where  []sm.Position // of the last look
}

// vigil is what the watchdog knows of one application.
type vigil struct {
	from     uint64                // the last useful cycle; what follows is since then:
	idle     uint64                // cycles in which its warps could run
	seen     [codeBits / 64]uint64 // the instructions its warps were at,
	distinct int                   // and their number
	ran      bool                  // at the last look
}

// codeBits is how many instructions are told apart; those of larger kernels share bits.
const codeBits = 4096

func (w *Watchdog) begin(limit uint64) {
	if w.limit = limit; limit == 0 {
		w.limit = DefaultWatchdog
	}
	w.of = make([]vigil, len(w.tenants))
}

// look takes notice of where warps are, and fails the run when an application has done nothing useful for too long.
func (w *Watchdog) look(now uint64) {
	if now < w.looked+lookEvery {
		return
	}
	passed := now - w.looked
	w.looked = now
	for i, t := range w.tenants {
		v := &w.of[i]
		if v.ran = false; t.useful > v.from {
			*v = vigil{from: t.useful}
		}
	}
	w.where = w.where[:0]
	for _, s := range w.sms {
		w.where = sm.Positions(s, w.where)
	}
	for _, p := range w.where {
		w.of[p.Tenant].at(p.PC)
	}
	for i, t := range w.tenants {
		v := &w.of[i]
		switch {
		case v.distinct > isa.FewInstructions:
			t.useful, w.pace.progress = now, now
		case v.ran && len(t.kernels) > 0:
			v.idle += passed
		}
		if v.idle > w.limit {
			w.verdict.fail(w.hung(i, now))
		}
	}
}

// at notices a warp, which may run, at an instruction.
func (v *vigil) at(pc int32) {
	v.ran = true
	pc %= codeBits
	if bit := uint64(1) << (pc & 63); v.seen[pc>>6]&bit == 0 {
		v.seen[pc>>6] |= bit
		v.distinct++
	}
}

// Next is the cycle at which Run should return, so that the watchdog can look at the warps.
func (w *Watchdog) Next() uint64 { return w.looked + lookEvery }

// Limit is how many cycles without anything useful fail a run.
func (w *Watchdog) Limit() uint64 { return w.limit }

// Idle is how long, in cycles in which it could run, a tenant has done nothing useful, and since which cycle.
func (w *Watchdog) Idle(tenant int) (idle, since uint64) { return w.of[tenant].idle, w.of[tenant].from }

// Waits says what the warps of a tenant stand at, for somebody who wonders why nothing happens.
func (w *Watchdog) Waits(tenant int) []string { return w.waits(tenant, w.pace.now) }

// hung is the error of an application that does nothing useful.
func (w *Watchdog) hung(tenant int, now uint64) error {
	d := &Deadlock{Cycle: now, Where: w.waits(tenant, now)}
	d.Why = fmt.Sprintf("for %d cycles in which it could run %s", w.limit, w.spins())
	if len(w.tenants) > 1 {
		d.Why = fmt.Sprintf("%s: %s", w.tenants[tenant].Name, d.Why)
	}
	return d
}

func (w *Watchdog) spins() string {
	return fmt.Sprintf("no CTA has ended and its warps have been within %d instructions: the program spins or waits "+
		"for something that never comes (raise the limit with --watchdog)", isa.FewInstructions)
}

// waits has a line per unfinished kernel of a tenant, and one per CTA of it for some SMs.
func (w *Watchdog) waits(tenant int, now uint64) (lines []string) {
	const most = 12
	t := w.tenants[tenant]
	lines = w.cpus.waits(tenant)
	for _, k := range t.kernels {
		lines = append(lines, fmt.Sprintf("%s: kernel %s: %d of %d CTAs unfinished, %d not yet dispatched",
			t.Name, k.Name, k.left, k.Geo.CTAs, k.Geo.CTAs-k.next))
		if k.next == 0 && k.ready <= now && !k.Possible(w.sms[0]) {
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
	return lines
}

// Deadlock says that the machine, or the program on it, cannot go on, and what
// everything waits for.
type Deadlock struct {
	Cycle uint64
	Why   string
	Where []string // one line per thing that waits
}

func (d *Deadlock) Error() string {
	return fmt.Sprintf("stuck at cycle %d: %s\n  %s", d.Cycle, d.Why, strings.Join(d.Where, "\n  "))
}

// stuck says whether nothing will happen any more to kernels that have not ended,
// or nothing useful has for long. Nothing from outside can help a machine without
// events: launches only queue up behind what is there.
func (w *Watchdog) stuck(next, until uint64) bool {
	if w.dispatch.running+len(w.cpus.executions) == 0 {
		return false
	}
	now := min(next, until)
	return next == engine.Never && !w.Governed || now-min(now, w.pace.progress) > w.limit
}

// diagnose is the error of a machine that is stuck as a whole.
func (g *GPU) diagnose(next uint64) error {
	w := &g.Watchdog
	d := &Deadlock{Cycle: g.Now()}
	if next == engine.Never {
		d.Why = "no component has anything to do, yet kernels are unfinished"
	} else {
		d.Why = fmt.Sprintf("for %d cycles %s", w.limit, w.spins())
	}
	for i := range g.Tenants {
		d.Where = append(d.Where, w.waits(i, d.Cycle)...)
	}
	for i, s := range g.memory.slices {
		if n := s.Queued(); n > 0 {
			name := fmt.Sprintf("LLC slice %d", i)
			if own := len(g.memory.slices) - g.Sheet.L3.Banks; i >= own {
				name = fmt.Sprintf("L3 bank %d", i-own)
			}
			d.Where = append(d.Where, fmt.Sprintf("%s: %d requests queued, stalled: %v, %d fetches wait for DRAM, "+
				"%d requests for other slices", name, n, s.Stalled(), s.Below.Len(), s.Onward().Len()))
		}
	}
	if n := g.fabric.slab.Live(); n > 0 {
		d.Where = append(d.Where, fmt.Sprintf("%d requests are in flight", n))
	}
	return d
}
