package dram

import (
	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Channel is one memory channel. It is not safe for concurrent use.
type Channel struct {
	cfg *Config
	tab *tables

	// Trace, when set, sees every command as it issues. Rank-wide commands carry
	// AllBanks in BankGroup and Bank.
	Trace func(now uint64, cmd Cmd, at Loc)

	// Event times: lower bounds, exact after a scan that found nothing.
	fresh uint64 // first clock not stepped yet
	next  uint64 // next step: work, or data to deliver
	work  uint64 // next clock at which anything but that can happen

	q       queues // of requests, by bank
	out     replies
	refresh refreshes
	edge    risingEdge
	half    uint64 // 1 for HalfCycle: rising edges are odd

	rows   []*counts
	asking asking
	share  *share // for the migrations of the channel's stack; nil without
}

// New builds an idle channel. It panics on a configuration Validate refuses or
// with constraints of an unsupported shape: configurations come from FromSheet or
// a device file, which report such errors.
func New(cfg *Config) *Channel {
	c, err := Build(cfg)
	if err != nil {
		panic(err)
	}
	return c
}

// Build is New with an error instead of a panic.
func Build(cfg *Config) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	tab, err := compile(cfg)
	if err != nil {
		return nil, err
	}
	c := &Channel{cfg: cfg, tab: tab}
	c.q.build(cfg, tab)
	n := 2 * len(c.q.slots)
	c.out.pending.init(n)
	c.out.done.init(n)
	c.out.arrival, c.out.limit = Never, cfg.Return
	if cfg.HalfCycle {
		c.half = 1
	}
	c.refresh.next = Never
	if cfg.Refi > 0 {
		c.refresh.next = uint64(cfg.Refi)
	}
	c.work, c.next = c.refresh.next, c.refresh.next
	c.edge.rank = -1
	c.asking = newAsking(cfg)
	c.Count(stat.NewTable("dram", Desc, 1, max(cfg.Tenants, 1)), 0)
	return c, nil
}

// Count makes the channel count in t, as the given instance; t must be built on
// Desc. Counts so far stay where they were.
func (c *Channel) Count(t *stat.Table, instance int) {
	c.rows = c.rows[:0]
	for i := range t.Rows() {
		c.rows = append(c.rows, (*counts)(t.Row(instance, i)))
	}
}

// Counters is the live counter row of a tenant, indexed by the C constants.
func (c *Channel) Counters(tenant int) []uint64 { return c.rows[tenant][:] }

// Queued is the number of requests waiting in the queues.
func (c *Channel) Queued() (reads, writes int) { return c.q.count[kindRead], c.q.count[kindWrite] }

// CanPush tells whether the queue has room. A Push may succeed even when it does
// not: reads that hit the write queue and writes that coalesce need no entry.
func (c *Channel) CanPush(write bool) bool {
	if c.q.shared {
		return c.q.count[kindRead]+c.q.count[kindWrite] < c.cfg.Queue
	}
	if write {
		return c.q.count[kindWrite] < c.cfg.WriteQueue
	}
	return c.q.count[kindRead] < c.cfg.Queue
}

// Push offers a request of bursts consecutive accesses (1 to 255) in one row, to
// be seen by the first Tick at now or later. It answers false when the queue is
// full. id comes back from Pop.
func (c *Channel) Push(now uint64, at Loc, write bool, bursts int, id int32, tenant mem.TenantID) bool {
	if c.next < now {
		c.advance(now - 1)
	}
	if c.q.count[kindWrite] == 0 && !c.CanPush(write) {
		return false // as soon as possible: a caller may ask often
	}
	b := c.q.bankIndex(at.Rank, at.BankGroup, at.Bank)
	if invariants.On && c.share != nil {
		c.share.stack.checkPush(c.share.index, b, at, write, bursts)
	}
	if c.q.count[kindWrite] > 0 && bursts == 1 && !c.q.shared && c.q.places[placeHash(b, at.Row, at.Col)] > 0 &&
		c.q.queuedWrite(b, at.Row, at.Col) {
		c.fromWriteQueue(now, write, id, tenant)
		return true
	}
	if !c.CanPush(write) {
		return false
	}
	kind := uint8(kindRead)
	if write {
		kind = kindWrite
	}
	c.rows[tenant][CReads+int(kind)]++
	c.enter(tenant, now)
	c.q.unused--
	i := c.q.free[c.q.unused]
	c.q.seq++
	r := &c.q.slots[i]
	r.row, r.col, r.age, r.arrive = at.Row, at.Col, c.q.seq<<ageShift|uint64(kind)*maxBanks|uint64(b), now
	r.id, r.next, r.bank, r.kind = id, none, uint8(b), kind
	r.tenant, r.left, r.started = tenant, uint8(bursts), false
	if bursts > 1 {
		c.q.multi = true
		c.q.hold[classHit] = ^uint64(0)
	}
	if c.cfg.Sched == PrIS {
		r.age = c.q.ageOf(kind, b, c.cfg.Urgent[tenant])
		if c.q.enqueueByAge(i, r) {
			c.wake(max(now, c.nextWork(now-1)))
		}
		return true
	}
	if c.q.enqueue(i, r) {
		c.wake(max(now, c.nextWork(now-1))) // there may be nothing to do for it yet
	}
	return true
}

// wake makes sure that a clock is stepped, now or later, when a command may issue or
// the queues be looked at again.
func (c *Channel) wake(now uint64) {
	c.work = min(c.work, max(now, c.fresh))
	c.next = min(c.next, c.work)
}

// fromWriteQueue answers a read with the data of a queued write one clock after
// acceptance, behind the reads already on their way, and lets a write to the same
// place disappear into the queued one at once.
func (c *Channel) fromWriteQueue(now uint64, write bool, id int32, tenant mem.TenantID) {
	n := c.rows[tenant]
	if write {
		n[CWrites]++
		n[CCoalesced]++
		c.out.done.push(reply{id: id, write: true, tenant: tenant})
		return
	}
	n[CReads]++
	n[CForwarded]++
	n[CReadLatency]++
	c.out.send(reply{depart: now, id: id, tenant: tenant})
	c.next = min(c.next, max(now, c.fresh))
}

// Tick brings the channel to clock now and returns the next clock at which it
// has work: commands to issue or data to deliver. It returns Never when it is
// idle; refreshes of an idle channel are caught up, with their exact timing, at
// the next Push, Tick or Sync. Tick never goes back.
func (c *Channel) Tick(now uint64) uint64 {
	if c.next <= now {
		c.advance(now)
	}
	if c.idle() {
		return Never
	}
	return c.next
}

// Sync brings counters and bank states up to clock now.
func (c *Channel) Sync(now uint64) {
	c.advance(now)
	c.askAll(now + 1)
}

// idle means no request is anywhere but waiting for Pop.
func (c *Channel) idle() bool { return c.q.unused == len(c.q.slots) && c.out.pending.n == 0 }

// Pop returns the next completed request, in order of completion.
func (c *Channel) Pop() (id int32, write bool, ok bool) {
	if c.out.done.n == 0 {
		return 0, false, false
	}
	r := c.out.done.pop()
	return r.id, r.write, true
}

// Completed is the number of requests waiting for Pop.
func (c *Channel) Completed() int { return c.out.done.n }
