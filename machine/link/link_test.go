package link

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
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

// Each arbiter on the same queue of two applications, whose first three transfers are one's.
func TestArbiters(t *testing.T) {
	queue := []Transfer{{ID: 0}, {ID: 1}, {ID: 2}, {ID: 3, Tenant: 1}, {ID: 4, Tenant: 1}}
	for name, want := range map[string][]int32{
		"fr-fcfs": {0, 1, 2, 3, 4}, "rr": {3, 0, 4, 1, 2}, "static": {3, 4, 0, 1, 2}, "adaptive": {3, 0, 4, 1, 2},
	} {
		order, err := NewArbiter(name, adaptive(1))
		if err != nil {
			t.Fatal(err)
		}
		d := NewDirection(&Config{Core: 1000, Bandwidth: 1}, order, stat.NewTable("link", Desc(), 2, 2), 0)
		for _, x := range queue {
			x.Bytes = 1000
			d.Push(x)
		}
		var got []int32
		for now := uint64(0); d.Waiting() > 0; now += 1000 {
			x, ok := d.Take(now, func(*Transfer) bool { return true })
			if !ok {
				t.Fatalf("%s: nothing goes", name)
			}
			d.Start(now, &x)
			got = append(got, x.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, err := NewArbiter("fcfs", adaptive(0)); err == nil {
		t.Error("an arbiter that is not there")
	}
	if _, err := NewArbiter("static", adaptive(2)); err == nil {
		t.Error("a third application of two")
	}
	if _, err := NewArbiter("adaptive", Parameters{Tenants: 2}); err == nil {
		t.Error("a period of no cycles")
	}
}

// In the public simulator's order nothing passes the oldest transfer, which may not go, as another one may.
func TestOldest(t *testing.T) {
	may := func(x *Transfer) bool { return x.ID != 1 }
	queue := []Transfer{{ID: 1}, {ID: 2}}
	if a, b := (FirstReady{}).Next(0, queue, may), (Oldest{}).Next(0, queue, may); a != 1 || b != -1 {
		t.Errorf("%d and %d go, want 1 and none", a, b)
	}
	if i := (Oldest{}).Next(0, queue[1:], may); i != 0 {
		t.Errorf("%d goes, want 0", i)
	}
}

// adaptive is parameters for two applications of which one goes first.
func adaptive(high int) Parameters {
	return Parameters{
		Tenants: 2, High: high, Period: 1000, Similar: 1.25, Deviation: 2, Queue: 2,
		Allocated: func(mem.TenantID) uint64 { return 1 << 20 },
	}
}

// Equation 9: of two tenants of similar intensity, the one with more transfers per byte of its memory goes first. Of
// two with similar transfers per byte, the one that moves more bytes in the period goes first. If the two
// rules disagree, neither tenant goes first.
func TestEquation9(t *testing.T) {
	for _, c := range []struct {
		a, b measure
		want int
	}{
		{alike(100, 4, 1), alike(10, 4, 1), 0},
		{alike(10, 4, 1), alike(100, 4, 1), 1},
		{alike(10, 16, 1), alike(10, 4, 1), 0},
		{alike(100, 16, 1), alike(10, 4, 1), 0},
		{alike(100, 4, 1), alike(10, 16, 1), 0}, // smaller transfers, and more bytes in the period
		{alike(40, 4, 1), alike(20, 16, 1), -1},
		{alike(10, 4, 1), alike(11, 4, 1), -1},
		{alike(40, 4, 4), alike(20, 4, 1), -1}, // twice the bytes, and half the transfers for each byte allocated
		{alike(20, 4, 2), alike(20, 4, 1), 1},  // as many bytes, and half the transfers for each byte allocated
	} {
		if got := highest([]measure{c.a, c.b}, 1.25); got != c.want {
			t.Errorf("%+v: %d goes first, want %d", c, got, c.want)
		}
	}
	p := adaptive(0)
	x := newAdaptive(&p)
	x.high = 0
	always := func(*Transfer) bool { return true }
	first, second := Transfer{Bytes: 1}, Transfer{Bytes: 1, Tenant: 1}
	queue := []Transfer{first, second, second}
	next := func(what string, queue []Transfer, want int) {
		t.Helper()
		if i := x.Next(0, queue, always); i != want {
			t.Errorf("%s: %d goes, want %d", what, i, want)
		}
	}
	next("nobody has been served", queue, 0)
	x.Begun(0, &first, 0, 10)
	next("half of the first's, none of the second's", queue, 1)
	x.Begun(0, &second, 10, 10)
	next("half of the first's, a third of the second's", queue, 1)
	x.Begun(0, &second, 20, 10)
	next("half of either's", queue, 0)
	x.Begun(0, &first, 30, 10)
	x.Begun(0, &first, 40, 10)
	x.Begun(0, &first, 50, 10)
	next("the first has three pending", []Transfer{first, first, first, second, second, second, second, second}, 0)
}

// What the adaptive order measures is the transfers of pages to the device that the runtime asks for: of two
// applications that ask for the same, none goes first, whatever of the one is written back or copied beside them.
func TestMeasuredTransfers(t *testing.T) {
	for what, beside := range map[string]struct {
		way      int
		transfer Transfer
		want     int
	}{
		"more pages":       {0, Transfer{Bytes: 4096, Tenant: 1}, 1},
		"pages that leave": {1, Transfer{Bytes: 4096, Tenant: 1}, -1},
		"copies":           {0, Transfer{Bytes: 1 << 20, Tenant: 1, Copy: true}, -1},
		"copies back":      {1, Transfer{Bytes: 1 << 20, Tenant: 1, Copy: true}, -1},
	} {
		p := adaptive(0)
		x := newAdaptive(&p)
		for range 10 {
			x.Begun(0, &Transfer{Bytes: 4096}, 0, 10)
			x.Begun(0, &Transfer{Bytes: 4096, Tenant: 1}, 0, 10)
			x.Begun(beside.way, &beside.transfer, 0, 10)
		}
		for tenant := range mem.TenantID(2) { // the first of them ends the period
			x.Begun(0, &Transfer{Bytes: 4096, Tenant: tenant}, p.Period, 10)
		}
		if got := x.High(); got != beside.want {
			t.Errorf("%s beside: %d goes first, want %d", what, got, beside.want)
		}
	}
}

// alike is n transfers of so many KB each, of so many MB allocated.
func alike(n, kb, mb float64) measure {
	return measure{transfers: n, bytes: n * kb * 1024, allocated: mb * 1024 * 1024}
}

// An access that holds the direction waits for the transfer under way and for those that hold it already, and goes
// before transfers that wait.
func TestHold(t *testing.T) {
	table := stat.NewTable("link", Desc(), 2, 1)
	d := NewDirection(&Config{Core: 1000, Bandwidth: 1}, FirstReady{}, table, 0)
	all := func(*Transfer) bool { return true }
	d.Push(Transfer{ID: 1, Bytes: 4096})
	d.Push(Transfer{ID: 2, Bytes: 4096})
	x, _ := d.Take(0, all)
	d.Start(0, &x)
	if a, b := d.Hold(10, 0, 128, 200), d.Hold(20, 0, 128, 200); a != 4296 || b != 4496 {
		t.Errorf("they end at %d and %d", a, b)
	}
	if _, ok := d.Take(4495, all); ok {
		t.Error("a transfer goes before them")
	}
	x, ok := d.Take(4496, all)
	if d.Start(4496, &x); !ok || d.Hold(1<<20, 0, 128, 200) != 1<<20+200 {
		t.Error("an idle link is held at once")
	}
	row := table.Row(0, 0)
	if row[Remotes] != 3 || row[BusyCycles] != 2*4096+3*200 || row[WaitCycles] != 4086+4276+4496 {
		t.Errorf("%v", row)
	}
}

// From so many bytes on a program's copy has half the bandwidth; pages always have all of it.
func TestHalfCopies(t *testing.T) {
	table := stat.NewTable("link", Desc(), 2, 1)
	c := Config{Core: 1000, Bandwidth: 1, Half: 2 << 20}
	d := NewDirection(&c, FirstReady{}, table, 0)
	for _, x := range []struct {
		t    Transfer
		want uint64
	}{
		{Transfer{Bytes: 2 << 20, Copy: true}, 2 * 2 << 20},
		{Transfer{Bytes: 2<<20 - 1, Copy: true}, 2<<20 - 1},
		{Transfer{Bytes: 2 << 20}, 2 << 20},
	} {
		if got := d.Start(0, &x.t); got != x.want {
			t.Errorf("%+v takes %d cycles, want %d", x.t, got, x.want)
		}
	}
}
