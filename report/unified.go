package report

import (
	"fmt"

	"github.com/heddle-sim/heddle/sim"
)

// unified says what unified memory did for each tenant, where the run has it.
func (p *printer) unified(r *sim.Result) {
	for i := range r.Tenants {
		t := &r.Tenants[i]
		n, link := windowCounters(r, "uvm", t.Name), windowCounters(r, "link", t.Name)
		if n == nil || n["faults"]+n["migrated_pages"]+link["remotes"] == 0 {
			continue
		}
		p.f("unified memory of %s: %s, %d faults in %d batches, driver busy for %s of the time\n", t.Name,
			pages(n["migrated_pages"], "came"), n["faults"], n["batches"], busyShare(n["driver_cycles"], t.Cycles))
		p.f("  %d pages were prefetched, %d came again; %d left, %d of them written back; the host took %d back\n",
			n["prefetched_pages"], n["thrashed_pages"], n["evicted_pages"], n["written_pages"], n["returned_pages"])
		if n["throttles"] > 0 {
			p.f("  %d faults waited, because host and device took pages from each other; %d pages were pinned\n",
				n["throttles"], n["pins"])
		}
		p.f("  link: %d transfers of %s, %d accesses to pages on the host, its two directions busy for %s of the "+
			"time\n",
			link["transfers"], mega(link["bytes"]), link["remotes"], busyShare(link["busy_cycles"], 2*t.Cycles))
		for _, line := range ManagedLines(r, t.Name) {
			p.f("  %s\n", line)
		}
	}
}

// mostAllocations bounds the allocations that are listed one by one.
const mostAllocations = 8

// ManagedLines describe the use of a tenant's managed allocations in the run.
func ManagedLines(r *sim.Result, tenant string) (lines []string) {
	all := 0
	for i := range r.Managed {
		m := &r.Managed[i]
		if m.Tenant != tenant {
			continue
		}
		if all++; all > mostAllocations {
			continue
		}
		perPage := func(n uint64) float64 { return float64(n) / float64(max(1, m.Bytes/4096)) }
		lines = append(lines, fmt.Sprintf("allocation %d, %s: %.3g reads and %.3g writes a page, %s of them on the "+
			"host; %d pages came, %d of them came again", all, mega(m.Bytes), perPage(m.Reads), perPage(m.Writes),
			busyShare(m.Remote, m.Reads+m.Writes), m.Migrated, m.Again))
	}
	if all > mostAllocations {
		lines = append(lines, fmt.Sprintf("and %d other allocations (result.json)", all-mostAllocations))
	}
	return lines
}

// windowCounters are the counters of an owner in a tenant's window; nil without any.
func windowCounters(r *sim.Result, owner, tenant string) map[string]uint64 {
	for i := range r.Tables {
		c := &r.Tables[i]
		if c.Owner != owner || c.Tenant != tenant || c.Moved {
			continue
		}
		sum := map[string]uint64{}
		for _, v := range c.Values {
			sum[v.Name] = v.N
		}
		return sum
	}
	return nil
}

func pages(n uint64, what string) string { return fmt.Sprintf("%s %s", mega(n*4096), what) }

func mega(bytes uint64) string { return fmt.Sprintf("%.3g MB", float64(bytes)/1e6) }

func busyShare(n, of uint64) string {
	return fmt.Sprintf("%.3g %%", 100*ratio(float64(n), float64(of)))
}
