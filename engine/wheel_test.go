package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// A component due at cycle t is visited exactly at t, in index order, whatever
// mixture of near, far and repeated wakes came before.
func TestWheelVisitsWhenDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 150).Draw(t, "n")
		w := NewWheel(n, false)
		due := make([]uint64, n)
		for i := range due {
			due[i] = Never
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			for range rapid.IntRange(0, 5).Draw(t, "wakes") {
				i := rapid.IntRange(0, n-1).Draw(t, "i")
				at := w.Now() + uint64(rapid.IntRange(0, 4000).Draw(t, "delay"))
				w.Wake(i, at)
				due[i] = min(due[i], at)
			}
			want := Never
			for _, d := range due {
				want = min(want, d)
			}
			next := w.Next()
			if next != want {
				t.Fatalf("Next = %d, want %d", next, want)
			}
			if next == Never {
				continue
			}
			last := -1
			w.Run(next, func(i int) uint64 {
				if due[i] != next || i <= last {
					t.Fatalf("visited %d (due %d, last %d) at %d", i, due[i], last, next)
				}
				last, due[i] = i, Never
				return Never
			})
			for i, d := range due {
				if d == next {
					t.Fatalf("component %d was due at %d and not visited", i, next)
				}
			}
		}
	})
}

// Waking a later stage takes effect in the same cycle, an earlier one in the next.
func TestWakeDuringCycle(t *testing.T) {
	w := NewWheel(3, false)
	w.Wake(1, 10)
	var seen []int
	visit := func(i int) uint64 {
		seen = append(seen, i)
		if i == 1 && len(seen) == 1 {
			w.Wake(0, 10)
			w.Wake(2, 10)
		}
		return Never
	}
	w.Run(w.Next(), visit)
	w.Run(w.Next(), visit)
	if len(seen) != 3 || seen[0] != 1 || seen[1] != 2 || seen[2] != 0 || w.Now() != 12 {
		t.Fatalf("order %v, now %d; want [1 2 0] and 12", seen, w.Now())
	}
}

func TestClockEdges(t *testing.T) {
	k := NewClock(850, 1132)
	for e := uint64(1); e < 5000; e++ {
		c := k.Core(e)
		if k.Ticks(c) < e || k.Ticks(c-1) >= e {
			t.Fatalf("edge %d: core cycle %d has %d edges, the one before %d", e, c, k.Ticks(c), k.Ticks(c-1))
		}
	}
}

func BenchmarkWheel(b *testing.B) {
	w := NewWheel(200, false)
	for i := range 200 {
		w.Wake(i, uint64(i%7))
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		now := w.Next()
		w.Run(now, func(i int) uint64 { n++; return now + uint64(1+i%5) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/visit")
}

// A component due far ahead is visited in time while others run in every cycle.
func TestFarWhileBusy(t *testing.T) {
	for _, delay := range []uint64{1023, 1024, 1500, 5000, 28_001} {
		w := NewWheel(2, false)
		w.Wake(0, 0)
		w.Wake(1, delay)
		visited := Never
		for w.Now() < delay+2000 {
			w.Run(w.Next(), func(i int) uint64 {
				if i == 1 {
					visited = w.Now()
					return Never
				}
				return w.Now() + 1
			})
		}
		if visited != delay {
			t.Errorf("due at %d, visited at %d", delay, visited)
		}
	}
}
