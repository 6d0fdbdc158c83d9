package uvm

import (
	"slices"

	"github.com/heddle-sim/heddle/mem"
)

// Heat is the use of a managed allocation (Figure 18); freed allocations are included. An allocation that is made
// again at the same place, as by a program that repeats, counts together with the earlier one.
type Heat struct {
	Tenant                mem.TenantID
	Base, Bytes           uint64 // rounded
	Reads, Writes         uint64 // accesses, counted once each
	Remote                uint64 // of those, accesses served on the host
	Migrated, Again, Left uint64 // pages
}

// use is Heat of a chunk.
type use struct {
	reads, writes, remote, migrated, again, left uint64
}

func (h *Heat) add(u *use) {
	h.Reads, h.Writes, h.Remote = h.Reads+u.reads, h.Writes+u.writes, h.Remote+u.remote
	h.Migrated, h.Again, h.Left = h.Migrated+u.migrated, h.Again+u.again, h.Left+u.left
}

// heatOf sums an allocation's chunks.
func (r *Runtime) heatOf(a *allocation) Heat {
	h := Heat{Tenant: r.chunks[a.first].tenant, Base: a.base, Bytes: a.end - a.base}
	for k := a.first; k < a.first+a.chunks; k++ {
		h.add(&r.chunks[k].heat)
	}
	return h
}

// remember keeps the heat of an allocation that is freed.
func (r *Runtime) remember(a *allocation) {
	r.past = merged(r.past, r.heatOf(a))
}

func merged(list []Heat, h Heat) []Heat {
	for i := range list {
		if x := &list[i]; x.Tenant == h.Tenant && x.Base == h.Base && x.Bytes == h.Bytes {
			x.add(&use{h.Reads, h.Writes, h.Remote, h.Migrated, h.Again, h.Left})
			return list
		}
	}
	return append(list, h)
}

// Heats lists all allocations so far, by address.
func (r *Runtime) Heats() []Heat {
	list := slices.Clone(r.past)
	for i := range r.allocs {
		list = merged(list, r.heatOf(&r.allocs[i]))
	}
	slices.SortFunc(list, func(a, b Heat) int {
		if k := compare(a.Base, b.Base); k != 0 {
			return k
		}
		return compare(a.Bytes, b.Bytes)
	})
	return list
}
