package cpu

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/mshr"
	"github.com/heddle-sim/heddle/mem/tags"
)

// caches are the private ones. A line that comes from below goes into both. A line that one of them evicts stays in
// the other. Tags of both are looked up at once, in the cycle a load or store comes to the L1; what is below the L2
// is asked for, and what it pushes out leaves, an L2 latency later.
type caches struct {
	l1, l2   *tags.Array
	m1       mshr.File           // waiting: the position of a load in the window, or of a store ^its entry
	m2       mshr.File           // waiting: a line of the L1
	fills    mem.Queue[fill]     // from L2 to L1
	out      mem.Queue[departed] // on the way out of the core
	writing  int                 // of them write-backs
	crowded  bool                // an access was refused because there were too many
	mask     uint64
	prefetch prefetcher
}

// fill is a line of the L1 that comes from the L2.
type fill struct {
	at   uint64
	line int32
}

// departed is a request and when it leaves.
type departed struct {
	at uint64
	h  int32
}

func newCaches(cfg *Config) (caches, error) {
	c := caches{mask: ^(cfg.line - 1), prefetch: newPrefetcher(cfg)}
	var err error
	if c.l1, err = tags.New(cfg.l1.sets, cfg.l1.ways, int(cfg.line), "lru", nil); err != nil {
		return c, fmt.Errorf("cpu.l1: %w", err)
	}
	if c.l2, err = tags.New(cfg.l2.sets, cfg.l2.ways, int(cfg.line), "lru", nil); err != nil {
		return c, fmt.Errorf("cpu.l2: %w", err)
	}
	c.m1 = mshr.New(len(c.l1.Tag), cfg.l1.mshrs, anyNumber)
	c.m2 = mshr.New(len(c.l2.Tag), cfg.l2.mshrs, anyNumber)
	return c, nil
}

// anyNumber of accesses may wait for a line: the window bounds them.
const anyNumber = 1 << 15

// whole is the one sector of a line of a private cache.
const whole = 1

// load looks a load up; false if it has to wait for a resource that is in use.
func (c *Core) load(pos int32, now uint64) bool {
	o := &c.window.ops[pos]
	if o.store != 0 && c.stores.holds(o.store) {
		c.row[Loads]++
		c.row[Forwards]++
		c.complete(o, pos, int64(now+c.cfg.l1.latency)*perCycle)
		return true
	}
	k := &c.caches
	line := o.addr & k.mask
	i := k.l1.Find(line)
	switch {
	case i == tags.None:
		if i = c.miss(line, c.window.site(pos), now); i == tags.None {
			return false
		}
		k.m1.Wait(i, pos, whole)
	case k.l1.Line[i].Pending != 0:
		c.row[L1Misses]++
		k.m1.Wait(i, pos, whole)
	default:
		c.complete(o, pos, int64(now+c.cfg.l1.latency)*perCycle)
	}
	k.l1.Use(i)
	c.row[Loads]++
	return true
}

// storeNext lets the stores that have retired go to the L1.
func (c *Core) storeNext(now uint64) {
	b, k := &c.stores, &c.caches
	if b.due() > now {
		return
	}
	e := b.entry(b.issued + 1)
	line := e.addr & k.mask
	i := k.l1.Find(line)
	switch {
	case i == tags.None:
		if i = c.miss(line, 0, now); i == tags.None {
			b.stalled = true
			return
		}
		k.m1.Wait(i, ^int32(b.issued&b.mask), whole)
	case k.l1.Line[i].Pending != 0:
		c.row[L1Misses]++
		k.m1.Wait(i, ^int32(b.issued&b.mask), whole)
	default:
		k.l1.Line[i].Dirty = whole
		e.ready = true
	}
	k.l1.Use(i)
	c.row[Stores]++
	b.issued++
	b.next = now + 1
	b.leave(now)
}

// miss asks the L2 for a line and returns its future place in the L1; None if a resource that it needs is in use.
func (c *Core) miss(line, site, now uint64) int32 {
	k := &c.caches
	if !k.m1.Room(whole) {
		return tags.None
	}
	if k.writing+2 > c.cfg.writeBacks {
		k.crowded = true
		return tags.None
	}
	i := k.l1.Victim(line)
	if i == tags.None {
		return tags.None
	}
	if k.l1.Line[i].Dirty != 0 { // first, because it may evict the line that is looked for
		c.intoL2(k.l1.Tag[i], now)
		k.l1.Line[i].Dirty = 0
	}
	j, place := k.l2.Find(line), tags.None
	if j == tags.None {
		if place = k.l2.Victim(line); place == tags.None || !k.m2.Room(whole) {
			return tags.None
		}
	}
	k.l1.Fill(i, line, c.tenant)
	k.l1.Await(i, whole)
	k.m1.Ask(whole)
	c.row[L1Misses]++
	c.row[L2Accesses]++
	switch {
	case j == tags.None:
		c.row[L2Misses]++
		j = place
		c.fetch(j, line, now)
		k.m2.Wait(j, i, whole)
	case k.l2.Line[j].Pending != 0:
		k.m2.Wait(j, i, whole)
		k.l2.Use(j)
	default:
		k.l2.Use(j)
		k.fills.Push(fill{now + c.cfg.l2.latency, i})
	}
	if k.prefetch.degree > 0 {
		c.prefetchFrom(line, site, j, now)
	}
	return i
}

// fetch asks for a line below the L2, to lie at j there.
func (c *Core) fetch(j int32, line, now uint64) {
	k := &c.caches
	c.pushOut(j, now)
	k.l2.Fill(j, line, c.tenant)
	k.l2.Await(j, whole)
	k.m2.Ask(whole)
	c.send(line, mem.Read, j, now)
}

// intoL2 puts a written line of the L1 back into the L2.
func (c *Core) intoL2(line, now uint64) {
	k := &c.caches
	j := k.l2.Find(line)
	if j == tags.None {
		if j = k.l2.Victim(line); j == tags.None { // the set waits for fills alone
			c.send(line, mem.Write, -1, now)
			return
		}
		c.pushOut(j, now)
		k.l2.Fill(j, line, c.tenant)
		k.l2.Line[j].Valid = whole
	}
	k.l2.Line[j].Dirty = whole
	c.row[L1WriteBacks]++
}

// pushOut writes back the line in a place of the L2 that shall get another line.
func (c *Core) pushOut(j int32, now uint64) {
	k := &c.caches
	if !k.l2.Free(j) && k.l2.Line[j].Dirty != 0 {
		c.send(k.l2.Tag[j], mem.Write, -1, now)
	}
	k.prefetch.forget(j)
}

// send puts a request on its way; tag is the line of the L2 that the answer is for.
func (c *Core) send(line uint64, op mem.Op, tag int32, now uint64) {
	k := &c.caches
	sectors := c.cfg.sectors << ((line & (c.cfg.llcLine - 1)) >> c.cfg.sector)
	leaves := now + c.cfg.l2.latency
	h := c.slab.Get()
	r := &c.slab.R[h]
	*r = mem.Req{
		Line: line &^ (c.cfg.llcLine - 1), Born: leaves, Tag: tag, Port: c.port, Sectors: sectors, Op: op,
		Tenant: c.tenant,
	}
	if op == mem.Write {
		r.Full = sectors
		k.writing++
		c.row[WriteBacks]++
	} else {
		c.row[Requests]++
	}
	c.inflight++
	k.out.Push(departed{leaves, h})
}

// answer takes the answer to a request.
func (c *Core) answer(h int32, now uint64) {
	k := &c.caches
	r := &c.slab.R[h]
	op, j := r.Op, r.Tag
	if op == mem.Read {
		c.row[RequestCycles] += now - r.Born
	}
	c.slab.Put(h)
	c.inflight--
	if op == mem.Write {
		return
	}
	k.l2.Arrive(j, whole)
	arrival := k.m2.Arrive(j, whole)
	for arrival.More() {
		i, _, _ := k.m2.Next(&arrival)
		c.filled(i, now)
	}
	c.retry()
}

// filled takes a line into the L1 and answers the operations that wait for it.
func (c *Core) filled(i int32, now uint64) {
	k := &c.caches
	k.l1.Arrive(i, whole)
	arrival := k.m1.Arrive(i, whole)
	for arrival.More() {
		token, _, _ := k.m1.Next(&arrival)
		if token >= 0 {
			c.complete(&c.window.ops[token], token, int64(now)*perCycle)
			continue
		}
		k.l1.Line[i].Dirty = whole
		c.stores.entries[^token].ready = true
	}
	c.retry()
}

// retry repeats the accesses that the L1 has refused.
func (c *Core) retry() { c.window.plan.refused, c.stores.stalled = false, false }
