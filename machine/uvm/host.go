package uvm

import "github.com/heddle-sim/heddle/mem"

// The requests of the host, and plans that are not carried out.

// SetCapacity changes the bytes of device memory for managed pages, a multiple of PageSize.
func (r *Runtime) SetCapacity(bytes int64) { r.capacity = int(bytes/PageSize) + r.forgotten }

// Expect sets the function that says whether a transfer to the device is under way, or can begin. While one is, pages
// leave only by the policy's own choice, because it may be waiting for the arriving pages.
func (r *Runtime) Expect(arrives func() bool) { r.arrives = arrives }

// Capacity is the pages of device memory for managed pages.
func (r *Runtime) Capacity() int { return r.capacity }

// Allocated is the rounded bytes of all allocations, and those of a tenant's.
func (r *Runtime) Allocated(tenant mem.TenantID) (all, its uint64) {
	for i := range r.allocs {
		a := &r.allocs[i]
		all += a.end - a.base
		if r.chunks[a.first].tenant == tenant {
			its += a.end - a.base
		}
	}
	return all, its
}

// Fetch plans to bring the absent pages of the n bytes from addr, which lie in one chunk, without a touch
// (cudaMemPrefetchAsync). The result is valid until the next plan.
func (r *Runtime) Fetch(addr, n uint64) *Plan {
	r.beginPlan()
	for a := addr &^ (PageSize - 1); a < addr+n; a += PageSize {
		if p, ok := r.find(a); ok {
			one := single(p)
			r.calm(one.chunk, &one.pages)
			r.add(p)
		}
	}
	r.transfers()
	fitted := r.makeRoom()
	r.commit()
	r.crowded(!fitted)
	return &r.plan
}

// Shrink plans evictions until the planned and the present pages fit, as after Keep.
func (r *Runtime) Shrink() *Plan {
	r.beginPlan()
	for r.free() < 0 {
		u := r.choose(0)
		if len(u) == 0 {
			break
		}
		r.stage(u)
	}
	r.commitEvictions()
	return &r.plan
}

// Withdraw plans to bring the device's pages of the n bytes from addr back to the host, which reads or writes them:
// as one transfer for each chunk. Pages on their way to the device are left alone: more says that there are such, or
// that a transfer was planned. Of read-mostly memory the host gets copies to read, unless it has them; if it writes,
// the device's copies are dropped.
func (r *Runtime) Withdraw(addr, n uint64, write bool) (p *Plan, more bool) {
	r.beginPlan()
	for a := addr &^ (PageSize - 1); a < addr+n; {
		first, ok := r.find(a)
		if !ok {
			break
		}
		c := &r.chunks[first.chunk()]
		end := min(addr+n, c.base+uint64(c.pages)*PageSize)
		part := span(first.index(), int((end-a+PageSize-1)/PageSize))
		if have := c.ofHost(); !write {
			part = part.Without(&have)
		}
		more = more || part.And(&c.coming) != Mask{} || part.And(&c.staged) != Mask{} ||
			part.And(&c.leaving) != Mask{}
		v := c.valid()
		if v = v.And(&part); !v.Empty() {
			more = true
			r.withdraw(c, unit{first.chunk(), v}, write)
		}
		a = c.base + uint64(c.pages)*PageSize
	}
	return &r.plan, more
}

// withdraw plans that valid pages of a chunk go back to the host.
func (r *Runtime) withdraw(c *chunk, u unit, write bool) {
	if !write && c.advice&ReadMostly != 0 {
		c.hints.acted |= ReadMostly
		c.twice.here, c.dirty = c.twice.here.Or(&u.pages), c.dirty.Without(&u.pages)
		r.plan.out(c, Eviction{WriteBack: true, Returned: true, Stays: true, chunk: u.chunk, mask: u.pages})
		return
	}
	from := len(r.plan.Out)
	r.stage([]unit{u})
	for i := from; i < len(r.plan.Out); i++ {
		e := &r.plan.Out[i]
		copies := e.mask.And(&c.twice.here)
		if e.Returned, e.WriteBack = true, copies.Empty(); e.WriteBack {
			r.Totals.Returned += uint64(e.Pages)
		} else {
			r.Totals.Voided += uint64(e.Pages)
		}
	}
	c.gone = Mask{} // no round trip: no page was evicted
}

// Keep takes back an eviction that has not begun: its pages stay, as the most recent ones.
func (r *Runtime) Keep(e *Eviction) {
	for ; e != nil; e = e.Rest {
		r.keep(e)
	}
}

// keep takes back what an eviction has of its first tree.
func (r *Runtime) keep(e *Eviction) {
	c := &r.chunks[e.chunk]
	c.staged = c.staged.Without(&e.mask)
	r.staged, r.valid = r.staged-e.Pages, r.valid+e.Pages
	r.stamp++
	c.stamp, r.sorted = r.stamp, false
	for k := e.mask.Next(0); k < PagesPerChunk; k = e.mask.Next(k + 1) {
		c.block[k/PagesPerBlock] = r.stamp
		if r.flat {
			r.list.push(pageOf(e.chunk, k))
		}
	}
	switch {
	case e.Returned && e.WriteBack:
		r.Totals.Returned -= uint64(e.Pages)
		return
	case e.Returned:
		r.Totals.Voided -= uint64(e.Pages)
		return
	}
	for b := range BlocksPerChunk {
		left := e.mask.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 || r.o.Public && e.WriteBack
		if left && c.counter[b]>>countBits > 0 {
			c.counter[b] -= 1 << countBits
		}
	}
	r.Totals.Evicted -= uint64(e.Pages)
	c.heat.left -= uint64(e.Pages)
	r.Totals.Kept += uint64(e.Pages)
	if e.WriteBack {
		r.Totals.Written -= uint64(e.Pages)
		if r.o.Public {
			c.dirty = c.dirty.Or(&e.mask)
		}
	}
}

// Free forgets the allocation that begins at base, and counts its pages on the device as freed. Do not report any
// plan for it afterwards.
func (r *Runtime) Free(base uint64) (resident int) {
	for i := range r.allocs {
		if r.allocs[i].base != base {
			continue
		}
		a := r.allocs[i]
		r.remember(&a)
		if r.watch.on {
			r.watch.freed = r.drain(&a, r.watch.freed)
		}
		for k := a.first; k < a.first+a.chunks; k++ {
			c := &r.chunks[k]
			v := c.valid()
			resident += c.resident.Count()
			r.Totals.Freed += uint64(v.Count() + c.coming.Count())
			r.valid -= v.Count()
			r.staged -= c.staged.Count()
			r.coming -= c.coming.Count()
			for p := v.Next(0); r.flat && p < PagesPerChunk; p = v.Next(p + 1) {
				r.list.remove(pageOf(k, p))
			}
			all := span(0, PagesPerChunk)
			r.calm(k, &all)
			*c = chunk{}
		}
		r.allocs = append(r.allocs[:i], r.allocs[i+1:]...)
		r.sorted = false
		return resident
	}
	return 0
}

// First is the allocation with the lowest base in [from, to).
func (r *Runtime) First(from, to uint64) (base, bytes uint64, ok bool) {
	for i := range r.allocs {
		if a := &r.allocs[i]; a.base >= from && a.base < to {
			return a.base, a.end - a.base, true
		}
	}
	return 0, 0, false
}

// Of says whether pages of a chunk, given as ChunkOf numbers it, are in an eviction.
func (e *Eviction) Of(chunk int32) bool {
	for ; e != nil; e = e.Rest {
		if e.chunk == chunk {
			return true
		}
	}
	return false
}

// ChunkOf is the chunk of an address; -1 if it is in no allocation.
func (r *Runtime) ChunkOf(addr uint64) int32 {
	p, ok := r.find(addr)
	if !ok {
		return -1
	}
	return p.chunk()
}

// Append adds the addresses of an eviction's pages to a list, ascending.
func (r *Runtime) Append(list []uint64, e *Eviction) []uint64 {
	for ; e != nil; e = e.Rest {
		base := r.chunks[e.chunk].base
		for k := e.mask.Next(0); k < PagesPerChunk; k = e.mask.Next(k + 1) {
			list = append(list, base+uint64(k)*PageSize)
		}
	}
	return list
}

// Leaving says that a page, which is not on the device, is still on its way from it.
func (r *Runtime) Leaving(addr uint64) bool {
	p, ok := r.find(addr)
	return ok && r.chunks[p.chunk()].leaving.Has(p.index())
}

// Where says what an access of an address would find, without counting one: Resident, Coming, or Fault for a page on
// the host.
func (r *Runtime) Where(addr uint64) Verdict {
	p, ok := r.find(addr)
	if !ok {
		return Fault
	}
	switch c := &r.chunks[p.chunk()]; {
	case c.resident.Has(p.index()):
		return Resident
	case c.coming.Has(p.index()):
		return Coming
	}
	return Fault
}

// Manages says whether an address is in an allocation.
func (r *Runtime) Manages(addr uint64) bool { return r.allocationOf(addr) != nil }

// Crowded says that more pages are there or planned to come than there is room for.
func (r *Runtime) Crowded() bool { return r.free() < 0 }
