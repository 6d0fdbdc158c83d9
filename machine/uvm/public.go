package uvm

import "github.com/heddle-sim/heddle/mem"

// What Options.Public changes: the rules of the dissertation's public simulator (UVMSmart) where they differ from
// the text. Beside what is here, pages whose write-back is called off are dirty (Keep), and every write-back is a
// round trip of all blocks of its tree (commitEvictions). In the machine an access to a page of the host takes the
// link and then finds the page in caches and memory of the device, a large copy of a program has half the
// bandwidth, and the frames of pages that leave may be planned for again when their write-back begins.

// cutTransfers lists the batch tree by tree: its pages ascending, cut at gaps, at the ends of trees, and behind each
// page that faults. A fault of the first page of a block is a transfer of 4 KB, and one of 60 KB.
func cutTransfers(r *Runtime) {
	for _, i := range r.batch {
		c := &r.chunks[i]
		all, before := c.fault.Or(&c.want), -2
		for k := all.Next(0); k < PagesPerChunk; k = all.Next(k + 1) {
			open := before == k-1 && r.plan.In[len(r.plan.In)-1].Faults == 0
			extend(r, i, k, open, c.fault.Has(k))
			before = k
		}
	}
}

// Synchronized tells that a tenant's program has waited for the device: the public simulator begins to count its
// accesses and round trips anew.
func Synchronized(r *Runtime, tenant mem.TenantID) {
	for i := range r.chunks {
		if c := &r.chunks[i]; r.o.Public && c.live && c.tenant == tenant {
			clear(c.counter[:])
		}
	}
}
