package sim

import (
	"math"
	"testing"
	"time"
)

// TestPace: a run that idled at first, when cycles cost little, is as fast as it has been in the latest seconds.
func TestPace(t *testing.T) {
	var p pace
	now, cycle := time.Unix(0, 0), uint64(0)
	run := func(seconds int, perS uint64) (speed float64) {
		for range seconds * 10 {
			now, cycle = now.Add(100*time.Millisecond), cycle+perS/10
			speed = p.look(now, cycle)
		}
		return speed
	}
	p.look(now, 0)
	for _, c := range []struct {
		seconds int
		perS    uint64
	}{{3, 40_000_000}, {20, 250_000}, {20, 100}} {
		if got := run(c.seconds, c.perS); math.Abs(got/float64(c.perS)-1) > 1e-9 {
			t.Errorf("%g cycles/s after %d s at %d", got, c.seconds, c.perS)
		}
	}
}
