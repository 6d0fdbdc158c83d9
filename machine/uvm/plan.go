package uvm

import "slices"

// Transfer is contiguous pages that come to the device in one transfer.
type Transfer struct {
	Addr   uint64 // of the first page
	Pages  int
	Again  int // how many of the pages had been here before and were evicted
	Faults int // how many of the pages, at the end, have faulted; the others come along
}

// Eviction is pages of one chunk that leave in one transfer.
type Eviction struct {
	Addr      uint64 // of the first page
	Pages     int
	WriteBack bool // they are written back; else they are invalidated
	Returned  bool // the host takes the pages back: no other page needed their room
	Stays     bool // with Returned: the host gets copies, and the pages stay on the device
	Fallback  bool // the policy itself would not have taken them
	chunk     int32
	mask      Mask
	Rest      *Eviction // pages of further trees that leave in the same transfer; only Synchronized has such
}

// Plan is the consequence of a batch of faults. Evictions make room before the transfers.
type Plan struct {
	In       []Transfer // pages that faulted come first, except under Options.Public
	Out      []Eviction // in the order in which they were chosen
	Deferred []uint64   // pages without room now, because every page that is there is waited for
}

// add puts a page into the batch that is being planned. It returns false for a page that thrashes, is in the batch
// already, or is on the device or on its way there. A page on its way from the device is added.
func (r *Runtime) add(p page) bool {
	c, k := &r.chunks[p.chunk()], p.index()
	if c.resident.Has(k) || c.coming.Has(k) || c.fault.Has(k) || c.want.Has(k) || c.thrash.Has(k) {
		return false
	}
	r.touch(p.chunk())
	c.want.Set(k)
	return true
}

// touch puts a chunk into the batch.
func (r *Runtime) touch(i int32) {
	c := &r.chunks[i]
	if c.fault.Empty() && c.want.Empty() {
		r.batch = append(r.batch, i)
	}
}

// Plan decides which pages a batch of faults brings to the device, and which pages leave to make room. The addresses
// lie in allocations; pages that are there or on their way are left out. The result is valid until the next call.
// From now on its pages count as coming, and the pages of its evictions as chosen.
func (r *Runtime) Plan(faults []uint64) *Plan {
	r.beginPlan()
	demand := 0
	for _, a := range faults {
		p, ok := r.find(a)
		if !ok {
			continue // freed meanwhile
		}
		if c := &r.chunks[p.chunk()]; !c.resident.Has(p.index()) && !c.coming.Has(p.index()) &&
			!c.fault.Has(p.index()) {
			r.touch(p.chunk())
			c.fault.Set(p.index())
			demand++
		}
	}
	if demand == 0 {
		return &r.plan
	}
	slices.SortFunc(r.batch, r.byAddress)
	r.prefetchBatch()
	r.transfers()
	fitted := r.makeRoom()
	r.commit()
	r.crowded(!fitted) // the earlier rule decided this batch
	return &r.plan
}

func (r *Runtime) beginPlan() {
	r.plan.In, r.plan.Out, r.plan.Deferred = r.plan.In[:0], r.plan.Out[:0], r.plan.Deferred[:0]
	r.batch, r.sorted = r.batch[:0], false
}

// byAddress is the order of a batch's chunks: whose faults come first, then ascending.
func (r *Runtime) byAddress(i, j int32) int {
	a, b := &r.chunks[i], &r.chunks[j]
	if x, y := int(a.tenant) == r.prefer.first, int(b.tenant) == r.prefer.first; x != y {
		if x {
			return -1
		}
		return 1
	}
	return compare(a.base, b.base)
}

// prefetchBatch adds the pages that come along with the faults: pages that are being written back, too, as those that
// fault do.
func (r *Runtime) prefetchBatch() {
	f := &r.prefetch[0]
	if r.changed {
		f = &r.prefetch[1]
	}
	if f.span != nil {
		f.span(r)
		slices.SortFunc(r.batch, r.byAddress)
	}
	if f.tree == nil {
		return
	}
	for _, i := range r.batch {
		c := &r.chunks[i]
		there := c.present()
		come := f.tree(&Tree{
			Present: there.Without(&c.forgotten), Fault: c.fault, Thrash: c.thrash, Pages: c.pages,
			Random: r.random[0], Public: r.o.Public,
		})
		c.forgotten = c.forgotten.Without(&come)
		for _, m := range []*Mask{&c.fault, &c.resident, &c.coming, &c.thrash} {
			come = come.Without(m)
		}
		c.want = come
	}
}

// transfers lists the batch: the pages that fault, then those that come along, each ascending,
// with contiguous pages as one.
func (r *Runtime) transfers() {
	if r.o.Public {
		r.cutTransfers()
		return
	}
	for _, demand := range []bool{true, false} {
		first := len(r.plan.In)
		for _, i := range r.batch {
			c := &r.chunks[i]
			m := &c.want
			if demand {
				m = &c.fault
			}
			for k := m.Next(0); k < PagesPerChunk; k = m.Next(k + 1) {
				a := c.base + uint64(k)*PageSize
				n := len(r.plan.In)
				r.extend(i, k, n > first && r.plan.In[n-1].end() == a && r.sameTenant(i, a-1), demand)
			}
		}
	}
}

// extend adds a page to the last transfer, or begins one with it.
func (r *Runtime) extend(i int32, k int, last, demand bool) {
	c := &r.chunks[i]
	if !last {
		r.plan.In = append(r.plan.In, Transfer{Addr: c.base + uint64(k)*PageSize})
	}
	t := &r.plan.In[len(r.plan.In)-1]
	t.Pages++
	if demand {
		t.Faults++
	}
	if c.left.Has(k) {
		t.Again++
	}
}

func (r *Runtime) sameTenant(i int32, before uint64) bool {
	p, _ := r.find(before)
	return r.chunks[p.chunk()].tenant == r.chunks[i].tenant
}

func (t *Transfer) end() uint64 { return t.Addr + uint64(t.Pages)*PageSize }

// makeRoom chooses pages to evict until the batch has room, and drops pages that cannot have room from the end of the
// batch: a prefetch that is larger than memory, or that would displace pages an access waits for. It says whether the
// batch fitted without evictions and drops.
func (r *Runtime) makeRoom() (fitted bool) {
	total := 0
	for i := range r.plan.In {
		total += r.plan.In[i].Pages
	}
	buffer := freeBuffer(r.o.FreeBuffer)
	fitted = total <= r.empty()-buffer.pages(r)
	queues := r.queues()
	for total > r.capacity && !queues {
		total -= r.drop()
	}
	if r.o.Smart && !fitted {
		r.detect()
	}
	for total > 0 && total > r.free() {
		u := r.evict.candidate(r)
		if len(u) == 0 && !queues {
			u = r.choose(total)
		}
		switch {
		case len(u) > 0:
			r.stage(u)
		case queues || r.arrives.awaited(r, total):
			return false // Shrink goes on
		default:
			total -= r.drop()
		}
	}
	buffer.keep(r, total)
	return fitted
}

// drop takes pages out of the batch: those of the last transfer that come along, and where none come along the last
// page that faults, which is deferred. It returns the pages dropped.
func (r *Runtime) drop() (n int) {
	last := len(r.plan.In) - 1
	for i := last; i >= 0; i-- {
		if t := &r.plan.In[i]; t.Pages > t.Faults {
			n = t.Pages - t.Faults
			r.cancel(t, t.Addr, n)
			if t.Addr += uint64(n) * PageSize; t.Pages == 0 {
				r.plan.In = slices.Delete(r.plan.In, i, i+1)
			}
			return n
		}
	}
	t := &r.plan.In[last]
	first := t.end() - PageSize
	r.plan.Deferred = append(r.plan.Deferred, first)
	r.cancel(t, first, 1)
	if t.Faults--; t.Pages == 0 {
		r.plan.In = r.plan.In[:last]
	}
	return 1
}

// cancel takes n pages of a transfer out of the batch.
func (r *Runtime) cancel(t *Transfer, first uint64, n int) {
	for a := first; a < first+uint64(n)*PageSize; a += PageSize {
		p, _ := r.find(a)
		c := &r.chunks[p.chunk()]
		c.fault.Clear(p.index())
		c.want.Clear(p.index())
		if c.left.Has(p.index()) {
			t.Again--
		}
	}
	t.Pages -= n
}

// stage chooses units for eviction: one candidate and the units that leave with it.
func (r *Runtime) stage(units []unit) {
	write := true
	if r.o.CleanDropped {
		c := &r.chunks[units[0].chunk]
		v := c.valid()
		dirty := v.And(&c.dirty)
		write = !dirty.Empty()
	}
	for i := range units {
		u := &units[i]
		c := &r.chunks[u.chunk]
		n := u.pages.Count()
		c.staged, c.gone = c.staged.Or(&u.pages), c.gone.Or(&u.pages)
		r.valid, r.staged = r.valid-n, r.staged+n
		if r.flat {
			for k := u.pages.Next(0); k < PagesPerChunk; k = u.pages.Next(k + 1) {
				r.list.remove(pageOf(u.chunk, k))
			}
		}
		copies := u.pages.And(&c.twice.here)
		rest := u.pages.Without(&copies)
		r.plan.out(c, Eviction{WriteBack: write, Fallback: r.fell && i == 0, chunk: u.chunk, mask: rest})
		r.plan.out(c, Eviction{Fallback: r.fell && i == 0 && rest.Empty(), chunk: u.chunk, mask: copies})
	}
	r.fell = false
}

// out adds pages of a chunk that leave, if there are any.
func (p *Plan) out(c *chunk, e Eviction) {
	if e.Pages = e.mask.Count(); e.Pages > 0 {
		e.Addr = c.base + uint64(e.mask.Next(0))*PageSize
		p.Out = append(p.Out, e)
	}
}

// commit records the plan.
func (r *Runtime) commit() {
	for _, i := range r.batch {
		c := &r.chunks[i]
		all := c.fault.Or(&c.want)
		again := all.And(&c.left)
		n := all.Count()
		if r.o.Smart {
			r.observe(c, &all)
		}
		c.coming = c.coming.Or(&all)
		r.coming += n
		r.Totals.Faults += uint64(c.fault.Count())
		r.Totals.Migrated += uint64(n)
		r.Totals.Thrashed += uint64(again.Count())
		c.heat.migrated += uint64(n)
		c.heat.again += uint64(again.Count())
		c.fault, c.want = Mask{}, Mask{}
	}
	r.commitEvictions()
}

// commitEvictions records the plan's evictions; a block makes one round trip, however many of its
// pages leave.
func (r *Runtime) commitEvictions() {
	for i := range r.plan.Out {
		e := &r.plan.Out[i]
		c := &r.chunks[e.chunk]
		r.Totals.Evicted += uint64(e.Pages)
		c.heat.left += uint64(e.Pages)
		if e.WriteBack {
			r.Totals.Written += uint64(e.Pages)
		}
		for b := range BlocksPerChunk {
			if c.gone.CountIn(b*PagesPerBlock, PagesPerBlock) > 0 || r.o.Public && e.WriteBack {
				r.trip(c, b)
			}
		}
		c.left, c.gone = c.left.Or(&c.gone), Mask{}
	}
}

// Leave notes that an eviction begins: its pages are no longer on the device.
func (r *Runtime) Leave(e *Eviction) {
	for ; e != nil; e = e.Rest {
		c := &r.chunks[e.chunk]
		c.resident, c.staged = c.resident.Without(&e.mask), c.staged.Without(&e.mask)
		c.dirty, c.held = c.dirty.Without(&e.mask), c.held.Without(&e.mask)
		c.twice.here = c.twice.here.Without(&e.mask)
		r.staged -= e.Pages
		c.forgotten = c.forgotten.Without(&e.mask)
		if e.WriteBack {
			c.leaving = c.leaving.Or(&e.mask)
		}
		if e.WriteBack && !e.Returned {
			r.writing += e.Pages
		}
		if !e.Returned {
			r.calm(e.chunk, &e.mask)
		}
	}
}

// Arrive notes that a transfer has ended: its pages are on the device, clean, and as recent as the transfer. Pages
// that faulted stay at least until they have been used.
func (r *Runtime) Arrive(t *Transfer) {
	r.stamp++
	for a := t.Addr; a < t.end(); a += PageSize {
		p, _ := r.find(a)
		c, k := &r.chunks[p.chunk()], p.index()
		c.coming.Clear(k)
		c.leaving.Clear(k) // Options.Public: it did not wait for its write-back
		if a >= t.end()-uint64(t.Faults)*PageSize || r.o.Public && c.asked.Has(k) {
			c.held.Set(k)
		}
		c.asked.Clear(k)
		c.resident.Set(k)
		c.arrive(k)
		c.stamp, c.arrived, c.block[k/PagesPerBlock] = r.stamp, r.stamp, r.stamp
		if r.flat {
			r.list.push(p)
		}
	}
	r.coming -= t.Pages
	r.valid += t.Pages
}

// Gone notes that an eviction's bytes are on the host.
func (r *Runtime) Gone(e *Eviction) {
	r.Lost(e)
	for ; e != nil; e = e.Rest {
		c := &r.chunks[e.chunk]
		c.leaving = c.leaving.Without(&e.mask)
	}
}

// Lost is Gone of an eviction whose allocation has been freed since it began.
func (r *Runtime) Lost(e *Eviction) {
	for ; e != nil; e = e.Rest {
		if e.WriteBack && !e.Returned {
			r.writing -= e.Pages
		}
	}
}
