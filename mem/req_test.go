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

// TestSlab: no handle is taken twice, what is freed is taken again, and a slab grows only when all are in flight.
func TestSlab(t *testing.T) {
	s := NewSlab(4)
	seen := map[int32]bool{}
	for range 10 {
		h := s.Get()
		if seen[h] || int(h) >= len(s.R) {
			t.Fatalf("got %d of %d requests, seen before: %v", h, len(s.R), seen[h])
		}
		seen[h] = true
	}
	if size := len(s.R); s.Live() != 10 || size != 16 {
		t.Errorf("%d requests in flight of %d, want 10 of 16", s.Live(), size)
	}
	for h := range seen {
		s.Put(h)
	}
	for range 1000 {
		s.Put(s.Get())
	}
	if s.Live() != 0 || len(s.R) != 16 {
		t.Errorf("%d requests in flight of %d after all were freed", s.Live(), len(s.R))
	}
}
