package hybrid

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// never is the clock of a controller that waits for a call.
const never = ^uint64(0)

const none = int32(-1)

// The owner of a buffer; the low bits are its number.
const (
	kindShift   = 28
	ofPart      = 0 << kindShift // data of a request
	ofTransfer  = 1 << kindShift // data of a block that is moved
	ofEntry     = 2 << kindShift // a line of the remap table
	ofTag       = 3 << kindShift // a tag
	unitBits    = 5
	unitMask    = 1<<unitBits - 1
	bufferIndex = 1<<kindShift - 1
)

// request is a request of the cache above.
type request struct {
	fetch mem.Fetch
	born  uint64
	left  int   // units not there yet, or not on their way
	next  int32 // free one
}

// part is the part of a request that lies in one block: requests for lines larger than blocks have several.
type part struct {
	request    int32
	next       int32 // in the list it is in
	set, index uint32
	units      uint32 // that are not there yet
	hold       uint32 // index of the readers that it is one of
	class      Class
	write      bool
	looked     bool // has counted a look-up that found its entry, or did not
	asked      bool // the policy has seen it
	missed     bool // has counted a miss since a transfer of its block last ended
	tagged     bool // its tag has been read
	filled     bool // has brought its block, and is counted as a miss
	granted    bool // its entry has come for it, and may have left the remap cache again
	known      bool // a transfer that it waited for has told it where its block is
	blocked    bool // waits for a transfer of other blocks
}

// parts is a list of them, oldest first.
type parts struct{ first, last int32 }

// pool is room for parts.
type pool []part

// push appends a part to a list, and pop takes the first.
func (x pool) push(l *parts, h int32) {
	x[h].next = none
	if l.first == none {
		l.first = h
	} else {
		x[l.last].next = h
	}
	l.last = h
}

func (x pool) pop(l *parts) int32 {
	h := l.first
	l.first = x[h].next
	return h
}

// prepend moves all of a list before another.
func (x pool) prepend(l, before *parts) {
	if before.first == none {
		return
	}
	if x[before.last].next = l.first; l.first == none {
		l.last = before.last
	}
	l.first, before.first = before.first, none
}

// bank looks up a part per clock: first those that waited for a transfer, then those whose
// entry has come, then new ones. All of a block's are in one bank, so that they stay in order.
type bank struct {
	in           mem.Ring[arrival]
	again, ready parts
	freed        parts  // by the transfer that is ending
	free         uint64 // clock from which it can look up
}

type arrival struct {
	at   uint64
	part int32
}

// Controller stands between the last-level cache and two tiers of memory. The cache hands it requests (CanAccept,
// Accept) and takes those that are Done; the channels of the tiers take accesses from Out and report data that they
// have read (Arrived). Tick must be called at the clocks it returns, and in the next clock after Accept and Arrived.
type Controller struct {
	Done mem.Queue[mem.Fetch] // reads that have their data, and writes that a requester waits for

	out    outlets
	cfg    *Config
	table  table
	remap  remap
	moving transfers
	policy Policy
	watch  watcher     // the policy, if it is one
	dirt   dirtWatcher // the policy, if it is one
	early  bypasser    // the policy, if it is one
	view   View

	banks       []bank
	parts       pool
	freePart    int32
	requests    []request
	freeRequest int32
	room        struct{ requests, parts int }

	readers []uint16 // by a hash of their place: reads on their way that no transfer makes
	tagging []uint16 // by a hash of their block: parts whose tags are being read
	round   uint16   // of owners: the number of the last reconfiguration
	rows    []*counts
	stalled bool // some lookup waits for room
	turn    int  // of positions that misplaced blocks of flat memory go to
}

// New makes a controller with an empty fast tier. Rows of counters are by tenant.
func New(cfg *Config, policy Policy, t *stat.Table) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Controller{cfg: cfg, table: newTable(cfg), policy: policy, round: 1}
	var err error
	if c.remap, err = newRemap(cfg); err != nil {
		return nil, err
	}
	c.moving = newTransfers(cfg.Registers, cfg.Buffers, c.table.groupOf)
	c.readers = make([]uint16, readerCounts)
	if cfg.SerialTag {
		c.tagging = make([]uint16, 1<<12)
	}
	c.banks = make([]bank, cfg.Banks)
	for i := range c.banks {
		b := &c.banks[i]
		b.in, b.again, b.ready = mem.NewRing[arrival](cfg.Queue), parts{none, none}, parts{none, none}
		b.freed = parts{none, none}
	}
	most := max(1, cfg.Line/cfg.Block) // parts of a request
	c.parts, c.requests = make(pool, cfg.Requests*most), make([]request, cfg.Requests)
	for i := range c.parts {
		c.parts[i].next = int32(i) - 1
	}
	for i := range c.requests {
		c.requests[i].next = int32(i) - 1
	}
	c.freePart, c.freeRequest = int32(len(c.parts)-1), int32(len(c.requests)-1)
	c.room.requests, c.room.parts = len(c.requests), len(c.parts)
	for i := range t.Rows() {
		c.rows = append(c.rows, (*counts)(t.Row(0, i)))
	}
	c.out = newOutlets(cfg, &c.table.layout, c.rows)
	if x, ok := policy.(tableReader); ok {
		x.reads(&c.table, &c.moving)
	}
	c.watch, _ = policy.(watcher)
	c.dirt, _ = policy.(dirtWatcher)
	c.early, _ = policy.(bypasser)
	return c, nil
}

// Out is the queue of accesses for a channel of a tier, oldest first.
func (c *Controller) Out(tier, channel int) *mem.Ring[Access] { return &c.out.ring[tier][channel] }

// Fed is the set of a tier's channels that have got accesses since the last call, a bit each.
func (c *Controller) Fed(tier int) uint64 {
	fed := c.out.fed[tier]
	c.out.fed[tier] = 0
	return fed
}

// CanAccept says whether there is room for a request of a line.
func (c *Controller) CanAccept(line uint64) bool {
	if c.room.requests == 0 {
		return false
	}
	for at := line; at < line+uint64(c.cfg.Line); at += uint64(c.cfg.Block) {
		set, index, _ := c.table.locate(at)
		if b := c.bankOf(set, index); c.banks[b].in.Len()+max(1, c.cfg.Line/c.cfg.Block) > c.cfg.Queue {
			return false
		}
	}
	return true
}

// Accept takes a request at clock now: CanAccept has said that there is room.
func (c *Controller) Accept(f mem.Fetch, now uint64) {
	r := c.freeRequest
	q := &c.requests[r]
	c.freeRequest = q.next
	c.room.requests--
	*q = request{fetch: f, born: now}
	if f.Write() {
		c.rows[f.Tenant][Writes]++
	} else {
		c.rows[f.Tenant][Reads]++
	}
	per := max(1, Unit/c.cfg.Sector)
	last := none
	for u := range c.cfg.Line / Unit {
		if f.Sectors>>(u*per)&(1<<per-1) == 0 {
			continue
		}
		q.left++
		set, index, unit := c.table.locate(f.Line + uint64(u*Unit))
		if last == none || c.parts[last].set != set || c.parts[last].index != index {
			last = c.newPart(part{request: r, set: set, index: index, class: c.cfg.Classes[f.Tenant], write: f.Write()})
			c.banks[c.bankOf(set, index)].in.Push(arrival{now + uint64(c.cfg.Lookup), last})
		}
		c.parts[last].units |= 1 << unit
	}
}

func (c *Controller) newPart(p part) int32 {
	h := c.freePart
	c.freePart = c.parts[h].next
	p.next = none
	c.parts[h] = p
	return h
}

func (c *Controller) putPart(h int32) {
	c.parts[h].next = c.freePart
	c.freePart = h
}

func (c *Controller) bankOf(set, index uint32) int {
	return int(c.table.entryLine(set, index) % uint64(len(c.banks)))
}

// Tick looks up the requests that are due at clock now and advances transfers of blocks. It returns the next clock
// with work; after Accept, Arrived or an access taken from Out there is work again at once.
func (c *Controller) Tick(now uint64) uint64 {
	next := never
	c.stalled = false
	for i := range c.banks {
		next = min(next, c.tickBank(&c.banks[i], now))
	}
	if c.moving.roused {
		c.moveOn()
	}
	for i := range c.banks { // parts that a transfer has released at its end
		if c.banks[i].again.first != none {
			next = min(next, now+1)
		}
	}
	if c.moving.roused || c.stalled {
		next = now + 1
	}
	return next
}

// tickBank looks up at most one part.
func (c *Controller) tickBank(b *bank, now uint64) uint64 {
	l := &b.again
	if l.first == none {
		l = &b.ready
	}
	switch {
	case b.free > now:
	case l.first != none:
		h := l.first
		after := c.parts[h].next
		if c.serve(h, now) {
			if l.first = after; after == none {
				l.last = none
			}
			b.free = now + 1
		}
	case b.in.Len() > 0 && b.in.Head().at <= now:
		if c.serve(b.in.Head().part, now) {
			b.in.Pop()
			b.free = now + 1
		}
	}
	if b.again.first != none || b.ready.first != none {
		return now + 1
	}
	if b.in.Len() > 0 {
		return max(now+1, b.in.Head().at)
	}
	return never
}

// stall counts a clock in which a lookup waits for room.
func (c *Controller) stall(p *part) bool {
	c.rows[c.requests[p.request].fetch.Tenant][Stalls]++
	c.stalled = true
	return false
}

// sendUnits reads or writes the units of a part at a place; the channels have room.
func (c *Controller) sendUnits(h int32, at place) {
	p := &c.parts[h]
	tenant := c.requests[p.request].fetch.Tenant
	for m := p.units; m != 0; m &= m - 1 {
		u := bits.TrailingZeros32(m)
		tier, addr := c.table.address(at, u)
		c.out.send(tier, addr, p.write, ofPart|h<<unitBits|int32(u), tenant)
	}
	if !p.write {
		p.hold = c.table.hold(at)
		c.readers[p.hold] += uint16(bits.OnesCount32(p.units))
		return
	}
	c.progress(p.request, bits.OnesCount32(p.units))
	c.putPart(h)
}

// progress notes that units of a request are there, or, of a write, on their way.
func (c *Controller) progress(r int32, units int) {
	q := &c.requests[r]
	if q.left -= units; q.left > 0 {
		return
	}
	if q.fetch.Owner != mem.ForNobody {
		c.Done.Push(q.fetch)
	}
	q.next, c.freeRequest = c.freeRequest, r
	c.room.requests++
}

// Arrived announces, at clock now, that a channel has read the data that a buffer waits for.
func (c *Controller) Arrived(buffer int32, now uint64) {
	i := buffer & bufferIndex
	switch buffer &^ bufferIndex {
	case ofPart:
		c.partArrived(i>>unitBits, int(i&unitMask), now)
	case ofTransfer:
		c.unitArrived(i>>(unitBits+1), int(i>>unitBits&1), int(i&unitMask), now)
	case ofEntry:
		c.entryArrived(i)
	case ofTag:
		p := &c.parts[i]
		p.tagged = true
		c.tagging[c.tag(p)]--
		c.parts.push(&c.banks[c.bankOf(p.set, p.index)].ready, i)
	}
}

func (c *Controller) partArrived(h int32, unit int, now uint64) {
	p := &c.parts[h]
	c.readers[p.hold]--
	c.answer(h, unit, ofPart|h<<unitBits|int32(unit), now)
	if p.units == 0 {
		c.putPart(h)
	}
}

// answer gives a unit to a part that waits for it.
func (c *Controller) answer(h int32, unit int, buffer int32, now uint64) {
	p := &c.parts[h]
	q := &c.requests[p.request]
	p.units &^= 1 << unit
	if c.out.trace != nil {
		c.out.trace(event{kind: answered, fetch: q.fetch, part: h, unit: unit, access: Access{Buffer: buffer}})
	}
	if q.left == 1 {
		c.rows[q.fetch.Tenant][ReadLatency] += now - q.born
	}
	c.progress(p.request, 1)
}
