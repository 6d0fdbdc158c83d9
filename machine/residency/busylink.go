package residency

import (
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
)

// busyLink has warps that are done stay on their SMs while pages, or accesses to the host, are on the link or wait for
// it, as in the dissertation's public simulator: the room of a CTA goes to the next one, and a kernel ends, in a cycle
// in which nothing does.
type busyLink struct {
	sms     []*sm.SM // none: warps leave at once
	wakeups timing.Wakeups
	busy    bool
}

func (l *busyLink) build(b *Parts) { l.sms, l.wakeups = b.SMs, b.Wakeups }

// look is called in every cycle in which the link may become busy or idle.
func (l *busyLink) look(now uint64, busy bool) {
	if l.busy == busy {
		return
	}
	l.busy = busy
	for i, s := range l.sms {
		if s.Stay(busy, now) {
			l.wakeups.WakeSM(i, now)
		}
	}
}
