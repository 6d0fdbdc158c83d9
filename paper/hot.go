package paper

import (
	"cmp"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/sim"
)

// How a program's accesses are distributed over its allocations (Ganguly, Figure 18).

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

// hotShare is the percentage of a program's accesses to the most used third of its memory. Allocations count as used
// evenly; the value is 33 if all are used equally.
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

// readOnlyUse is the number of accesses to a page of allocations that are only read, in percent of the number for
// allocations that are also written; NaN for a program without either.
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
