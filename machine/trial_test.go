package machine

import "testing"

// Whatever a piece of work takes on one core and on two, the faster way is found and kept:
// after the first comparison the time lost is a few per cent.
func TestTrial(t *testing.T) {
	var now int64
	tr := newTrial(func() int64 { return now })
	run := func(one, two, total int64) (on2 float64) {
		var spent, both int64
		for spent < total {
			tr.start()
			took := one
			if tr.both() {
				took = two
				both += two
			}
			now += took
			spent += took
			tr.end(32)
		}
		return float64(both) / float64(spent)
	}
	run(100_000, 200_000, 100e6)
	if on2 := run(100_000, 200_000, 10e9); on2 > 0.05 {
		t.Errorf("%.0f %% of the time on two cores that take twice as long", 100*on2)
	}
	run(100_000, 60_000, 2*longestHold) // the second core is free now
	if on2 := run(100_000, 60_000, 10e9); on2 < 0.95 {
		t.Errorf("%.0f %% of the time on two cores that are faster", 100*on2)
	}
	if on2 := run(100_000, 500_000, 100e6); on2 > 0.8 { // and now it is not
		t.Errorf("%.0f %% of the time on two cores that have become slow", 100*on2)
	}
	n := tr.recent
	tr.start()
	now += 1e9
	tr.end(32)
	if tr.recent != n {
		t.Error("what has no work for a second core counts")
	}
}

// Without a clock the second core is always used.
func TestTrialWithoutClock(t *testing.T) {
	tr := newTrial(nil)
	for range 100 {
		tr.start()
		if !tr.both() {
			t.Fatal("one core")
		}
		tr.end(1)
	}
}
