package vm

import (
	"math"

	"heddle/mem"
	"heddle/sheets"
)

// Driver is the default fault handler: each fault costs a fixed time (20 us in
// the papers), at most Slots of them at once, in order of arrival; then the page
// gets a frame and the waiting walks restart. Moving the bytes over the host link
// is unified memory's business, which has a handler of its own.
type Driver struct {
	cost  uint64 // core cycles per fault
	slots int
	wait  mem.Queue[pageFault] // bounded by the MMU's pending misses
	busy  mem.Ring[pageFault]  // being handled; all cost the same, so oldest ends first
	tab   *Tables
	mmu   *MMU
}

type pageFault struct {
	vpn    uint64
	end    uint64
	sm     int32
	tenant uint8
}

// NewDriver makes the handler of an MMU and installs it. slots 1 is a sequential
// driver.
func NewDriver(s *sheets.Machine, slots int, m *MMU) *Driver {
	d := &Driver{cost: uint64(math.Round(s.VM.FaultUs * s.Clock.Core)), slots: slots, busy: mem.NewRing[pageFault](slots), tab: m.tab, mmu: m}
	m.SetHandler(d)
	return d
}

// Fault implements FaultHandler; the queue has room for every pending miss.
func (d *Driver) Fault(now uint64, tenant uint8, vpn uint64, sm int) bool {
	d.wait.Push(pageFault{vpn: vpn, sm: int32(sm), tenant: tenant})
	d.start(now)
	return true
}

// start begins faults while slots are free.
func (d *Driver) start(now uint64) {
	for d.wait.Len() > 0 && !d.busy.Full() {
		f := d.wait.Pop()
		f.end = now + d.cost
		d.busy.Push(f)
	}
}

// Tick implements FaultHandler.
func (d *Driver) Tick(now uint64) (next uint64) {
	for d.busy.Len() > 0 && d.busy.Head().end <= now {
		f := d.busy.Pop()
		if _, err := d.tab.MapPage(f.tenant, f.vpn, d.mmu.Home(int(f.sm))); err != nil {
			d.mmu.fail(err)
			continue
		}
		d.mmu.Resolve(now, f.tenant, f.vpn)
		d.start(now)
	}
	if d.busy.Len() == 0 {
		return never
	}
	return d.busy.Head().end
}
