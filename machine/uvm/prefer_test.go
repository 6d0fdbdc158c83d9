package uvm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// A batch brings the lower addresses first, which are the first application's; where the second is named, its pages
// come first, ascending among themselves. Order of the faults does not matter.
func TestPrefer(t *testing.T) {
	o := Options{Capacity: 4 * ChunkSize, Prefetch: "none", Evict: "lru2m", Migrate: "first-touch", Ts: 8, P: 8}
	for named, want := range map[int][]uint64{-1: {0, 1, 2, 3}, 0: {0, 1, 2, 3}, 1: {2, 3, 0, 1}} {
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var faults []uint64
		for k := range uint64(4) {
			addr := base + k*ChunkSize
			if err := r.Allocate(mem.TenantID(k/2), addr, ChunkSize, false); err != nil {
				t.Fatal(err)
			}
			if v, err := r.Access(addr, false); v != Fault || err != nil {
				t.Fatalf("chunk %d: %v, %v", k, v, err)
			}
			faults = append([]uint64{addr}, faults...)
		}
		r.Prefer(named)
		var got []uint64
		for _, x := range r.Plan(faults).In {
			got = append(got, (x.Addr-base)/ChunkSize)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d first: chunks %v, want %v", named, got, want)
		}
	}
}
