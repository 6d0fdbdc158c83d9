package interconnect_test

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// newFabric is the interconnect of a sheet with its slices, and neither SMs nor translation.
func newFabric(t *testing.T, sheet string) *interconnect.Fabric {
	t.Helper()
	s, _, err := sheets.Load(sheet)
	if err != nil {
		t.Fatal(err)
	}
	amap, err := addrmap.New(s)
	if err != nil {
		t.Fatal(err)
	}
	traffic := func(owner string, desc []stat.Desc, n int) *stat.Table { return stat.NewTraffic(owner, desc, n, 1) }
	f, m := interconnect.New(s, amap), backing.Memory{}
	w := timing.NewWakeups(amap.Channels(), backing.Stacks(s, amap), amap.Slices(), 0, s.SM.Count, 0, false)
	if err := m.Build(&backing.Parts{
		Sheet: s, Map: amap, Fabric: &f, Clock: &timing.Clock{}, Wakeups: w, Apps: []backing.App{{Name: "a"}},
		Traffic: traffic,
	}); err != nil {
		t.Fatal(err)
	}
	if err := f.Build(&interconnect.Parts{
		Sheet: s, Map: amap, Slices: m.Slices, Apps: 1, Wakeups: w, Traffic: traffic,
	}); err != nil {
		t.Fatal(err)
	}
	f.Accounts = []*interconnect.Account{{}}
	return &f
}

// TestSlicesDoNotShareAWalkersQueue: page walks and copies that pile up before one LLC
// slice leave room for those to the others, which may be another application's.
func TestSlicesDoNotShareAWalkersQueue(t *testing.T) {
	f := newFabric(t, "ugpu")
	read := func(line uint64) bool {
		return f.InjectMMU(mem.Req{Line: line, Sectors: 1, Op: mem.Walk}, 0)
	}
	n := 0
	for ; read(0); n++ {
		if n > 1000 {
			t.Fatal("the queue is never full")
		}
	}
	for line := uint64(1); line < 8; line++ { // Figure 8: other channels
		if a := line << 12; f.Layouts.Slice(a) == f.Layouts.Slice(0) || !read(a) {
			t.Errorf("after %d reads of slice %d none of slice %d", n, f.Layouts.Slice(0), f.Layouts.Slice(a))
		}
	}
}

// Over stages and links a walker's read is answered by the entry and not by its line; over a
// crossbar of one switch by a sector of 32 bytes, also where sectors are lines (ugpu).
func TestPageTableEntriesAreShort(t *testing.T) {
	for name, want := range map[string][2]int{
		"nuba": {1, 9}, "nuba-mem": {1, 9}, "nuba-smside": {1, 9}, "ugpu": {2, 5}, "uvm": {2, 2},
	} {
		f := newFabric(t, name)
		for _, l := range []*interconnect.Lengths{&f.Lengths, &f.Between.Lengths} {
			if l.Data[1] == 0 {
				continue // one network alone
			}
			walk, read := l.Answer(&mem.Req{Op: mem.Walk, Sectors: 1}), l.Answer(&mem.Req{Op: mem.Read, Sectors: 1})
			if walk != want[0] || read != want[1] {
				t.Errorf("%s: %d flits answer a walk, %d a read; want %v", name, walk, read, want)
			}
		}
	}
}
