package translation_test

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// rig is translation with what lies below it: the interconnect, the LLC's slices and the memory.
type rig struct {
	sheet  *sheets.Machine
	fabric interconnect.Fabric
	memory backing.Memory
	translation.Translation
}

func newRig(t *testing.T, sheet string, set map[string]string) *rig {
	t.Helper()
	s, _, err := sheets.Resolve(sheet, set)
	if err != nil {
		t.Fatal(err)
	}
	amap, err := addrmap.New(s)
	if err != nil {
		t.Fatal(err)
	}
	table := func(owner string, desc []stat.Desc, n int) *stat.Table { return stat.NewTraffic(owner, desc, n, 1) }
	x, clock, apps := &rig{sheet: s, fabric: interconnect.New(s, amap)}, &timing.Clock{}, []backing.App{{Name: "a"}}
	channels, tiers := amap.Channels(), 0
	if s.Memory.Given() {
		channels, tiers = 0, amap.Channels()+s.Memory.Fast.Device.Channels
	}
	w := timing.NewWakeups(channels, backing.Stacks(s, amap), amap.Slices()+s.L3.Banks, tiers, s.SM.Count, s.CPU.Cores,
		false)
	for _, err := range []error{
		x.memory.Build(&backing.Parts{
			Sheet: s, Map: amap, Fabric: &x.fabric, Clock: clock, Wakeups: w, Apps: apps, Traffic: table,
		}),
		x.fabric.Build(&interconnect.Parts{
			Sheet: s, Map: amap, Slices: x.memory.Slices, Apps: 1, Wakeups: w, Traffic: table,
		}),
		x.Build(&translation.Parts{
			Sheet: s, Map: amap, Fabric: &x.fabric, Apps: apps, Meters: &timing.Meters{},
			FirstError: &timing.FirstError{}, Clock: clock, Wakeups: w, Table: table,
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	x.SMsOf = func(mem.TenantID) []int { return nil } // the machine has no SMs
	return x
}

func alloc(t *testing.T, x *rig, bytes int64) (*mem.Region, error) {
	t.Helper()
	reg, err := mem.NewSpace(0).Reserve(bytes, mem.Device, "big")
	if err != nil {
		t.Fatal(err)
	}
	return reg, x.Allocate(0, reg)
}

// What is not touched costs no frame, but more than there is cannot be promised; what is freed can
// be promised again.
func TestPromisedMemory(t *testing.T) {
	x := newRig(t, "ugpu", map[string]string{"vm.first_touch": "true"})
	most := x.sheet.DRAM.Capacity
	half, err := alloc(t, x, most/2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alloc(t, x, most/2+1); !errors.Is(err, vm.ErrNoFrame) {
		t.Errorf("more than there is: %v", err)
	}
	x.Free(0, half)
	if _, err := alloc(t, x, most); err != nil {
		t.Errorf("after all is freed: %v", err)
	}
}

// TestCopiesOfFreedFramesGo: what other slices hold of a page goes when its frame is given back.
func TestCopiesOfFreedFramesGo(t *testing.T) {
	for _, sheet := range []string{"nuba", "nuba-smside", "hydrogen"} {
		x := newRig(t, sheet, nil)
		reg, err := alloc(t, x, 4096)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := x.Physical(0, reg.Base)
		if !ok {
			t.Fatal("no frame")
		}
		f := &x.fabric
		home := f.Layouts.Slice(p)
		other := int(f.Between.Entry[len(f.Between.Entry)-1][home])
		if other == home {
			other = int(f.Between.Entry[0][home])
		}
		f.Slices[other].Prefill(p, 1, 0)
		if !f.Slices[other].Holds(p) {
			t.Fatal("no copy")
		}
		x.Free(0, reg)
		if f.Slices[other].Holds(p) {
			t.Errorf("%s: slice %d holds a line of a frame that was given back", sheet, other)
		}
	}
}
