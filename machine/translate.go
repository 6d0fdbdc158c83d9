package machine

import (
	"heddle/machine/sm"
	"heddle/machine/vm"
	"heddle/mem"
	"heddle/mem/addrmap"
)

// faultSlots is the number of faults the driver handles at once. The papers give
// a latency per fault (20 us) and UVMSmart batches; one per walker is the reading
// under which a fault's cost is its latency and not a global queue.
func faultSlots(walkers int) int { return max(1, walkers) }

// buildVM makes page tables, MMU and driver of a machine that translates, the pager
// of one that does not.
func (g *GPU) buildVM(amap *addrmap.Map) error {
	if !g.Sheet.VM.Enabled {
		g.pager = vm.NewPager(g.Sheet, len(g.Tenants), faultSlots(g.Sheet.VM.Walkers), g.table("pager", vm.PagerDesc(), 1))
		return nil
	}
	tab, err := vm.NewTables(g.Sheet, amap, len(g.Tenants))
	if err != nil {
		return err
	}
	for i, t := range g.Tenants {
		if t.Groups == nil {
			continue
		}
		if err := tab.SetGroups(uint8(i), t.Groups); err != nil {
			return err
		}
		if !tab.Frames().PerGroup() { // the page spans all channels: only the map can isolate
			if g.layouts.of[1+2*i], err = amap.Restrict(t.Groups); err != nil {
				return err
			}
			tab.SetLayout(uint8(i), uint64(1+2*i))
		}
	}
	g.tables = tab
	g.mmu, err = vm.NewMMU(vm.NewConfig(g.Sheet, len(g.Tenants)), tab, nil, g.table("mmu", vm.Desc(), 1))
	if err != nil {
		return err
	}
	g.driver = vm.NewDriver(g.Sheet, faultSlots(g.Sheet.VM.Walkers), g.mmu)
	g.driver.Moves = func(now uint64, n int) {
		g.meters.pages.add(now, n)
		g.meters.either.add(now, n)
		if n > 0 {
			g.agenda.wakeMMU(now + 1)
		}
	}
	g.driver.Copy = func(now uint64) { g.agenda.wakeDriver(now) }
	tab.Shootdown = func(tenant uint8, vpn uint64) {
		g.mmu.InvalidatePage(tenant, vpn)
		for _, t := range g.tlbs {
			t.InvalidatePage(tenant, vpn)
		}
		g.agenda.wakeMMU(g.Now()) // a reply it overtook is looked up again
	}
	g.localMapped = make([]uint64, len(g.Tenants))
	return nil
}

// translator makes the L1 TLB of an SM and its way to the MMU; nil, nil on a
// machine that does not translate.
func (g *GPU) translator() (sm.TLB, sm.MMU, error) {
	v := &g.Sheet.VM
	if !v.Enabled {
		return nil, nil, nil
	}
	t, err := vm.NewTLB(v.L1Entries, v.L1Ways)
	if err != nil {
		return nil, nil, err
	}
	g.tlbs = append(g.tlbs, t)
	return t, mmuPort{g}, nil
}

// mmuPort passes L1 TLB misses on and wakes the MMU for them.
type mmuPort struct{ g *GPU }

// Request implements sm.MMU.
func (p mmuPort) Request(now uint64, tenant uint8, vpn uint64, smID int, token int32) bool {
	ok := p.g.mmu.Request(now, tenant, vpn, smID, token)
	p.g.agenda.wakeSM(p.g.agenda.mmu, now)
	return ok
}

// pagerPort passes faults on and wakes the stage that ends them.
type pagerPort struct{ g *GPU }

// Absent implements sm.Pager.
func (p pagerPort) Absent(tenant uint8, addr uint64) (page uint64, absent bool) {
	return p.g.pager.Absent(tenant, addr)
}

// Fault implements sm.Pager.
func (p pagerPort) Fault(now uint64, tenant uint8, page uint64) {
	p.g.pager.Fault(now, tenant, page)
	p.g.agenda.wakeSM(p.g.agenda.mmu, p.g.pager.Next())
}

// tickPager lets the SMs that wait for a page go on when it has arrived.
func (g *GPU) tickPager(now uint64) uint64 {
	for f, ok := g.pager.Pop(now); ok; f, ok = g.pager.Pop(now) {
		for i, s := range g.sm {
			s.Arrived(f.Tenant, f.Page, now)
			g.agenda.wakeSM(i, now)
		}
	}
	g.verdict.fail(g.pager.Err())
	return g.pager.Next()
}

// Map tells the machine of an allocation: device memory gets its frames now,
// managed memory on first touch.
func (g *GPU) Map(tenant int, r *mem.Region) error {
	t, n := uint8(tenant), r.Len()
	switch {
	case g.tables != nil && (r.Kind == mem.Managed || r.Kind == mem.Host):
		return g.tables.Reserve(t, r.Base, uint64(n))
	case g.tables != nil:
		return g.tables.MapRegion(t, r.Base, uint64(n))
	case r.Kind == mem.Managed:
		g.pager.Reserve(t, r.Base, n)
		for _, s := range g.sm { // from now on they ask
			s.SetPager(pagerPort{g})
		}
		g.stride.possible = false // a page one SM asks for is there for the others
	case r.Kind != mem.Host:
		return g.pager.Map(t, n)
	}
	return nil
}

// Unmap gives an allocation's frames back.
func (g *GPU) Unmap(tenant int, r *mem.Region) error {
	t := uint8(tenant)
	switch {
	case g.tables != nil:
		g.tables.Unmap(t, r.Base, uint64(r.Len()))
		g.hand.leave(g.Now(), tenant)
	case r.Kind == mem.Managed:
		g.pager.Forget(t, r.Base)
	case r.Kind != mem.Host:
		g.pager.Unmap(t, r.Len())
	}
	return nil
}

// Evict moves the resident pages of a managed range to the host and returns the
// bytes that have to cross the link.
func (g *GPU) Evict(tenant int, r *mem.Region, off, n int64) int64 {
	if g.tables == nil {
		return g.pager.Move(uint8(tenant), r.Base+uint64(off), n, false)
	}
	pages := g.tables.UnmapToHost(uint8(tenant), r.Base+uint64(off), uint64(n))
	return int64(pages) * int64(g.Sheet.VM.Page)
}

// Prefetch gives the absent pages of a managed range frames and returns the bytes
// that have to cross the link.
func (g *GPU) Prefetch(tenant int, r *mem.Region, off, n int64) int64 {
	if g.tables == nil {
		return g.pager.Move(uint8(tenant), r.Base+uint64(off), n, true)
	}
	page := uint64(g.Sheet.VM.Page)
	var bytes int64
	for v := (r.Base + uint64(off)) / page; v*page < r.Base+uint64(off+n); v++ {
		if _, s := g.tables.Translate(uint8(tenant), v*page); s == vm.Resident {
			continue
		}
		if _, err := g.tables.MapPage(uint8(tenant), v, -1); err != nil {
			break // memory is full: the rest faults when touched
		}
		bytes += int64(page)
	}
	return bytes
}

// physical translates functionally.
func (g *GPU) physical(tenant int, vaddr uint64) (uint64, bool) {
	if g.tables == nil {
		return vm.Identity(uint8(tenant), vaddr), true
	}
	p, s := g.tables.Translate(uint8(tenant), vaddr)
	return p, s == vm.Resident
}

// mapLocal gives a kernel's local-memory window its frames.
func (g *GPU) mapLocal(k *Kernel) error {
	if g.tables == nil || k.Geo.LocalBytes == 0 {
		return nil
	}
	need := uint64((k.Geo.LocalBytes+3)/4) * g.localStride()
	have := g.localMapped[k.Tenant]
	if need <= have {
		return nil
	}
	g.localMapped[k.Tenant] = need
	return g.tables.MapRegion(k.Tenant, localWindow+have, need-have)
}

// localStride is the distance of a thread's consecutive local words: one word of
// every thread the machine can hold.
func (g *GPU) localStride() uint64 { return uint64(g.Sheet.SM.Count*g.Sheet.SM.Threads) * 4 }

// Release forgets all memory of a tenant: its program has ended and may start anew.
func (g *GPU) Release(tenant int) {
	if g.tables == nil {
		g.pager.Release(uint8(tenant))
		return
	}
	g.tables.ReleaseTenant(uint8(tenant))
	g.mmu.InvalidateTenant(uint8(tenant))
	g.mmu.ClearStatus(uint8(tenant))
	g.hand.leave(g.Now(), tenant)
	g.contexts.end[tenant] = 0
	for _, t := range g.tlbs {
		t.InvalidateTenant(uint8(tenant))
	}
	g.localMapped[tenant] = 0
}
