package translation

import (
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Parts are the inputs from which translation is built.
type Parts struct {
	Sheet   *sheets.Machine
	Map     *addrmap.Map
	Fabric  *interconnect.Fabric
	Apps    []backing.App
	Groups  [][]int // by application: its own channel groups; nil: all
	Touches bool    // the SMs that touch each page are counted

	Meters     *timing.Meters
	FirstError *timing.FirstError
	Clock      *timing.Clock
	Wakeups    timing.Wakeups
	// Table makes a table of counters.
	Table func(owner string, desc []stat.Desc, instances int) *stat.Table
}

// Build makes page tables, MMU and driver of a machine that translates, and the pager of a machine that does not.
func (x *Translation) Build(b *Parts) error {
	x.sheet, x.fabric = b.Sheet, b.Fabric
	x.meters, x.firstError, x.clock, x.wakeups = b.Meters, b.FirstError, b.Clock, b.Wakeups
	if !b.Sheet.VM.Enabled {
		slots := faultSlots(&b.Sheet.VM)
		x.pager = vm.NewPager(b.Sheet, len(b.Apps), slots, b.Table("pager", vm.PagerDesc(), 1))
		return nil
	}
	tab, err := vm.NewTables(b.Sheet, b.Map, len(b.Apps))
	if err != nil {
		return err
	}
	if err := backing.Color(b.Sheet, b.Apps, tab); err != nil {
		return err
	}
	for i, groups := range b.Groups {
		if groups == nil {
			continue
		}
		if err := tab.SetGroups(mem.TenantID(i), groups); err != nil {
			return err
		}
		if !tab.Frames().PerGroup() { // the page spans all channels: only the map can isolate
			if x.fabric.Layouts.Of[1+2*i], err = b.Map.Restrict(groups); err != nil {
				return err
			}
			tab.SetLayout(mem.TenantID(i), uint64(1+2*i))
		}
	}
	x.Tables = tab
	cfg := vm.NewConfig(b.Sheet, len(b.Apps))
	x.MMU, err = vm.NewMMU(cfg, tab, nil, b.Table("mmu", vm.Desc(), 1))
	if err != nil {
		return err
	}
	x.Driver = vm.NewDriver(b.Sheet, faultSlots(&b.Sheet.VM), x.MMU)
	x.Driver.Moves, x.Driver.Copy = x.pagesMove, x.wakeups.WakeMoves
	tab.Shootdown, tab.Freed = x.forget, x.freed
	if b.Touches {
		x.Touches = vm.NewTouches(b.Sheet, tab, cfg.Near)
	}
	x.localMapped, x.promised = make([]uint64, len(b.Apps)), make([]int64, len(b.Apps))
	return nil
}

// Translator makes the L1 TLB of an SM and its way to the MMU; nil, nil on a
// machine that does not translate.
func (x *Translation) Translator() (sm.TLB, sm.MMU, error) {
	v := &x.sheet.VM
	if !v.Enabled {
		return nil, nil, nil
	}
	t, err := vm.NewTLB(v.L1Entries, v.L1Ways)
	if err != nil {
		return nil, nil, err
	}
	x.TLBs = append(x.TLBs, t)
	return t, mmuPort{x}, nil
}

// faultSlots is the number of faults the driver handles at once. The papers give
// a latency per fault (20 us) and UVMSmart batches; one per walker is the reading
// under which a fault's cost is its latency and not a global queue. A sheet may say otherwise.
func faultSlots(v *sheets.VM) int {
	if v.FaultSlots > 0 {
		return v.FaultSlots
	}
	return max(1, v.Walkers)
}
