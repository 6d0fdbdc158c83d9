package link

import (
	"testing"

	"heddle/mem"
	"heddle/stat"
)

// The fitted curve: 4 KB takes 2605 cycles of 1481 MHz (1.759 us), 64 KB 5.876 us.
func TestCurve(t *testing.T) {
	c := Config{Core: 1481, Peak: 12, Rate: 0.07292}
	for n, want := range map[int64]uint64{4 << 10: 2605, 64 << 10: 8702, 0: 0} {
		if got := c.Cycles(n); got+1 < want || got > want+1 {
			t.Errorf("%d bytes take %d cycles, want %d", n, got, want)
		}
	}
	flat := Config{Core: 1000, Bandwidth: 16}
	if got := flat.Cycles(1600); got != 100 {
		t.Errorf("without a curve: %d cycles, want 100", got)
	}
}

// A direction carries one transfer at a time, the oldest that may go.
func TestDirection(t *testing.T) {
	table := stat.NewTable("link", Desc(), 2, 2)
	d := NewDirection(&Config{Core: 1000, Bandwidth: 1}, FirstReady{}, table, 0)
	all := func(*Transfer) bool { return true }
	for id := range int32(4) {
		d.Push(Transfer{ID: id, Bytes: 4096, Queued: 5, Tenant: mem.TenantID(id % 2)})
	}
	got, ok := d.Take(10, func(t *Transfer) bool { return t.ID > 0 })
	if cycles := d.Start(10, &got); !ok || got.ID != 1 || cycles != 4096 || d.Free() != 4106 {
		t.Fatalf("%+v, %d, %v", got, d.Free(), ok)
	}
	if _, ok = d.Take(4105, all); ok {
		t.Error("two at once")
	}
	d.Cancel(0)
	if got, _ = d.Take(4106, all); got.ID != 2 || d.Waiting() != 1 {
		t.Errorf("%+v", got)
	}
	if _, ok = d.Take(1<<20, func(*Transfer) bool { return false }); ok {
		t.Error("one began that may not")
	}
	one := table.Row(0, 1)
	if one[Transfers] != 1 || one[Bytes] != 4096 || one[WaitCycles] != 5 || one[Size4K] != 1 ||
		table.Row(0, 0)[Cancelled] != 1 {
		t.Errorf("%v", one)
	}
	if sizeClass(4097) != Size16K || sizeClass(1<<20) != Size1M || sizeClass(2<<20) != SizeMore {
		t.Error("size classes")
	}
}
