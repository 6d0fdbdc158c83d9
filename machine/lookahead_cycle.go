package machine

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/internal/invariants"
)

// The two sides of the machine can run at once, the SM side of a cycle on one core
// and the memory side of the next on another. What one hands the other lies at least
// a cycle ahead: a request that leaves an SM crosses the request crossbar first, and
// an answer that leaves the reply crossbar waits for the SMs' next cycle. So results
// are the same to the bit. (In strides, which take more cycles at once, the memory side
// is a stride ahead: lookahead_stride.go.) That needs
//
//   - a request crossbar that takes a cycle at least and has the SMs' clock,
//   - a cycle in which no kernel can end (the program would see the memory side a
//     cycle further on than the SMs) and which is not the last before `until`,
//   - no channel group that is handed over, and no page that moves: the driver would work
//     on both sides. SMs may change hands: their contexts leave as other requests do.
//
// It pays when both sides have work: not for code that computes, whose memory side
// is idle.

// busy is the number of requests in flight from which on two cores do more in a cycle
// than they wait for each other and for what the other's cache holds (measured: with
// 64 csr_gather and hist_smem lose a fifth; from 256 to 1024 the memory-bound kernels
// gain the same, and fewer others take part).
const busy = 1024

// overlaps says whether the sides may run at once in cycle now, and should.
func (l *lookahead) overlaps(now, until uint64) bool {
	if now+2 > until || l.limits.every || l.relocating() || !l.hasCore() || l.fabric.slab.Live() < busy {
		return false
	}
	for _, t := range l.tenants {
		for _, k := range t.kernels {
			if k.next == k.Geo.CTAs && k.Away == 0 && k.Progress().Running == 0 {
				return false
			}
		}
	}
	return l.core.trial.both()
}

// start begins a cycle that may have both cores.
func (l *lookahead) start() {
	if l.core != nil && l.fabric.slab.Live() >= busy {
		l.core.trial.start()
	}
}

// finish ends it.
func (l *lookahead) finish() {
	if l.core != nil {
		l.core.trial.end(1)
	}
}

// relocating says that the driver works on the memory side, or may in this cycle: a page
// stays with it for longer before it is copied, but the frames of a context's image are
// given back, and their lines dropped, when a CTA ends. The lines of copies go straight to slices, too.
func (l *lookahead) relocating() bool {
	return l.host.carrying(l.clock.Now) || l.driver != nil && (l.groups.phase != handIdle || l.driver.Moving() > 0 ||
		l.contexts.inUse() || l.unified.moving())
}

// hasCore says that there is a second core.
func (l *lookahead) hasCore() bool { return l.core != nil && !invariants.On }

// overlap runs the SM side of cycle now and the memory side of the next.
func (l *lookahead) overlap(now uint64) {
	l.clock.Overlapped++
	l.fabric.slab.Reserve(l.limits.perCycle)
	l.fabric.request.Crossbar.Part()
	l.overlapping = true
	l.core.begin(now, 0)
	l.wakeups.Front.Run(now, l.visit)
	more := l.core.wait()
	l.overlapping = false
	l.fabric.request.Crossbar.Join()
	l.clock.MemoryCycle = now + 1
	if more {
		l.wakeups.WakeRequest(now + 1)
	} else if at := l.fabric.request.Crossbar.NextArrival(); at != engine.Never {
		l.wakeups.WakeRequest(max(at, now+1))
	}
	for _, a := range l.core.arrived {
		l.fabric.deliver(a.port, a.h, now+1)
	}
	l.core.arrived = l.core.arrived[:0]
}

// secondCycle is the second core's part: of an overlap, or up to cycle end of a stride.
func (l *lookahead) secondCycle(now, end uint64) (more bool) {
	if end > 0 {
		l.secondStride(end)
		return false
	}
	l.fabric.request.Crossbar.Arrive(now)
	more = l.fabric.handOver(now)
	l.wakeups.Back.Run(now+1, l.visitMemory)
	return more
}
