package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// Looking at the counters changes nothing, however often: a channel that was brought up to
// a cycle still ahead would have chosen among requests that had yet to come.
func TestSettleChangesNothing(t *testing.T) {
	for _, sheet := range []string{"qv100", "ugpu"} {
		var ends []uint64
		for _, every := range []uint64{1 << 40, 3, 77} {
			r := newRig(t, sheet, Options{}, func(m *sheets.Machine) { m.SM.Count = 40 }, tenant("", upTo(20)),
				&sharing.Tenant{SMs: between(20, 40)})
			_, check := r.scale(0, 60_000, mem.Device)
			r.scale(1, 60_000, mem.Device)
			for r.g.Running() > 0 {
				r.step(every)
				r.g.SyncCounters()
			}
			check()
			ends = append(ends, r.g.Now())
		}
		if ends[1] != ends[0] || ends[2] != ends[0] {
			t.Errorf("%s: ends at %d, looked at every 3 and 77 cycles at %d", sheet, ends[0], ends[1:])
		}
	}
}
