package sm

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/mshr"
	"github.com/heddle-sim/heddle/mem/tags"
)

// L1 is the L1 data cache: a pipeline of lookups, tags, and the registers of misses.
type L1 struct {
	stalled bool             // the oldest access waits for a fill or for room towards the interconnect,
	since   uint64           // from this cycle on
	queue   mem.Ring[access] // the pipeline
	tags    *tags.Array
	mshrs   mshr.File // a waiter's token is its operation
	writeAt uint64    // cycle from which the port that writes arrived sectors back is free
	inBank  [8]int    // per bank: accesses in the pipeline (l1Config.apart)

	arrays []*tags.Array // one per carve-out
}

// carve sets the L1 up for a shared-memory carve-out of the given bytes per SM:
// with an adaptive split (Volta) what shared memory does not take is cache.
func (c *L1) carve(cfg *l1Config, sharedBytes int) error {
	sets, ways := cfg.sets, cfg.ways
	if cfg.unified > 0 {
		take := 0
		for _, n := range cfg.carveouts {
			if take = n; n >= sharedBytes {
				break
			}
		}
		lines := (cfg.unified - cfg.reserved - take) >> cfg.lineShift
		if sets == 0 {
			sets = lines / ways
		} else {
			ways = lines / sets
		}
	}
	if c.tags != nil && c.tags.Sets == sets && c.tags.Ways == ways {
		return nil
	}
	for _, a := range c.arrays {
		if a.Sets == sets && a.Ways == ways {
			a.Reset()
			c.tags = a
			return nil
		}
	}
	a, err := tags.New(sets, ways, 1<<cfg.lineShift, cfg.repl, cfg.index)
	if err != nil {
		return fmt.Errorf("l1d: %w", err)
	}
	c.tags = a
	c.arrays = append(c.arrays, a)
	c.mshrs.Lines(len(a.Tag))
	return nil
}

// banks is the L1 banks an access needs: those of its sectors, or of its line where
// lines are not sectored.
func (cfg *l1Config) banks(a *access) uint8 {
	if cfg.sectors == 1 {
		return 1 << (a.line >> cfg.lineShift % uint64(min(8, cfg.bankCount)))
	}
	return a.sectors
}

// intoBanks puts an access into the pipelines of its banks, which hold depth accesses
// each; false when one is full.
func (c *L1) intoBanks(banks uint8, depth int) bool {
	for m := banks; m != 0; m &= m - 1 {
		if c.inBank[bits.TrailingZeros8(m)] >= depth {
			return false
		}
	}
	for m := banks; m != 0; m &= m - 1 {
		c.inBank[bits.TrailingZeros8(m)]++
	}
	return true
}

// outOfBanks takes an access out of them.
func (c *L1) outOfBanks(banks uint8) {
	for m := banks; m != 0; m &= m - 1 {
		c.inBank[bits.TrailingZeros8(m)]--
	}
}

// writeBack reserves the port on which a load's sectors go to the register file, one per
// cycle and waiting load, for n of them; it returns the cycle of the last. The packet's
// own sectors came one per cycle, the last of them now.
func (c *L1) writeBack(n int, sectors uint8, now uint64) uint64 {
	c.writeAt = max(c.writeAt, now+1-uint64(bits.OnesCount8(sectors))) + uint64(n)
	return c.writeAt - 1
}

// L1 is the SM's data cache.
func (s *SM) L1() *L1 { return &s.lsu.l1 }

// Flush invalidates all lines; no request may be in flight.
func (c *L1) Flush() { c.tags.Reset() }

// Held is the number of sectors it holds.
func (c *L1) Held() uint64 { return uint64(c.tags.Held()) }

// Forget invalidates a tenant's lines. Once its CTAs are gone, no line waits for data.
func (c *L1) Forget(tenant mem.TenantID) { c.tags.DropTenant(tenant) }

// Drop invalidates the lines of pages of 1<<bits bytes, in order; those that wait for data
// stay.
func (c *L1) Drop(pages []uint64, bits uint) { c.tags.DropPages(pages, bits) }

// cacheStage looks up the accesses that reach the end of the L1 pipeline. Its
// head stalls, and everything behind it, when a miss finds no free line, MSHR,
// merge slot or room towards the interconnect.
func (l *loadStore) cacheStage(p *pipeline, now uint64) {
	for l.l1.queue.Len() > 0 {
		a := l.l1.queue.Head()
		if a.at > now {
			return
		}
		o := &l.ops.list[a.op]
		ok := false
		if o.kind == isa.Store {
			ok = l.store(p, a, o, now)
		} else {
			ok = l.load(p, a, o, now)
		}
		if !ok {
			l.l1.stalled, l.l1.since = true, now
			return
		}
		if l.cfg.l1.apart && l.cfg.l1.tags == 0 {
			l.l1.outOfBanks(l.cfg.l1.banks(a))
		}
		l.l1.queue.Pop()
	}
}

// unstall lets the L1 head try again.
func (l *loadStore) unstall(now uint64) {
	if !l.l1.stalled {
		return
	}
	l.l1.stalled = false
	o := &l.ops.list[l.l1.queue.Head().op]
	l.rows[o.tenant][L1Stalls] += now - l.l1.since
}

// load looks a load up; false when it has to stay.
func (l *loadStore) load(p *pipeline, a *access, o *memOp, now uint64) bool {
	c := &l.l1
	t := c.tags
	row := l.rows[o.tenant]
	i := t.Find(a.line)
	var valid, pending uint8
	if i != tags.None {
		valid, pending = t.Line[i].Valid, t.Line[i].Pending
	}
	need := a.sectors &^ valid
	if need == 0 {
		t.Use(i)
		n := uint64(bits.OnesCount8(a.sectors))
		row[L1Accesses] += n
		row[L1Hits] += n
		at := now + l.cfg.ldst.back
		if l.cfg.l1.tags > 0 {
			at += uint64(o.cycles)
		}
		l.answer(p, a.op, at, now)
		return true
	}
	miss := need &^ pending
	if miss != 0 && (l.link.full(miss) || !c.mshrs.Room(miss)) {
		return false
	}
	if i == tags.None {
		if i = t.Victim(a.line); i == tags.None {
			return false
		}
		t.Fill(i, a.line, o.tenant)
	} else if !c.mshrs.Mergeable(i, need) {
		return false
	}
	t.Use(i)
	c.mshrs.Wait(i, a.op, need)
	row[L1Accesses] += uint64(bits.OnesCount8(a.sectors))
	row[L1Hits] += uint64(bits.OnesCount8(a.sectors & valid))
	row[L1Pending] += uint64(bits.OnesCount8(need & pending))
	row[L1Misses] += uint64(bits.OnesCount8(miss))
	if miss != 0 {
		t.Await(i, miss)
		c.mshrs.Ask(miss)
		l.send(a.line, miss, 0, 0, mem.Read, o, i, now)
	}
	return true
}

// fill brings sectors of line index i and answers the accesses that now have all
// they asked for.
func (l *loadStore) fill(p *pipeline, i int32, sectors uint8, now uint64) {
	c := &l.l1
	t := c.tags
	t.Arrive(i, sectors)
	at := now
	if l.cfg.l1.writePort {
		at = c.writeBack(c.mshrs.Waiting(i, sectors), sectors, now)
	}
	arrival := c.mshrs.Arrive(i, sectors)
	for arrival.More() {
		op, came, answered := c.mshrs.Next(&arrival)
		done := max(now, at)
		if l.cfg.l1.writePort { // the youngest comes first in the chain and last to the port
			at -= uint64(bits.OnesCount8(came))
		}
		if answered {
			l.answer(p, op, done+l.cfg.ldst.back+l.cfg.l1.returnLatency, now)
		}
	}
	l.unstall(now)
}

// store writes through. With write-allocate, the line is allocated and the
// completely written sectors become valid; a later read fetches the others (lazy
// fetch on read).
func (l *loadStore) store(p *pipeline, a *access, o *memOp, now uint64) bool {
	if l.link.full(a.sectors) {
		return false
	}
	c := &l.l1
	t := c.tags
	row := l.rows[o.tenant]
	n := uint64(bits.OnesCount8(a.sectors))
	row[L1Accesses] += n
	i := t.Find(a.line)
	if i == tags.None && l.cfg.l1.writeAlloc {
		if i = t.Victim(a.line); i != tags.None {
			t.Fill(i, a.line, o.tenant)
		}
	}
	var hits uint64
	if i != tags.None {
		hits = uint64(bits.OnesCount8(a.sectors & (t.Line[i].Valid | t.Line[i].Dirty)))
		t.Line[i].Valid |= a.full &^ t.Line[i].Pending
		t.Line[i].Dirty |= a.sectors // written at least in part: the next write hits
		t.Use(i)
	}
	row[L1Hits] += hits
	row[L1Misses] += n - hits
	p.warps.slot[o.warp].stores++
	l.send(a.line, a.sectors, a.full, a.bytes, mem.Write, o, p.writers.of[o.warp], now)
	l.answer(p, a.op, now, now)
	return true
}
