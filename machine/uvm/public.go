package uvm

import "github.com/heddle-sim/heddle/mem"

// What Options.Public changes: the rules of the dissertation's public simulator (UVMSmart) where they differ from
// the text. Beside what is here, pages whose write-back is called off are dirty (Keep), and every write-back is a
// round trip of all blocks of its tree (commitEvictions), and TBN looks at all nodes of a tree (prefetchTree, cascade).
// In the machine a page may come while it is still being written back, an access to a page of the host takes the
// link and then finds the page in caches and memory of the device, a large copy of a program has half the
// bandwidth, and the frames of pages that leave may be planned for again when their write-back begins.

// queues says that a batch may be larger than the room in memory, and even than memory. Its transfers wait for
// evictions that become possible when earlier transfers have come and their pages have been used. A single transfer
// has to fit.
func (r *Runtime) queues() bool { return r.o.Public && r.arrives != nil && r.capacity >= PagesPerChunk }

// cutTransfers lists the batch tree by tree: its pages ascending, cut at gaps, at the ends of trees, and behind each
// page that faults. A fault of the first page of a block is a transfer of 4 KB, and one of 60 KB.
func (r *Runtime) cutTransfers() {
	for _, i := range r.batch {
		c := &r.chunks[i]
		all, before := c.fault.Or(&c.want), -2
		for k := all.Next(0); k < PagesPerChunk; k = all.Next(k + 1) {
			open := before == k-1 && r.plan.In[len(r.plan.In)-1].Faults == 0
			r.extend(i, k, open, c.fault.Has(k))
			before = k
		}
	}
}

// synchronizedPages are the sizes of the transfers in which dirty pages are written back when a program waits for the
// device, again and again: 64, 64, 128, 256, 512 and 1024 KB, 2 MB together, of each of which 4 KB come first.
var synchronizedPages = [...]int{1, 15, 1, 15, 1, 31, 1, 63, 1, 127, 1, 255}

// Synchronized notes that a tenant's program has waited for the device. The public simulator sets its counts of
// accesses and round trips to 0, and plans to write its dirty pages back, ascending, in transfers whose sizes alone
// say where they are cut. These pages leave the device. Clean pages stay, but no longer count as occupying memory, so
// more pages fit until the next time. They are in no tree until they come again, and in no order of eviction until
// they are used. The simulator also forgets that memory has been too small, but the prefetcher that changed because
// of it stays changed. The result is valid until the next plan.
func (r *Runtime) Synchronized(tenant mem.TenantID) *Plan {
	r.beginPlan()
	if !r.o.Public {
		return &r.plan
	}
	left, clean := 0, 0 // pages that the last transfer still takes, and those that stay
	for i := range r.allocs {
		a := &r.allocs[i]
		if r.chunks[a.first].tenant != tenant {
			continue
		}
		for k := a.first; k < a.first+a.chunks; k++ {
			c := &r.chunks[k]
			clear(c.counter[:])
			clear(c.block[:])
			c.stamp, c.written = 0, false
			v := c.valid()
			dirty := v.And(&c.dirty)
			left = r.returnDirty(k, dirty, left)
			stay := v.Without(&dirty)
			clean += stay.Count()
			c.forgotten = stay
			for p := stay.Next(0); r.flat && p < PagesPerChunk; p = stay.Next(p + 1) {
				r.list.remove(pageOf(k, p))
			}
		}
	}
	r.sorted = false
	r.capacity, r.forgotten, r.over = r.capacity-r.forgotten+clean, clean, false
	return &r.plan
}

// returnDirty plans to write pages of a chunk back, the first of them in the last transfer, which has room for a
// number of pages. It returns how many more the last one takes then.
func (r *Runtime) returnDirty(chunk int32, pages Mask, left int) int {
	c := &r.chunks[chunk]
	for k := pages.Next(0); k < PagesPerChunk; {
		e := &Eviction{Addr: c.base + uint64(k)*PageSize, WriteBack: true, Returned: true, chunk: chunk}
		begins := left == 0
		if begins {
			left = synchronizedPages[len(r.plan.Out)%len(synchronizedPages)]
		}
		for ; left > 0 && k < PagesPerChunk; k = pages.Next(k + 1) {
			e.mask.Set(k)
			e.Pages++
			left--
			if r.flat {
				r.list.remove(pageOf(chunk, k))
			}
		}
		c.staged = c.staged.Or(&e.mask)
		r.valid, r.staged = r.valid-e.Pages, r.staged+e.Pages
		r.Totals.Returned += uint64(e.Pages)
		if begins {
			r.plan.Out = append(r.plan.Out, *e)
			continue
		}
		last := &r.plan.Out[len(r.plan.Out)-1]
		for last.Rest != nil {
			last = last.Rest
		}
		last.Rest = e
	}
	return left
}
