package uvm

import "fmt"

// Verdict is the result of an access.
type Verdict uint8

const (
	// Resident: the page is on the device, and the access counts as a use of it.
	Resident Verdict = iota
	// Staged is Resident, but the page was chosen for an eviction that has not begun: Keep it.
	Staged
	// Fault: the page must come to the device.
	Fault
	// Coming: the page is on its way already.
	Coming
	// Remote: the page stays on the host, where the access is served.
	Remote
	// Duplicate: the access writes a page that the host has, too. It must wait until the host's copy is void.
	Duplicate
)

// Access counts one access and returns its result. It is an error to access an address outside all allocations, or to
// write to a read-only one.
func (r *Runtime) Access(addr uint64, write bool) (Verdict, error) {
	p, ok := r.find(addr)
	if !ok {
		return 0, fmt.Errorf("0x%x is in no allocation", addr)
	}
	if write && r.allocationOf(addr).readOnly {
		return 0, fmt.Errorf("0x%x is written, and in an allocation that is read-only", addr)
	}
	r.book(p, write)
	c := &r.chunks[p.chunk()]
	k := p.index()
	if c.advice != 0 {
		c.hints.used |= c.advice
	}
	switch {
	case write && c.twice.here.Has(k):
		c.asked.Set(k)
		c.twice.own.Set(k)
		return Duplicate, nil
	case c.staged.Has(k):
		return Staged, nil
	case c.resident.Has(k):
		r.use(c, p, write)
		return Resident, nil
	case c.coming.Has(k):
		if r.o.Public {
			c.asked.Set(k)
		}
		c.twice.ask(k, write)
		return Coming, nil
	}
	t, pinned := r.limit(c, k/PagesPerBlock)
	if c.advice != 0 {
		c.hints.missed |= c.advice
	}
	if pinned && c.advice&Mapped == 0 && c.advice&PreferHost != 0 && !c.mapped.Has(k) {
		c.asked.Set(k) // the driver maps it
		return Fault, nil
	}
	if pinned || c.pinned.Has(k) || t > 0 && !write && (r.asksLate() || c.count(k) < t) {
		if !r.asksLate() {
			r.served(c, 1)
		}
		if c.advice != 0 && c.mapped.Has(k) {
			r.weigh(c, k, false, write)
		}
		return Remote, nil
	}
	c.asked.Set(k)
	c.twice.ask(k, write)
	return Fault, nil
}

// book counts an access of a page.
func (r *Runtime) book(p page, write bool) {
	c, k := &r.chunks[p.chunk()], p.index()
	if !r.remoteOnly || !c.resident.Has(k) && !c.staged.Has(k) && !c.coming.Has(k) {
		r.count(c, k/PagesPerBlock)
	}
	if r.watch.on {
		r.watch.seen[p]++
	}
	if write {
		c.heat.writes++
	} else {
		c.heat.reads++
	}
}

// asksLate says that the decision whether a page comes falls at the end of the walk and not at the access. Later
// accesses of the block count then, too (Options.Public).
func (r *Runtime) asksLate() bool { return r.o.Public && r.arrives != nil }

// served counts n accesses that the host serves.
func (r *Runtime) served(c *chunk, n int) {
	r.Totals.Remote += uint64(n)
	c.heat.remote += uint64(n)
}

// Served counts n accesses of a page that the host serves after Asked has decided so.
func (r *Runtime) Served(addr uint64, n int) {
	if p, ok := r.find(addr); ok {
		r.served(&r.chunks[p.chunk()], n)
	}
}

// count is the accesses of a page's block.
func (c *chunk) count(index int) uint64 { return uint64(c.counter[index/PagesPerBlock] & mostCount) }

// Wanted notes that an access needs an absent page on the device.
func (r *Runtime) Wanted(addr uint64) bool {
	p, ok := r.find(addr)
	return ok && r.chunks[p.chunk()].asked.Has(p.index())
}

// Asked says at the end of a walk whether an absent page must come. If not, accesses to it are served on the host,
// and MapRemote notes that the device may keep its translation.
func (r *Runtime) Asked(addr uint64) bool {
	p, ok := r.find(addr)
	if !ok {
		return false
	}
	c, k := &r.chunks[p.chunk()], p.index()
	if r.asksLate() && !c.pinned.Has(k) {
		// Without a threshold, an absent page was requested at the access. If a page has left since, the accesses are
		// served on the host; in the public simulator it could not leave before them.
		if t, pinned := r.limit(c, k/PagesPerBlock); !pinned && t > 0 && c.count(k) >= t {
			c.asked.Set(k)
		}
	}
	if c.advice != 0 {
		r.weigh(c, k, c.asked.Has(k), c.twice.own.Has(k))
	}
	return c.asked.Has(k)
}

// MapRemote notes that the device may keep a translation of an absent page to the host.
func (r *Runtime) MapRemote(addr uint64) {
	if p, ok := r.find(addr); ok {
		r.chunks[p.chunk()].mapped.Set(p.index())
	}
}

// UnmapRemote says whether the device may have a translation of a page to the host, which it must drop now.
func (r *Runtime) UnmapRemote(addr uint64) bool {
	p, ok := r.find(addr)
	if !ok || !r.chunks[p.chunk()].mapped.Has(p.index()) {
		return false
	}
	r.chunks[p.chunk()].mapped.Clear(p.index())
	return true
}

// IsMapped says that the device may have a translation of an absent page to the host.
func (r *Runtime) IsMapped(addr uint64) bool {
	p, ok := r.find(addr)
	return ok && r.chunks[p.chunk()].mapped.Has(p.index())
}

// CountLocal counts an access that has found a translation of an absent page and treats the page as one on the
// device. It is neither served on the host nor a reason to bring the page. Its block and its chunk become the most
// recent ones.
func (r *Runtime) CountLocal(addr uint64, write bool) {
	if p, ok := r.find(addr); ok {
		r.book(p, write)
		r.stamp++
		c := &r.chunks[p.chunk()]
		c.stamp, c.block[p.index()/PagesPerBlock], r.sorted = r.stamp, r.stamp, false
	}
}

// limit is the accesses that bring a page of a block, unless it is pinned on the host.
func (r *Runtime) limit(c *chunk, block int) (limit uint64, pinned bool) {
	return r.limitAdvised(c, block, c.advice)
}

// limitAdvised is limit under an advice.
func (r *Runtime) limitAdvised(c *chunk, block int, a Advice) (limit uint64, pinned bool) {
	o := Occupancy{
		Ts: uint64(r.o.Ts), P: uint64(r.o.P), Over: r.over, Trips: uint64(c.counter[block] >> countBits),
		Allocated: uint64(max(0, r.valid+r.staged+r.coming-r.forgotten)), Total: uint64(r.capacity - r.forgotten),
	}
	if r.o.Public {
		o.Total += uint64(r.staged)
	}
	switch {
	case a&ReadMostly != 0:
		return migrateFirstTouch(&o), false
	case a&Mapped != 0:
		return 0, true
	case a&PreferHost != 0:
		return migrateAlways(&o), r.o.HostStays
	case a&PreferDevice != 0:
		return migrateFirstTouch(&o), false
	}
	if r.o.Smart {
		return migrateSmart(c, &o, r.o.Public)
	}
	return r.migrate.rule(&o), false
}

// Used notes that an access which had faulted has found its page: it does not count again. False if the page is not
// there.
func (r *Runtime) Used(addr uint64, write bool) bool {
	p, ok := r.find(addr)
	if !ok || !r.chunks[p.chunk()].resident.Has(p.index()) {
		return false
	}
	c := &r.chunks[p.chunk()]
	c.held.Clear(p.index())
	if !c.staged.Has(p.index()) {
		r.use(c, p, write)
	}
	return true
}

// use makes a resident page's units the most recent ones.
func (r *Runtime) use(c *chunk, p page, write bool) {
	r.stamp++
	k := p.index()
	c.stamp, c.block[k/PagesPerBlock] = r.stamp, r.stamp
	r.sorted = false
	if r.flat {
		r.list.push(p)
	}
	if write {
		c.written = true
		c.dirty.Set(k)
		c.twice.here.Clear(k)
	}
}
