package residency

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// CanRehome returns the error of a machine whose pages cannot follow their accesses, and the path of the sheet's
// number that is the cause; nil if they can.
func CanRehome(m *sheets.Machine) (path string, err error) {
	switch amap, err := addrmap.New(m); {
	case err != nil:
		return "map.kind", err
	case !m.VM.Enabled:
		return "vm.enabled", fmt.Errorf("machine %s does not translate addresses (vm.enabled), so that pages have "+
			"no place "+
			"of their own: use machine nuba", m.Name)
	case m.NoC.Shape() != sheets.NUBA:
		return "noc.topology", fmt.Errorf("machine %s has noc.topology %s, where all channels are equally far "+
			"from an SM: use machine nuba, whose pages are near the SMs of a partition", m.Name, m.NoC.Shape())
	case !amap.PageInGroup(m.VM.Page):
		return "map.kind", fmt.Errorf("machine %s has map.kind %s, where a page of %d bytes lies in all channels and "+
			"has no home: use a map that keeps pages in channels, as map.kind page", m.Name, m.Map.Kind, m.VM.Page)
	case amap.Groups() < m.NoC.Parts() || m.NoC.Parts() > mostPartitions:
		return "noc.partitions", fmt.Errorf("machine %s has %d partitions and %d channel groups: each partition needs "+
			"one, and there may be %d", m.Name, m.NoC.Parts(), amap.Groups(), mostPartitions)
	case m.VM.HomeInterval == 0:
		return "vm.enabled", fmt.Errorf("machine %s counts no accesses to pages (vm.home_interval): add "+
			"--set vm.home_interval=100000 --set vm.home_pages=64 --set vm.home_moves=2", m.Name)
	}
	return "", nil
}

// mostPartitions is how many a view of a page can name.
const mostPartitions = 254

// Homes makes pages follow the accesses to them (NUBA, section 7.6). The home of a page becomes the partition
// that uses it most, or partitions that read it get copies. The memory side of a partition counts the requests of
// every other one's SMs for each page. At an interval's end a home policy (vm.Homes) says which pages move, get
// copies or lose them. The driver takes each of them (vm.driver_cycles): the page leaves the tables and every TLB,
// accesses that had been translated end (framesInFlight), copy engines copy it through network and LLC
// (transfer/partitions.go). An access to a page that gets another home waits until it is there. A page that gets
// copies may be read at its home meanwhile, and each partition goes over to its copy when that is there.
//
// A write to a page with copies, or to one that gets some, is a fault: none is made before its copies are gone.
type Homes struct {
	Copies transfer.PartitionCopies

	tables  *vm.Tables
	driver  *vm.Driver
	mmu     *vm.MMU
	tlbs    []*vm.TLB // L1 TLB of each SM
	clock   *timing.Clock
	wakeups timing.Wakeups

	decide   vm.Homes // nil: pages stay where they have been placed
	interval uint64   // core cycles
	cost     uint64   // of the driver for a page,
	collapse uint64   // and for one that loses its copies
	most     int      // pages that the driver has in hand
	parts    int
	inFlight framesInFlight
	use      pageCounters
	due      uint64        // end of the interval; engine.Never: nothing has been counted
	sample   vm.HomeSample // of the last plan,
	pages    []uint64      // its pages, as in pageCounters,
	copied   []bool        // where they have copies,
	planned  []pageStep    // and its steps that have not begun
	next     int
	losing   mem.Queue[pageStep] // pages that shall lose their copies; accesses wait for them already
	hand     []pageStep          // the driver's
	away     []pageAway          // pages whose bytes, or copies, are not there yet
	drains   []pageStep          // accesses that had been translated end
	row      [][]uint64          // [tenant] counters
}

// pageStep is a page and its planned change.
type pageStep struct {
	vpn    uint64
	end    uint64 // of the driver's work
	do     vm.HomeStep
	ids    []int32  // moves
	frames []uint64 // that no access may reach
	tenant mem.TenantID
	loses  bool // its copies
}

// pageAway is a page that has left the tables for another partition, or gets copies.
type pageAway struct {
	vpn    uint64
	left   int // moves that have not ended
	tenant mem.TenantID
}

// Build makes the part that moves pages after their accesses, by a home policy (vm.HomesEntries).
func (h *Homes) Build(b *Parts, policy string) error {
	if _, err := CanRehome(b.Sheet); err != nil {
		return err
	}
	v, x := &b.Sheet.VM, b.Translation
	if h.decide = vm.HomesByName(policy); h.decide == nil {
		return fmt.Errorf("no home policy %q", policy)
	}
	h.tables, h.driver, h.mmu, h.tlbs = x.Tables, x.Driver, x.MMU, x.TLBs
	h.clock, h.wakeups = b.Clock, b.Wakeups
	h.interval, h.most, h.due = uint64(v.HomeInterval), v.HomePages, engine.Never
	h.cost = uint64(v.DriverCycles)
	h.collapse = h.cost + cyclesOf(v.FaultUs, b.Sheet)
	h.parts = b.Sheet.NoC.Parts()
	x.Tables.Parts.Divide(h.parts)
	frames := b.Sheet.DRAM.Capacity / int64(v.Page)
	h.inFlight = newFramesInFlight(frames, x.Tables.PageBits(), x.Tables.LayoutBit())
	c := &h.Copies
	c.Apps, c.PageArrived, c.Fabric, c.Driver = b.Apps, b.OnArrived, b.Fabric, h.driver
	c.Clock, c.Wakeups = b.Clock, b.Wakeups
	c.Build(b.Sheet, b.Memory.Slices, x.Tables, h.parts)
	h.use = newPageCounters(frames, h.parts)
	for i, s := range b.SMs {
		h.inFlight.watched = append(h.inFlight.watched, s.Watch(h.Watcher(i*h.parts/len(b.SMs))))
	}
	t := b.Table("homes", HomeCounters(), 1)
	for k := range t.Tenants {
		h.row = append(h.row, t.Row(0, k))
	}
	x.Homes, b.Fabric.Between.PartitionCopies = h, c
	h.driver.Homes.Ended, h.driver.Homes.Reclaim = h.ended, h.reclaim
	h.tables.ShootdownIn = h.forget
	return nil
}

// Watcher gets the accesses of an SM in a partition.
func (h *Homes) Watcher(part int) sm.Watcher { return &homeWatch{homes: h, part: part} }

// homeWatch reports the accesses of an SM.
type homeWatch struct {
	homes *Homes
	part  int
}

// Access implements sm.Watcher. Only accesses that leave the L1 count.
func (w *homeWatch) Access(uint64, mem.TenantID, uint64, bool, bool) bool { return true }

// MayWrite implements sm.Watcher: a write to a page that has copies must wait until it has none.
func (w *homeWatch) MayWrite(now uint64, tenant mem.TenantID, addr uint64) bool {
	h := w.homes
	return h.tables.Parts.CopyFrames() == 0 || !h.lose(now, tenant, addr>>h.tables.PageBits())
}

// Retried implements sm.Watcher.
func (w *homeWatch) Retried(mem.TenantID, uint64, uint64) {}

// Replay implements sm.Watcher; refuses has checked the accesses that waited.
func (w *homeWatch) Replay(uint64, mem.TenantID, uint64, bool) {}

// Sent implements sm.Watcher.
func (w *homeWatch) Sent(line uint64, op mem.Op) {
	h := w.homes
	h.inFlight.count(line, 1)
	h.use.count(h.inFlight.frame(line), w.part, op != mem.Read)
	if h.due == engine.Never {
		h.due = (h.clock.Now/h.interval + 1) * h.interval
		h.wakeups.WakeMoves(h.due)
	}
}

// Answered implements sm.Watcher.
func (w *homeWatch) Answered(line uint64) { w.homes.inFlight.count(line, -1) }

// Leaves implements sm.Watcher.
func (w *homeWatch) Leaves(line uint64) bool { return w.homes.inFlight.leaves(line) }

// Refuses notes which page an SM finds in a frame. It says whether the access must wait, because it is a write to a
// page with copies.
func (h *Homes) Refuses(now uint64, r vm.Reply) bool {
	h.use.name(h.inFlight.frame(r.PPN<<h.inFlight.bits), r.Tenant, r.VPN)
	return h.tables.Parts.CopyFrames() > 0 && h.inFlight.watched[r.SM].WaitsToWrite(r.Tenant, r.VPN) &&
		h.lose(now, r.Tenant, r.VPN)
}

// lose takes a page's copies away; false if it has none. Accesses to it wait from now on.
func (h *Homes) lose(now uint64, tenant mem.TenantID, vpn uint64) bool {
	ppn, state := h.tables.Lookup(tenant, vpn)
	if state != vm.Resident {
		return false
	}
	if !h.tables.Parts.Shared(ppn) {
		return false
	}
	s := pageStep{vpn: vpn, tenant: tenant, loses: true}
	id, frames, err := h.tables.Parts.BeginCollapse(tenant, vpn, nil)
	if err != nil {
		return false
	}
	s.ids, s.frames = []int32{id}, frames
	h.losing.Push(s)
	h.wakeups.WakeMoves(now)
	return true
}

// reclaim takes copies away from pages because their frames are needed; false if there are none.
func (h *Homes) reclaim(now uint64) bool {
	for range h.most - h.losing.Len() {
		tenant, vpn, ok := h.tables.Parts.First()
		if !ok {
			break
		}
		h.row[tenant][homeReclaims]++
		h.lose(now, tenant, vpn)
	}
	return h.tables.Parts.CopyFrames() > 0
}

// Tick advances the pages as far as possible now, and returns the next cycle with work.
func (h *Homes) Tick(now uint64) (next uint64) {
	if h.decide == nil {
		return engine.Never
	}
	if now >= h.due {
		h.plan()
	}
	kept := h.hand[:0]
	for _, s := range h.hand {
		if s.end > now {
			kept = append(kept, s)
		} else if s.loses || h.begin(&s) {
			h.inFlight.mark(s.frames, leaves)
			h.drains = append(h.drains, s)
		}
	}
	h.hand = kept
	h.take(now)
	h.drain(now)
	next = h.due
	for i := range h.hand {
		next = min(next, h.hand[i].end)
	}
	if len(h.drains) > 0 {
		next = min(next, (now/drainPoll+1)*drainPoll)
	}
	return next
}

// take gives the driver pages, first those that an access waits for.
func (h *Homes) take(now uint64) {
	for len(h.hand) < h.most {
		var s pageStep
		switch {
		case h.losing.Len() > 0:
			s = h.losing.Pop()
			s.end = now + h.collapse
		case h.next < len(h.planned) && len(h.hand)+len(h.away) < h.most:
			s = h.planned[h.next]
			h.next++
			s.end = now + h.cost
		default:
			return
		}
		h.hand = append(h.hand, s)
	}
}

// begin takes a page out of the tables before it moves; false if the move is no longer possible.
func (h *Homes) begin(s *pageStep) bool {
	from, state := h.tables.Lookup(s.tenant, s.vpn)
	if state != vm.Resident || s.do.Home == h.tables.Parts.Part(from) { // freed, on its way, or there
		return false
	}
	var err error
	if s.do.Home >= 0 {
		var id int32
		if id, err = h.tables.Parts.BeginRehome(s.tenant, s.vpn, s.do.Home); err == nil {
			s.ids = append(s.ids, id)
		}
	} else {
		s.ids, err = h.tables.Parts.BeginCopies(s.tenant, s.vpn, s.do.Copies, s.ids)
	}
	if err != nil {
		h.row[s.tenant][homeRefusals]++
		return false
	}
	s.frames = append(s.frames, from)
	h.away = append(h.away, pageAway{s.vpn, len(s.ids), s.tenant})
	return true
}

// drain copies the pages that no access reaches any more, or drops their copies.
func (h *Homes) drain(now uint64) {
	if len(h.drains) == 0 || now%drainPoll != 0 {
		return
	}
	kept := h.drains[:0]
	for _, s := range h.drains {
		if !h.inFlight.quiet(s.frames) {
			kept = append(kept, s)
			continue
		}
		h.inFlight.mark(s.frames, 0)
		for _, id := range s.ids {
			if s.loses {
				h.driver.Collapsed(now, id)
			} else {
				h.driver.Carry(now, id)
				h.Copies.Add(now, id)
			}
		}
	}
	h.drains = kept
}

// forget takes a page that has got a copy in a partition out of the TLBs there. Until then the partition reads the
// home, which has the same bytes.
func (h *Homes) forget(tenant mem.TenantID, vpn uint64, part int) {
	h.mmu.InvalidateView(tenant, vpn, part)
	per := len(h.tlbs) / h.parts
	for _, t := range h.tlbs[part*per : (part+1)*per] {
		t.InvalidatePage(tenant, vpn)
	}
}

// ended records the end of a page's move.
func (h *Homes) ended(now uint64, m *vm.Move) {
	h.wakeups.WakeMoves(now)
	for i := range h.away {
		if a := &h.away[i]; m.Kind != vm.Collapse && a.vpn == m.VPN && a.tenant == m.Tenant {
			if a.left--; a.left == 0 {
				h.away = slices.Delete(h.away, i, i+1)
			}
			break
		}
	}
	switch {
	case m.Void():
	case m.Kind == vm.Rehome:
		h.row[m.Tenant][homeMigrations]++
	case m.Kind == vm.Copy:
		h.row[m.Tenant][homeCopies]++
	case m.Kind == vm.Collapse:
		h.row[m.Tenant][homeCollapses]++
	}
	h.driver.Reclaimed(now)
	h.wakeups.WakeMMU(now + 1)
}

// Short says whether copies have the frames that an allocation lacks.
func (h *Homes) Short(err error) error {
	if n := h.tables.Parts.CopyFrames(); errors.Is(err, vm.ErrNoFrame) && n > 0 {
		return fmt.Errorf("%w; %d frames hold copies of pages (memory: {pages: replicate}): with vm.first_touch these "+
			"make room when frames are needed", err, n)
	}
	return err
}

// HostWrites makes the pages of a range that the host writes lose their copies.
func (h *Homes) HostWrites(tenant mem.TenantID, r *mem.Region, off, n int64) {
	if h.decide == nil || h.tables.Parts.CopyFrames() == 0 || n <= 0 {
		return
	}
	bits := h.tables.PageBits()
	for vpn := (r.Base + uint64(off)) >> bits; vpn<<bits < r.Base+uint64(off+n); vpn++ {
		h.lose(h.clock.Now, tenant, vpn)
	}
}

// Counters of pages that follow their accesses, per tenant.
const (
	homeMigrations = iota
	homeCopies
	homeCollapses
	homeReclaims
	homeRefusals
)

// HomeCounters describes the counters of pages that follow their accesses, per application.
func HomeCounters() []stat.Desc {
	return []stat.Desc{
		{Name: "migrations", Unit: "pages", Doc: "pages that moved to another partition"},
		{Name: "copies", Unit: "pages", Doc: "copies of pages that were made in other partitions"},
		{Name: "collapses", Unit: "pages", Doc: "pages that lost all their copies"},
		{Name: "reclaims", Unit: "pages", Doc: "pages that lost their copies because the frames were needed; the " +
			"others were written"},
		{Name: "refusals", Unit: "pages", Doc: "moves and copies of pages for which there was no free frame"},
	}
}
