package emulate

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// TestHeap: blocks never overlap, are aligned and come back; when all is free again the
// whole heap can be had.
func TestHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const size = 1 << 14
	h, err := NewHeap(mem.NewSpace(0), size)
	if err != nil {
		t.Fatal(err)
	}
	type piece struct{ at, n uint64 }
	var live []piece
	refused := 0
	for range 20000 {
		if len(live) > 0 && r.IntN(5) < 2 {
			i := r.IntN(len(live))
			if !h.free(live[i].at) {
				t.Fatalf("free of 0x%x", live[i].at)
			}
			if h.free(live[i].at) {
				t.Fatal("freed twice")
			}
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		n := uint64(1 + r.IntN(600))
		at, ok := h.malloc(n)
		if !ok {
			t.Fatal("the heap is damaged")
		}
		if at == 0 {
			refused++
			continue
		}
		if at%16 != 0 || at < h.region.Base || at+n > h.region.End() {
			t.Fatalf("%d bytes at 0x%x", n, at)
		}
		for _, p := range live {
			if at < p.at+p.n && p.at < at+n {
				t.Fatalf("%d bytes at 0x%x overlap %d at 0x%x", n, at, p.n, p.at)
			}
		}
		for i := range n {
			h.region.Data[at-h.region.Base+i] = 0xff
		}
		live = append(live, piece{at, n})
	}
	if refused == 0 {
		t.Error("the heap was never full")
	}
	for _, p := range live {
		h.free(p.at)
	}
	if at, ok := h.malloc(size - heapHead); at == 0 || !ok {
		t.Errorf("the whole heap: 0x%x %v", at, ok)
	}
	if at, ok := h.malloc(1); at != 0 || !ok {
		t.Errorf("of a full heap: 0x%x %v", at, ok)
	}
	if h.free(h.region.Base + 48) {
		t.Error("free of an address malloc did not give")
	}
	clear(h.region.Data[:64])
	if _, ok := h.malloc(16); ok {
		t.Error("a damaged heap was not noticed")
	}
}
