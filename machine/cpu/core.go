package cpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

const never = engine.Never

// Core is a core with its private caches. Its times are cycles of its own clock, the first of
// which is 1.
type Core struct {
	ID  int
	cfg *Config

	now      uint64 // cycle up to which it has been run
	due      uint64 // the next in which something happens in it
	program  program
	window   window
	stores   storeBuffer
	branches branches
	caches   caches
	pages    pages
	arrivals mem.Queue[departed] // answers, and when they come
	slab     *mem.Slab
	port     mem.Port
	tenant   mem.TenantID
	inflight int // requests that have not been answered

	resumeAt uint64           // cycle in which dispatch continues without another event
	endAt    uint64           // cycle in which the execution's last instruction retires, once that is known
	ends     mem.Queue[int64] // the last instructions of this execution and of those after it that have been dispatched
	running  bool
	waited   int64 // ticks retirement waited for loads
	row      []uint64
	table    *stat.Table
}

// New makes a core without a program. Answers come back at port.
func New(id int, cfg *Config, slab *mem.Slab, table *stat.Table, port mem.Port) (*Core, error) {
	c := &Core{
		ID: id, cfg: cfg, window: newWindow(cfg), stores: newStoreBuffer(cfg.stores), branches: newBranches(cfg.branch),
		slab: slab, port: port, due: never, resumeAt: never, endAt: never, table: table, row: table.Row(id, 0),
	}
	var err error
	c.caches, err = newCaches(cfg)
	return c, err
}

// Program is the work of a core.
type Program struct {
	Source scalar.Source
	// Insts is the length of an execution in instructions; a source that ends before starts again. 0: an execution
	// ends with its source.
	Insts uint64
	Once  bool // execute once; else again and again
}

// Start gives the core a program of a tenant, whose first instructions are dispatched in the cycle
// after the next. Frames is the tenant's memory.
func (c *Core) Start(p Program, tenant mem.TenantID, frames *Frames) error {
	if c.running {
		return fmt.Errorf("core %d already runs a program", c.ID)
	}
	if p.Insts >= 1<<50 {
		return fmt.Errorf("an execution of %d instructions: at most %d", p.Insts, uint64(1)<<50)
	}
	length := int64(p.Insts)
	c.program = program{source: p.Source, length: length, left: length, once: p.Once}
	c.pages, c.tenant, c.running = newPages(p.Source, frames), tenant, true
	c.row = c.table.Row(c.ID, int(tenant))
	c.resumeAt = c.now + 1
	c.window.redirect(int64(c.resumeAt+1) * perCycle)
	c.due = c.resumeAt
	return nil
}

// Tick runs the core up to cycle now.
func (c *Core) Tick(now uint64) {
	for c.due <= now {
		c.cycle(c.due)
		c.due = c.next()
	}
	if now > c.now && c.running {
		c.row[Cycles] += now - c.now
	}
	c.now = max(c.now, now)
}

// next finds the next cycle in which something happens in the core.
func (c *Core) next() uint64 {
	at := min(c.window.plan.next(), c.stores.due(), c.resumeAt, c.endAt)
	if p := &c.window.plan; p.waiting.head != none || p.stalled.head != none && !p.refused {
		at = min(at, c.now+1)
	}
	if c.arrivals.Len() > 0 {
		at = min(at, c.arrivals.Head().at)
	}
	if c.caches.fills.Len() > 0 {
		at = min(at, c.caches.fills.Head().at)
	}
	return max(at, c.now+1)
}

// cycle is one cycle, in this order: answers and lines of the L2 come, loads and then the next
// store go to the L1, instructions retire and are dispatched.
func (c *Core) cycle(now uint64) {
	if c.running {
		c.row[Cycles] += now - c.now
	}
	c.now = now
	for c.arrivals.Len() > 0 && c.arrivals.Head().at <= now {
		c.answer(c.arrivals.Pop().h, now)
	}
	for f := &c.caches.fills; f.Len() > 0 && f.Head().at <= now; {
		c.filled(f.Pop().line, now)
	}
	c.loads(now)
	c.stores.leave(now)
	c.storeNext(now)
	if c.retire() > 0 || !c.window.held {
		c.dispatch(now)
		c.retire()
	}
	c.finish(now)
	if r := &c.window.retired; r.last-r.counted > len(r.bends)/2 {
		c.SyncCounters() // lest they pile up
	}
}

// loads lets loads go to the L1, those first that were refused before.
func (c *Core) loads(now uint64) {
	w := &c.window
	p := &w.plan
	w.take(now)
	ports := c.cfg.loadPorts
	for ports > 0 && p.stalled.head != none && !p.refused {
		if !c.load(p.stalled.head, now) {
			p.refused = true
			break
		}
		w.pop(&p.stalled)
		ports--
	}
	for ; ports > 0 && p.waiting.head != none; ports-- {
		if pos := w.pop(&p.waiting); !c.load(pos, now) {
			w.insert(&p.stalled, pos)
			p.refused = true
		}
	}
}

// finish counts an execution whose last instruction has retired (if no execution follows, its stores must be in the
// L1), and finds out when the last instruction of the present one will retire.
func (c *Core) finish(now uint64) {
	for c.ends.Len() > 0 {
		if c.endAt == never {
			c.foresee()
		}
		if c.endAt > now {
			return
		}
		if c.program.once && c.stores.freed != c.stores.dispatched { // the program ends with the last of its stores
			c.endAt = never
			return
		}
		c.row[Executions]++
		c.ends.Pop()
		c.endAt = never
		if c.program.once {
			c.SyncCounters()
			c.running = false
			return
		}
	}
}

// foresee finds out when the execution ends, if that is known.
func (c *Core) foresee() {
	if c.ends.Len() > 0 && c.window.allKnown() >= *c.ends.Head() {
		c.endAt = cycleOf(c.window.retired.tick(*c.ends.Head()))
	}
}

// SyncCounters updates the counters that are not kept up to date in every cycle.
func (c *Core) SyncCounters() {
	if !c.running {
		return
	}
	c.row[Insts] = uint64(c.window.retired.count(int64(c.now)*perCycle, c.window.allKnown()))
	c.row[LoadCycles] = uint64(c.waited / perCycle)
}

// Due is the next cycle in which the core has to run, or in which a request leaves it.
func (c *Core) Due() uint64 {
	at := c.due
	if c.caches.out.Len() > 0 {
		at = min(at, max(c.caches.out.Head().at, c.now+1))
	}
	return at
}

// Out is the oldest request that has left the core, up to the cycle up to which it has run.
func (c *Core) Out() (h int32, ok bool) {
	if q := &c.caches.out; q.Len() > 0 && q.Head().at <= c.now {
		return q.Head().h, true
	}
	return 0, false
}

// Sent removes the oldest request: the interconnect has it.
func (c *Core) Sent() {
	if c.slab.R[c.caches.out.Pop().h].Op == mem.Write {
		c.caches.writing--
		if c.caches.crowded {
			c.caches.crowded = false
			c.retry()
			c.due = min(c.due, c.next())
		}
	}
}

// Deliver brings the answer to a request, in a cycle that the core has not run yet.
func (c *Core) Deliver(h int32, at uint64) {
	c.arrivals.Push(departed{at, h})
	c.due = min(c.due, at)
}

// Executions is the number of times that the core has executed its program to the end.
func (c *Core) Executions() uint64 { return c.row[Executions] }

// Reached is the instruction up to which retirement times are known; it grows while the program runs.
func (c *Core) Reached() int64 { return c.window.allKnown() }

// InFlight is the number of requests that have not been answered.
func (c *Core) InFlight() int { return c.inflight }

// Err is the error in the program, once the core has reached it.
func (c *Core) Err() error {
	if c.program.err != nil {
		return c.program.err
	}
	return c.pages.err
}
