package uvm

import "testing"

// What becomes of an allocation is counted by allocation, and kept when it is freed; made again, it is
// the same one.
func TestHeat(t *testing.T) {
	r, err := New(Options{Capacity: 4 << 20, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch", Ts: 8, P: 8})
	if err != nil {
		t.Fatal(err)
	}
	const second = base + 16<<20
	for range 2 {
		for _, a := range []uint64{base, second} {
			if err := r.Allocate(1, a, 3<<20, false); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			touch(t, r, base)
		}
		if _, err := r.Access(base+8, true); err != nil {
			t.Fatal(err)
		}
		touch(t, r, second+2<<20)
		r.Free(base)
		r.Free(second)
	}
	want := []Heat{
		{Tenant: 1, Base: base, Bytes: 3 << 20, Reads: 6, Writes: 2, Migrated: 2 * PagesPerBlock},
		{Tenant: 1, Base: second, Bytes: 3 << 20, Reads: 2, Migrated: 2 * PagesPerBlock},
	}
	got := r.Heats()
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
