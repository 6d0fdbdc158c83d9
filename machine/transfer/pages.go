package transfer

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// Copying says how the bytes of a page get from its old frame to its new one.
type Copying uint8

const (
	// PageMove copies inside the HBM stack with MIGRATION commands (UGPU, section 4.3).
	PageMove Copying = iota
	// ReadWrite reads and writes every line through LLC and crossbar, as a copy
	// engine of today does (UGPU-Soft and UGPU-Ori, section 6.2).
	ReadWrite
	// Rewrite is ReadWrite on a conventional address map: a page spans all channels of its slice,
	// so that every page needs another layout (UGPU-Ori).
	Rewrite
)

// CopyEngine carries out page moves.
type CopyEngine struct {
	Apps    int
	Driver  *vm.Driver // nil if addresses are not translated
	Tables  *vm.Tables
	Fabric  *interconnect.Fabric
	Memory  *backing.Memory
	Clock   *timing.Clock
	Wakeups timing.Wakeups
	// PageArrived is called when a page of an application is at its new place, PageLeft when it has left its old one.
	PageArrived func(tenant mem.TenantID, vpn uint64)
	PageLeft    func(now uint64, tenant int)

	how      Copying
	jobs     []copyJob
	active   int
	inFlight int              // lines read and not yet written
	unread   mem.Queue[int32] // jobs with lines to read, oldest first
	ready    mem.Queue[int32] // lines whose data has arrived: job<<16 | line
	bits     uint             // log2 of the page
	lines    uint64           // per page
	lineSize uint64           // bytes
	whole    uint8            // all sectors of a line
	most     int              // lines read and not yet written at most
	Bytes    uint64           // copied so far
	Commands uint64           // MIGRATION commands so far
}

// copyJob is one page on its way. With PageMove its lines leave the LLC before the stacks get any of them.
type copyJob struct {
	pageJob
	tenant     mem.TenantID
	cleaned    uint64 // lines that have left the LLC
	writebacks int32  // of dirty lines, not yet in DRAM's queue
}

// Build makes an idle engine. On a machine without stacks that migrate, the engine reads and writes instead.
func (c *CopyEngine) Build(s *sheets.Machine, amap *addrmap.Map, how Copying) {
	if backing.Stacks(s, amap) == 0 && how == PageMove {
		how = ReadWrite
	}
	c.how, c.bits, c.most = how, uint(bits.TrailingZeros(uint(max(1, s.VM.Page)))), s.VM.CopyLines
	c.lines, c.lineSize = uint64(s.VM.Page/s.LLC.Line), uint64(s.LLC.Line)
	c.whole = uint8(1<<(s.LLC.Line/s.LLC.Sector) - 1)
}

// InStacks says that pages move inside the memory stacks.
func (c *CopyEngine) InStacks() bool { return c.how == PageMove }

// Rewrites says that every page needs another layout when channels change hands.
func (c *CopyEngine) Rewrites() bool { return c.how == Rewrite }

// Tick begins moves that the driver has decided and advances those in progress; it returns the next cycle with work
// that no event announces.
func (c *CopyEngine) Tick(now uint64) uint64 {
	if c.Driver == nil {
		return engine.Never
	}
	for c.active < maxCopies {
		id, ok := c.Driver.NextCopy()
		if !ok {
			break
		}
		c.begin(id)
	}
	if c.active == 0 {
		return engine.Never
	}
	if c.how != PageMove { // its lines go through the MMU's port
		c.Wakeups.WakeMMU(now + 1)
		return engine.Never
	}
	return c.migrate(now)
}

// maxCopies bounds the pages being copied at once: what the stacks' queues hold, so
// that no line waits outside for others to make room.
const maxCopies = 32

func (c *CopyEngine) begin(id int32) {
	m := c.Tables.MoveOf(id)
	j := 0
	for j < len(c.jobs) && c.jobs[j].live {
		j++
	}
	if j == len(c.jobs) {
		c.jobs = append(c.jobs, copyJob{})
	}
	c.jobs[j] = copyJob{tenant: m.Tenant, pageJob: pageJob{
		Job: Job{row: mem.Moving(m.Tenant, c.Apps), lines: c.lines}, id: id, live: true,
		from: m.From << c.bits, to: m.To << c.bits,
	}}
	c.active++
	if c.how != PageMove {
		c.unread.Push(int32(j))
	}
}

// Send implements source.
func (c *CopyEngine) Send(now uint64, _ bool) (next uint64, more bool) {
	if c.how == PageMove || c.active == 0 {
		return engine.Never, false
	}
	r, ok := c.next()
	if !ok {
		return engine.Never, false
	}
	if c.Fabric.InjectMMU(r, now) {
		c.sent(r.Op)
	}
	return now + 1, c.sending()
}

// sending says that the copy engine has more lines for the MMU's port.
func (c *CopyEngine) sending() bool {
	return c.ready.Len() > 0 || c.unread.Len() > 0 && c.inFlight < c.most
}

// next is the copy engine's next request: the write of a line that has arrived, or else the read of another.
func (c *CopyEngine) next() (r mem.Req, ok bool) {
	all := c.whole
	if c.ready.Len() > 0 {
		k := *c.ready.Head()
		j := &c.jobs[k>>16]
		line := j.to + uint64(k&0xffff)*c.lineSize
		return mem.Req{
			Line: line, Sectors: all, Full: all, Op: mem.Write, Tenant: j.row, Origin: mem.OfCopyEngine, Tag: k,
		}, true
	}
	if c.inFlight >= c.most || c.unread.Len() == 0 {
		return mem.Req{}, false
	}
	i := *c.unread.Head()
	j := &c.jobs[i]
	return mem.Req{
		Line: j.from + j.next*c.lineSize, Sectors: all, Op: mem.Read, Tenant: j.row, Origin: mem.OfCopyEngine,
		Tag: i<<16 | int32(j.next),
	}, true
}

// sent records that the request next named is on its way.
func (c *CopyEngine) sent(op mem.Op) {
	if op == mem.Write {
		c.ready.Pop()
		return
	}
	j := &c.jobs[*c.unread.Head()]
	if j.send(); !j.unsent() {
		c.unread.Pop()
	}
	c.inFlight++
}

// Answered implements source.
func (c *CopyEngine) Answered(r *mem.Req, now uint64) {
	c.Wakeups.WakeMMU(now)
	k := r.Tag
	if r.Op == mem.Read {
		c.ready.Push(k)
		return
	}
	c.inFlight--
	i := k >> 16
	j := &c.jobs[i]
	if !j.arrive() {
		return
	}
	if c.Tables.MoveOf(j.id).Kind == vm.Copy { // the page is still there
		c.end(i, now)
		return
	}
	for n := range c.lines { // lines that the reads left in the LLC
		c.Memory.Drop(j.from + n*c.lineSize)
	}
	c.end(i, now)
}

// end records a page whose last line is at its new place.
func (c *CopyEngine) end(i int32, now uint64) {
	j := &c.jobs[i]
	j.live = false
	c.active--
	c.Bytes += 1 << c.bits
	tenant := j.tenant
	c.PageArrived(tenant, c.Tables.MoveOf(j.id).VPN)
	c.Driver.Copied(now, j.id)
	c.PageLeft(now, int(tenant))
	c.Wakeups.WakeMMU(now)
	c.Wakeups.WakeMoves(now)
}

// clean makes the lines of a page leave the LLC before DRAM copies the page, and also lines that a former page left
// in the LLC under the new frame's address. True when none is left and every write-back is in DRAM's queue, including
// those of lines evicted before.
func (c *CopyEngine) clean(i int32, now uint64) bool {
	j := &c.jobs[i]
	for ; j.cleaned < j.lines; j.cleaned++ {
		at := j.cleaned * c.lineSize
		c.Memory.Drop(j.to + at)
		wrote, ok := c.Memory.Clean(j.from+at, i, now)
		if wrote {
			j.writebacks++
		}
		if !ok {
			return false
		}
	}
	return j.writebacks == 0 && !c.leftOver(j.to) && !c.leftOver(j.from)
}

// leftOver says that write-backs to a frame wait between LLC and DRAM: those of evicted lines, or of a page that was
// given up there.
func (c *CopyEngine) leftOver(frame uint64) bool {
	return c.Memory.WritesBack(c.Tables.Frames().Pool(frame>>c.bits), frame, 1<<c.bits)
}

// Written notes that a write-back of job i has reached DRAM's queue.
func (c *CopyEngine) Written(i int32) {
	c.jobs[i].writebacks--
	c.Wakeups.WakeMoves(c.Clock.Now)
}

// migrate takes pages through the LLC's write-backs into the stacks' queues.
func (c *CopyEngine) migrate(now uint64) uint64 {
	busy := false
	for i := range c.jobs {
		j := &c.jobs[i]
		if !j.live || !j.unsent() {
			continue
		}
		if j.next == 0 && !c.clean(int32(i), now) {
			busy = busy || j.cleaned < j.lines || j.writebacks == 0 // else a write-back's arrival wakes us
			continue
		}
		for j.unsent() && c.push(int32(i), now) {
			j.send()
		}
		busy = busy || j.unsent()
	}
	if busy {
		return now + 1
	}
	return engine.Never
}

// push offers a job's next line to its stack.
func (c *CopyEngine) push(i int32, now uint64) bool {
	j := &c.jobs[i]
	at := j.next * c.lineSize
	return c.Memory.Migrate(j.from+at, j.to+at, i, j.row, now)
}

// Migrated notes that a stack has copied a line.
func (c *CopyEngine) Migrated(i int32, now uint64) {
	c.Commands++
	if c.jobs[i].arrive() {
		c.end(i, now)
	}
	c.Wakeups.WakeMoves(now)
}
