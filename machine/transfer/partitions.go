package transfer

import (
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// PartitionCopies copies pages from one partition to another (NUBA, section 7.6). Every partition has a copy engine
// of its own beside its slices, which brings pages here: it reads each line at its home, over the network between
// slices and as any other slice would, and writes it into the slice that is the new home. So the same parts bound
// moving pages and the requests of SMs: the ports of the slices they leave and reach, and the LLC's data arrays and
// the channels behind them.
//
// An engine has some pages under way at once (vm.home_moves), whose lines leave in order, and no more lines than it
// has room for (vm.copy_lines). A line that has come waits in the engine for its slice, where it takes turns with the
// requests that have crossed the network. So it holds up no request. Whatever holds it up needs only room for an
// answer in that network (RATIONALE.md).
type PartitionCopies struct {
	Apps    int
	Fabric  *interconnect.Fabric
	slices  []*cache.Slice
	tables  *vm.Tables
	Driver  *vm.Driver
	Clock   *timing.Clock
	Wakeups timing.Wakeups

	// PageArrived is called when a page of an application is at its new place.
	PageArrived func(tenant mem.TenantID, vpn uint64)

	engine   []partitionEngine  // [partition]
	jobs     []pageJob          // [partition*most + place]
	arrived  []mem.Queue[int32] // [slice] requests, of lines that shall be written there
	late     []bool             // [slice] a line that has come goes before the next request
	ended    []int32            // jobs whose last line is written
	most     int                // pages under way in an engine
	room     int                // lines under way in an engine
	lines    uint64             // of a page
	bits     uint               // log2 of a page
	lineSize uint64
	whole    uint8  // all sectors of a line
	live     int    // pages that wait or are under way
	Bytes    uint64 // copied so far
}

// partitionEngine brings pages into a partition.
type partitionEngine struct {
	waiting []int32          // moves, in order of arrival
	last    int              // partition from which it brought a page last
	unread  mem.Queue[int32] // jobs with lines to read, oldest first
	begun   int              // pages under way
	lines   int              // and lines
}

// Build makes an engine for each partition.
func (c *PartitionCopies) Build(s *sheets.Machine, slices []*cache.Slice, tables *vm.Tables, parts int) {
	v, l := &s.VM, &s.LLC
	c.slices, c.tables = slices, tables
	c.most, c.room = v.HomeMoves, v.CopyLines
	c.engine, c.jobs = make([]partitionEngine, parts), make([]pageJob, parts*c.most)
	for part := range c.engine {
		c.engine[part].last = part
	}
	n := len(slices)
	c.arrived, c.late = make([]mem.Queue[int32], n), make([]bool, n)
	c.bits = tables.PageBits()
	c.lines, c.lineSize = uint64(v.Page/l.Line), uint64(l.Line)
	c.whole = uint8(1<<(l.Line/l.Sector) - 1)
}

// UnderWay is the number of pages that wait or are under way.
func (c *PartitionCopies) UnderWay() int { return c.live }

// Add takes a move of a page whose bytes do not change any longer.
func (c *PartitionCopies) Add(now uint64, id int32) {
	m := c.tables.MoveOf(id)
	c.live++
	e := &c.engine[c.tables.Parts.Part(m.To)]
	e.waiting = append(e.waiting, id)
	c.Wakeups.WakeRequest(now + 1)
}

// take is the place of the move that an engine takes next. It takes the source partitions in turn, beginning after
// its own, so that engines that get copies of the same pages do not all read the same home at once.
func (c *PartitionCopies) take(e *partitionEngine) (k int) {
	best := len(c.engine)
	for i, id := range e.waiting {
		from := c.tables.Parts.Part(c.tables.MoveOf(id).From)
		if after := (from - e.last - 1 + len(c.engine)) % len(c.engine); after < best {
			best, k = after, i
		}
	}
	e.last = (e.last + 1 + best) % len(c.engine)
	return k
}

// begin makes an engine take pages; a copy that is no longer wanted ends at once.
func (c *PartitionCopies) begin(part int, now uint64) {
	e := &c.engine[part]
	for e.begun < c.most && len(e.waiting) > 0 {
		k := c.take(e)
		id := e.waiting[k]
		e.waiting = slices.Delete(e.waiting, k, k+1)
		m := c.tables.MoveOf(id)
		if m.Void() {
			c.live--
			c.Driver.Copied(now, id)
			continue
		}
		j := part * c.most
		for c.jobs[j].live {
			j++
		}
		c.jobs[j] = pageJob{
			Job: Job{row: mem.Moving(m.Tenant, c.Apps), lines: c.lines}, id: id, live: true,
			from: m.From << c.bits, to: m.To << c.bits,
		}
		e.begun++
		e.unread.Push(int32(j))
	}
}

// Tick sends the requests of engines, and gives slices the lines that have arrived; it returns the next cycle with
// work that no event announces.
func (c *PartitionCopies) Tick(now uint64) uint64 {
	if c.live == 0 {
		return engine.Never
	}
	for _, j := range c.ended {
		c.end(j, now)
	}
	c.ended = c.ended[:0]
	next := engine.Never
	for part := range c.engine {
		e := &c.engine[part]
		if c.begin(part, now); e.unread.Len() == 0 || e.lines >= c.room {
			continue
		}
		c.read(e, now)
		next = now + 1
	}
	if c.write(now) {
		next = now + 1
	}
	return next
}

// read makes an engine request the next line.
func (c *PartitionCopies) read(e *partitionEngine, now uint64) {
	k := *e.unread.Head()
	j, f := &c.jobs[k], c.Fabric
	if c.tables.MoveOf(j.id).Void() { // lines that have been requested still come
		e.unread.Pop()
		if j.cut() {
			c.ended = append(c.ended, k)
		}
		return
	}
	off := j.next * c.lineSize
	if !f.SendBetween(f.Layouts.Slice(j.to+off), mem.Req{
		Line: j.from + off, Sectors: c.whole, Op: mem.Read, Tenant: j.row,
		Origin: mem.OfPartitionCopy, Tag: k<<16 | int32(j.next), Slice: int16(f.Layouts.Slice(j.from + off)),
	}, now) {
		return
	}
	e.lines++
	if j.send(); !j.unsent() {
		e.unread.Pop()
	}
}

// Came takes a line that has arrived at a slice's port: from now on it is a write.
func (c *PartitionCopies) Came(slice int, h int32, now uint64) {
	r := &c.Fabric.Slab.R[h]
	j := &c.jobs[r.Tag>>16]
	r.Line = j.to + uint64(r.Tag&0xffff)*c.lineSize
	r.Op, r.Full, r.Slice, r.Flags, r.Born = mem.Write, c.whole, int16(slice), 0, now
	c.arrived[slice].Push(h)
	c.Wakeups.WakeRequest(now)
}

// write gives slices the lines that have come, in turn with requests that cross the network; true if some are left.
func (c *PartitionCopies) write(now uint64) (more bool) {
	f := c.Fabric
	t := f.LLCClock.Ticks(now)
	crossing := f.Crossing()
	for i := range c.arrived {
		q := &c.arrived[i]
		if q.Len() == 0 {
			continue
		}
		more = true
		if s := c.slices[i]; s.CanAcceptFar(t) {
			if others := crossing[i>>6]>>(i&63)&1 != 0; others && !c.late[i] {
				c.late[i] = true
				continue
			}
			c.late[i] = false
			f.AcceptCopied(i, q.Pop(), now)
		}
	}
	return more
}

// Written notes that a line is at its new place.
func (c *PartitionCopies) Written(h int32, now uint64) {
	k := c.Fabric.Slab.R[h].Tag >> 16
	c.Fabric.Slab.Put(h)
	c.engine[int(k)/c.most].lines--
	if c.jobs[k].arrive() {
		c.ended = append(c.ended, k)
	}
	c.Wakeups.WakeRequest(now)
}

// end records a page whose last line is at its new place.
func (c *PartitionCopies) end(k int32, now uint64) {
	j := &c.jobs[k]
	j.live = false
	c.live--
	c.engine[int(k)/c.most].begun--
	c.Bytes += 1 << c.bits
	m := c.tables.MoveOf(j.id)
	if m.Kind == vm.Rehome { // lines that the reads left in the LLC
		for n := range c.lines {
			a := j.from + n*c.lineSize
			c.slices[c.Fabric.Layouts.Slice(a)].Drop(a)
		}
	}
	c.PageArrived(m.Tenant, m.VPN)
	c.Driver.Copied(now, j.id)
	c.Wakeups.WakeMMU(now)
	c.Wakeups.WakeMoves(now)
}

// Carried is the number of pages that can leave a partition, or reach one, in a number of cycles: as many as the
// ports of its slices carry.
func (c *PartitionCopies) Carried(cycles uint64) int {
	flits := c.lines * c.Fabric.LineFlits(c.whole)
	ports := uint64(len(c.slices) / len(c.engine))
	return int(c.Fabric.FlitsBetween(cycles) * ports / flits)
}
