package machine

import (
	"fmt"
	"strings"

	"heddle/engine"
)

// DefaultWatchdog is the number of core cycles without a CTA ending, a kernel
// beginning or a plain store leaving an SM after which a run counts as stuck:
// about 18 ms of GPU time.
const DefaultWatchdog = 20_000_000

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
func (g *GPU) stuck(next, until uint64) bool {
	if g.dispatch.running == 0 {
		return false
	}
	now := min(next, until)
	return next == engine.Never || now-min(now, g.progress) > g.watchdog
}

func (g *GPU) diagnose(next uint64) error {
	d := &Deadlock{Cycle: g.Now()}
	if next == engine.Never {
		d.Why = "no component has anything to do, yet kernels are unfinished"
	} else {
		d.Why = fmt.Sprintf("for %d cycles no CTA has ended and no store left an SM: the program spins or waits "+
			"for something that never comes (raise the limit with --watchdog)", g.watchdog)
	}
	for _, t := range g.Tenants {
		for _, k := range t.kernels {
			d.Where = append(d.Where, fmt.Sprintf("%s: kernel %s: %d of %d CTAs unfinished, %d not yet dispatched",
				t.Name, k.Name, k.left, k.Geo.CTAs, k.Geo.CTAs-k.next))
			if k.next == 0 && k.ready <= g.Now() {
				d.Where = append(d.Where, fmt.Sprintf("  a CTA needs %d threads, %d registers per thread, "+
					"%d bytes of shared memory: more than an SM has", k.Geo.Threads, k.Geo.Regs, k.Geo.SharedBytes))
			}
		}
	}
	const most = 12
	for _, s := range g.sms.list {
		if len(d.Where) > most {
			d.Where = append(d.Where, "...")
			break
		}
		d.Where = append(d.Where, s.Explain()...)
	}
	for i, s := range g.memory.slices {
		if n := s.Queued(); n > 0 {
			d.Where = append(d.Where, fmt.Sprintf("LLC slice %d: %d requests queued, stalled: %v, "+
				"%d fetches wait for DRAM", i, n, s.Stalled(), s.Below.Len()))
		}
	}
	if n := g.fabric.slab.Live(); n > 0 {
		d.Where = append(d.Where, fmt.Sprintf("%d requests are in flight", n))
	}
	return d
}
