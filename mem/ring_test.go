package mem

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRing: a ring keeps order and limit, whatever it has grown from.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 1, 2, 3, firstRoom, firstRoom + 1, 5*firstRoom + 7}).Draw(t, "limit")
		q, list, next := NewRing[int](limit), []int{}, 0
		for range rapid.IntRange(1, 20).Draw(t, "turns") {
			for range rapid.IntRange(0, 3*firstRoom).Draw(t, "pushed") {
				if q.Full() != (len(list) == limit) {
					t.Fatalf("%d of %d elements: full is %v", len(list), limit, q.Full())
				}
				if q.Push(next) {
					list = append(list, next)
				} else if len(list) < limit {
					t.Fatalf("%d of %d elements, and one is refused", len(list), limit)
				}
				next++
			}
			if q.Len() != len(list) || len(list) > limit {
				t.Fatalf("%d elements instead of %d", q.Len(), len(list))
			}
			for i, v := range list {
				if *q.At(i) != v {
					t.Fatalf("element %d of %d is %d, not %d", i, len(list), *q.At(i), v)
				}
			}
			for range rapid.IntRange(0, len(list)).Draw(t, "popped") {
				if head, v := *q.Head(), q.Pop(); head != list[0] || v != list[0] {
					t.Fatalf("%d and %d instead of %d", head, v, list[0])
				}
				list = list[1:]
			}
		}
	})
}

// TestRingKeepsItsMemory: what a ring has grown to serves as long as it lasts.
func TestRingKeepsItsMemory(t *testing.T) {
	const n = 4 * firstRoom
	q := NewRing[int](n)
	fill := func() {
		for q.Push(1) {
		}
		for q.Len() > 0 {
			q.Pop()
		}
	}
	if first := testing.AllocsPerRun(1, func() { q = NewRing[int](n); fill() }); first < 3 {
		t.Errorf("%v allocations: it has not grown", first)
	}
	if again := testing.AllocsPerRun(10, fill); again != 0 {
		t.Errorf("%v allocations once it has grown", again)
	}
}
