package transfer

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// HostLink is the link between host and device, with the copies of programs. The copies share its two directions with
// the page transfers of unified memory. The bytes of a copy are written to or read from device memory, line by line,
// as they pass the link. The lines go straight to the LLC slices in front of their channels, because a copy engine
// has its own way there. While nothing runs that they could disturb, they are left out, and the machine skips to the
// copy's end.
type HostLink struct {
	Apps    int
	Busy    func() bool // a kernel runs that copies could disturb
	Memory  *backing.Memory
	Fabric  *interconnect.Fabric
	Where   *translation.Translation // translates addresses
	Clock   *timing.Clock
	Wakeups timing.Wakeups

	Config link.Config
	Ways   [2]link.Direction // to the device, to the host

	order      link.Arbiter
	engines    int
	paged      bool        // pages move over the link, too: their mover begins the copies in turn (HostCopies)
	inside     float64     // cycles per byte of a copy inside the device: read and write at DRAM's peak
	underWay   []*HostCopy // by number; nil: free
	live       int         // copies that have not been forgotten
	unanswered int         // requests without an answer
	line       uint64
	sector     uint64
	row        [2][][]uint64 // [direction][tenant] counters of the link
}

// HostCopy is a copy that a program has asked for.
type HostCopy struct {
	linkJob  // its lines are requests: of a copy inside the device, the reading and the writing of each line
	tenant   mem.TenantID
	number   int32
	kind     copyKind
	from, to uint64 // virtual addresses, where that side is the device
	bytes    int64
	sent     uint64 // requests
	over     bool   // no program waits for it any more
}

// waits says that a copy's turn on the link has not come.
func (c *HostCopy) waits() bool { return c.begun == engine.Never }

// copyKind is the pair of sides of a copy.
type copyKind uint8

const (
	copyToDevice copyKind = iota
	copyToHost
	copyInside
)

// HostCopies is the number of the first copy's transfer on the link; page transfers have smaller numbers.
const HostCopies = 1 << 24

// LinkParts are the inputs from which the link to the host is built.
type LinkParts struct {
	Sheet *sheets.Machine
	Order link.Arbiter // nil: transfers begin as they become ready
	Paged bool         // pages of managed memory move over it
	Half  int64        // size in bytes from which on a copy has half the bandwidth; 0: none
	Table *stat.Table  // of link.Desc, an instance per direction
}

// Build makes the two directions.
func (x *HostLink) Build(p *LinkParts) {
	s := p.Sheet
	x.Config, x.order, x.engines = link.FromSheet(s), link.FirstReady{}, s.Host.Engines
	x.paged, x.Config.Half = p.Paged, p.Half
	d := &s.DRAM
	peak := float64(d.Channels*d.Access) / float64(max(1, d.T.BL, d.T.CCDS)) * s.Clock.DRAM * 1e6
	x.inside = 2 * s.Clock.Core * 1e6 / peak
	x.line, x.sector = uint64(s.LLC.Line), uint64(s.LLC.Sector)
	if p.Order != nil {
		x.order = p.Order
	}
	for i := range x.Ways {
		x.Ways[i] = link.NewDirection(&x.Config, x.order, p.Table, i)
		x.row[i] = rowsOf(p.Table, i)
	}
}

// InsideCycles is the duration of a copy of n bytes inside the device, without other traffic.
func (x *HostLink) InsideCycles(n int64) uint64 { return uint64(float64(n)*x.inside + 0.5) }

// Open is the number of copies that are not complete, and of requests without an answer.
func (x *HostLink) Open() (copies, requests int) { return x.live, x.unanswered }

// rowsOf are the rows of a table's instance, by tenant.
func rowsOf(t *stat.Table, i int) (rows [][]uint64) {
	for k := range t.Tenants {
		rows = append(rows, t.Row(i, k))
	}
	return rows
}

// Copy begins a copy of n bytes between two regions of a tenant, one of them at least on the device.
func (x *HostLink) Copy(tenant int, dst *mem.Region, dstOff int64, src *mem.Region, srcOff, n int64) *HostCopy {
	c := x.add(tenant, n)
	c.from, c.to = src.Base+uint64(srcOff), dst.Base+uint64(dstOff)
	switch {
	case src.Kind == mem.Host:
		c.lines = x.lines(c.to, n)
	case dst.Kind == mem.Host:
		c.kind, c.lines = copyToHost, x.lines(c.from, n)
	default:
		c.kind, c.lines = copyInside, 2*x.lines(c.from, n)
		x.begin(c, x.Clock.Now, x.InsideCycles(n))
		return c
	}
	x.push(c)
	return c
}

// Carry begins a transfer of n bytes of pages whose addresses do not matter: pages of managed memory that does not
// move on demand.
func (x *HostLink) Carry(tenant int, n int64, toHost bool) *HostCopy {
	c := x.add(tenant, n)
	if toHost {
		c.kind = copyToHost
	}
	x.push(c)
	return c
}

// add makes a copy that waits.
func (x *HostLink) add(tenant int, n int64) *HostCopy {
	c := &HostCopy{tenant: mem.TenantID(tenant), bytes: n}
	c.begun, c.row = engine.Never, mem.Moving(c.tenant, x.Apps)
	x.live++
	for i, o := range x.underWay {
		if o == nil {
			c.number = int32(i)
			x.underWay[i] = c
			return c
		}
	}
	c.number = int32(len(x.underWay))
	x.underWay = append(x.underWay, c)
	return c
}

// push queues a copy. With one copy engine both directions take turns.
func (x *HostLink) push(c *HostCopy) {
	now, way := x.Clock.Now, 0
	if c.kind == copyToHost && x.engines > 1 {
		way = 1
	}
	x.Ways[way].Push(link.Transfer{
		ID: HostCopies + c.number, Bytes: c.bytes, Queued: now, Tenant: c.tenant, Copy: true,
	})
	x.Wakeups.WakeMMU(now)
}

// lines is the number of lines that n bytes from an address touch.
func (x *HostLink) lines(addr uint64, n int64) uint64 {
	if n <= 0 {
		return 0
	}
	return (addr+uint64(n)-1)/x.line - addr/x.line + 1
}

// start begins copies while their directions are idle, on a machine that moves no pages over the link itself,
// and returns the next cycle with work.
func (x *HostLink) start(now uint64) (next uint64) {
	next = engine.Never
	for i := range x.Ways {
		w := &x.Ways[i]
		if t, ok := w.Take(now, func(*link.Transfer) bool { return true }); ok {
			x.Take(now, &t, w)
		}
		if w.Waiting() > 0 {
			next = min(next, max(now+1, w.Free()))
		}
	}
	return next
}

// Take begins a copy whose turn on its direction has come.
func (x *HostLink) Take(now uint64, t *link.Transfer, w *link.Direction) {
	x.begin(x.underWay[t.ID-HostCopies], now, w.Start(now, t))
	x.Clock.ReturnToHost = true // its end is known now
}

func (x *HostLink) begin(c *HostCopy, now, cycles uint64) {
	c.begun, c.cycles = now, cycles
	if c.kind != copyInside {
		c.latency = x.Config.Latency
	}
	if c.kind == copyToDevice {
		c.lead = c.latency
	}
	x.Wakeups.WakeMMU(now)
}

// End is the cycle in which a copy has its last byte, if memory is not late. It is Never while the copy waits for the
// link; Run then returns when its turn comes, and when memory has caught up.
func (c *HostCopy) End() uint64 {
	if c.waits() {
		return engine.Never
	}
	return c.end()
}

// Ended says whether a copy is complete; a complete copy is forgotten.
func (x *HostLink) Ended(c *HostCopy) bool {
	now := x.Clock.Now
	if c.waits() || now < c.end() {
		return false
	}
	if c.kind == copyToHost && c.inFlight > 0 || c.unsent() && x.Busy() {
		return false
	}
	c.over = true
	if c.kind != copyInside {
		x.row[c.kind][c.tenant][link.CopyLines] += c.sent
	}
	x.live--
	x.forget(c)
	return true
}

// forget frees the number of a copy when its last request has been answered.
func (x *HostLink) forget(c *HostCopy) {
	if c.over && c.inFlight == 0 {
		x.underWay[c.number] = nil
	}
}

// Tells is the next cycle in which the state of a copy may change: it begins, has sent its last line, or has its last
// answer. Until then the link only sends lines.
func (x *HostLink) Tells(now uint64) (at uint64) {
	if at = engine.Never; x.live == 0 {
		return at
	}
	for i := range x.Ways {
		if w := &x.Ways[i]; w.Waiting() > 0 {
			at = min(at, max(now, w.Free()))
		}
	}
	for _, c := range x.underWay {
		switch {
		case c == nil || c.waits():
		case c.unsent():
			at = min(at, c.due(c.lines-1))
		case c.kind == copyToHost && c.inFlight > 0:
			return now
		}
	}
	return at
}

// BeginsWork announces that a kernel is about to run. Lines that were due while none ran have not been simulated.
func (x *HostLink) BeginsWork(now uint64) {
	if x.live == 0 {
		return
	}
	x.Wakeups.WakeMMU(now)
	if x.Busy() {
		return
	}
	for _, c := range x.underWay {
		if c == nil || c.waits() || !c.unsent() {
			continue
		}
		if c.cycles > 0 && now > c.due(0) {
			c.next = max(c.next, min(c.lines, (now-c.due(0))*c.lines/c.cycles))
		}
		for c.unsent() && c.due(c.next) < now {
			c.next++
		}
	}
}

// Tick begins copies, sends the lines that are due, and returns the next cycle with work.
func (x *HostLink) Tick(now uint64) (next uint64) {
	if x.live == 0 {
		return engine.Never
	}
	next = engine.Never
	if !x.paged {
		next = x.start(now)
	}
	if !x.Busy() {
		return next
	}
	for _, c := range x.underWay {
		if c == nil || c.waits() || !c.unsent() {
			continue
		}
		for c.unsent() && c.due(c.next) <= now && x.send(c, now) {
			c.next++
		}
		if !c.unsent() {
			x.Clock.ReturnToHost = true // none of its requests waits for memory any more
			continue
		}
		next = min(next, max(now+1, c.due(c.next)))
	}
	return next
}

// send hands the next request of a copy to its LLC slice; false when that has no room. Requests for bytes without a
// place on the device are left out.
func (x *HostLink) send(c *HostCopy, now uint64) bool {
	addr, k, op := c.to, c.next, mem.Write
	if c.kind == copyInside {
		k /= 2
	}
	if c.kind == copyToHost || c.kind == copyInside && c.next%2 == 0 {
		addr, op = c.from, mem.Read
	}
	first, end := addr, addr+uint64(c.bytes)
	if k > 0 {
		first = addr&^(x.line-1) + k*x.line
	}
	end = min(end, first&^(x.line-1)+x.line)
	if first >= end { // if source and target have different offsets in their lines
		return true
	}
	p, ok := x.Where.Physical(int(c.tenant), first)
	if !ok {
		return true
	}
	line, n := p&^(x.line-1), end-first
	home := x.Fabric.Layouts.Slice(line)
	s, t := x.Memory.Slices[home], x.Fabric.LLCClock.Ticks(now)
	if !s.CanAccept(t) {
		return false
	}
	r := mem.Req{
		Line: line, Born: now, Tag: c.number, Port: mem.NoPort, Origin: mem.OfHostCopy, Slice: int16(home), Op: op,
		Tenant: c.row,
	}
	r.Sectors, r.Full = x.sectors(p-line, n)
	if op == mem.Read {
		r.Full = 0
	}
	h := x.Fabric.Slab.Get()
	x.Fabric.Slab.R[h] = r
	x.Fabric.WakeTags(home, s.Accept(h, t), now)
	c.sent++
	c.inFlight++
	x.unanswered++
	return true
}

// sectors are those of a line that n bytes from an offset touch, and those they fill.
func (x *HostLink) sectors(off, n uint64) (some, full uint8) {
	for i, at := 0, uint64(0); at < x.line; i, at = i+1, at+x.sector {
		if at+x.sector > off && at < off+n {
			some |= 1 << i
		}
		if at >= off && at+x.sector <= off+n {
			full |= 1 << i
		}
	}
	return some, full
}

// Deliver notes that memory has carried out a request.
func (x *HostLink) Deliver(h int32, _ uint64) {
	c := x.underWay[x.Fabric.Slab.R[h].Tag]
	x.Fabric.Slab.Put(h)
	x.unanswered--
	if c.inFlight--; c.inFlight == 0 {
		x.Clock.ReturnToHost = x.Clock.ReturnToHost || c.kind == copyToHost && (!c.unsent() || !x.Busy())
		x.forget(c)
	}
}

// Delay makes the copy under way in a direction take more cycles, because remote accesses share it.
func (x *HostLink) Delay(way int, now, cycles uint64) {
	for _, c := range x.underWay {
		if c != nil && !c.over && !c.waits() && c.kind == copyKind(way) && c.begun+c.cycles > now {
			c.cycles += cycles
		}
	}
}
