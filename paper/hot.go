package paper

import (
	"cmp"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/sim"
)

// How a program's accesses lie in what it allocates (Ganguly, Figure 18).

// allocationsOf are a program's allocations, the most used first: accesses for each byte.
func allocationsOf(r *sim.Result, k int) (out []sim.ManagedAllocation) {
	for i := range r.Managed {
		if a := &r.Managed[i]; a.Tenant == r.Tenants[k].Name && a.Bytes > 0 {
			out = append(out, *a)
		}
	}
	slices.SortStableFunc(out, func(a, b sim.ManagedAllocation) int { return cmp.Compare(density(&b), density(&a)) })
	return out
}

func density(a *sim.ManagedAllocation) float64 { return float64(a.Reads+a.Writes) / float64(a.Bytes) }

// hotShare is how many percent of a program's accesses go to the third of its memory that is used most, by
// allocations, each of which counts as used evenly: 33 where all are used alike.
func hotShare(r *sim.Result, k int) float64 {
	list := allocationsOf(r, k)
	var bytes, all, hot float64
	for i := range list {
		bytes += float64(list[i].Bytes)
		all += float64(list[i].Reads + list[i].Writes)
	}
	left := bytes / 3
	for i := range list {
		part := math.Min(left, float64(list[i].Bytes))
		hot += part * density(&list[i])
		left -= part
	}
	return 100 * known(hot, all)
}

// readOnlyUse is how often a page is accessed of allocations that are only read, as percent of how often one is of
// those that are written, too; NaN for a program without either.
func readOnlyUse(r *sim.Result, k int) float64 {
	var bytes, accesses [2]float64
	for _, a := range allocationsOf(r, k) {
		written := 0
		if a.Writes > 0 {
			written = 1
		}
		bytes[written] += float64(a.Bytes)
		accesses[written] += float64(a.Reads + a.Writes)
	}
	return 100 * known(known(accesses[0], bytes[0]), known(accesses[1], bytes[1]))
}
