package machine

import (
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// translation makes page tables, MMU and driver of a machine that translates, the pager
// of one that does not.
func (b *builder) translation() error {
	g, x := b.gpu, &b.gpu.translation
	x.sheet = b.sheet
	if !b.sheet.VM.Enabled {
		slots := faultSlots(&b.sheet.VM)
		x.pager = vm.NewPager(b.sheet, len(g.Tenants), slots, b.table("pager", vm.PagerDesc(), 1))
		return nil
	}
	tab, err := vm.NewTables(b.sheet, b.amap, len(g.Tenants))
	if err != nil {
		return err
	}
	if err := backing.Color(b.sheet, b.memoryApps(), tab); err != nil {
		return err
	}
	for i, t := range g.Tenants {
		if t.Groups == nil {
			continue
		}
		if err := tab.SetGroups(mem.TenantID(i), t.Groups); err != nil {
			return err
		}
		if !tab.Frames().PerGroup() { // the page spans all channels: only the map can isolate
			if g.fabric.Layouts.Of[1+2*i], err = b.amap.Restrict(t.Groups); err != nil {
				return err
			}
			tab.SetLayout(mem.TenantID(i), uint64(1+2*i))
		}
	}
	x.tables = tab
	cfg := vm.NewConfig(b.sheet, len(g.Tenants))
	x.mmu, err = vm.NewMMU(cfg, tab, nil, b.table("mmu", vm.Desc(), 1))
	if err != nil {
		return err
	}
	x.driver = vm.NewDriver(b.sheet, faultSlots(&b.sheet.VM), x.mmu)
	if b.options.Touches {
		x.touches = vm.NewTouches(b.sheet, tab, cfg.Home)
	}
	x.localMapped, x.promised = make([]uint64, len(g.Tenants)), make([]int64, len(g.Tenants))
	return nil
}

// translator makes the L1 TLB of an SM and its way to the MMU; nil, nil on a
// machine that does not translate.
func (b *builder) translator() (sm.TLB, sm.MMU, error) {
	v := &b.sheet.VM
	if !v.Enabled {
		return nil, nil, nil
	}
	t, err := vm.NewTLB(v.L1Entries, v.L1Ways)
	if err != nil {
		return nil, nil, err
	}
	x := &b.gpu.translation
	x.tlbs = append(x.tlbs, t)
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
