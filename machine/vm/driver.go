package vm

import (
	"errors"
	"math"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// Driver is the default fault handler. A page that is not on the device costs a fixed time (20 us in the papers). At
// most Slots faults are handled at once, in order of arrival or, if the sheet has vm.driver_turns, with the
// applications taking turns. Then the page gets a frame and the waiting walks restart. Unified memory, which moves
// bytes over the host link, has a handler of its own. After a change of channels the driver also moves pages (UGPU,
// section 4.4; relocate.go): those that are touched in channels their owner has lost, and, when their frames are
// needed, those that are not touched.
type Driver struct {
	cost  uint64 // core cycles per far fault
	slots int
	wait  turnQueue[pageFault] // bounded by the MMU's pending misses
	busy  mem.Ring[pageFault]  // being handled; all cost the same, so oldest ends first
	tab   *Tables
	mmu   *MMU
	relocator
}

type pageFault struct {
	vpn    uint64
	end    uint64
	sm     int32
	tenant mem.TenantID
	swept  bool // no access touched the page: its frame is needed
}

// NewDriver makes the handler of an MMU and installs it. slots 1 is a sequential
// driver.
func NewDriver(s *sheets.Machine, slots int, m *MMU) *Driver {
	d := &Driver{
		cost: uint64(math.Round(s.VM.FaultUs * s.Clock.Core)), slots: slots,
		wait: newTurnQueue[pageFault](len(m.tab.pt), s.VM.DriverTurns),
		busy: mem.NewRing[pageFault](slots), tab: m.tab, mmu: m,
	}
	d.relocator.init(s, slots, m)
	m.SetHandler(d)
	return d
}

// Fault implements FaultHandler; the queues have room for every pending miss.
func (d *Driver) Fault(now uint64, tenant mem.TenantID, vpn uint64, sm int) bool {
	f := pageFault{vpn: vpn, sm: int32(sm), tenant: tenant}
	switch _, s := d.tab.Lookup(tenant, vpn); s {
	case Moving: // the end of the move resolves it
	case Resident:
		d.asked.Push(tenant, f)
	default:
		d.wait.Push(tenant, f)
	}
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
	d.startMoves(now)
}

// Reclaimed says that frames have been returned: faults that wait for one are handled again.
func (d *Driver) Reclaimed(now uint64) {
	for ; d.Homes.short.Len() > 0; d.start(now) {
		f := d.Homes.short.Pop()
		d.wait.Push(f.tenant, f)
	}
}

// Tick implements FaultHandler.
func (d *Driver) Tick(now uint64) (next uint64) {
	for d.busy.Len() > 0 && d.busy.Head().end <= now {
		f := d.busy.Pop()
		if _, err := d.tab.MapPage(f.tenant, f.vpn, d.mmu.Near(int(f.sm))); err != nil {
			if errors.Is(err, ErrNoFrame) && d.Homes.Reclaim != nil && d.Homes.Reclaim(now) {
				d.Homes.short.Push(f)
			} else {
				d.mmu.fail(err)
			}
			continue
		}
		d.resolve(now, f.tenant, f.vpn)
		d.start(now)
	}
	next = d.tickMoves(now)
	if d.busy.Len() == 0 {
		return next
	}
	return min(next, d.busy.Head().end)
}
