package hybrid

import (
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/tags"
)

// remap is the remap cache: lines of the remap table on the chip.
type remap struct {
	tags    *tags.Array
	waiters []parts // by line index: parts that wait for it to come
	pending int
	limit   int
}

func newRemap(c *Config) (r remap, err error) {
	r.tags, err = tags.New(c.Remap/Unit/c.RemapWays, c.RemapWays, Unit, "lru", nil)
	if err != nil {
		return r, err
	}
	r.waiters, r.limit = make([]parts, len(r.tags.Tag)), c.Entries
	for i := range r.waiters {
		r.waiters[i] = parts{none, none}
	}
	return r, nil
}

// entry finds the entry of a part's set. Without it the part waits for it to come from the fast tier. here says
// that it was found; taken, that the part waits. If both are false, there was no room to wait.
func (c *Controller) entry(h int32) (here, taken bool) {
	p, r := &c.parts[h], &c.remap
	line := c.table.entryLine(p.set, p.index)
	i := r.tags.Find(line * Unit)
	row := c.rows[c.requests[p.request].fetch.Tenant]
	if i != tags.None && r.tags.Line[i].Pending == 0 {
		r.tags.Use(i)
		if !p.looked {
			p.looked = true
			row[RemapHits]++
		}
		return true, true
	}
	if p.granted || p.known { // if it had to ask again, others could take the entry away from it for ever
		return c.out.takesEntry(line), false
	}
	if i == tags.None {
		if i = c.fetchEntry(line, c.requests[p.request].fetch.Tenant); i == tags.None {
			return false, false
		}
	}
	p.looked = true
	row[RemapMisses]++ // each time: the entry that a part has found may have left when it has to look once more
	c.parts.push(&r.waiters[i], h)
	return false, true
}

// awaited says whether the entry of a part is on its way: others wait for it.
func (c *Controller) awaited(p *part) bool {
	i := c.remap.tags.Find(c.table.entryLine(p.set, p.index) * Unit)
	return i != tags.None && c.remap.tags.Line[i].Pending != 0
}

// fetchEntry asks for a line of the table, and writes back the line in its place.
func (c *Controller) fetchEntry(line uint64, tenant mem.TenantID) int32 {
	r := &c.remap
	v := r.tags.Victim(line * Unit)
	if v == tags.None || r.pending == r.limit {
		return tags.None
	}
	old, dirty := r.tags.Tag[v], r.tags.Line[v].Dirty != 0
	if !c.out.takesEntry(line) || dirty && !c.out.takesEntry(old/Unit) {
		return tags.None
	}
	tenant = c.mover(tenant)
	if dirty {
		c.rows[tenant][TableWrites]++
		c.out.send(Fast, c.table.entryAddress(old/Unit), true, ofEntry|v, tenant)
	}
	if c.watch != nil && old != ^uint64(0) {
		c.watch.leaves(c.table.setsOf(old / Unit))
	}
	r.tags.Fill(v, line*Unit, tenant)
	r.tags.Await(v, 1)
	r.pending++
	c.rows[tenant][TableReads]++
	c.out.send(Fast, c.table.entryAddress(line), false, ofEntry|v, tenant)
	return v
}

// entryArrived serves the parts that waited for a line of the table.
func (c *Controller) entryArrived(i int32) {
	r := &c.remap
	r.tags.Arrive(i, 1)
	r.pending--
	for l := &r.waiters[i]; l.first != none; {
		h := c.parts.pop(l)
		p := &c.parts[h]
		p.granted = true
		c.parts.push(&c.banks[c.bankOf(p.set, p.index)].ready, h)
	}
}

// changed notes that a part has changed its set's entry. It is written back when it leaves,
// or now if it has left already.
func (c *Controller) changed(p *part) {
	line := c.table.entryLine(p.set, p.index)
	if i := c.remap.tags.Find(line * Unit); i != tags.None {
		c.remap.tags.Line[i].Dirty = 1
		return
	}
	tenant := c.mover(c.requests[p.request].fetch.Tenant)
	c.rows[tenant][TableWrites]++
	c.out.send(Fast, c.table.entryAddress(line), true, ofEntry, tenant)
}

// mover is the row in which transfers for a tenant are counted, and the table's traffic.
func (c *Controller) mover(tenant mem.TenantID) mem.TenantID {
	if int(tenant) < c.cfg.Apps {
		return mem.Moving(tenant, c.cfg.Apps)
	}
	return tenant
}
