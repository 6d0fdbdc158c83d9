package mem

import (
	"testing"
	"unsafe"
)

// Requests are copied and looked through all the time: two of them fill a line of the computer's cache.
func TestReqIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Req{}); n != 32 {
		t.Errorf("a request has %d bytes, want 32", n)
	}
}

// TestSlabLanes: what is reserved can be taken in every lane at once without moving the
// requests, no handle twice; a lane that only frees gives back what others take.
func TestSlabLanes(t *testing.T) {
	s := NewSlab(4)
	s.Reserve(10)
	first, size := &s.R[0], len(s.R)
	seen := map[int32]bool{}
	for lane := range Lanes {
		for range 10 {
			h := s.Get(lane)
			if seen[h] || int(h) >= size {
				t.Fatalf("lane %d got %d of %d requests, seen before: %v", lane, h, size, seen[h])
			}
			seen[h] = true
		}
	}
	if &s.R[0] != first || s.Live() != 10*Lanes {
		t.Errorf("moved: %v; %d requests live, want %d", &s.R[0] != first, s.Live(), 10*Lanes)
	}
	for h := range seen {
		s.Put(1, h)
	}
	if s.Live() != 0 {
		t.Errorf("%d live after all were freed", s.Live())
	}
	for range 1000 { // requests that go out in one lane and come back in the other
		s.Reserve(4)
		s.Put(1, s.Get(0))
	}
	if len(s.R) != size {
		t.Errorf("%d requests grew to %d", size, len(s.R))
	}
}
