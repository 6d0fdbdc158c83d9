package machine

import (
	"heddle/engine"
	"heddle/machine/cache"
	"heddle/machine/dram"
	"heddle/mem"
	"heddle/mem/addrmap"
)

// Copying is how the bytes of a page get from its old frame to its new one.
type Copying uint8

const (
	// PageMove copies inside the HBM stack with MIGRATION commands (UGPU, section 4.3).
	PageMove Copying = iota
	// ReadWrite reads and writes every line through LLC and crossbar, as a copy
	// engine of today does (UGPU-Soft and UGPU-Ori, section 6.2).
	ReadWrite
	// Rewrite is ReadWrite on a conventional address map: a page spans all channels of
	// its slice, so that every page has to be laid out anew (UGPU-Ori).
	Rewrite
)

// copier carries out page moves.
type copier struct {
	g        *GPU
	how      Copying
	jobs     []copyJob
	active   int
	inFlight int              // lines read and not yet written
	unread   mem.Queue[int32] // jobs with lines to read, oldest first
	ready    mem.Queue[int32] // lines whose data has arrived: job<<16 | line
	bits     uint             // log2 of the page
	lines    int32            // per page
	Bytes    uint64           // copied so far
	Commands uint64           // MIGRATION commands so far
}

// copyJob is one page on its way.
type copyJob struct {
	id         int32 // of the move
	tenant     uint8
	live       bool
	next       int32 // next line to clean or read
	left       int32 // lines not yet at their new place
	writebacks int32 // of dirty lines, not yet in DRAM's queue
	pushed     int32 // PageMove: lines handed to the stacks
	from, to   uint64
}

// copyTag marks the requests of the copy engine among those of the MMU's port.
const copyTag = 1 << 30

// tick takes on moves the driver has decided and advances those in progress; it
// returns the next cycle with work that nobody announces.
func (c *copier) tick(now uint64) uint64 {
	if c.g.driver == nil {
		return engine.Never
	}
	for c.active < maxCopies {
		id, ok := c.g.driver.NextCopy()
		if !ok {
			break
		}
		c.begin(id)
	}
	if c.active == 0 {
		return engine.Never
	}
	if c.how != PageMove { // its lines go through the MMU's port
		c.g.agenda.wakeMMU(now + 1)
		return engine.Never
	}
	return c.migrate(now)
}

// maxCopies bounds the pages being copied at once: what the stacks' queues hold, so
// that no line waits outside for others to make room.
const maxCopies = 32

func (c *copier) begin(id int32) {
	m := c.g.tables.MoveOf(id)
	j := 0
	for j < len(c.jobs) && c.jobs[j].live {
		j++
	}
	if j == len(c.jobs) {
		c.jobs = append(c.jobs, copyJob{})
	}
	c.jobs[j] = copyJob{id: id, tenant: m.Tenant, live: true, left: c.lines, from: m.From << c.bits, to: m.To << c.bits}
	c.active++
	if c.how != PageMove {
		c.unread.Push(int32(j))
	}
}

func (c *copier) line(n int32) uint64 { return uint64(n) * uint64(c.g.Sheet.LLC.Line) }

// send puts a request of the copy engine into the MMU's crossbar port, which could not
// send more than one a cycle; it returns the next cycle with more.
func (c *copier) send(now uint64) uint64 {
	if c.how == PageMove || c.active == 0 {
		return engine.Never
	}
	r, ok := c.next()
	if !ok {
		return engine.Never
	}
	if c.g.injectSorted(r, now) {
		c.sent(r.Op)
	}
	return now + 1
}

// next is what the copy engine asks for next: the write of a line that has arrived, or
// else the read of another.
func (c *copier) next() (r mem.Req, ok bool) {
	all := uint8(1<<(c.g.Sheet.LLC.Line/c.g.Sheet.LLC.Sector) - 1)
	if c.ready.Len() > 0 {
		k := *c.ready.Head()
		j := &c.jobs[k>>16]
		return mem.Req{Line: j.to + c.line(k&0xffff), Sectors: all, Full: all, Op: mem.Write, Tenant: j.tenant, Tag: copyTag | k}, true
	}
	if c.inFlight >= c.g.Sheet.VM.CopyLines || c.unread.Len() == 0 {
		return mem.Req{}, false
	}
	i := *c.unread.Head()
	j := &c.jobs[i]
	return mem.Req{Line: j.from + c.line(j.next), Sectors: all, Op: mem.Read, Tenant: j.tenant, Tag: copyTag | i<<16 | j.next}, true
}

// sent books that the request next named is on its way.
func (c *copier) sent(op mem.Op) {
	if op == mem.Write {
		c.ready.Pop()
		return
	}
	j := &c.jobs[*c.unread.Head()]
	if j.next++; j.next == c.lines {
		c.unread.Pop()
	}
	c.inFlight++
}

// answered books the answer to a request of the copy engine.
func (c *copier) answered(r *mem.Req, now uint64) {
	k := r.Tag &^ copyTag
	if r.Op == mem.Read {
		c.ready.Push(k)
		return
	}
	c.inFlight--
	i := k >> 16
	j := &c.jobs[i]
	if j.left--; j.left > 0 {
		return
	}
	for n := range c.lines { // what the reads left in the LLC
		a := j.from + c.line(n)
		c.g.slice[c.g.layouts.slice(a)].Drop(a)
	}
	c.end(i, now)
}

// end books a page whose last line is at its new place.
func (c *copier) end(i int32, now uint64) {
	j := &c.jobs[i]
	j.live = false
	c.active--
	c.Bytes += 1 << c.bits
	tenant := j.tenant
	c.g.driver.Copied(now, j.id)
	c.g.progress = now
	c.g.hand.leave(now, int(tenant))
	c.g.agenda.wakeMMU(now)
	c.g.agenda.wakeDriver(now)
}

// clean makes the lines of a page leave the LLC before DRAM copies it, and what a
// former page left in the LLC under the new frame's address; true when none is left
// and every write-back is in DRAM's queue, those of lines evicted before included.
func (c *copier) clean(i int32, now uint64) bool {
	j := &c.jobs[i]
	for ; j.next < c.lines; j.next++ {
		b := j.to + c.line(j.next)
		c.g.slice[c.g.layouts.slice(b)].Drop(b)
		a := j.from + c.line(j.next)
		k := c.g.layouts.slice(a)
		wrote, ok := c.g.slice[k].Clean(a, -2-i)
		if wrote {
			j.writebacks++
			c.g.agenda.wakeChannel(c.g.layouts.channelOf(k), now+1)
		}
		if !ok {
			return false
		}
	}
	return j.writebacks == 0 && !c.leftOver(j.to) && !c.leftOver(j.from)
}

// leftOver says that write-backs to a frame wait between LLC and DRAM: of lines that were
// evicted, or of a page that was given up there.
func (c *copier) leftOver(frame uint64) bool {
	within := func(f *cache.Fetch) bool { return f.Tag < 0 && f.Line-frame < 1<<c.bits }
	g := c.g
	group := g.tables.Frames().Pool(frame >> c.bits)
	for k := group; k < len(g.channel); k += g.layouts.whole.Groups() {
		per := g.Sheet.LLC.SlicesPerChannel
		for _, s := range g.slice[k*per : (k+1)*per] {
			for i := range s.ToDRAM.Len() {
				if within(s.ToDRAM.At(i)) {
					return true
				}
			}
		}
		d := &g.channel[k].delay
		for i := range d.Len() {
			if within(&d.At(i).f) {
				return true
			}
		}
	}
	return false
}

// written books a write-back of job i that has reached DRAM's queue.
func (c *copier) written(i int32) { c.jobs[i].writebacks-- }

// migrate takes pages through the LLC's write-backs into the stacks' queues.
func (c *copier) migrate(now uint64) uint64 {
	busy := false
	for i := range c.jobs {
		j := &c.jobs[i]
		if !j.live || j.pushed == c.lines {
			continue
		}
		if j.pushed == 0 && !c.clean(int32(i), now) {
			busy = busy || j.next < c.lines || j.writebacks == 0 // else a write-back's arrival wakes us
			continue
		}
		for j.pushed < c.lines && c.push(int32(i), now) {
			j.pushed++
		}
		busy = busy || j.pushed < c.lines
	}
	if busy {
		return now + 1
	}
	return engine.Never
}

// push offers a job's next line to its stack.
func (c *copier) push(i int32, now uint64) bool {
	j := &c.jobs[i]
	from, to := c.g.layouts.whole.Decode(j.from+c.line(j.pushed)), c.g.layouts.whole.Decode(j.to+c.line(j.pushed))
	per := c.g.layouts.whole.Groups() // channels of a stack, one of each group
	s := c.g.stack[int(from.Channel)/per]
	if !s.dram.CanPush() {
		return false
	}
	s.dram.Push(s.clock.Ticks(now)+1, dram.Migration{Src: int(from.Channel) % per, Dst: int(to.Channel) % per, From: c.g.within(&from), To: c.g.within(&to), Lines: 1, ID: i, Tenant: j.tenant})
	c.g.agenda.wakeStack(s.id, now+1)
	return true
}

// migrated books a line a stack has copied.
func (c *copier) migrated(i int32, now uint64) {
	j := &c.jobs[i]
	c.Commands++
	if j.left--; j.left == 0 {
		c.end(i, now)
	}
	c.g.agenda.wakeDriver(now)
}

// stack is an HBM stack: the channels among which lines migrate.
type stack struct {
	id      int
	dram    *dram.Stack
	clock   engine.Clock
	channel []int
}

// tickStack advances the migrations of a stack after its channels.
func (g *GPU) tickStack(s *stack, now uint64) uint64 {
	t := s.dram.Tick(s.clock.Ticks(now))
	for {
		id, ok := s.dram.Pop()
		if !ok {
			break
		}
		g.copies.migrated(id, now)
	}
	if t == dram.Never {
		return engine.Never
	}
	next := max(s.clock.Core(t), now+1)
	for _, c := range s.channel {
		at := next
		if g.channel[c].dram.Completed() > 0 {
			at = now + 1
		}
		g.agenda.wakeChannel(c, at)
	}
	return next
}

// buildStacks joins the channels of each HBM stack where the sheet has PageMove's
// hardware and a page lies in one channel group.
func (g *GPU) buildStacks(amap *addrmap.Map) error {
	d := &g.Sheet.DRAM
	if len(g.stack) == 0 {
		return nil
	}
	per := amap.Groups()
	cycles := uint64(d.MigrationCycles)
	for i, s := range g.stack {
		s.id, s.clock = i, g.channel[0].clock
		clocks := int((cycles*kHz(g.Sheet.Clock.DRAM) + kHz(g.Sheet.Clock.Core) - 1) / kHz(g.Sheet.Clock.Core))
		var ch []*dram.Channel
		for k := range per {
			c := g.channel[i*per+k]
			c.stack = s
			ch, s.channel = append(ch, c.dram), append(s.channel, c.id)
		}
		var err error
		if s.dram, err = dram.NewStack(ch, dram.MigrationTiming{Clocks: clocks, LineBursts: max(1, g.Sheet.LLC.Line/d.Access), Crossbar: d.MigrationCrossbar, Queue: stackQueue, Patience: stackPatience}); err != nil {
			return err
		}
	}
	return nil
}

// Estimates: the paper names neither the queue of the migration hardware nor a
// bound on its waiting.
const (
	stackQueue    = maxCopies * 8 // lines: a stack's share of the pages
	stackPatience = 256           // command clocks
)
