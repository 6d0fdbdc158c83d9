package machine

import "testing"

// A kernel whose blocks do what blocks before them did is not idle before it has been so for half of its time.
func TestIdleIsLongerThanWork(t *testing.T) {
	for _, c := range []struct{ common, kernel, want uint64 }{{100, 150, 100}, {100, 200, 100}, {100, 201, 0}} {
		w := Watchdog{of: []progressWatch{{
			common: idleTime{from: 7, cycles: c.common}, kernel: idleTime{cycles: c.kernel},
		}}}
		if idle, since := w.Idle(0); idle != c.want || since != 7 {
			t.Errorf("idle for %d cycles of %d: Idle is %d since %d, want %d since 7", c.common, c.kernel, idle, since,
				c.want)
		}
	}
}
